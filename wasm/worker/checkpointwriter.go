package worker

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clipscope/core/run"
)

// Vault stores checkpoints of runs, which outlive their workers there. It has a drawer for
// each run.
type Vault interface {
	// Open opens a run's drawer for this worker alone, or returns [ErrHeld], and for one that
	// is not there, unless fresh has it made, [ErrGone].
	Open(id string, fresh bool) (Drawer, error)
	// List names the drawers that nobody has open.
	List() ([]string, error)
	// Peek reads a drawer like its Read, without opening it.
	Peek(id string, file, most int) ([]byte, error)
}

// Drawer is the storage of one run: files, by number.
type Drawer interface {
	// Read returns the beginning of a file, most bytes at most; of one that is not there,
	// nothing.
	Read(file, most int) ([]byte, error)
	// Write puts b in a file from its beginning, and what follows stays. When it
	// returns, that is on disk.
	Write(file int, b []byte) error
	// Close lets others open the drawer, and Remove deletes it instead.
	Close()
	Remove() error
}

var (
	// ErrHeld reports that another worker has the drawer open.
	ErrHeld = errors.New("the run goes on in another tab")
	// ErrGone reports that there is no such drawer.
	ErrGone = errors.New("nothing is stored of this run any more: it went on, or was discarded, here or in another tab")
)

// DrawerFiles is the number of files in a drawer. Of each kind there are two, written in
// turn, so that a crash in the midst of writing leaves the one before.
const (
	stateFiles   = 0
	journalFiles = 2
	DrawerFiles  = 4
)

const (
	// firstKeep is the time until a run's state is stored for the first time, and the least
	// time between two states from then on. timeShare is the share of a run's time that
	// storing may take: with the journal's 200th, 2 %.
	firstKeep = 2 * time.Second
	timeShare = 0.015
	// ahead is the time for which a journal entry lets steps be posted, so that none is
	// written for each event: as many steps may be lost. Where writing is slow, it is slower
	// times the time of a write, up to the time between two states. A run whose page may be
	// about to go has nothing ahead, for the time of parting.
	ahead   = 500 * time.Millisecond
	slower  = 200
	parting = time.Second
)

// keeper stores the checkpoints of a run. Its methods do nothing for a nil one, nor after
// storing has failed.
//
// # Guarantee
//
// Whatever happens and whenever, the drawer has afterwards as released no fewer steps than
// were posted: events are posted after [keeper.cover] has returned, and before that the
// number is on disk, wherever a state is. Where it cannot be written, the states are
// deleted, and where not even that can be, no step is covered any more: the run ends with an
// error instead of posting more.
type keeper struct {
	vault Vault
	now   func() time.Time
	id    string
	about []byte
	steps int         // planned
	soon  atomic.Bool // the state is to be stored at once

	mu       sync.Mutex
	drawer   Drawer // nil until there is something to store
	number   uint64
	state    int // the file that the last state is in
	journal  int // and the last number of steps
	released int // on disk
	posted   int // the last step that was covered

	off   string // reason for which nothing is stored
	stuck error  // states are left that could be neither brought up to date nor deleted
	left  bool   // others may go on from the drawer
	last  time.Time
	done  int           // the last step that was stored, and last when
	every time.Duration // between two states
	ahead time.Duration // of the journal
	near  time.Time     // until when it is not ahead
}

// newKeeper returns the keeper of a run that has not begun.
func newKeeper(v Vault, now func() time.Time, id string, about run.Stored) *keeper {
	k := &keeper{vault: v, now: now, id: id, steps: about.Steps, last: now(), every: firstKeep, ahead: ahead, state: stateFiles, journal: journalFiles}
	var err error
	if k.about, err = json.Marshal(about); err == nil && len(k.about) > mostAbout {
		err = errors.New("its configuration is too large")
	}
	switch {
	case v == nil:
		err = errors.New("there is nowhere to store it")
	case !named(id):
		err = errors.New("it has no name that can be stored")
	}
	if err != nil {
		k.off = err.Error()
	}
	return k
}

// named reports whether a run may be stored under that name: names are hexadecimal, as
// the page draws them, and nothing else gets as far as the storage.
func named(id string) bool {
	_, err := hex.DecodeString(id)
	return err == nil && id != "" && len(id) <= 64
}

