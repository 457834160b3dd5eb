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

// CheckpointStore stores checkpoints of runs, which outlive their workers there, in
// files of its own for each run.
type CheckpointStore interface {
	// Open opens a run's files for this worker alone. It returns [ErrLocked] where another worker
	// has them open, and [ErrGone] where there are none, unless fresh has them made.
	Open(id string, fresh bool) (CheckpointFiles, error)
	// List returns the names of the runs whose files nobody has open.
	List() ([]string, error)
	// Peek is like [CheckpointFiles.Read], without opening the files.
	Peek(id string, file, most int) ([]byte, error)
}

// CheckpointFiles is the storage of one run: files, by number.
type CheckpointFiles interface {
	// Read returns the beginning of a file, most bytes at most; of one that is not there,
	// nothing.
	Read(file, most int) ([]byte, error)
	// Write puts b in a file from its beginning, and what follows stays. When it
	// returns, that is on disk.
	Write(file int, b []byte) error
	// Close lets others open the files, and Remove deletes them instead.
	Close()
	Remove() error
}

var (
	// ErrLocked reports that another worker has the run's files open.
	ErrLocked = errors.New("the run goes on in another tab")
	// ErrGone reports that nothing is stored of the run.
	ErrGone = errors.New("nothing is stored of this run any more: it went on, or was discarded, here or in another tab")
)

// FilesPerRun is the number of files of a run. Of each kind there are two, written in
// turn, so that a crash in the midst of writing leaves the one before.
const (
	stateFiles   = 0
	journalFiles = 2
	FilesPerRun  = 4
)

const (
	// firstCheckpoint is the time until a run's state is stored for the first time, and the least
	// time between two states from then on. timeShare is the share of a run's time that
	// storing may take: with the journal's 200th, 2 %.
	firstCheckpoint = 2 * time.Second
	timeShare       = 0.015
	// ahead is the time for which a journal entry lets steps be posted, so that none is
	// written for each event: as many steps may be lost. Where writing is slow, it is slower
	// times the time of a write, up to the time between two states. A run whose page may be
	// about to go has nothing ahead, for the time of parting.
	ahead   = 500 * time.Millisecond
	slower  = 200
	parting = time.Second
)

// checkpointWriter stores the checkpoints of a run. Its methods do nothing for a nil one, nor after
// storing has failed.
//
// # Guarantee
//
// Whatever happens and whenever, the files have afterwards as released no fewer steps than
// were posted: events are posted after [checkpointWriter.coverStep] has returned, and before that the
// number is on disk, wherever a state is. Where it cannot be written, the states are
// deleted, and where not even that can be, no step is covered any more: the run ends with an
// error instead of posting more.
type checkpointWriter struct {
	store CheckpointStore
	now   func() time.Time
	id    string
	info  []byte
	steps int         // planned
	soon  atomic.Bool // the state is to be stored at once

	mu            sync.Mutex
	files         CheckpointFiles // nil until there is something to store
	number        uint64
	state         int // the file that the last state is in
	journal       int // and the last number of steps
	releasedSteps int // on disk
	postedStep    int // the last step that was covered

	offReason  string // reason for which nothing is stored
	stuckErr   error  // states are left that could be neither brought up to date nor deleted
	isLeft     bool   // others may go on from the files
	storedAt   time.Time
	storedStep int           // the last step that was stored, and last when
	interval   time.Duration // between two states
	ahead      time.Duration // of the journal
	exactUntil time.Time     // until when it is not ahead
	exact      bool          // it never is: a party does not answer a round that it may have answered before
}

// newCheckpointWriter returns the writer of a run that has not begun.
func newCheckpointWriter(v CheckpointStore, now func() time.Time, id string, about run.CheckpointInfo) *checkpointWriter {
	k := &checkpointWriter{store: v, now: now, id: id, steps: about.Steps, storedAt: now(), interval: firstCheckpoint, ahead: ahead, state: stateFiles, journal: journalFiles, exact: about.Config.Together.Parties > 0}
	if k.exact {
		k.interval = 0 // the others wait for a party that does not come back
	}
	var err error
	if k.info, err = json.Marshal(about); err == nil && len(k.info) > mostRunInfo {
		err = errors.New("its configuration is too large")
	}
	switch {
	case v == nil:
		err = errors.New("there is nowhere to store it")
	case !validID(id):
		err = errors.New("it has no name that can be stored")
	}
	if err != nil {
		k.offReason = err.Error()
	}
	return k
}

