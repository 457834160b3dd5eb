package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/cards"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/scores"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// RunStore is a client that stores runs in this browser once they have ended.
type RunStore interface {
	// KeepRun stores a run: what the list shows of it, with its id, and all the rest.
	KeepRun(entry any, text, points []byte, m client.Model, done func(error))
	// KeptRuns calls back with the entries, as a list in JSON.
	KeptRuns(done func([]byte, error))
	OpenRun(id string, done func(client.KeptRun, error))
	DeleteRun(id string, done func(error))
	// WatchRuns calls f after every change, those of other tabs too.
	WatchRuns(f func())
}

// entry is a row of the list of runs.
type entry struct {
	ID      string     `json:"id"`
	Ended   time.Time  `json:"ended"`
	Method  string     `json:"method"`
	Data    string     `json:"data"`
	Private bool       `json:"private"`
	Epsilon run.Number `json:"epsilon"` // what it is charged
	Score   string     `json:"score"`   // on the test rows
	State   string     `json:"state"`
	Fault   string     `json:"fault,omitempty"` // of one that failed: what it is charged, and why
	Bytes   int64      `json:"bytes"`           // of storage; 0 while it is in memory alone
}

// keptRun is the stored description of a run, beside its entry, its points and its result.
type keptRun struct {
	Config run.Config    `json:"config"` // with its defaults
	Plan   run.PlanInfo  `json:"plan"`
	Data   data.Report   `json:"data"`
	Newest series.Newest `json:"newest"`
	Fault  string        `json:"fault,omitempty"`
}

// entry is the trial, which has ended, in the list.
func (t *trial) entry() entry {
	e := entry{
		ID: t.id, Ended: t.ended, Method: cards.MethodTitle(t.record.Config.Method), Data: cards.DataLine(&t.record.Config, &t.data),
		Private: t.record.Plan.Private, Epsilon: t.record.Plan.Epsilon, State: t.state(),
	}
	if label := t.record.Config.CSV.Label; label != "" && t.record.Config.Data == form.Files {
		e.Data += " of " + words.Brief(label, mostOfLabel)
	}
	if t.phase == failed {
		e.Fault = t.inFull() + words.Brief(t.fault, mostOfFault)
	}
	if t.result != nil {
		e.Epsilon, e.Score = t.result.Epsilon, t.score()
	}
	return e
}

// description returns the run's data and settings, in parts, and its changes.
func (t *trial) description() []string {
	cfg := t.record.Config
	if t.result != nil && t.result.Selected != nil { // what was chosen stands in the place of what was set
		cfg.LearningRate, cfg.MaxGradNorm = t.result.Selected.LearningRate, t.result.Selected.MaxGradNorm
	}
	return append(cards.Made(&cfg, &t.record.Plan, &t.data), words.Changes(t.record.Changes)...)
}

// training returns the facts of the run's training for advice.
func (t *trial) training() scores.Training {
	how := scores.Training{Config: t.record.Config, Target: t.record.Config.Scaling.TargetOf(t.data.Facts()), Clipped: math.NaN()}
	if d := t.record.Last.Diag; d != nil {
		how.Clipped = float64(d.ClipFraction)
	}
	return how
}

// score returns the text of the score on the test rows; "" without a result.
func (t *trial) score() string {
	if t.result == nil {
		return ""
	}
	return strings.Join(scores.Headline(t.result), " ")
}

// mostOfLabel limits the characters of the name of the label's column.
const mostOfLabel = 30

// mostOfFault limits the characters of a run's error in the list.
const mostOfFault = 200

// restoreTrial returns a run in the state in which it ended.
func restoreTrial(e *env, id string, ended time.Time, k client.KeptRun) (*trial, error) {
	var x keptRun
	if err := json.Unmarshal(k.Text, &x); err != nil {
		return nil, fmt.Errorf("train: a kept run: %w", err)
	}
	t := newTrial(e)
	t.phase, t.data, t.result, t.model, t.fault, t.id, t.ended = failed, x.Data, k.Result, k.Model, x.Fault, id, ended
	if t.result != nil {
		t.phase = done
	}
	points, err := series.Decode(k.Points)
	if err != nil { // the model is worth having all the same
		t.fault = "The charts of this run were kept by another version of the page, which this one cannot read."
	}
	t.record = series.Restore(x.Config, x.Plan, x.Newest, points)
	return t, nil
}

// keptRuns is the list of the kept runs that have ended: those in storage, and in memory those that
// are not stored yet, or cannot be. A run leaves the list when its owner confirms its deletion.
type keptRuns struct {
	*env
	store         RunStore             // nil: there is no storage
	isInterrupted func(id string) bool // reports whether a run is in the list of interrupted ones, which shows it
	onShow        func(*trial)         // called with the run that was chosen
	onDelete      func(id string)      // called with a run that was deleted
	onKeep        func(id string)      // called with a run that has come into the list

	stored   []entry
	inMemory []*trial
	fault    string
	open     bool   // the list is unfolded
	doubt    string // the id of the run that is to be deleted, if its owner is sure
	compared comparison
	choices  int // number of the newest run that was chosen
}