// note returns the reason for which the run could not have gone on, for its result; empty:
// it could have.
func (k *keeper) note() string {
	if k == nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.off == "" {
		return ""
	}
	return "Nothing was stored from which this run could have gone on after a crash: " + strings.TrimSuffix(k.off, ".") + "."
}

// cover writes the journal up to step before its event is posted.
func (k *keeper) cover(step int) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.posted = max(k.posted, step)
	switch {
	case k.stuck != nil:
		return k.stuck
	case step <= k.released:
		return nil
	case k.left:
		return fmt.Errorf("worker: %w", ErrHeld)
	case k.drawer == nil:
		return nil
	}
	return k.write(&slip{released: k.reach(step)})
}

// reach returns the last step that a journal entry written at step lets be posted.
func (k *keeper) reach(step int) int {
	now := k.now()
	since := now.Sub(k.last)
	if since <= 0 || now.Before(k.near) {
		return step
	}
	more := float64(step-k.done) * float64(k.ahead) / float64(since)
	return max(step, min(k.steps, step+int(more)))
}

// write puts a slip on disk, and where that fails deletes all states.
func (k *keeper) write(r *slip) error {
	k.number++
	r.number = k.number
	file := &k.journal
	if r.state != nil {
		file = &k.state
	}
	next, began := *file^1, k.now()
	if err := k.drawer.Write(next, r.fileBytes()); err != nil {
		return k.fail(err)
	}
	*file, k.released = next, r.released
	if r.state == nil {
		k.ahead = min(max(ahead, slower*k.now().Sub(began)), k.every)
	}
	return nil
}

// fail gives up storing.
func (k *keeper) fail(why error) error {
	k.off = why.Error()
	return k.drop()
}

// drop deletes the drawer, so that nobody can go on from it.
func (k *keeper) drop() error {
	d := k.drawer
	if d == nil {
		return nil
	}
	k.drawer, k.stuck = nil, drop(d)
	return k.stuck
}

// drop empties a drawer before it removes it: where only some of its files can be removed, no
// state is left without its journal.
func drop(d Drawer) error {
	none := make([]byte, slipHead)
	err := errors.Join(d.Write(stateFiles, none), d.Write(stateFiles+1, none))
	if removed := d.Remove(); removed == nil || err == nil {
		return nil
	}
	return fmt.Errorf("worker: what is stored of the run can neither be brought up to date nor deleted: %w", err)
}

// hurry has the state stored after the step under way. It never waits.
func (k *keeper) hurry() {
	if k != nil {
		k.soon.Store(true)
	}
}

// storeIfDue stores the run's state if that is due. paused says that the run rests now.
func (k *keeper) storeIfDue(ctx context.Context, t Trainer, paused bool) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	soon := k.soon.Swap(false)
	if soon {
		k.near = k.now().Add(parting)
	}
	due := k.off == "" && (soon || paused || k.now().Sub(k.last) >= k.every)
	k.mu.Unlock()
	if !due {
		return nil
	}
	return k.store(ctx, t, paused)
}

// store stores the run's state.
func (k *keeper) store(ctx context.Context, t Trainer, paused bool) error {
	began := k.now()
	c, ok := t.(Checkpointer)
	if !ok {
		return nil
	}
	k.openDrawer()
	state, step, err := c.Checkpoint(context.WithoutCancel(ctx))
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.drawer == nil: // opening it, or writing meanwhile, failed
		return nil
	case err != nil:
		return k.fail(err)
	case step == 0 || step == k.done && k.released == max(step, k.posted):
		return nil
	}
	r := &slip{step: step, released: max(step, k.posted), about: k.about, state: state}
	if !paused {
		r.released = k.reach(r.released)
	}
	if err := k.write(&slip{released: r.released}); err != nil || k.off != "" { // so that no state is without its journal
		return err
	}
	if err := k.write(r); err != nil || k.off != "" {
		return err
	}
	k.last, k.done = k.now(), step
	took := k.last.Sub(began)
	k.every = max(firstKeep, time.Duration(float64(took)/timeShare))
	return nil
}