// validID reports whether a run may be stored under that name: names are hexadecimal, as
// the page draws them, and nothing else gets as far as the storage.
func validID(id string) bool {
	_, err := hex.DecodeString(id)
	return err == nil && id != "" && len(id) <= 64
}

// offNote returns the reason for which the run could not have gone on, for its result; empty:
// it could have.
func (k *checkpointWriter) offNote() string {
	if k == nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.offReason == "" {
		return ""
	}
	return "Nothing was stored from which this run could have gone on after a crash: " + strings.TrimSuffix(k.offReason, ".") + "."
}

// coverStep writes the journal up to step before its event is posted.
func (k *checkpointWriter) coverStep(step int) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.postedStep = max(k.postedStep, step)
	switch {
	case k.stuckErr != nil:
		return k.stuckErr
	case step <= k.releasedSteps:
		return nil
	case k.isLeft:
		return fmt.Errorf("worker: %w", ErrLocked)
	case k.files == nil:
		return nil
	}
	return k.writeCheckpoint(&checkpoint{released: k.lastCovered(step)})
}

// lastCovered returns the last step that a journal entry written at step lets be posted.
func (k *checkpointWriter) lastCovered(step int) int {
	now := k.now()
	since := now.Sub(k.storedAt)
	if k.exact || since <= 0 || now.Before(k.exactUntil) {
		return step
	}
	more := float64(step-k.storedStep) * float64(k.ahead) / float64(since)
	return max(step, min(k.steps, step+int(more)))
}

// writeCheckpoint puts a checkpoint on disk, and where that fails deletes all states.
func (k *checkpointWriter) writeCheckpoint(r *checkpoint) error {
	k.number++
	r.number = k.number
	file := &k.journal
	if r.state != nil {
		file = &k.state
	}
	next, began := *file^1, k.now()
	if err := k.files.Write(next, r.fileBytes()); err != nil {
		return k.giveUp(err)
	}
	*file, k.releasedSteps = next, r.released
	if r.state == nil {
		k.ahead = min(max(ahead, slower*k.now().Sub(began)), k.interval)
	}
	return nil
}

// giveUp gives up storing.
func (k *checkpointWriter) giveUp(why error) error {
	k.offReason = why.Error()
	return k.deleteFiles()
}

// deleteFiles deletes the run's files, so that nobody can go on from them.
func (k *checkpointWriter) deleteFiles() error {
	d := k.files
	if d == nil {
		return nil
	}
	k.files, k.stuckErr = nil, deleteFiles(d)
	return k.stuckErr
}

// deleteFiles empties a run's files before it removes them: where only some can be removed, no state
// is left without its journal.
func deleteFiles(d CheckpointFiles) error {
	none := make([]byte, checkpointHead)
	err := errors.Join(d.Write(stateFiles, none), d.Write(stateFiles+1, none))
	if removed := d.Remove(); removed == nil || err == nil {
		return nil
	}
	return fmt.Errorf("worker: what is stored of the run can neither be brought up to date nor deleted: %w", err)
}

// storeSoon has the state stored after the step under way. It never waits.
func (k *checkpointWriter) storeSoon() {
	if k != nil {
		k.soon.Store(true)
	}
}

// storeIfDue stores the run's state if that is due. paused says that the run rests now.
func (k *checkpointWriter) storeIfDue(ctx context.Context, t Trainer, paused bool) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	soon := k.soon.Swap(false)
	if soon {
		k.exactUntil = k.now().Add(parting)
	}
	due := k.offReason == "" && (soon || paused || k.now().Sub(k.storedAt) >= k.interval)
	k.mu.Unlock()
	if !due {
		return nil
	}
	return k.writeState(ctx, t, paused)
}

// writeState stores the run's state.
func (k *checkpointWriter) writeState(ctx context.Context, t Trainer, paused bool) error {
	began := k.now()
	c, ok := t.(Checkpointer)
	if !ok {
		return nil
	}
	k.openFiles()
	state, step, err := c.Checkpoint(context.WithoutCancel(ctx))
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.files == nil: // opening it, or writing meanwhile, failed
		return nil
	case err != nil:
		return k.giveUp(err)
	case step == 0 || step == k.storedStep && k.releasedSteps == max(step, k.postedStep):
		return nil
	}
	r := &checkpoint{step: step, released: max(step, k.postedStep), info: k.info, state: state}
	if !paused {
		r.released = k.lastCovered(r.released)
	}
	if err := k.writeCheckpoint(&checkpoint{released: r.released}); err != nil || k.offReason != "" { // so that no state is without its journal
		return err
	}
	if err := k.writeCheckpoint(r); err != nil || k.offReason != "" {
		return err
	}
	k.storedAt, k.storedStep = k.now(), step
	took := k.storedAt.Sub(began)
	k.interval = max(firstCheckpoint, time.Duration(float64(took)/timeShare))
	return nil
}

