package worker

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/run"
)

// device is a back end of its own name, on a device.
type device struct {
	compute.Backend
	closed *atomic.Int32
}

func (device) Name() string   { return "rival" }
func (device) Device() string { return "a card" }
func (device) Moved() int64   { return 0 }
func (d device) Close()       { d.closed.Add(1); d.Backend.Close() }
func (d device) Threads() int { return 1 }

// TestTheFasterRivalIsTaken: the faster of two is taken, a short run or one whose rival is not to
// be had keeps its own, and what was found is said.
func TestTheFasterRivalIsTaken(t *testing.T) {
	for name, tt := range map[string]struct {
		steps  int
		takes  map[string]time.Duration
		find   error
		want   string
		says   string
		opened int
	}{
		"faster":      {1000, map[string]time.Duration{"purego": 30 * time.Millisecond, "rival": 10 * time.Millisecond}, nil, "rival", "rival on a card takes 10 ms a step, plain Go would take 30 ms", 1},
		"as fast":     {1000, map[string]time.Duration{"purego": 10 * time.Millisecond, "rival": 10 * time.Millisecond}, nil, "purego", "plain Go takes 10 ms a step, rival on a card would take 10 ms", 1},
		"short":       {10, map[string]time.Duration{"purego": 30 * time.Millisecond, "rival": 10 * time.Millisecond}, nil, "purego", "", 0},
		"none":        {1000, nil, errors.New("it is a program"), "purego", "rival was not tried: it is a program.", 0},
		"lost":        {1000, map[string]time.Duration{"purego": 30 * time.Millisecond}, nil, "purego", "rival was not tried: it is lost.", 1},
		"not its own": {1000, nil, nil, "purego", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{steps: tt.steps, takes: tt.takes}
			opened, closed := 0, atomic.Int32{}
			backend := func(run.Config) (Backend, error) {
				own := Backend{Name: "purego", Open: func() (compute.Backend, string, error) { return purego.New(), "", nil }}
				b := own
				b.Rival = &Backend{Name: "rival", Instead: &own, Find: func() error { return tt.find }, Open: func() (compute.Backend, string, error) {
					opened++
					return device{purego.New(), &closed}, "", nil
				}}
				return b, nil
			}
			p := newPage(t, func(run.Config, data.Meta) (Planned, error) { return f, nil }, func(h *Host) { h.Backend = backend })
			p.send(Train, 1, `{"config": {"data": "digits"}}`)
			trying := decode[run.Place](t, p.next(PlaceType))
			place := decode[run.Place](t, p.next(PlaceType))
			result := decode[run.Result](t, p.next(DoneType))
			if !trying.Trying || place.Trying || place.Backend != tt.want || !strings.Contains(place.Why, tt.says) || (place.Device != "") != (tt.want == "rival") {
				t.Errorf("%+v, then %+v; want %s and %q", trying, place, tt.want, tt.says)
			}
			if tried := tt.opened > 0; (result.Chosen != "") != tried || tried && result.Chosen != place.Why || result.Notes != nil || result.Steps != tt.steps {
				t.Errorf("%d steps, chosen as %q, notes %q", result.Steps, result.Chosen, result.Notes)
			}
			if opened != tt.opened || int(closed.Load()) != opened {
				t.Errorf("opened %d times and closed %d times, want %d", opened, closed.Load(), tt.opened)
			}
		})
	}
}

// TestThePageHearsOfEveryPlace: the page hears of every place.
func TestThePageHearsOfEveryPlace(t *testing.T) {
	f := &fake{steps: 6, before: func(step int) error {
		if step == 3 {
			return compute.ErrLost
		}
		return nil
	}}
	closed := atomic.Int32{}
	backend := func(run.Config) (Backend, error) {
		return Backend{
			Name: "rival", Open: func() (compute.Backend, string, error) { return device{purego.New(), &closed}, "", nil },
			Instead: &Backend{Name: "purego", Open: func() (compute.Backend, string, error) { return purego.New(), "", nil }},
		}, nil
	}
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) { return f, nil }, func(h *Host) { h.Backend = backend })
	p.send(Train, 1, `{"config": {"data": "digits"}}`)
	for _, want := range []run.Place{
		{Backend: "rival", Compiling: true}, {Backend: "rival", Threads: 1, Device: "a card"},
		{Backend: "purego", Threads: 1, Instead: "rival", Why: "The run went on with plain Go: the backend's memory is lost. Its steps and its ε are those of one run."},
	} {
		if got := decode[run.Place](t, p.next(PlaceType)); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	p.next(DoneType)
}

// TestARunIsStoppedBeforeItsGPUIsThere: a stop does not wait for a browser that opens a GPU, or compiles for it: the run ends
// with nothing released, another may begin, and the GPU that comes all the same is closed.
func TestARunIsStoppedBeforeItsGPUIsThere(t *testing.T) {
	gpu := newLateGPU()
	p := newPage(t, steps(6), gpu.on)
	p.send(Train, 1, `{"config": {"data": "digits"}}`)
	if place := decode[run.Place](t, p.next(PlaceType)); !place.Compiling {
		t.Errorf("the page heard of %+v first", place)
	}
	p.send(Stop, 1, ``)
	if r := decode[run.Result](t, p.next(DoneType)); r.Steps != 0 || !r.Stopped || r.Notes != nil {
		t.Errorf("%d steps, stopped: %t, notes %q", r.Steps, r.Stopped, r.Notes)
	}
	close(gpu.came)
	p.send(Train, 2, `{"config": {"data": "digits"}}`)
	if r := decode[run.Result](t, p.next(DoneType)); r.Steps != 6 {
		t.Errorf("the next run took %d steps", r.Steps)
	}
	gpu.isClosed(t, 2)
}

// TestARunThatGoesOnIsStoppedBeforeItsGPUIsThere: it does not wait either, and what it had done is worked out in the GPU's place.
func TestARunThatGoesOnIsStoppedBeforeItsGPUIsThere(t *testing.T) {
	v := newMemStore()
	killed(t, v, 1)
	gpu := newLateGPU()
	other := storing(t, v, steps(100), gpu.on)
	other.send(GoOn, 2, `{"id":"0123456789abcdef","program":"1"}`)
	if place := decode[run.Place](t, other.next(PlaceType)); !place.Compiling {
		t.Errorf("the page heard of %+v first", place)
	}
	other.send(Stop, 2, "")
	if r := decode[run.Result](t, other.next(DoneType)); r.Steps != 1 || !r.Stopped || !slices.Equal(r.Notes, []string{"The run was stopped before rival was ready."}) {
		t.Errorf("%d steps, stopped: %t, notes %q", r.Steps, r.Stopped, r.Notes)
	}
	close(gpu.came)
	gpu.isClosed(t, 1)
}

// lateGPU is a back end that is not there until it has come.
type lateGPU struct {
	came   chan struct{}
	closed atomic.Int32
}

func newLateGPU() *lateGPU { return &lateGPU{came: make(chan struct{})} }

// on has a host's runs take it, with another in its place.
func (g *lateGPU) on(h *Host) {
	own := Backend{Name: "purego", Open: func() (compute.Backend, string, error) { return purego.New(), "", nil }}
	h.Backend = func(run.Config) (Backend, error) {
		return Backend{Name: "rival", Instead: &own, Open: func() (compute.Backend, string, error) {
			<-g.came
			return device{purego.New(), &g.closed}, "", nil
		}}, nil
	}
}

// isClosed waits until it has been closed so often.
func (g *lateGPU) isClosed(t *testing.T, times int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); int(g.closed.Load()) < times; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d were closed", g.closed.Load(), times)
		}
	}
}