// openDrawer opens the drawer where it is not open. That may take a turn of the event
// loop, which k.mu must not be held for.
func (k *keeper) openDrawer() {
	k.mu.Lock()
	open := k.drawer != nil
	k.mu.Unlock()
	if open {
		return
	}
	d, err := k.vault.Open(k.id, true)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.off = err.Error() // and nothing is stored yet
		return
	}
	k.drawer = d
}

// end deletes the drawer, as the run has ended.
func (k *keeper) end() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.drop()
}

// leave lets others go on from the drawer. From then on no step is covered that is not
// counted there.
func (k *keeper) leave() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.drawer != nil {
		k.drawer.Close()
		k.drawer, k.left = nil, true
	}
}

// failure returns the error that ends the run; nil: none does.
func (k *keeper) failure() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stuck
}

// found is the content of a drawer.
type found struct {
	run.Stored
	newest   *slip // the newest that is whole, of any kind
	state    *slip // the newest with a state; nil: there is none
	journal  *slip // the newest without one
	files    [DrawerFiles]*slip
	released int // how many steps may have been seen
}

// look reads a drawer, with its states or only with their descriptions. The error is errNone
// where no state was stored, and errSlip where one was and nothing can be told from it; what is
// found is returned then as well, as far as it goes.
//
// # Guarantee
//
// Of what a [keeper] wrote, released is no less than the steps that were posted, also where it
// was killed in the midst of a write, one byte of the drawer changed, or files of it are gone:
// a journal that is missing or behind its state is errSlip, and no lower bound.
func look(read func(file, most int) ([]byte, error), whole bool) (*found, error) {
	f := &found{}
	most, written := listed, false
	if whole {
		most = slipHead + mostAbout + mostState + 2*checksum
	}
	for i := range f.files {
		b, err := read(i, most)
		if err != nil {
			return nil, fmt.Errorf("worker: reading what is stored of a run: %w", err)
		}
		var r *slip
		if i < journalFiles {
			r, err = readSlip(b, whole)
			written = written || !blank(b)
		} else {
			r, err = readJournal(b)
		}
		if err != nil {
			continue // never written, or not to the end
		}
		if f.files[i] = r; f.newest == nil || r.number > f.newest.number {
			f.newest = r
		}
		if len(r.about) > 0 && (f.state == nil || r.number > f.state.number) {
			f.state = r
		}
		if len(r.about) == 0 && (f.journal == nil || r.number > f.journal.number) {
			f.journal = r
		}
	}
	switch {
	case f.state == nil && !written:
		return f, errNone
	case f.state == nil:
		return f, errSlip
	}
	if err := json.Unmarshal(f.state.about, &f.Stored); err != nil {
		return f, errSlip
	}
	f.released = max(f.newest.released, f.state.step)
	if !f.journaled() {
		return f, errSlip
	}
	return f, nil
}

// journaled reports whether the journal is all there. A state's number is one more than that of
// the slip that the journal got before it, and a slip after the first is written once the one
// before is whole, in the other file.
func (f *found) journaled() bool {
	j := f.journal
	if j == nil || f.state.number > j.number+1 {
		return false
	}
	return j.number == 1 || f.files[journalFiles] != nil && f.files[journalFiles+1] != nil
}

// seen counts the steps that were seen by the ledger, or all that there are.
func (f *found) seen(steps int) { f.released = max(f.released, min(steps, f.Steps)) }

// takenUp returns the keeper of a run that goes on.
func (f *found) takenUp(v Vault, now func() time.Time, id string, d Drawer) *keeper {
	k := newKeeper(v, now, id, f.Stored)
	k.drawer, k.number, k.done, k.posted = d, f.newest.number, f.state.step, f.released
	k.released = max(f.newest.released, f.state.step)
	for i, r := range f.files {
		switch {
		case r == nil:
		case i < journalFiles && r == f.state:
			k.state = i
		case i >= journalFiles && (f.files[k.journal] == nil || r.number >= f.files[k.journal].number):
			k.journal = i
		}
		if r == nil || i < journalFiles {
			continue
		}
		// Both copies are whole again before the next write may break one. Whatever breaks this
		// write leaves the copy that was read.
		if err := d.Write(i, r.fileBytes()); err != nil {
			k.fail(err)
			return k
		}
	}
	return k
}
