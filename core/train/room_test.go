package train

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

// roomy is a backend that has room for so many bytes of its own and refuses more, as a GPU does.
type roomy struct {
	*counted
	room  int64
	asked []int64
	err   error
}

func (b *roomy) Device() string { return "a card" }
func (b *roomy) Moved() int64   { return 0 }
func (b *roomy) Lost() error    { return b.err }

func (b *roomy) Reserve(sizes ...int64) (int64, error) {
	b.asked = append(b.asked, sizes...)
	for _, n := range sizes {
		if n <= b.room {
			return n, b.err
		}
	}
	return b.room, b.err
}

func roomConfig(method string) run.Config {
	return run.Config{
		Model: run.Model{Kind: "mlp", Hidden: []int{60}}, Method: method, NoiseMultiplier: ptr(1.0), Accountant: "rdp",
		ExpectedBatchSize: 64, Steps: 8, LearningRate: 0.1, Seed: ptr(uint64(3)),
	}
}

// TestPhysicalBatchFollowsTheBackend: a run takes no more of a backend than it reserves, and
// as many rows at once as fit there, whatever the tab's memory holds. Its result is that of any other
// physical batch, also where the run is changed on its way. It says that it has less than
// it asked for.
func TestPhysicalBatchFollowsTheBackend(t *testing.T) {
	t.Parallel()
	ds := small(t)
	for _, method := range []string{"constant", "dc-e", "adaclip", "psac"} {
		cfg := roomConfig(method)
		if method == "constant" {
			cfg.PCA = run.PCA{Components: 2}
		}
		to := changes{3: {"learning_rate": 0.2}}
		_, want := finishChanging(t, started(t, cfg, ds), to)
		p := planned(t, cfg, ds)
		terms := p.Terms()
		most := terms.CapacityIn(math.MaxInt64)
		for _, rows := range []int{1, 5, most / 2, most} {
			room := terms.Room(rows)
			be := &roomy{counted: newCounted(), room: room}
			r := startOn(t, cfg, ds, be)
			whole := terms.Room(most)
			if len(be.asked) != 1 || be.asked[0] != whole {
				t.Errorf("%s: it asked for %d bytes, want %d once", method, be.asked, whole)
			}
			got := min(be.room, whole)
			if c := terms.CapacityIn(got); c != r.work.model.Capacity || c != rows {
				t.Errorf("%s: %d rows at once in %d bytes, want %d", method, r.work.model.Capacity, got, c)
			}
			events, res := finishChanging(t, r, to)
			if be.most > got {
				t.Errorf("%s: %d bytes were reserved and %d are taken", method, got, be.most)
			}
			if said := strings.Contains(strings.Join(res.Notes, " "), fmt.Sprintf("a card has memory for %d rows at once, not for %d", r.work.capacity, most)); said != (rows < most) {
				t.Errorf("%s, %d rows: notes %q", method, rows, res.Notes)
			}
			if len(events) != cfg.Steps || res.Epsilon != want.Epsilon {
				t.Errorf("%s: %d steps for ε = %v, want %d for %v", method, len(events), res.Epsilon, cfg.Steps, want.Epsilon)
			}
			for i, v := range res.Released.Parameters {
				if w := want.Released.Parameters[i]; !(math.Abs(float64(v-w)) <= 1e-4) {
					t.Fatalf("%s, %d rows at once: parameter %d is %v, want %v", method, r.work.capacity, i, v, w)
				}
			}
			r.Close()
		}
	}
}

// TestNoRoomForARowIsALostBackend: a backend on which not one row fits, or that is lost while it is asked, is
// refused before the first step with the error of a lost one, measured or started, and nothing is taken of it.
func TestNoRoomForARowIsALostBackend(t *testing.T) {
	t.Parallel()
	ds := small(t)
	p := planned(t, roomConfig("constant"), ds)
	terms := p.Terms()
	least := terms.Room(1)
	for name, be := range map[string]*roomy{
		"small": {room: least / 2}, "none": {},
		"lost": {room: math.MaxInt64, err: fmt.Errorf("a cable: %w", compute.ErrLost)},
	} {
		be.counted = newCounted()
		if _, err := Start(t.Context(), p, ds, be); !errors.Is(err, compute.ErrLost) {
			t.Errorf("%s: started with error %v", name, err)
		}
		if _, err := StepTime(t.Context(), p, be); !errors.Is(err, compute.ErrLost) {
			t.Errorf("%s: measured with error %v", name, err)
		}
		if be.most != 0 {
			t.Errorf("%s: %d bytes were taken", name, be.most)
		}
	}
}

