package worker

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/run"
)

// keptRuns lists, continues and discards the runs that are stored.
type keptRuns struct {
	store CheckpointStore
	runs  *runs
}

// openFiles opens the files of a run that was interrupted.
func (s *keptRuns) openFiles(id string) (CheckpointFiles, error) {
	if s.store == nil {
		return nil, fmt.Errorf("worker: %w", ErrGone)
	}
	if !validID(id) {
		return nil, fmt.Errorf("worker: no run is called %q", brief(id, 100))
	}
	d, err := s.store.Open(id, false)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return d, nil
}

// list returns the stored runs that no worker is running, the latest first.
func (s *keptRuns) list(Request) (any, error) {
	list := []run.KeptRun{}
	if s.store == nil {
		return list, nil
	}
	ids, err := s.store.List()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	for _, id := range ids {
		f, err := readKeptRun(func(file, most int) ([]byte, error) { return s.store.Peek(id, file, most) }, false)
		if errors.Is(err, errDamaged) || errors.Is(err, errNone) {
			f, err = s.readLocked(id)
		}
		switch {
		case errors.Is(err, errDamaged):
			list = append(list, run.KeptRun{ID: id, CheckpointInfo: f.CheckpointInfo, Released: f.released, Fault: damage})
		case err == nil: // another error: it was discarded meanwhile
			list = append(list, run.KeptRun{ID: id, CheckpointInfo: f.CheckpointInfo, Step: f.state.step, Released: f.released})
		}
	}
	slices.SortStableFunc(list, func(a, b run.KeptRun) int { return strings.Compare(b.Started, a.Started) })
	return list, nil
}

// readLocked reads a run's files under their lock, so that no other worker writes to them meanwhile. It
// deletes files without a checkpoint: their run ended before one was stored.
func (s *keptRuns) readLocked(id string) (*keptRun, error) {
	d, err := s.openFiles(id)
	if err != nil {
		return nil, err
	}
	f, err := readKeptRun(d.Read, false)
	if errors.Is(err, errNone) {
		deleteFiles(d)
		return nil, err
	}
	d.Close()
	return f, err
}

// continueRun continues an interrupted run on the open data.
func (s *keptRuns) continueRun(r Request, q run.GoOnRequest) (_ any, err error) {
	if err := s.runs.free(); err != nil {
		return nil, err
	}
	d, err := s.openFiles(q.ID)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	f, err := readKeptRun(d.Read, true)
	if err != nil {
		return nil, err
	}
	if f.Program != q.Program {
		return nil, errors.New("worker: this run was interrupted under another version of the page, and no other goes on with it: start it anew")
	}
	if err := s.sameData(f.CheckpointInfo); err != nil {
		return nil, err
	}
	var start *model.Weights
	if f.Start != nil { // its state has what became of the weights
		start = &model.Weights{Info: *f.Start}
	}
	p, err := s.runs.plans.prepareFrom(f.Config, start)
	if err != nil {
		return nil, err
	}
	plan, ok := p.plan.(Resumable)
	if !ok {
		return nil, errDamaged
	}
	f.countSeen(q.Seen)
	if err := plan.Fits(f.state.state); err != nil {
		return nil, err
	}
	p.from = f
	return s.runs.start(r.ID, p, f.continueWriter(s.store, s.runs.mail.now, q.ID, d), q.Paused, nil)
}

// sameData refuses data other than the run's: other training rows, other test rows, other files, or
// other features.
func (s *keptRuns) sameData(of run.CheckpointInfo) error {
	other := func(format string, args ...any) error {
		return &run.ConfigError{Field: "data", Message: fmt.Sprintf(format, args...)}
	}
	here := s.runs.plans.data
	switch {
	case of.Builtin != "" && of.Builtin != here.publicName(of.Config):
		return fmt.Errorf("worker: this run was on the built-in data %s, and other data are open here", of.Builtin)
	case of.Builtin != "":
		return sameFeatures(of, here.rows, other)
	case of.Record == nil:
		return errors.New("worker: it was not stored what data this run was on, as the ledger could not be read: start it anew")
	case !here.fromFiles():
		return other("this run was on %s: open it again, and then go on", of.Data)
	}
	if err := sameFeatures(of, here.rows, other); err != nil {
		return err
	}
	trained, tested, err := s.runs.ledger.hashes(of.Record.Salt)
	switch {
	case err != nil:
		return err
	case trained != of.Trained:
		return other("this is not the data that the run was interrupted on: open %s as it was, and then go on", of.Data)
	case tested != of.Tested:
		return other("the test files are not those of the run that was interrupted: open %s with the same test files, and then go on", of.Data)
	}
	return nil
}

// sameFeatures refuses features that were made in another way than the run's, features where the run had
// rows, and rows where it had features.
func sameFeatures(of run.CheckpointInfo, rows *data.Dataset, other func(string, ...any) error) error {
	var made *run.Backbone
	if rows != nil {
		made = rows.Backbone
	}
	switch want := of.Backbone; {
	case want == nil && made != nil:
		return other("this run was on the rows of %s as they are, and here a backbone made features of them: open the data without it, and then go on", of.Data)
	case want != nil && (made == nil || *made != *want):
		return other("this run was on features of %s that a backbone made (%s): make them again with the same files and settings, and then go on", of.Data, want.Identity())
	}
	return nil
}

// discard deletes an interrupted run.
func (s *keptRuns) discard(q run.DiscardRequest) (any, error) {
	d, err := s.openFiles(q.ID)
	switch {
	case errors.Is(err, ErrGone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return nil, deleteFiles(d)
}
