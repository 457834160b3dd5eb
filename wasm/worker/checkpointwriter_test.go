package worker

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// memStore is a store in memory, whose writes may end anywhere.
type memStore struct {
	mu    sync.Mutex
	byRun map[string]*memFiles
}

func newMemStore() *memStore { return &memStore{byRun: map[string]*memFiles{}} }

// memFiles dies when so many bytes are left to be written, or fails, and then for good.
type memFiles struct {
	of    *memStore
	id    string
	held  bool
	files [FilesPerRun][]byte
	left  int  // -1: any number
	fails bool // rather than dies
	stuck bool // not even to be removed, once it failed
	full  bool
}

var (
	errKilled = errors.New("killed")
	errFull   = errors.New("it is full")
)

func (v *memStore) Open(id string, fresh bool) (CheckpointFiles, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	d, ok := v.byRun[id]
	switch {
	case ok && d.held:
		return nil, ErrLocked
	case !ok && !fresh:
		return nil, ErrGone
	case !ok:
		d = &memFiles{of: v, id: id, left: -1}
		v.byRun[id] = d
	}
	d.held = true
	return d, nil
}

func (v *memStore) List() (ids []string, _ error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, d := range v.byRun {
		if !d.held {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (v *memStore) Peek(id string, file, most int) ([]byte, error) {
	v.mu.Lock()
	d, ok := v.byRun[id]
	v.mu.Unlock()
	if !ok {
		return nil, ErrGone
	}
	return d.Read(file, most)
}

// kill has the files as they are now be free, and whoever had them write elsewhere.
func (v *memStore) kill(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	d := &memFiles{of: v, id: id, left: -1}
	for i, f := range v.byRun[id].files {
		d.files[i] = slices.Clone(f)
	}
	v.byRun[id] = d
}

// stored waits until the state of a step is in a run's files.
func (v *memStore) stored(t *testing.T, id string, step int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		v.mu.Lock()
		d, ok := v.byRun[id]
		v.mu.Unlock()
		if !ok {
			continue
		}
		if f, err := readKeptRun(d.Read, true); err == nil && f.state.step == step {
			return
		}
	}
	t.Fatalf("step %d is not stored", step)
}

func (v *memStore) size() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.byRun)
}

func (d *memFiles) Read(file, most int) ([]byte, error) {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	b := d.files[file]
	return slices.Clone(b[:min(most, len(b))]), nil
}

func (d *memFiles) Write(file int, b []byte) error {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	if d.full && d.stuck {
		return errFull
	}
	end := len(b)
	if d.left >= 0 && end > d.left && !d.full {
		end = d.left
	}
	f := d.files[file]
	if len(f) < end {
		f = append(f, make([]byte, end-len(f))...)
	}
	copy(f, b[:end])
	d.files[file] = f
	if d.left >= 0 {
		d.left -= end
	}
	if end == len(b) {
		return nil
	}
	if d.fails {
		d.full = true
		return errFull
	}
	panic(errKilled)
}

func (d *memFiles) Close() {
	d.of.mu.Lock()
	d.held = false
	d.of.mu.Unlock()
}

func (d *memFiles) Remove() error {
	if d.stuck {
		return errFull
	}
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	if d.of.byRun[d.id] == d {
		delete(d.of.byRun, d.id)
	}
	return nil
}

// stateOf is the state of a step that can be told from every other.
func stateOf(step int) []byte {
	b := make([]byte, 1+step*37%400)
	for i := range b {
		b[i] = byte(step*7 + i*step)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(step)), b...)
}

// states is a trainer of which nothing but the state is asked.
type states struct {
	Trainer
	step int
}

func (s *states) Checkpoint(context.Context) ([]byte, int, error) {
	return stateOf(s.step), s.step, nil
}

// life is what one of a run's lives told, at most, and stored last.
type life struct{ told, stored int }

