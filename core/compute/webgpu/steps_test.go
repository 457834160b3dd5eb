//go:build !js

// What is counted here is the same wherever Go runs, and is counted where it is fast.

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
	heap     heap
	most     int // words that it may have
	lost     int // buffers that there was no room for
	calls    calls
	space    *block // of kernels, beside buffers
	commands int
	slots    int             // of which the GPU has not begun
	passes   int             // through a model
	up, down int             // bytes that travel
	words    int             // in use
	called   map[string]bool // entry points, with their kernels
}

func (c *counter) Name() string { return "counter" }

// block is a place of so many words in the heap.
type block struct{ at, words int }

func (c *counter) take(words int) *block {
	c.words += units(words)
	at, ok := c.heap.take(words)
	if !ok {
		c.lost++
		c.heap.grow(c.heap.size + units(words))
		at, _ = c.heap.take(words)
	}
	return &block{at, words}
}

func (c *counter) give(memory any) {
	b := memory.(*block)
	c.calls.open = false
	c.words -= units(b.words)
	c.heap.give(b.at)
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

func (c *counter) Close() {
	if c.space != nil {
		c.give(c.space)
	}
}

func (c *counter) Run(k *compute.Kernel, a compute.Args) {
	_, call, joined := c.calls.next(k, a)
	if joined {
		c.commands, c.slots = c.commands-1, c.slots-1
		c.up -= 4 * slot
	}
	if call.Space > 0 && (c.space == nil || c.space.words < call.Space) {
		if c.space != nil {
			c.give(c.space)
		}
		c.space = c.take(call.Space)
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
		c.called[call.Kernel.Name+" "+s.Entry] = true
	}
}

// Reserve has the heap grow as a GPU's does.
func (c *counter) Reserve(sizes ...int64) (int64, error) {
	used := c.heap.inUse()
	room := within(4 * int64(c.most-used))
	last := len(sizes) - 1
	for _, n := range append(sizes[:last:last], min(sizes[last], room)) {
		if n <= room {
			c.heap.grow(max(c.heap.size, min(used+units(int((n+beside(n)+3)/4)), c.most)))
			return n, nil
		}
	}
	return room, nil
}

// zeros is a fetch from a counter.
type zeros struct{}

func (zeros) Done() bool { return true }

func (zeros) Wait(_ context.Context, dst []float32) error {
	clear(dst)
	return nil
}

// newCounter returns a counter with so many bytes.
func newCounter(t *testing.T, most int) *counter {
	t.Helper()
	all, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{most: most / 4, calls: calls{programs: all}, called: map[string]bool{}}
	c.heap.grow(1 << 20)
	return c
}

// begin starts a run of 24 steps on made-up rows.
func begin(t *testing.T, be compute.Backend, m run.Model, meta data.Meta, batch float64, method string) *train.Run {
	t.Helper()
	sigma, seed := 1.0, uint64(1)
	meta.TrainRows = 2 * int(batch)
	p, err := plan.New(run.Config{
		Method: method, Accountant: "rdp", Seed: &seed, Model: m, ExpectedBatchSize: batch, Steps: 24, LearningRate: 0.1, Optimizer: "sgd",
		Blind: true, MaxGradNorm: 1, NoiseMultiplier: &sigma,
	}, meta)
	if err != nil {
		t.Fatal(err)
	}
	r, err := train.Start(context.Background(), p, &data.Dataset{
		Task: meta.Task, Features: meta.Features, Shape: meta.Shape, Outputs: meta.Outputs,
		Train: data.Split{N: meta.TrainRows, U8: make([]uint8, meta.TrainRows*meta.Features), Y: make([]float32, meta.TrainRows)},
	}, be)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRunsHaveThePlacesThatTheyReserve: what a run takes fits the heap that it reserved, place by place, however little that is: what
// it gives back may lie between other places.
func TestRunsHaveThePlacesThatTheyReserve(t *testing.T) {
	pictures := data.Meta{Task: data.Classification, Features: 3072, Shape: []int{3, 32, 32}, Outputs: 10, FeatureBytes: 1}
	digits := data.Meta{Task: data.Classification, Features: 784, Shape: []int{28, 28}, Outputs: 10, FeatureBytes: 1}
	wide := run.Model{Layers: []string{"conv:64:3:s2", "relu", "conv:160:3:s2", "relu", "conv:200:3:s2", "relu", "conv:512:3", "relu", "flatten", "dense"}}
	for _, s := range []struct {
		model           run.Model
		meta            data.Meta
		batch           float64
		least, most, by int // megabytes that there are
	}{
		{wide, pictures, 256, 768, 2048, 160},
		{run.Model{Kind: "resnet9"}, pictures, 256, 768, 2048, 160},
		{run.Model{Kind: "resnet18"}, pictures, 256, 768, 2048, 160},
		{run.Model{Kind: "mlp", Hidden: []int{128}}, digits, 4096, 24, 72, 8}, // blocks of sums apart
	} {
		for _, method := range []string{"constant", "adaclip"} {
			for mb := s.least; mb <= s.most; mb += s.by {
				be := newCounter(t, mb<<20)
				r := begin(t, be, s.model, s.meta, s.batch, method)
				steps := 0
				for _, err := range r.Steps(context.Background()) {
					if err != nil {
						t.Fatal(err)
					}
					if steps++; steps == 2 {
						break
					}
				}
				r.Close()
				if be.lost > 0 {
					t.Errorf("%v, %s, %d MB: there was no room for %d buffers", s.model, method, mb, be.lost)
				}
			}
		}
	}
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
		{mlp, digits, 128, "constant", 28, 1},
		{mlp, digits, 128, "dc-e", 28, 1},
		{mlp, digits, 512, "constant", 28, 1},
		{mlp, digits, 4096, "constant", 30, 1},
		{run.Model{Kind: "cnn-opacus"}, digits, 128, "constant", 55, 1},
		{run.Model{Kind: "cnn-opacus"}, digits, 128, "dc-e", 55, 1},
		{run.Model{Kind: "cnn-opacus"}, digits, 512, "constant", 55, 1},
		{run.Model{Kind: "cnn-opacus"}, digits, 2048, "constant", 57, 1},
		{run.Model{Kind: "resnet9"}, pictures, 64, "constant", 153, 1},
		{run.Model{Kind: "resnet18"}, pictures, 64, "constant", 312, 1},
		{run.Model{Kind: "resnet18"}, pictures, 64, "dc-e", 312, 1},
		{run.Model{Kind: "resnet18"}, pictures, 256, "constant", 965, 2},
	} {
		be := newCounter(t, 4<<30)
		name := fmt.Sprintf("%s, B = %v, %s", s.model.Kind, s.batch, s.method)
		r := begin(t, be, s.model, s.meta, s.batch, s.method)
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
		be.Close()
		if be.words != 0 || be.lost > 0 {
			t.Errorf("%s: %d words are left, and there was no room for %d buffers", name, be.words, be.lost)
		}
	}
}
