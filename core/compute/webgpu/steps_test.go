package webgpu

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/shader"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/train"
)

// counter is a Backend that computes nothing, and counts what a GPU would be asked for: all that it
// is asked for is 0.
type counter struct {
	programs []program
	commands int
	words    int            // in use
	called   map[string]int // entry points, with their kernels
}

func (c *counter) Name() string { return "counter" }

// block is memory of so many words.
type block struct{ words int }

func (c *counter) take(words int) *block {
	c.words += units(words)
	return &block{words}
}

func (c *counter) give(memory any) { c.words -= units(memory.(*block).words) }

func (c *counter) New(n int) compute.Buffer             { return compute.Buffer{Memory: c.take(n), N: n} }
func (c *counter) NewSums(n int) compute.Sums           { return compute.Sums{Memory: c.take(2 * n), N: n} }
func (c *counter) Free(b compute.Buffer)                { c.give(b.Memory) }
func (c *counter) FreeSums(s compute.Sums)              { c.give(s.Memory) }
func (c *counter) Write(compute.Buffer, []float32)      {}
func (c *counter) WriteBytes(compute.Buffer, []byte)    {}
func (c *counter) Fetch(compute.Buffer) compute.Pending { return zeros{} }
func (c *counter) Close()                               {}

func (c *counter) Run(k *compute.Kernel, a compute.Args) {
	p := c.programs[k.Index]
	call := shader.Call{Args: a}
	p.call(&call)
	c.commands += len(call.Stages)
	for _, s := range call.Stages {
		c.called[k.Name+" "+s.Entry]++
	}
}

// Reserve has 139 GB, and four of them in one binding, as an H200 does.
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

func TestStepsAskLittle(t *testing.T) {
	digits := data.Meta{Task: data.Classification, Features: 784, Shape: []int{28, 28}, Outputs: 10, TrainRows: 60000, FeatureBytes: 1}
	pictures := data.Meta{Task: data.Classification, Features: 3072, Shape: []int{3, 32, 32}, Outputs: 10, TrainRows: 50000, FeatureBytes: 1}
	for _, s := range []struct {
		model  run.Model
		meta   data.Meta
		batch  float64
		method string
	}{
		{run.Model{Kind: "mlp", Hidden: []int{128}, Activation: "relu"}, digits, 128, "constant"},
		{run.Model{Kind: "mlp", Hidden: []int{128}, Activation: "relu"}, digits, 128, "dc-e"},
		{run.Model{Kind: "mlp", Hidden: []int{128}, Activation: "relu"}, digits, 512, "constant"},
		{run.Model{Kind: "mlp", Hidden: []int{128}, Activation: "relu"}, digits, 4096, "constant"},
		{run.Model{Kind: "cnn-opacus"}, digits, 128, "constant"},
		{run.Model{Kind: "cnn-opacus"}, digits, 128, "dc-e"},
		{run.Model{Kind: "cnn-opacus"}, digits, 512, "constant"},
		{run.Model{Kind: "cnn-opacus"}, digits, 2048, "constant"},
		{run.Model{Kind: "resnet9"}, pictures, 64, "constant"},
		{run.Model{Kind: "resnet18"}, pictures, 64, "constant"},
		{run.Model{Kind: "resnet18"}, pictures, 64, "dc-e"},
		{run.Model{Kind: "resnet18"}, pictures, 256, "constant"},
	} {
		all, err := programs()
		if err != nil {
			t.Fatal(err)
		}
		be := &counter{programs: all, called: map[string]int{}}
		sigma, seed := 1.0, uint64(1)
		cfg := run.Config{
			Method: s.method, Accountant: "rdp", Seed: &seed, Model: s.model, ExpectedBatchSize: s.batch, Steps: 4, LearningRate: 0.1, Optimizer: "sgd",
			Blind: true, MaxGradNorm: 1, NoiseMultiplier: &sigma,
		}
		s.meta.TrainRows = min(s.meta.TrainRows, int(4*s.batch))
		p, err := plan.New(cfg, s.meta)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%s, B = %v, %s", s.model.Kind, s.batch, s.method)
		ds := &data.Dataset{
			Task: s.meta.Task, Features: s.meta.Features, Shape: s.meta.Shape, Outputs: s.meta.Outputs,
			Train: data.Split{N: s.meta.TrainRows, U8: make([]uint8, s.meta.TrainRows*s.meta.Features), Y: make([]float32, s.meta.TrainRows)},
		}
		r, err := train.Start(context.Background(), p, ds, be)
		if err != nil {
			t.Fatal(err)
		}
		at, steps := 0, 0
		for _, err := range r.Steps(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if steps++; steps == 2 {
				at = be.commands
				be.called = map[string]int{}
			}
		}
		tally := ""
		var names []string
		for name := range be.called {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, n := range names {
			tally += fmt.Sprint(strings.TrimSuffix(n, " main"), " ", be.called[n]/2, ", ")
		}
		n := len(names)
		t.Log(tally)
		t.Logf("%s: %d commands a step, %d programs, %d MB", name, (be.commands-at)/2, n, be.words*4/1e6)
		r.Close()
	}
}