// live has a run of so many steps live until it is killed, or ends.
func (l *life) live(k *checkpointWriter, clock *time.Time, rng *rand.Rand, from, steps int) (err error, killed bool) {
	defer func() {
		if p := recover(); p == errKilled {
			killed = true
		} else if p != nil {
			panic(p)
		}
	}()
	for step := from + 1; step <= steps; step++ {
		*clock = clock.Add(time.Duration(rng.ExpFloat64() * float64(300*time.Millisecond)))
		if rng.IntN(3) == 0 {
			if err := k.coverStep(step); err != nil {
				return err, false
			}
			l.told = step
		}
		if rng.IntN(20) == 0 {
			k.storeSoon()
		}
		was, state := k.number, max(step-rng.IntN(3), l.stored, 1) // perhaps not the last one's
		if err := k.storeIfDue(context.Background(), &states{step: state}, rng.IntN(10) == 0); err != nil {
			return err, false
		}
		if k.offReason == "" && k.number > was && k.storedStep == state {
			l.stored = state
		}
		if rng.IntN(60) == 0 {
			return nil, true
		}
	}
	l.stored = 0 // what is stored goes now, and may half be gone
	return k.endRun(), false
}

const anyID = "0123456789abcdef"

// Whenever a run is killed, in the midst of writing too: what is found says at least as
// many steps as were told, its state is a whole one, no older than the last that was
// stored, and with all lives together there are no more steps than planned.
func TestNoToldStepIsLostWhenKilled(t *testing.T) {
	const steps = 120
	found := 0
	for trial := range uint64(3000) {
		rng := rand.New(rand.NewPCG(41, trial))
		clock := time.Unix(0, 0)
		v := newMemStore()
		h := &Host{Checkpoints: v, Now: func() time.Time { return clock }}
		k, from := newCheckpointWriter(h.Checkpoints, h.Now, anyID, run.CheckpointInfo{Steps: steps, Data: "x"}), 0
		l := &life{}
		for lives := 1; lives <= 5; lives++ {
			if d := v.byRun[anyID]; d != nil {
				d.left = rng.IntN(3000)
			} else if k.files == nil {
				d, _ := v.Open(anyID, true)
				d.(*memFiles).left = rng.IntN(3000)
				d.Close()
			}
			err, killed := l.live(k, &clock, rng, from, steps)
			if err != nil {
				t.Fatal(err)
			}
			d := v.byRun[anyID]
			if !killed {
				if len(v.byRun) > 0 && k.number > 0 {
					t.Fatalf("trial %d: files of %d runs are left", trial, len(v.byRun))
				}
				break
			}
			d.held, d.left = false, -1
			again, err := v.Open(anyID, false)
			if err != nil {
				t.Fatal(err)
			}
			f, err := readKeptRun(again.Read, true)
			if errors.Is(err, errDamaged) || errors.Is(err, errNone) {
				if l.stored > 0 {
					t.Fatalf("trial %d, life %d: the state of step %d is lost", trial, lives, l.stored)
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			found++
			if f.released < l.told || f.state.step > f.released || f.released > steps || f.state.step < l.stored || !bytes.Equal(f.state.state, stateOf(f.state.step)) {
				t.Fatalf("trial %d, life %d: step %d was told, %d stored; found are %d, and a state of %d", trial, lives, l.told, l.stored, f.released, f.state.step)
			}
			k = f.continueWriter(h.Checkpoints, h.Now, anyID, again)
			from, l.stored = f.released, f.state.step
		}
	}
	if found < 1000 {
		t.Errorf("only %d of the trials found something", found)
	}
}

// Whatever byte of a file changed, whatever file is gone or cut, and whatever file of the
// journal is gone besides: it says no fewer steps than were posted, or that it is damaged.
func TestDamageCountsNoFewerSteps(t *testing.T) {
	clock := time.Unix(0, 0)
	v := newMemStore()
	k := newCheckpointWriter(v, func() time.Time { return clock }, anyID, run.CheckpointInfo{Steps: 5000, Data: "x"})
	told := 0
	check := func(what string, files [FilesPerRun][]byte) {
		t.Helper()
		f, err := readKeptRun(func(file, most int) ([]byte, error) { return files[file], nil }, true)
		if err == nil && f.released < told {
			t.Errorf("%s: %d steps were posted, and %d are found", what, told, f.released)
		}
		if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errNone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for step := 1; step <= 400; step++ {
		clock = clock.Add(50 * time.Millisecond)
		if err := k.coverStep(step); err != nil {
			t.Fatal(err)
		}
		told = step
		if err := k.storeIfDue(context.Background(), &states{step: step}, false); err != nil {
			t.Fatal(err)
		}
		if step < 150 || step%13 != 0 {
			continue
		}
		whole := v.byRun[anyID].files
		if f, err := readKeptRun(func(file, most int) ([]byte, error) { return whole[file], nil }, true); err != nil || f.released < told {
			t.Fatalf("undamaged, the files say %+v, %v", f, err)
		}
		for i, b := range whole {
			for at := range b {
				bad := whole
				bad[i] = slices.Clone(b)
				bad[i][at] ^= 4
				check(fmt.Sprintf("step %d, byte %d of file %d changed", step, at, i), bad)
			}
		}
		for gone := range 1 << FilesPerRun {
			bad := whole
			for i := range bad {
				if gone>>i&1 == 1 {
					bad[i] = nil
				}
			}
			if gone>>journalFiles == 1 || gone>>journalFiles == 2 || gone>>journalFiles == 3 {
				check(fmt.Sprintf("step %d, files %04b gone", step, gone), bad)
			}
		}
	}
}

// What a run has left, others may go on from: no step is told any more that is not counted
// there, however late who tells it comes.
func TestNothingIsToldOnceTheFilesAreLeft(t *testing.T) {
	clock := time.Unix(0, 0)
	v := newMemStore()
	k := newCheckpointWriter(v, func() time.Time { return clock }, anyID, run.CheckpointInfo{Steps: 100})
	clock = clock.Add(firstCheckpoint)
	if err := k.storeIfDue(context.Background(), &states{step: 5}, true); err != nil {
		t.Fatal(err)
	}
	k.leaveFiles()
	f, err := readKeptRun(v.byRun[anyID].Read, true)
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= 100; step++ {
		if told := k.coverStep(step) == nil; told != (step <= f.released) {
			t.Errorf("step %d is told: %v; %d are counted", step, told, f.released)
		}
	}
}

// Where a disk is full, the run goes on without, and nobody can go on from what was there;
// where that can be neither brought up to date nor deleted, the run tells nothing more.
func TestARunGoesOnWhenTheDiskIsFull(t *testing.T) {
	const steps = 120
	ended := 0
	for trial := range uint64(2000) {
		rng := rand.New(rand.NewPCG(42, trial))
		clock := time.Unix(0, 0)
		v := newMemStore()
		h := &Host{Checkpoints: v, Now: func() time.Time { return clock }}
		k := newCheckpointWriter(h.Checkpoints, h.Now, anyID, run.CheckpointInfo{Steps: steps})
		d, _ := v.Open(anyID, true)
		mem := d.(*memFiles)
		mem.left, mem.fails, mem.stuck = rng.IntN(3000), true, trial%2 == 1
		d.Close()
		l := &life{}
		err, killed := l.live(k, &clock, rng, 0, steps)
		if killed {
			continue
		}
		if (err != nil) && !mem.stuck {
			t.Fatalf("trial %d: %v", trial, err)
		}
		if !mem.full {
			continue
		}
		if k.offNote() == "" || !strings.Contains(k.offNote(), "full") {
			t.Fatalf("trial %d: the note is %q", trial, k.offNote())
		}
		f, look := readKeptRun(mem.Read, true)
		if err == nil && look == nil {
			t.Fatalf("trial %d: after the disk was full a state of step %d is left", trial, f.state.step)
		}
		if look == nil && f.released < l.told {
			t.Fatalf("trial %d: %d steps were told, and %d are found", trial, l.told, f.released)
		}
		if err != nil {
			ended++
		}
	}
	if ended < 20 {
		t.Errorf("only %d runs met a disk that would not let go", ended)
	}
}

// Where what was there could be neither brought up to date nor deleted, no step is covered any
// more, whoever asks.
func TestNoStepIsCoveredOnceStuck(t *testing.T) {
	clock := time.Unix(0, 0)
	v := newMemStore()
	k := newCheckpointWriter(v, func() time.Time { return clock }, anyID, run.CheckpointInfo{Steps: 100})
	clock = clock.Add(firstCheckpoint)
	if err := k.storeIfDue(context.Background(), &states{step: 5}, true); err != nil {
		t.Fatal(err)
	}
	d := v.byRun[anyID]
	d.left, d.fails, d.stuck = 0, true, true
	for _, step := range []int{6, 6, 100, 1} {
		if err := k.coverStep(step); err == nil || !errors.Is(err, errFull) {
			t.Errorf("step %d may be posted: %v", step, err)
		}
	}
	if err := k.stuckError(); !errors.Is(err, errFull) {
		t.Errorf("the run does not end with what is stuck, but with %v", err)
	}
}

// Storing takes no more than its part of a run's time, and is done often enough.
func TestStoringTakesItsPartOfTheTime(t *testing.T) {
	for _, cost := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, time.Second, 3 * time.Second} {
		clock := time.Unix(0, 0)
		v := newMemStore()
		h := &Host{Checkpoints: slowStore{v, &clock, cost}, Now: func() time.Time { return clock }}
		k := newCheckpointWriter(h.Checkpoints, h.Now, anyID, run.CheckpointInfo{Steps: 1 << 20})
		spent, states, longest, last := time.Duration(0), uint64(0), time.Duration(0), clock
		for step := 1; clock.Before(time.Unix(3600, 0)); step++ {
			clock = clock.Add(40 * time.Millisecond)
			began, done := clock, k.storedStep
			if k.coverStep(step) != nil || k.storeIfDue(context.Background(), &fixedState{step: step}, false) != nil {
				t.Fatal("it cannot be stored")
			}
			spent += clock.Sub(began)
			if k.storedStep != done {
				states++
				longest, last = max(longest, clock.Sub(last)), clock
			}
		}
		if part := spent.Seconds() / 3600; part > 0.0201 {
			t.Errorf("storing in %v takes %.2f %% of the time", cost, 100*part)
		}
		if longest > max(firstCheckpoint, 70*cost)+time.Second || states < 15 {
			t.Errorf("storing in %v: %d states, %v apart at most", cost, states, longest)
		}
	}
}

// slowStore's files take their time for each state, and a hundredth for what is small.
type slowStore struct {
	*memStore
	clock *time.Time
	cost  time.Duration
}

type slowFiles struct {
	CheckpointFiles
	of slowStore
}

func (v slowStore) Open(id string, fresh bool) (CheckpointFiles, error) {
	d, err := v.memStore.Open(id, fresh)
	return slowFiles{d, v}, err
}

func (d slowFiles) Write(file int, b []byte) error {
	cost := d.of.cost
	if len(b) < 150 {
		cost /= 100
	}
	*d.of.clock = d.of.clock.Add(cost)
	return d.CheckpointFiles.Write(file, b)
}

type fixedState struct {
	Trainer
	step int
}

func (s *fixedState) Checkpoint(context.Context) ([]byte, int, error) {
	return make([]byte, 200), s.step, nil
}

func FuzzReadCheckpoint(f *testing.F) {
	f.Add((&checkpoint{number: 1, released: 7, step: 3, info: []byte("{}"), state: []byte("state")}).bytes(), true)
	f.Add((&checkpoint{number: 2, released: 9}).bytes(), false)
	f.Fuzz(func(t *testing.T, b []byte, whole bool) {
		s, err := readCheckpoint(b, whole)
		if err != nil {
			return
		}
		if s.step > s.released || s.number == 0 {
			t.Fatalf("%+v was taken", s)
		}
		if whole {
			if again := s.bytes(); !bytes.HasPrefix(b, again) {
				t.Fatal("what was read is not what is written")
			}
		}
	})
}

// Every change of a byte is noticed, and every end before the last.
func TestACheckpointNoticesEveryChangedByte(t *testing.T) {
	good := (&checkpoint{number: 1, released: 7, step: 3, info: []byte("{}"), state: []byte("state")}).bytes()
	if _, err := readCheckpoint(append(slices.Clone(good), "left of a longer one"...), true); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 4
		if _, err := readCheckpoint(bad, true); err == nil {
			t.Errorf("a change of byte %d went unnoticed", i)
		}
		if _, err := readCheckpoint(good[:i], true); err == nil {
			t.Errorf("%d bytes of %d were taken", i, len(good))
		}
	}
}

// storing is a page whose session has a store.
func storing(t *testing.T, v CheckpointStore, trainer func(run.Config, data.Meta) (Planned, error), changes ...func(*Host)) *page {
	return newPage(t, trainer, append(changes, func(h *Host) { h.Checkpoints = v })...)
}

const keptRequest = `{"config":{"data":"digits"},"paused":true,"keep":{"id":"0123456789abcdef","program":"1"}}`

// killed leaves a run of 100 steps whose worker is gone after so many.
func killed(t *testing.T, v *memStore, after int) {
	t.Helper()
	p := storing(t, v, steps(100))
	p.send(Train, 1, keptRequest)
	p.state(Paused)
	for range after {
		p.send(Step, 1, "")
		p.next(EventsType)
	}
	v.stored(t, anyID, after)
	v.kill(anyID)
}

func interrupted(t *testing.T, p *page) []run.KeptRun {
	t.Helper()
	p.send(Interrupted, 90, "")
	return decode[[]run.KeptRun](t, p.next(ReplyType))
}

// A run that is paused is stored, one that goes on is not offered, and one whose worker
// is gone goes on from where it was, and is stored no more once it has ended.
func TestARunGoesOnFromWhereItWas(t *testing.T) {
	v := newMemStore()
	p := storing(t, v, steps(100))
	p.send(Train, 1, keptRequest)
	p.state(Paused)
	if list := interrupted(t, p); len(list) != 0 {
		t.Fatalf("a run that has not begun is stored: %+v", list)
	}
	for range 3 {
		p.send(Step, 1, "")
		p.next(EventsType)
	}
	v.stored(t, anyID, 3)
	other := storing(t, v, steps(100))
	if list := interrupted(t, other); len(list) != 0 {
		t.Fatalf("a run that another worker has in hand is offered: %+v", list)
	}
	goOn := `{"id":"0123456789abcdef","program":"1"}`
	other.send(GoOn, 1, goOn)
	if m := other.next(ErrorType); !strings.Contains(m.Text, "another tab") {
		t.Fatalf("it says %s", m.Text)
	}
	v.kill(anyID)
	list := interrupted(t, other)
	if len(list) != 1 || list[0].Step != 3 || list[0].Released != 3 || list[0].Steps != 100 || list[0].Data != "digits" || list[0].Builtin != "digits" {
		t.Fatalf("interrupted is %+v", list)
	}
	for text, want := range map[string]string{
		`{"id":"0123456789abcdef","program":"2"}`: "another version",
		`{"id":"0123456789abcdee","program":"1"}`: "nothing is stored",
		`{"id":"../x","program":"1"}`:             "no run is called",
	} {
		other.send(GoOn, 2, text)
		if m := other.next(ErrorType); !strings.Contains(m.Text, want) {
			t.Errorf("%s is answered by %s, want %s", text, m.Text, want)
		}
	}
	fewer := storing(t, v, steps(2))
	fewer.send(GoOn, 3, goOn)
	if m := fewer.next(ErrorType); !strings.Contains(m.Text, "does not fit") {
		t.Errorf("a run of another plan is answered by %s", m.Text)
	}
	other.send(GoOn, 4, goOn)
	if info := decode[run.PlanInfo](t, other.next(ReplyType)); info.Steps != 100 {
		t.Errorf("the reply plans %d steps", info.Steps)
	}
	first := decode[[]run.Event](t, other.next(EventsType))[0].Step
	if r := decode[run.Result](t, other.next(DoneType)); first != 4 || r.Steps != 100 {
		t.Errorf("it went on with step %d, to %d", first, r.Steps)
	}
	if v.size() != 0 {
		t.Error("a run that has ended is stored")
	}
}

// Steps that the ledger knows to have been seen are taken no second time, whatever is stored.
func TestNoStepThatTheLedgerSawIsTakenAgain(t *testing.T) {
	for seen, first := range map[int]int{0: 4, 2: 4, 50: 51} {
		v := newMemStore()
		killed(t, v, 3)
		p := storing(t, v, steps(100))
		p.send(GoOn, 2, fmt.Sprintf(`{"id":"0123456789abcdef","program":"1","seen":%d}`, seen))
		p.next(ReplyType)
		if got := decode[[]run.Event](t, p.next(EventsType))[0].Step; got != first {
			t.Errorf("the ledger saw step %d, and it goes on with %d, want %d", seen, got, first)
		}
		p.next(DoneType)
	}
}

// A run whose checkpoints are damaged is listed until it is discarded, and does not go on; one of
// which none was stored is not.
func TestDamagedRunIsListed(t *testing.T) {
	v := newMemStore()
	killed(t, v, 1)
	for _, f := range v.byRun[anyID].files[:journalFiles] {
		if len(f) > 0 {
			f[70] ^= 1
		}
	}
	if _, err := v.Open("ab", true); err != nil {
		t.Fatal(err)
	}
	v.kill("ab")
	p := storing(t, v, steps(100))
	for range 2 { // and looking at it removes nothing
		if list := interrupted(t, p); len(list) != 1 || list[0].ID != anyID || !strings.Contains(list[0].Fault, "damaged") {
			t.Fatalf("the list is %+v", list)
		}
	}
	p.send(GoOn, 2, `{"id":"0123456789abcdef","program":"1"}`)
	if m := p.next(ErrorType); !strings.Contains(m.Text, "damaged") {
		t.Errorf("going on is answered by %s", m.Text)
	}
	p.send(Discard, 3, `{"id":"0123456789abcdef"}`)
	p.next(ReplyType)
	if list := interrupted(t, p); len(list) != 0 || v.size() != 0 {
		t.Errorf("after it was discarded the list is %+v, with files of %d runs", list, v.size())
	}
}

// A run that fails is left to be gone on with; one that is stopped is not, and one that
// is stopped before it goes on has a result.
func TestOnlyFailedRunsAreStoredAfterTheirEnd(t *testing.T) {
	for _, end := range []string{"fails", "is stopped", "is stopped before it goes on"} {
		v := newMemStore()
		p := storing(t, v, func(run.Config, data.Meta) (Planned, error) {
			return &fake{steps: 100, before: func(step int) error {
				if step == 5 && end == "fails" {
					return errors.New("it fell")
				}
				return nil
			}}, nil
		})
		p.send(Train, 1, keptRequest)
		p.state(Paused)
		p.send(Step, 1, "")
		p.next(EventsType)
		switch end {
		case "fails":
			v.stored(t, anyID, 1) // or it may go on before the pause is
			p.send(Resume, 1, "")
			p.next(FailedType)
			list := interrupted(t, p)
			if len(list) != 1 || list[0].Step != 1 || list[0].Released < 1 || list[0].Released > 100 {
				t.Fatalf("a run that fails leaves %+v", list)
			}
			p.send(Discard, 5, `{"id":"0123456789abcdef"}`)
			p.next(ReplyType)
			p.send(Discard, 6, `{"id":"0123456789abcdef"}`) // once more
			p.next(ReplyType)
		case "is stopped":
			p.send(Stop, 1, "")
			p.next(DoneType)
		default:
			v.stored(t, anyID, 1)
			v.kill(anyID)
			other := storing(t, v, steps(100))
			other.send(GoOn, 2, `{"id":"0123456789abcdef","program":"1","paused":true}`)
			other.state(Paused)
			other.send(Stop, 2, "")
			if r := decode[run.Result](t, other.next(DoneType)); r.Steps != 1 || !r.Stopped {
				t.Errorf("stopped before it goes on with %+v", r)
			}
		}
		if n := v.size(); n != 0 {
			t.Errorf("a run that %s leaves files of %d runs", end, n)
		}
	}
}

// A run on files goes on with the same training rows and the same test files, read as they were
// read then whatever its own configuration says, and with no others.
func TestARunGoesOnWithTheSameFilesAlone(t *testing.T) {
	v := newMemStore()
	table := func(name string, first int) memFile {
		var b strings.Builder
		b.WriteString("a,b,kind\n")
		for i := range 60 {
			fmt.Fprintf(&b, "%d,%d,%d\n", i+first*(i/59), i*i%7, i%2)
		}
		return memFile{name, []byte(b.String())}
	}
	const read = `{"csv":{"label":"kind","bounds":{"a":{"lo":0,"hi":100}}}}`
	open := func(csv string, files ...source.File) *page {
		p := storing(t, v, steps(100), func(h *Host) { h.Load = load.Load })
		p.send(Open, 1, csv, files...)
		p.next(ReplyType)
		return p
	}
	p := open(read, table("x.csv", 0), table("x_test.csv", 2))
	p.send(Train, 2, strings.Replace(strings.Replace(keptRequest, "digits", "files", 1), `"program":"1"`, `"program":"1","salt":"`+salt+`"`, 1))
	p.state(Paused)
	p.send(Step, 2, "")
	p.next(EventsType)
	v.stored(t, anyID, 1)
	v.kill(anyID)
	ask := func(p *page) run.Message {
		p.send(GoOn, 3, `{"id":"0123456789abcdef","program":"1","paused":true}`)
		return p.next(ErrorType, ReplyType)
	}
	list := interrupted(t, p)
	if b := list[0].Config.CSV.Bounds["a"]; list[0].Config.CSV.Label != "kind" || b.Hi != 100 {
		t.Errorf("how the files were read is kept as %+v", list[0].Config.CSV)
	}
	if r := list[0].Record; r == nil || r.Run != anyID || r.Salt != salt || r.Entry.Run != anyID || r.Names != nil {
		t.Errorf("the run's entry in the ledger is kept as %+v", r)
	}
	again, err := json.Marshal(run.OpenRequest{CSV: list[0].Config.CSV})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		m    run.Message
		says string
	}{
		"another table":    {ask(open(string(again), table("x.csv", 1), table("x_test.csv", 2))), "open x.csv as it was"},
		"no files":         {ask(storing(t, v, steps(100))), "open it again"},
		"other test rows":  {ask(open(string(again), table("x.csv", 0), table("x_test.csv", 3))), "the same test files"},
		"test rows alone":  {ask(open(string(again), table("x_test.csv", 2))), "as it was"},
		"another test set": {ask(open(string(again), table("x.csv", 0))), "as it was"},
	} {
		if c.m.Type != ErrorType || !strings.Contains(c.m.Text, c.says) {
			t.Errorf("%s is answered by %s %s", what, c.m.Type, c.m.Text)
		}
	}
	if m := ask(open(string(again), table("x.csv", 0), table("x_test.csv", 2))); m.Type != ReplyType {
		t.Errorf("the same files are answered by %s %s", m.Type, m.Text)
	}
}