// openFiles opens the files where they are not open. That may take a turn of the event
// loop, which k.mu must not be held for.
func (k *checkpointWriter) openFiles() {
	k.mu.Lock()
	open := k.files != nil
	k.mu.Unlock()
	if open {
		return
	}
	d, err := k.store.Open(k.id, true)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.offReason = err.Error() // and nothing is stored yet
		return
	}
	k.files = d
}

// endRun deletes the files, as the run has ended.
func (k *checkpointWriter) endRun() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.deleteFiles()
}

// leaveFiles lets others go on from the files. From then on no step is covered that is not
// counted there.
func (k *checkpointWriter) leaveFiles() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files != nil {
		k.files.Close()
		k.files, k.isLeft = nil, true
	}
}

// stuckError returns the error that ends the run; nil: none does.
func (k *checkpointWriter) stuckError() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stuckErr
}

// keptRun is the content of a run's files.
type keptRun struct {
	run.CheckpointInfo
	newest   *checkpoint // the newest that is whole, of any kind
	state    *checkpoint // the newest with a state; nil: there is none
	journal  *checkpoint // the newest without one
	files    [FilesPerRun]*checkpoint
	released int // how many steps may have been seen
}

// readKeptRun reads a run's files, with their states or only with their descriptions. The error is errNone
// where no state was stored, and errDamaged where one was and nothing can be told from it; what is
// found is returned then as well, as far as it goes.
//
// # Guarantee
//
// Of what a [checkpointWriter] wrote, released is no less than the steps that were posted, also where it
// was killed in the midst of a write, one byte of a file changed, or files are gone:
// a journal that is missing or behind its state is errDamaged, and no lower bound.
func readKeptRun(read func(file, most int) ([]byte, error), whole bool) (*keptRun, error) {
	f := &keptRun{}
	most, written := listed, false
	if whole {
		most = checkpointHead + mostRunInfo + mostState + 2*checksum
	}
	for i := range f.files {
		b, err := read(i, most)
		if err != nil {
			return nil, fmt.Errorf("worker: reading what is stored of a run: %w", err)
		}
		var r *checkpoint
		if i < journalFiles {
			r, err = readCheckpoint(b, whole)
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
		if len(r.info) > 0 && (f.state == nil || r.number > f.state.number) {
			f.state = r
		}
		if len(r.info) == 0 && (f.journal == nil || r.number > f.journal.number) {
			f.journal = r
		}
	}
	switch {
	case f.state == nil && !written:
		return f, errNone
	case f.state == nil:
		return f, errDamaged
	}
	if err := json.Unmarshal(f.state.info, &f.CheckpointInfo); err != nil {
		return f, errDamaged
	}
	f.released = max(f.newest.released, f.state.step)
	if !f.journaled() {
		return f, errDamaged
	}
	return f, nil
}

// journaled reports whether the journal is all there. A state's number is one more than that of
// the checkpoint that the journal got before it, and one after the first is written once the one
// before is whole, in the other file.
func (f *keptRun) journaled() bool {
	j := f.journal
	if j == nil || f.state.number > j.number+1 {
		return false
	}
	return j.number == 1 || f.files[journalFiles] != nil && f.files[journalFiles+1] != nil
}

// countSeen counts the steps that were seen by the ledger, or all that there are.
func (f *keptRun) countSeen(steps int) { f.released = max(f.released, min(steps, f.Steps)) }

// continueWriter returns the writer of a run that goes on.
func (f *keptRun) continueWriter(v CheckpointStore, now func() time.Time, id string, d CheckpointFiles) *checkpointWriter {
	k := newCheckpointWriter(v, now, id, f.CheckpointInfo)
	k.files, k.number, k.storedStep, k.postedStep = d, f.newest.number, f.state.step, f.released
	k.releasedSteps = max(f.newest.released, f.state.step)
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
			k.giveUp(err)
			return k
		}
	}
	return k
}
