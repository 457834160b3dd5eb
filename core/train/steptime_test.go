package train

import (
	"context"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// clock is the time of a planted backend.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// tardy is a backend that takes a time for each kernel by a clock of its own: at once, or,
// with queues, when its queue is waited for.
type tardy struct {
	compute.Backend
	clock  *clock
	each   time.Duration
	queues bool
	owed   time.Duration
}

func (b *tardy) Run(k *compute.Kernel, a compute.Args) {
	b.Backend.Run(k, a)
	if b.owed += b.each; !b.queues {
		b.settle()
	}
}

func (b *tardy) settle() { b.clock.now, b.owed = b.clock.now.Add(b.owed), 0 }

func (b *tardy) Lost() error { return nil } // its states are fetched

func (b *tardy) Fetch(x compute.Buffer) compute.Pending {
	return &tardyPending{b.Backend.Fetch(x), b}
}

type tardyPending struct {
	compute.Pending
	of *tardy
}

func (p *tardyPending) Done() bool { return p.of.owed == 0 }

func (p *tardyPending) Wait(ctx context.Context, dst []float32) error {
	p.of.settle()
	return p.Pending.Wait(ctx, dst)
}

// TestStepTimeWaitsForTheQueue: a backend that queues fast and computes slowly is measured as one
// that computes slowly at once, also where the state of the run is fetched in some steps alone.
func TestStepTimeWaitsForTheQueue(t *testing.T) {
	t.Parallel()
	meta := data.Meta{Task: data.Classification, Features: 40, Outputs: 2, TrainRows: 20, FeatureBytes: 4}
	for name, width := range map[string]int{"small": 16, "of nine checkpoints' size": 1 << 16} {
		p, err := plan.New(run.Config{Model: run.Model{Kind: "mlp", Hidden: []int{width}}, ExpectedBatchSize: 2, Optimizer: "adam", Method: "none", NoPrivacy: true}, meta)
		if err != nil {
			t.Fatal(err)
		}
		measure := func(queues bool) time.Duration {
			c := &clock{}
			took, err := stepTime(t.Context(), p, &tardy{Backend: purego.New(), clock: c, each: 30 * time.Millisecond, queues: queues}, c.Now)
			if err != nil {
				t.Fatal(err)
			}
			return took
		}
		if later, atOnce := measure(true), measure(false); later != atOnce || later < 10*time.Millisecond {
			t.Errorf("%s: %v a step by a backend that queues, %v by one that does not", name, later, atOnce)
		}
	}
}

// TestMeasurementsAreLongEnough: no measurement ends before three steps and a tenth of a second,
// but for one of a second.
func TestMeasurementsAreLongEnough(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		steps int
		took  time.Duration
		want  bool
	}{
		{1, 99 * time.Millisecond, false},
		{1, 600 * time.Millisecond, false},
		{3, 99 * time.Millisecond, false},
		{3, 100 * time.Millisecond, true},
		{2, 100 * time.Millisecond, false},
		{1, time.Second, true},
		{4096, 0, true},
	} {
		if got := enough(tt.steps, tt.took); got != tt.want {
			t.Errorf("%d steps in %v: %v", tt.steps, tt.took, got)
		}
	}
}