// A run on features goes on with those of the same model alone, on built-in data as well.
func TestARunGoesOnWithTheSameFeaturesAlone(t *testing.T) {
	made := &run.Backbone{SHA256: "ab", Output: "features", Normalise: "0-1", Batch: 1}
	other := *made
	other.Normalise = "none"
	for what, c := range map[string]struct {
		was, is *run.Backbone
		says    string // empty: it goes on
	}{
		"the rows":         {nil, nil, ""},
		"the features":     {made, &run.Backbone{SHA256: "ab", Output: "features", Normalise: "0-1", Batch: 1}, ""},
		"no features":      {made, nil, "make them again"},
		"other features":   {made, &other, "make them again"},
		"features of rows": {nil, made, "without it"},
	} {
		v := newMemStore()
		open := func(b *run.Backbone) *page {
			p := storing(t, v, steps(100))
			p.send(Open, 1, `{"data":"digits"}`)
			p.next(ReplyType)
			openRows(p.s).Backbone = b
			return p
		}
		p := open(c.was)
		p.send(Train, 2, keptRequest)
		p.state(Paused)
		p.send(Step, 2, "")
		p.next(EventsType)
		v.stored(t, anyID, 1)
		v.kill(anyID)
		p = open(c.is)
		p.send(GoOn, 3, `{"id":"0123456789abcdef","program":"1","paused":true}`)
		if m := p.next(ErrorType, ReplyType); c.says == "" != (m.Type == ReplyType) || !strings.Contains(m.Text, c.says) {
			t.Errorf("%s: %s %s", what, m.Type, m.Text)
		}
	}
}

