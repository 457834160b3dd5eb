package train

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/ledger"
)

// Gatherer is a client by which several parties train one model.
type Gatherer interface {
	// Rooms reports whether the page's host has rooms.
	Rooms() bool
	OpenRoom(cfg run.Config, d client.Handle, done func(run.Invitation, error))
	// Invited asks what a room is for, and where cfg is not nil how that differs on d.
	Invited(in run.Invitation, cfg *run.Config, d client.Handle, done func(run.Agreed, error))
	TrainTogether(cfg run.Config, d client.Handle, join run.Joining, anyway bool, started func(client.Run, error))
}

// together is the page's side of a run of several parties. While it leads to a room, the page's address is the
// invitation: whoever opens it is asked to join.
type together struct {
	*env
	client  Gatherer // nil: none
	exp     *experiment
	data    *dataSource
	address *address
	// taken is called with what the parties of a room have agreed on.
	taken func(run.Agreed)

	room        *run.Invitation // nil: the page leads to none
	own         bool            // it was opened here
	agreed      *run.Agreed     // what the room is for; nil while that is not known
	differences []run.Difference
	compared    bool // with the settings and the data at hand
	fault       string
	asked       int   // questions so far: an answer to an earlier one is late
	sent, came  int64 // bytes of runs that have ended
}

// rooms reports whether the page's host has rooms.
func (s *together) rooms() bool { return s.client != nil && s.client.Rooms() }

// nameKey names the text that this browser keeps for others to see.
const nameKey = "clipscope-party"

func (s *together) name() string {
	if name := s.kept(nameKey); name != "" {
		return name
	}
	return "somebody"
}

// SetName keeps what the others see of this party.
func (s *together) SetName(name string) {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return -1
		}
		return r
	}, name))
	for len(name) > 80 { // bytes, as package together has it
		_, n := utf8.DecodeLastRuneInString(name)
		name = strings.TrimSpace(name[:len(name)-n])
	}
	s.keep(nameKey, name)
	s.changed()
}

// TakeAgreed takes the room's settings in the place of those at hand.
func (s *together) TakeAgreed() {
	if s.agreed != nil {
		s.taken(*s.agreed)
		browser.Focus("party-name")
	}
}

// several reports whether the run at hand has several parties.
func (s *together) several() bool { return s.exp.cfg.Together.Parties > 0 }

// has reports whether several parties take part in a run that goes on, or would in the next.
func (s *together) has(t *trial) bool {
	if t.record != nil && t.phase.active() {
		return t.record.Config.Together.Parties > 0
	}
	return s.several()
}

// start returns what starting means, and whether several parties train.
func (s *together) start(t *trial) (label string, several bool) {
	switch {
	case !s.several():
	case s.room != nil:
		label = "Join"
	default:
		label = "Open room"
	}
	return label, s.has(t)
}

// way has what errors say of the way that they came to a person, who cannot do anything with it.
var way = regexp.MustCompile(`\b(party|together|wasm|online): |the host of rooms: |it says \(\d+\): `)

// plainly returns what an error says to a person.
func plainly(err error) string {
	text := way.ReplaceAllString(err.Error(), "")
	if first, n := utf8.DecodeRuneInString(text); text != err.Error() {
		text = string(unicode.ToUpper(first)) + text[n:]
	}
	return text
}

// attendance puts into v who has come to the room of a run, or keeps it waiting.
func (s *together) attendance(t *trial, v *runView) {
	if t.record == nil || t.record.Config.Together.Parties == 0 {
		return
	}
	v.Parties = t.record.Config.Together.Parties
	begun := t.party != nil && t.party.Fingerprint != ""
	v.Waiting, v.Unbegun = v.Phase == running && !begun, v.Phase == done && !begun || t.unbegun
	if t.party != nil {
		v.Here, v.Late = here(t.party.Seats), begun && t.party.Waiting
	}
}

// here counts the seats that are taken.
func here(seats []run.PartySeat) (n int) {
	for _, s := range seats {
		if s.Name != "" {
			n++
		}
	}
	return n
}

// trainer returns what starts a run of several parties; nil where there is one.
func (s *together) trainer(l *ledger.Ledger) ledger.Train {
	if s.client == nil || !s.several() {
		return nil
	}
	anyway := l.Anyway()
	return func(cfg run.Config, d client.Handle, _ bool, started func(client.Run, error)) {
		join := func() {
			s.client.TrainTogether(cfg, d, run.Joining{Invitation: *s.room, Name: s.name()}, anyway, started)
		}
		if s.room != nil {
			join()
			return
		}
		if !s.rooms() {
			started(nil, &client.Fault{Message: "This page’s host has no rooms in which several parties could meet: see Together."})
			return
		}
		s.client.OpenRoom(cfg, d, func(in run.Invitation, err error) {
			if err != nil {
				started(nil, err)
				return
			}
			s.enter(in)
			s.own = true
			join()
		})
	}
}

