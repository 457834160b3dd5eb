package webgpu

import (
	"context"
	"fmt"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/train"
)

// counter is a Backend that computes nothing, and counts what a GPU would be asked for: all that it
// is asked for is 0.
type counter struct {
	calls    calls
	commands int
	slots    int             // of which the GPU has not begun
	passes   int             // through a model
	up, down int             // bytes that travel
	words    int             // in use
	called   map[string]bool // entry points, with their kernels
}

func (c *counter) Name() string { return "counter" }

// block is memory of so many words.
type block struct{ words int }

func (c *counter) take(words int) *block {
	c.words += units(words)
	return &block{words}
}

func (c *counter) give(memory any) {
	c.calls.open = false
	c.words -= units(memory.(*block).words)
}

func (c *counter) New(n int) compute.Buffer   { return compute.Buffer{Memory: c.take(n), N: n} }
func (c *counter) NewSums(n int) compute.Sums { return compute.Sums{Memory: c.take(2 * n), N: n} }
func (c *counter) NewAdjoining(lengths ...int) (all compute.Sums, each []compute.Sums) {
	all, each = compute.Adjoin(&block{}, lengths)
	*all.Memory.(*block) = *c.take(2 * all.N)
	return all, each
}

func (c *counter) Free(b compute.Buffer)   { c.give(b.Memory) }
func (c *counter) FreeSums(s compute.Sums) { c.give(s.Memory) }

func (c *counter) Write(_ compute.Buffer, v []float32)   { c.up += 4 * len(v) }
func (c *counter) WriteBytes(_ compute.Buffer, v []byte) { c.up += len(v) }

func (c *counter) Fetch(b compute.Buffer) compute.Pending {
	c.calls.open = false
	c.down += 4 * b.N
	return zeros{}
}

func (c *counter) Close() {}

func (c *counter) Run(k *compute.Kernel, a compute.Args) {
	_, call, joined := c.calls.next(k, a)
	if joined {
		c.commands, c.slots = c.commands-1, c.slots-1
		c.up -= 4 * slot
	}
	c.commands += len(call.Stages)
	if c.slots += len(call.Stages); c.slots >= soon { // and the GPU begins
		c.slots, c.calls.open = 0, false
	}
	if k.Name == "loss" {
		c.passes++
	}
	c.up += 4 * slot * len(call.Stages)
	for _, s := range call.Stages {
		c.called[c.calls.kernel.Name+" "+s.Entry] = true
	}
}

// Reserve has four gigabytes in one binding.
func (c *counter) Reserve(sizes ...int64) (int64, error) {
	for _, n := range sizes {
		if n <= 4<<30 {
			return n, nil
		}
	}
	return 4 << 30, nil
}

// zeros is what is fetched from a counter.
type zeros struct{}

func (zeros) Done() bool { return true }

func (zeros) Wait(_ context.Context, dst []float32) error {
	clear(dst)
	return nil
}

// TestStepsAskLittle counts what a step asks of a GPU with four gigabytes: commands, programs, and
// bytes there and back. A step that tests its noise asks for more, which is every 32nd.
func TestStepsAskLittle(t *testing.T) {
	digits := data.Meta{Task: data.Classification, Features: 784, Shape: []int{28, 28}, Outputs: 10, FeatureBytes: 1}
	pictures := data.Meta{Task: data.Classification, Features: 3072, Shape: []int{3, 32, 32}, Outputs: 10, FeatureBytes: 1}
	mlp := run.Model{Kind: "mlp", Hidden: []int{128}, Activation: "relu"}
	for _, s := range []struct {
		model    run.Model
		meta     data.Meta
		batch    float64
		method   string
		commands int     // at most
		pieces   float64 // in which the batch goes through the model, at most
	}{
		{mlp, digits, 128, "constant", 30, 1},
		{mlp, digits, 128, "dc-e", 30, 1},
		{mlp, digits, 512, "constant", 30, 1},
		{mlp, digits, 4096, "constant", 30, 1},
		{run.Model{Kind: "cnn-opacus"}, digits, 128, "constant", 57, 1},
		{run.Model{Kind: "cnn-opacus"}, digits, 128, "dc-e", 57, 1},
		{run.Model{Kind: "cnn-opacus"}, digits, 512, "constant", 57, 1},
		{run.Model{Kind: "cnn-opacus"}, digits, 2048, "constant", 57, 1},
		{run.Model{Kind: "resnet9"}, pictures, 64, "constant", 141, 1},
		{run.Model{Kind: "resnet18"}, pictures, 64, "constant", 313, 1},
		{run.Model{Kind: "resnet18"}, pictures, 64, "dc-e", 313, 1},
		{run.Model{Kind: "resnet18"}, pictures, 256, "constant", 824, 2},
	} {
		all, err := programs()
		if err != nil {
			t.Fatal(err)
		}
		be := &counter{calls: calls{programs: all}, called: map[string]bool{}}
		sigma, seed, name := 1.0, uint64(1), fmt.Sprintf("%s, B = %v, %s", s.model.Kind, s.batch, s.method)
		s.meta.TrainRows = 2 * int(s.batch)
		p, err := plan.New(run.Config{
			Method: s.method, Accountant: "rdp", Seed: &seed, Model: s.model, ExpectedBatchSize: s.batch, Steps: 24, LearningRate: 0.1, Optimizer: "sgd",
			Blind: true, MaxGradNorm: 1, NoiseMultiplier: &sigma,
		}, s.meta)
		if err != nil {
			t.Fatal(err)
		}
		r, err := train.Start(context.Background(), p, &data.Dataset{
			Task: s.meta.Task, Features: s.meta.Features, Shape: s.meta.Shape, Outputs: s.meta.Outputs,
			Train: data.Split{N: s.meta.TrainRows, U8: make([]uint8, s.meta.TrainRows*s.meta.Features), Y: make([]float32, s.meta.TrainRows)},
		}, be)
		if err != nil {
			t.Fatal(err)
		}
		const first, last = 16, 20 // noise was tested often enough before
		var at counter
		for e, err := range r.Steps(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Step == first {
				at = *be
			}
			if e.Step == last {
				break
			}
		}
		per := func(a, b int) int { return (b - a) / (last - first) }
		commands, pieces := per(at.commands, be.commands), float64(be.passes-at.passes)/(last-first)
		t.Logf("%s: %d commands, %v pieces, %d bytes there and %d back a step, %d programs, %d MB", name, commands, pieces, per(at.up, be.up), per(at.down, be.down), len(be.called), be.words*4/1e6)
		if commands > s.commands || pieces > s.pieces {
			t.Errorf("%s: %d commands a step in %v pieces, want %d at most in %v", name, commands, pieces, s.commands, s.pieces)
		}
		if len(be.called) > 40 {
			t.Errorf("%s: %d programs, want 40 at most", name, len(be.called))
		}
		r.Close()
		if be.words != 0 {
			t.Errorf("%s: %d words are left", name, be.words)
		}
	}
}
