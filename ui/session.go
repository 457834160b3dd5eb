package ui

import (
	"errors"
	"maps"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// session is the page's state: one experiment, its data and its latest run. It
// outlives the components that show it, so that reading the help does not end a
// run. Everything in it happens on the page's one thread.
type session struct {
	client client
	// changed asks for the page to be shown anew; nothing while none is.
	changed func()
	// after calls f on the page's thread once d has passed, unless stopped.
	after func(d time.Duration, f func()) (stop func() bool)

	cfg     run.Config
	drafts  map[string]string
	faults  map[string]string // of what was typed
	refused map[string]string // of what the planner says
	opened  form.Card         // the open card
	epoch   int               // counts replacements of the whole configuration

	plan     *run.PlanInfo
	planning bool
	asked    int // number of the newest question to the planner
	planTask func() bool

	data    dataState
	ledger  ledgerState
	run     runState
	feeds   feeds
	figs    figureSet
	form    *Form // what the cards were last given; nil when out of date
	sheet   bool  // the cards are shown over the charts, on a narrow page
	copied  bool
	problem string // what keeps the whole page from working
	newer   bool   // the site has a newer version of the page
	ready   bool
	sent    requests
}

// requests are what left the page for the network since it was ready.
type requests struct {
	Known bool
	Count int
	Names string
}

func newSession(c client) *session {
	s := &session{
		client: c, changed: func() {}, after: afterFunc,
		cfg: firstVisit(), drafts: map[string]string{}, faults: map[string]string{}, refused: map[string]string{},
		opened: form.Clipping,
	}
	s.data.source = s.cfg.Data
	s.figs = newFigures(&s.feeds)
	s.ledger.client, _ = c.(ledgerClient)
	return s
}

func afterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// full is the configuration with its defaults.
func (s *session) full() run.Config { return s.cfg.WithDefaults() }

// touch marks the cards as out of date and asks for them to be shown.
func (s *session) touch() {
	s.form = nil
	s.changed()
}

// formNow is the experiment for the cards; the same pointer until it changes.
func (s *session) formNow() *Form {
	if s.form == nil {
		s.form = &Form{
			Config: s.cfg, Full: s.full(), Drafts: maps.Clone(s.drafts), Faults: merged(s.refused, s.faults),
			Warnings: warningsOf(s.plan), Opened: s.opened, Epoch: s.epoch, Editor: s,
		}
	}
	return s.form
}

func merged(a, b map[string]string) map[string]string {
	m := maps.Clone(a)
	maps.Copy(m, b)
	return m
}

func warningsOf(p *run.PlanInfo) map[string]string {
	m := map[string]string{}
	if p == nil {
		return m
	}
	for _, w := range p.Warnings {
		key := form.Find(w.Field).Key
		m[key] = strings.TrimSpace(m[key] + " " + w.Message)
	}
	return m
}

// Set is what a control calls when something was typed or chosen.
func (s *session) Set(key, text string) {
	switch key {
	case "data":
		s.openBuiltin(text)
		return
	case form.Budget:
		s.setBudget(text)
	case form.Length:
		s.setLength(text)
	default:
		s.drafts[key] = text
		if err := s.put(form.Find(key), key, text); err != nil {
			s.faults[key] = err.Error()
			s.touch()
			return
		}
		delete(s.faults, key)
	}
	s.edited()
	if form.Reads(key) {
		s.reopen()
	}
}

// errNeeded is the fault of an empty field that decides something: without it
// another field would silently decide.
var errNeeded = errors.New("a number above 0 is needed here")

// put takes a field's text, and with it what depends on the field.
func (s *session) put(f form.Field, key, text string) error {
	next := s.cfg
	if err := form.Set(&next, key, text); err != nil {
		return err
	}
	if f.Needed && form.Get(&next, key) == "" {
		return errNeeded
	}
	for _, other := range f.Resets {
		if err := form.Set(&next, other, ""); err != nil {
			return err
		}
	}
	form.KeepParams(&next)
	s.cfg = next
	if f.Kind == form.Menu && len(f.Resets) > 0 {
		s.epoch++
	}
	return nil
}

// setBudget changes what decides the noise, starting from what the other
// choice came to, so that nothing jumps.
func (s *session) setBudget(kind string) {
	sigma, eps := 1.0, run.DefaultEpsilon
	if s.plan != nil && s.plan.NoiseMultiplier > 0 {
		sigma = round(s.plan.NoiseMultiplier, 3)
	}
	if s.plan != nil && s.plan.Epsilon > 0 && s.plan.Epsilon < 1e4 {
		eps = round(float64(s.plan.Epsilon), 2)
	}
	s.cfg.NoiseMultiplier, s.cfg.TargetEpsilon, s.cfg.NoPrivacy = nil, nil, false
	switch kind {
	case "noise_multiplier":
		s.cfg.NoiseMultiplier = &sigma
	case "no_privacy":
		sigma = 0
		s.cfg.NoiseMultiplier, s.cfg.NoPrivacy = &sigma, true
	default:
		s.cfg.TargetEpsilon = &eps
	}
	delete(s.drafts, "noise_multiplier")
	delete(s.drafts, "target_epsilon")
}

func (s *session) setLength(kind string) {
	full := s.full()
	if kind == "steps" {
		s.cfg.Steps, s.cfg.Epochs = 1000, 0
		if s.plan != nil && s.plan.Steps > 0 {
			s.cfg.Steps = s.plan.Steps
		}
	} else {
		s.cfg.Steps, s.cfg.Epochs = 0, run.DefaultEpochs
		if s.plan != nil && s.data.report != nil && s.data.report.Rows > 0 {
			s.cfg.Epochs = round(float64(s.plan.Steps)*full.ExpectedBatchSize/float64(s.data.report.Rows), 3)
		}
	}
	delete(s.drafts, "epochs")
	delete(s.drafts, "steps")
}

// Settle is what a control calls when typing has ended.
func (s *session) Settle(key string) {
	if s.faults[key] == "" {
		delete(s.drafts, key)
	}
	s.touch()
}

// Open opens a card, and closes it when it is open.
func (s *session) Open(card form.Card) {
	if s.opened == card {
		card = form.Foot
	}
	s.show(card)
}

// show opens a card, or none, and brings it in sight.
func (s *session) show(card form.Card) {
	s.opened = card
	s.touch()
	if card != form.Foot && app.IsClient && glue().Truthy() {
		glue().Call("reveal", "card-"+string(card))
	}
}

// point brings in sight what a name stands for.
func (s *session) point(name string) {
	f := form.Find(name)
	if f.Card != form.Foot {
		s.show(f.Card)
	} else if app.IsClient && glue().Truthy() {
		glue().Call("reveal", "foot")
	}
}

// edited follows a change of the configuration with the URL and a new plan.
func (s *session) edited() {
	s.writeHash()
	s.replan()
	s.touch()
}

// replace puts another whole configuration in place: from a link, a preset.
func (s *session) replace(cfg run.Config) {
	s.cfg = cfg
	clear(s.drafts)
	clear(s.faults)
	clear(s.refused)
	s.epoch++
	s.touch()
	if cfg := s.full(); cfg.Data != s.data.source {
		s.openBuiltin(cfg.Data)
	}
	s.replan()
}

// patience is how long typing must rest before the planner is asked.
const patience = 150 * time.Millisecond

// replan asks what the configuration comes to, once typing rests.
func (s *session) replan() {
	if !s.ready {
		return
	}
	s.planning = true
	s.asked++
	mine := s.asked
	if s.planTask != nil {
		s.planTask()
	}
	s.planTask = s.after(patience, func() {
		s.client.Plan(s.cfg, s.data.handle, func(p run.PlanInfo, err error) {
			if mine == s.asked {
				s.planned(p, err)
			}
		})
	})
}

func (s *session) planned(p run.PlanInfo, err error) {
	s.planning = false
	clear(s.refused)
	s.plan = nil
	if err == nil {
		s.plan = &p
	} else {
		s.refuse(err)
	}
	s.followLedger()
	s.touch()
}

// refuse puts an error at the field it belongs to.
func (s *session) refuse(err error) {
	key := form.Plan
	if f := (*fault)(nil); errors.As(err, &f) && f.Field != "" {
		key = form.Find(f.Field).Key
	}
	s.refused[key] = strings.TrimPrefix(err.Error(), key+": ")
}

// --- the URL ---

// writeHash puts the configuration in the URL without a step in the history.
func (s *session) writeHash() {
	hash, err := s.cfg.Hash()
	if err != nil || !app.IsClient {
		return
	}
	location := app.Window().Get("location")
	url := location.Get("pathname").String() + location.Get("search").String() + "#" + hash
	app.Window().Get("history").Call("replaceState", app.Null(), "", url)
}

// readHash takes the configuration from the URL, if it holds one.
func (s *session) readHash() {
	hash := strings.TrimPrefix(app.Window().Get("location").Get("hash").String(), "#")
	if mine, err := s.cfg.Hash(); hash == "" || err == nil && hash == mine {
		return
	}
	cfg := run.ParseHash(hash)
	form.KeepParams(&cfg)
	s.replace(cfg)
}

func (s *session) share() {
	s.writeHash()
	clipboard := app.Window().Get("navigator").Get("clipboard")
	if !clipboard.Truthy() {
		return
	}
	await(clipboard.Call("writeText", app.Window().Get("location").Get("href")), func(_ app.Value, err error) {
		s.copied = err == nil
		s.changed()
		s.after(3*time.Second, func() {
			s.copied = false
			s.changed()
		})
	})
}

// start begins the page's work, once in its life.
func (s *session) start() {
	if s.ready {
		return
	}
	s.readHash()
	s.client.Ready(func(err error) {
		if err != nil {
			s.problem = err.Error()
			s.changed()
			return
		}
		s.ready = true
		if early := s.data.early; early != nil {
			s.data.early = nil
			s.open(form.Files, early)
		} else {
			s.openBuiltin(s.full().Data)
		}
		s.changed()
	})
}

// watchRequests counts from when the page is ready: its program and the first
// worker with data have been loaded.
func (s *session) watchRequests() {
	if s.sent.Known || !app.IsClient || !glue().Truthy() {
		return
	}
	s.sent.Known = true
	glue().Call("watchRequests", app.FuncOf(func(_ app.Value, args []app.Value) any {
		s.sent = requests{true, args[0].Int(), args[1].String()}
		s.changed()
		return nil
	}))
}