// followStore reads the list, and follows its changes.
func (s *keptRuns) followStore() {
	if s.store != nil {
		s.store.WatchRuns(s.list)
		s.list()
	}
}

func (s *keptRuns) list() {
	s.store.KeptRuns(func(b []byte, err error) {
		var stored []entry
		if err == nil {
			err = json.Unmarshal(b, &stored)
		}
		if err != nil {
			s.storeFailed(err)
		} else {
			s.setStored(stored)
		}
		s.changed()
	})
}

// storeFailed shows the error of the storage and its consequence.
func (s *keptRuns) storeFailed(err error) {
	s.fault = err.Error() + " A run that cannot be stored is in memory alone, until this page is closed: download what you need of it, or make room and delete others."
}

func (s *keptRuns) setStored(stored []entry) {
	s.stored = stored
	s.inMemory = slices.DeleteFunc(s.inMemory, func(t *trial) bool { return hasEntry(stored, t.id) })
	s.compared.dropMissing(s.entries())
	if len(s.inMemory) == 0 {
		s.fault = ""
	}
}

func hasEntry(list []entry, id string) bool {
	return slices.ContainsFunc(list, func(e entry) bool { return e.ID == id })
}

// keepRun puts a run that has ended into the list, if anything came of it.
func (s *keptRuns) keepRun(t *trial) {
	if t.id != "" {
		s.inMemory = append(s.inMemory, t)
		s.storeRun(t)
		s.onKeep(t.id)
	}
}

func (s *keptRuns) storeRun(t *trial) {
	if s.store == nil {
		return
	}
	r := t.record
	text, err := json.Marshal(keptRun{r.Config, r.Plan, t.data, r.Newest, t.fault})
	if err != nil {
		s.fault = err.Error()
		return
	}
	s.store.KeepRun(t.entry(), text, series.Encode(r.Points()), t.model, func(err error) {
		switch {
		case err != nil:
			s.storeFailed(err)
			s.changed()
		case t.unwanted:
			s.store.DeleteRun(t.id, func(error) { s.list() })
		default:
			s.list()
		}
	})
}

// entries are the runs of the list, newest first.
func (s *keptRuns) entries() []entry {
	list := slices.Clone(s.stored)
	for _, t := range s.inMemory {
		if !hasEntry(list, t.id) {
			list = append(list, t.entry())
		}
	}
	list = slices.DeleteFunc(list, func(e entry) bool { return s.isInterrupted(e.ID) })
	slices.SortStableFunc(list, func(a, b entry) int { return b.Ended.Compare(a.Ended) })
	return list
}

// removeContinued takes a failed run out of the list, as it goes on. The run returns when it ends.
func (s *keptRuns) removeContinued(id string) {
	s.compared.remove(id)
	if s.forgetRun(id); hasEntry(s.stored, id) {
		s.store.DeleteRun(id, func(error) { s.list() })
	}
}

// forgetRun forgets a run that is in memory.
func (s *keptRuns) forgetRun(id string) {
	s.inMemory = slices.DeleteFunc(s.inMemory, func(t *trial) bool {
		t.unwanted = t.id == id
		return t.unwanted
	})
}

// toggle unfolds the list, or folds it up.
func (s *keptRuns) toggle() {
	s.open, s.doubt = !s.open, ""
	s.changed()
}

// chooseRun shows a run of the list.
func (s *keptRuns) chooseRun(e entry) {
	s.choices++
	mine := s.choices
	s.fetchRun(e, func(t *trial, err error) {
		if mine == s.choices {
			s.showChosen(t, err)
		}
	})
}

// fetchRun calls back with a run of the list.
func (s *keptRuns) fetchRun(e entry, f func(*trial, error)) {
	if i := slices.IndexFunc(s.inMemory, func(t *trial) bool { return t.id == e.ID }); i >= 0 {
		f(s.inMemory[i], nil)
		return
	}
	s.store.OpenRun(e.ID, func(k client.KeptRun, err error) {
		if err != nil {
			f(nil, err)
			return
		}
		f(restoreTrial(s.env, e.ID, e.Ended, k))
	})
}

func (s *keptRuns) showChosen(t *trial, err error) {
	s.fault = ""
	if err != nil {
		s.fault = err.Error()
	} else {
		s.open = false
		s.onShow(t)
	}
	s.changed()
}

// removeRun asks whether a run is to be deleted, and deletes it once its owner is sure;
// an empty id is a no.
func (s *keptRuns) removeRun(id string, sure bool) {
	if !sure || id != s.doubt {
		s.doubt = id
		s.changed()
		return
	}
	s.doubt = ""
	s.forgetRun(id)
	s.compared.remove(id)
	deleted := func(err error) {
		if err != nil {
			s.fault = err.Error()
		} else {
			s.onDelete(id)
		}
		for _, t := range s.inMemory { // there may be room now
			s.storeRun(t)
		}
		s.changed()
	}
	if !hasEntry(s.stored, id) {
		deleted(nil)
		return
	}
	s.store.DeleteRun(id, deleted)
}