// TestARunGoesOnWhereThereIsOtherRoom: a run whose backend is lost continues with the physical
// batch of the next one.
func TestARunGoesOnWhereThereIsOtherRoom(t *testing.T) {
	t.Parallel()
	ds, cfg := small(t), roomConfig("constant")
	terms := planned(t, cfg, ds).Terms()
	room := terms.Room(9)
	r := startOn(t, cfg, ds, &roomy{counted: newCounted(), room: room})
	for range 3 {
		if _, err := r.next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	n, err := r.Continue(t.Context(), purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if before, after := r.work.model.Capacity, n.work.model.Capacity; before > 9 || after != terms.Capacity {
		t.Errorf("%d rows at once and then %d, want 9 at most and %d", before, after, terms.Capacity)
	}
}

// TestStepTimeTakesTheBackendsPhysicalBatch: what is measured has the physical batch of the run on that
// backend, where the tab's memory holds fewer rows and where it holds more.
func TestStepTimeTakesTheBackendsPhysicalBatch(t *testing.T) {
	t.Parallel()
	ds, cfg := small(t), roomConfig("constant")
	p := planned(t, cfg, ds)
	terms := p.Terms()
	room := terms.Room(9)
	be := &roomy{counted: newCounted(), room: room}
	now := time.Time{}
	if _, err := stepTime(t.Context(), p, be, func() time.Time { now = now.Add(time.Second); return now }); err != nil {
		t.Fatal(err)
	}
	whole := terms.Room(terms.CapacityIn(math.MaxInt64))
	if be.most > room || be.asked[0] != whole {
		t.Errorf("it asked for %d bytes and took %d, want %d at first and %d at most", be.asked, be.most, whole, room)
	}
	for _, capacity := range []int{1, 9, 2 * terms.Capacity} {
		q, times, err := p.Rehearsal(capacity, 10)
		if err != nil {
			t.Fatal(err)
		}
		if terms := q.Terms(); terms.CapacityIn(math.MaxInt64) > capacity || terms.BatchSize*times != cfg.ExpectedBatchSize || terms.BatchSize > float64(2*capacity) {
			t.Errorf("of %d rows at once it rehearses %d in batches of %v, %v times", capacity, terms.CapacityIn(math.MaxInt64), terms.BatchSize, times)
		}
	}
}

// TestGradientsAreFormedAnewWhereTheyDoNotFit: where a backend has no memory for the gradients of all rows at once, and has it
// for what goes through the layers, large convolutions' gradients are formed anew. The run takes no more than was reserved,
// and its result is the same, also where it is changed on its way.
func TestGradientsAreFormedAnewWhereTheyDoNotFit(t *testing.T) {
	t.Parallel()
	ds, err := builtin.Make("digits", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []*data.Split{&ds.Train, &ds.Test} { // as many rows as the reference is quick with
		part.N = 48
		part.U8, part.Y = part.U8[:part.N*ds.Features], part.Y[:part.N]
	}
	backends := computetest.Backends(t)
	delete(backends, "deferred") // which is the reference
	for name, open := range backends {
		for method, views := range map[string]int{"constant": 1, "dc-e": 2, "adaclip": 1} {
			cfg := roomConfig(method)
			cfg.Model = run.Model{Layers: []string{"conv:64:4:s4", "relu", "conv:64:2", "relu", "wsconv:80:2:p1", "relu", "conv:64:2", "globalpool", "dense"}}
			cfg.ExpectedBatchSize, cfg.Steps, cfg.Blind = 16, 3, true
			if views > 1 {
				cfg.Augmentation = run.Augmentation{Kind: "flip", Multiplicity: views}
			}
			t.Run(name+"/"+method, func(t *testing.T) { formedAnewRun(t, cfg, ds, open, []int{2, 1}[views-1:]) })
		}
	}
}

// formedAnewRun compares a run whose gradients are formed anew, of each of some parts of all rows at once, with one that keeps them.
func formedAnewRun(t *testing.T, cfg run.Config, ds *data.Dataset, open func() compute.Backend, parts []int) {
	to := changes{}
	if strings.Contains(t.Name(), "/purego/") { // others begin a step before the one before it is told
		to[1] = run.Change{"learning_rate": 0.2}
	}
	_, want := finishChanging(t, started(t, cfg, ds), to)
	terms := planned(t, cfg, ds).Terms()
	most, anew := terms.CapacityIn(math.MaxInt64), terms.FormedAnew(anewValues[2])
	on := func(room int64) (*Run, *roomy) {
		be := &roomy{counted: countedOn(open()), room: room}
		t.Cleanup(be.Close)
		return startOn(t, cfg, ds, be), be
	}
	for _, part := range parts {
		rows := most / part
		room := anew.Room(rows)
		r, be := on(room)
		if r.work.capacity != rows || r.work.anew == 0 || terms.CapacityIn(room) >= rows {
			t.Errorf("%d rows at once, %d values formed anew; want %d, of which %d would fit with their gradients", r.work.capacity, r.work.anew, rows, terms.CapacityIn(room))
		}
		events, res := finishChanging(t, r, to)
		if be.most > room || len(events) != cfg.Steps || res.Epsilon != want.Epsilon {
			t.Errorf("%d of %d bytes are taken, %d steps for ε = %v", be.most, room, len(events), res.Epsilon)
		}
		for i, v := range res.Released.Parameters {
			if w := want.Released.Parameters[i]; !(math.Abs(float64(v-w)) <= 1e-4) {
				t.Fatalf("%d rows at once: parameter %d is %v, want %v", r.work.capacity, i, v, w)
			}
		}
		r.Close()
	}
	r, _ := on(terms.Room(most))
	if r.work.anew > 0 || r.work.capacity != most {
		t.Error("gradients that fit are formed anew")
	}
	r.Close()
}