// enter has the page lead to a room.
func (s *together) enter(in run.Invitation) {
	s.leave()
	s.room = &in
	s.address.room = in.Room + "." + in.Secret
	s.address.write()
}

// leave has the page lead to no room.
func (s *together) leave() {
	s.asked++
	s.data.agreed = nil
	s.room, s.own, s.agreed, s.differences, s.compared, s.fault, s.address.room = nil, false, nil, nil, false, "", ""
}

// ended takes in that a run has ended. Whoever was invited and left before it began can still join.
func (s *together) ended(t *trial) {
	if t.party == nil {
		return
	}
	s.sent, s.came = s.sent+t.party.Sent, s.came+t.party.Received
	if s.room != nil && (s.own || t.party.Fingerprint != "") {
		s.leave()
		s.address.write()
	}
}

// moved returns the bytes to rooms and from there; t is the run that goes on, or the last.
func (s *together) moved(t *trial) (sent, came int64) {
	if t.party == nil || !t.phase.active() {
		return s.sent, s.came
	}
	return s.sent + t.party.Sent, s.came + t.party.Received
}

// follow goes to the room that the page's address leads to.
func (s *together) follow(in run.Invitation) {
	if s.room != nil && *s.room == in {
		return
	}
	s.enter(in)
	mine := s.asked
	if !s.rooms() {
		s.fault = "This address leads to a room of its host, and this host has none. Ask who sent it for the whole address."
		return
	}
	s.client.Invited(in, nil, nil, func(a run.Agreed, err error) {
		if mine != s.asked {
			return
		}
		if err != nil {
			s.fault = plainly(err)
		} else {
			s.agreed = &a
			s.taken(a)
		}
		s.changed()
	})
}

// compare asks how the settings and the data at hand differ from what a room is for.
func (s *together) compare() {
	if s.room == nil || s.own || s.agreed == nil {
		return
	}
	s.asked++
	s.compared, s.differences, s.fault = false, nil, ""
	if s.exp.plan == nil {
		return
	}
	mine, cfg := s.asked, s.exp.effective()
	s.client.Invited(*s.room, &cfg, s.data.handle, func(a run.Agreed, err error) {
		if mine != s.asked {
			return
		}
		if s.compared, s.differences = err == nil, a.Differences; err != nil {
			s.fault = plainly(err)
		}
		s.changed()
	})
}

// view returns what to show of the room; t is the run that goes on, or the last, and left are those that were interrupted.
func (s *together) view(t *trial, left []run.KeptRun) *togetherView {
	v := &togetherView{Name: s.kept(nameKey), Fault: s.fault, Plan: s.exp.plan, Parties: s.exp.full().Together, Actions: s}
	if s.room != nil {
		v.Address = browser.Address()
	}
	switch {
	case t.party != nil && (t.phase.active() || t.party.Fingerprint != ""):
		v.Shown, v.State, v.Running, v.Parties, v.Plan, v.Run = true, t.party, t.phase.active(), t.record.Config.Together, &t.record.Plan, t.runner
	case s.room != nil && slices.ContainsFunc(left, func(in run.KeptRun) bool { return in.Room == s.room.Room }): // it is come back to
	case s.agreed != nil:
		v.Shown, v.Invited, v.Differences, v.Compared, v.Lack, v.Needs, v.Columns, v.Yours = true, true, s.differences, s.compared, s.data.lack(), s.data.needs(), s.agreed.Columns, s.data.names()
	default:
		v.Shown = s.fault != "" || s.rooms() && s.several() && !t.phase.active()
		if s.exp.refused["scaling.kind"] != "" {
			v.Unbounded = s.data.unbounded()
		}
	}
	return v
}

// declareFor proposes what a number of parties needs, in the place of what was proposed for an earlier one: so many times
// the rows at hand as the declared number, and a tolerance.
func (x *experiment) declareFor(before, rows int) {
	c := &x.cfg
	now := c.Together.Parties
	if rows > 0 && (c.NumExamples == 0 || c.NumExamples == before*rows) {
		c.NumExamples = now * rows
		x.forget("num_examples")
	}
	if t := &c.Together.Tolerance; *t == 0 || *t == tolerable(before) {
		*t = tolerable(now)
		x.forget("together.tolerance")
	}
	if now != before {
		c.Together.Quorum = 0
		x.forget("together.quorum")
	}
	if now == 0 {
		c.Together = run.Together{}
	}
	x.form = nil
}

// tolerable returns the tolerance that is proposed for a number of parties: one, as a party knows its own noise, and one that
// may be silent; of many, a fifth.
func tolerable(parties int) int { return max(0, min(max(2, parties/5), parties-1)) }
