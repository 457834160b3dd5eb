package worker

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clipscope/core/run"
)

// named reports whether a run may be stored under that name: names are hexadecimal, as
// the page draws them, and nothing else gets as far as the storage.
func named(id string) bool {
	_, err := hex.DecodeString(id)
	return err == nil && id != "" && len(id) <= 64
}

// drawerOf opens the drawer of a run that was interrupted.
func (s *Session) drawerOf(id string) (Drawer, error) {
	if s.host.Vault == nil {
		return nil, fmt.Errorf("worker: %w", ErrGone)
	}
	if !named(id) {
		return nil, fmt.Errorf("worker: no run is called %q", brief(id, 100))
	}
	d, err := s.host.Vault.Open(id, false)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return d, nil
}

// interrupted lists the runs that are stored and that no worker has in hand, the latest
// first.
func (s *Session) interrupted() (any, error) {
	list := []run.Interrupted{}
	if s.host.Vault == nil {
		return list, nil
	}
	ids, err := s.host.Vault.List()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	for _, id := range ids {
		f, err := look(func(file, most int) ([]byte, error) { return s.host.Vault.Peek(id, file, most) }, false)
		switch {
		case errors.Is(err, errSlip):
			s.clear(id)
		case err == nil: // or it was discarded meanwhile
			list = append(list, run.Interrupted{ID: id, Stored: f.Stored, Step: f.state.step, Released: f.released})
		}
	}
	slices.SortFunc(list, func(a, b run.Interrupted) int { return strings.Compare(b.Started, a.Started) })
	return list, nil
}

// clear does away with a drawer that has nothing to go on from, as of a run that ended
// before its state was stored.
func (s *Session) clear(id string) {
	d, err := s.drawerOf(id)
	if err != nil {
		return
	}
	if _, err := look(d.Read, false); errors.Is(err, errSlip) {
		drop(d)
		return
	}
	d.Close()
}

// goOnWith has an interrupted run go on, on the open data, as train has one begin.
func (s *Session) goOnWith(id int, q run.GoOnRequest) (_ any, err error) {
	if err := s.free(); err != nil {
		return nil, err
	}
	d, err := s.drawerOf(q.ID)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	f, err := look(d.Read, true)
	if err != nil {
		return nil, err
	}
	if f.Program != q.Program {
		return nil, errors.New("worker: this run was interrupted under another version of the page, and no other goes on with it: start it anew")
	}
	if err := s.sameData(f.Stored); err != nil {
		return nil, err
	}
	p, err := s.prepare(f.Config)
	if err != nil {
		return nil, err
	}
	plan, ok := p.plan.(Resumable)
	if !ok {
		return nil, errSlip
	}
	if err := plan.Fits(f.state.state); err != nil {
		return nil, err
	}
	p.from = f
	return s.begin(id, p, f.takenUp(&s.host, q.ID, d), q.Paused), nil
}

// sameData refuses data other than the run's: other training rows, other files, other test
// rows, or other features of them.
func (s *Session) sameData(of run.Stored) error {
	other := func(format string, args ...any) error {
		return &run.ConfigError{Field: "data", Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case of.Builtin != "" && of.Builtin != s.builtinName(of.Config):
		return fmt.Errorf("worker: this run was on the built-in data %s, and other data are open here", of.Builtin)
	case of.Builtin != "":
		return s.sameFeatures(of, other)
	case of.Record == nil:
		return errors.New("worker: it was not stored what data this run was on, as the ledger could not be read: start it anew")
	case s.open == nil || len(s.files) == 0:
		return other("this run was on %s: open it again, and then go on", of.Data)
	}
	if err := s.sameFeatures(of, other); err != nil {
		return err
	}
	trained, tested, err := s.hashes(of.Record.Salt)
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

// sameFeatures refuses rows of which another model made the features, or none did.
func (s *Session) sameFeatures(of run.Stored, other func(string, ...any) error) error {
	var made *run.Backbone
	if s.open != nil {
		made = s.open.Backbone
	}
	switch want := of.Backbone; {
	case want == nil && made != nil:
		return other("this run was on the rows of %s as they are, and here a backbone made features of them: open the data without it, and then go on", of.Data)
	case want != nil && (made == nil || *made != *want):
		return other("this run was on features of %s that a backbone made (SHA-256 %s, output %q): make them again with the same file and settings, and then go on", of.Data, want.SHA256, want.Output)
	}
	return nil
}

// hashes returns a hash of the names that the open data for training have in the ledger under
// a salt, and one of those of the test files. They may be very many.
func (s *Session) hashes(salt string) (train, test string, err error) {
	reply, err := s.digest(run.DigestRequest{Salt: salt})
	if err != nil {
		return "", "", err
	}
	if s.testNames == nil {
		key, err := hex.DecodeString(salt)
		if err != nil {
			return "", "", fmt.Errorf("worker: the ledger's salt: %w", err)
		}
		if s.testNames, err = namesOf(s.tests, key); err != nil {
			return "", "", err
		}
	}
	return hashOf(reply.(run.DigestReply).Names), hashOf(s.testNames), nil
}

// discard gives up an interrupted run.
func (s *Session) discard(q run.DiscardRequest) (any, error) {
	d, err := s.drawerOf(q.ID)
	switch {
	case errors.Is(err, ErrGone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return nil, drop(d)
}