// TestARunOfAnOlderVersionIsListedAndRefused: what 0.2.0 stored says what was spent, and no other version goes on with it.
func TestARunOfAnOlderVersionIsListedAndRefused(t *testing.T) {
	v := newMemStore()
	d := &memFiles{of: v, id: anyID, left: -1}
	for file, name := range map[int]string{1: "state", 3: "journal"} {
		var err error
		if d.files[file], err = os.ReadFile("../../testdata/0.2.0/interrupted-" + name + ".bin"); err != nil {
			t.Fatal(err)
		}
	}
	v.byRun[anyID] = d
	p := storing(t, v, steps(20))
	list := interrupted(t, p)
	if len(list) != 1 || list[0].Fault != "" || list[0].Step != 8 || list[0].Released != 9 || list[0].Builtin != "blobs" || list[0].Config.Method != "constant" {
		t.Fatalf("it is listed as %+v", list)
	}
	p.send(Open, 1, `{"data":"digits"}`)
	p.next(ReplyType)
	p.send(GoOn, 2, `{"id":"`+anyID+`","program":"0.3.0+00000000"}`)
	if m := p.next(ErrorType); !strings.Contains(m.Text, "another version of the page") {
		t.Errorf("it goes on: %s", m.Text)
	}
	if list := interrupted(t, p); len(list) != 1 {
		t.Errorf("after that %d are listed", len(list))
	}
}
