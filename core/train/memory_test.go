package train

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/train/traintest"
)

// counted is a backend that counts the bytes it would take with the kernels for
// WebAssembly, whose sums are in float32 until a second block is added, see sums.ts.
type counted struct {
	compute.Backend
	now, most int64
	held      map[any]int64 // of sums
	full      map[any]bool  // sums that hold a block
}

func newCounted() *counted { return countedOn(purego.New()) }

func countedOn(be compute.Backend) *counted {
	return &counted{Backend: be, held: map[any]int64{}, full: map[any]bool{}}
}

func (c *counted) take(bytes int64) {
	c.now += bytes
	c.most = max(c.most, c.now)
}

func (c *counted) New(n int) compute.Buffer {
	c.take(4 * int64(n))
	return c.Backend.New(n)
}

func (c *counted) Free(b compute.Buffer) {
	c.take(-4 * int64(b.N))
	c.Backend.Free(b)
}

func (c *counted) NewSums(n int) compute.Sums {
	s := c.Backend.NewSums(n)
	c.held[s.Memory] = 4 * int64(n)
	c.take(4 * int64(n))
	return s
}

func (c *counted) FreeSums(s compute.Sums) {
	c.take(-c.held[s.Memory])
	c.Backend.FreeSums(s)
}

func (c *counted) Run(k *compute.Kernel, a compute.Args) {
	if s := a.Sums.Memory; s != nil {
		wide := false
		switch k.Name {
		case "clear":
			c.full[s] = false
		case "addOuter":
			wide = a.N[3] != 0 || a.N[0] > compute.BlockRows || c.full[s]
			c.full[s] = true
		case "addTokens", "addScaled", "split", "total", "centre", "discrete":
			wide = true
		}
		if n := int64(a.Sums.N); wide && c.held[s] == 4*n {
			c.held[s] = 12 * n
			c.take(8 * n)
		}
	}
	c.Backend.Run(k, a)
}

// TestMemoryIsWhatIsPlanned: the plan says at least what a run takes of the
// backend, and at most a quarter more.
func TestMemoryIsWhatIsPlanned(t *testing.T) {
	t.Parallel()
	wide := run.Model{Kind: "mlp", Hidden: []int{200, 30}}
	cases := map[string]run.Config{
		"softmax":   {},
		"blocks":    {ExpectedBatchSize: 600, MaxPhysicalBatchSize: 600, Model: wide},
		"passes":    {ExpectedBatchSize: 100, MaxPhysicalBatchSize: 60, Model: wide},
		"momentum":  {Optimizer: "momentum", Model: wide},
		"adam":      {Optimizer: "adam", Model: wide},
		"adam-bc":   {Optimizer: "adam-bc", Model: wide},
		"smoothed":  {LabelSmoothing: 0.1},
		"weighed":   {ClassWeights: map[string]float64{"a": 3}},
		"dropping":  {Model: run.Model{Kind: "mlp", Hidden: []int{200, 30}, Dropout: 0.2}},
		"ema":       {Iterate: "ema", Model: wide},
		"compared":  {DiagnosticsEvery: 1, Model: wide},
		"secure":    {NoiseMode: "secure", Model: wide},
		"PCA":       {PCA: run.PCA{Components: 20}, Model: wide},
		"large":     {Model: run.Model{Kind: "mlp", Hidden: []int{900}}},
		"batch one": {ExpectedBatchSize: 9, MaxPhysicalBatchSize: 1, Model: wide},
		"views":     {Augmentation: run.Augmentation{Kind: "crop", Multiplicity: 3}, Model: wide},
	}
	for name, m := range map[string]run.Model{
		"conv":   {Layers: []string{"conv:8:3", "tanh", "conv:9:4:s2", "bias", "flatten", "dense"}},
		"wsconv": {Layers: []string{"wsconv:16:3:s3", "groupnorm:4", "relu", "wsconv:200:3", "relu", "globalpool", "dense"}},
	} {
		cases[name] = run.Config{Model: m}
		cases[name+" adaclip"] = run.Config{Method: "adaclip", Model: m, MaxPhysicalBatchSize: 20} // full ones
		cases[name+" compared"] = run.Config{DiagnosticsEvery: 1, Model: m}
		cases[name+" few rows"] = run.Config{Model: m, ExpectedBatchSize: 20, MaxPhysicalBatchSize: 4}
	}
	for name, layers := range map[string][]string{
		"tokens": {"embedding:4096:16", "conv1d:32:2", "tanh", "mean", "dense"}, "large table": {"embedding:65536:16", "mean", "dense"},
		"attention": strings.Fields("embedding:200:8 position skip layernorm attention:2 add layernorm gelu mean dense"),
	} {
		m := run.Model{Layers: layers}
		cases[name], cases[name+" adaclip"] = run.Config{Model: m}, run.Config{Method: "adaclip", Model: m, MaxPhysicalBatchSize: 20}
	}
	cases["dropping views"] = run.Config{Augmentation: run.Augmentation{Kind: "flip", Multiplicity: 3}, Model: run.Model{Layers: strings.Fields("conv:8:3 tanh conv:8:3:p1 relu flatten dense"), Dropout: 0.5}}
	cases["views adaclip"] = run.Config{Method: "adaclip", Augmentation: run.Augmentation{Kind: "flip", Multiplicity: 2}, Model: wide, MaxPhysicalBatchSize: 20}
	cases["residual"] = run.Config{Model: run.Model{Layers: strings.Fields("conv:8:3:p1 skip conv:8:3:p1 tanh add skip:6:s2 conv:6:3:s2:p1 add globalpool dense")}}
	blocks := run.Model{Layers: strings.Fields("embedding:200:8 position skip attention:2 add layernorm skip conv1d:16:1 gelu conv1d:8:1 add layernorm skip attention:2 add layernorm first dense")}
	cases["two blocks"] = run.Config{Model: blocks}
	for name, m := range map[string]run.Model{"wide": wide, "conv": cases["conv"].Model, "two blocks": blocks} {
		for _, part := range []string{"head", "last:1", "biases", "lora:4"} {
			if part == "lora:4" && name != "two blocks" {
				continue
			}
			from := run.Start{Trainable: part, Public: true}
			cases[name+", "+part] = run.Config{Model: m, Start: from}
			cases[name+", "+part+", adaclip"] = run.Config{Method: "adaclip", Model: m, Start: from, MaxPhysicalBatchSize: 20}
		}
	}
	for _, m := range clip.Methods() {
		cases["method "+m.Name] = run.Config{Method: m.Name, Model: wide}
	}
	const rows, features = 700, 120
	ds := &data.Dataset{Task: data.Classification, Features: features, Shape: []int{10, 12}, Outputs: 2, Classes: []string{"a", "b"},
		Train: data.Split{N: rows, F32: make([]float32, rows*features), Y: make([]float32, rows)}}
	table := *ds // whose rows are no pictures
	table.Shape = nil
	for name, cfg := range cases {
		ds := ds
		if l := cfg.Model.Layers; l != nil && strings.HasPrefix(l[0], "embedding") {
			ds = &table
		}
		if cfg.ExpectedBatchSize == 0 {
			cfg.ExpectedBatchSize = 64
		}
		if cfg.Method != "none" {
			cfg.NoiseMultiplier = ptr(1.0)
		}
		cfg.Accountant, cfg.Steps, cfg.LearningRate, cfg.Seed = "rdp", 1, 0.1, ptr(uint64(1))
		be := newCounted()
		r := startOnAny(t, cfg, ds, be)
		for _, err := range r.Steps(context.Background()) {
			if err != nil {
				t.Fatal(name, err)
			}
		}
		if _, err := r.Result(context.Background()); err != nil {
			t.Fatal(name, err)
		}
		r.Close()
		planned, _ := r.work.terms.Memory(r.work.capacity)
		if planned < be.most || float64(planned) > 1.25*float64(be.most) {
			t.Errorf("%s: %d bytes are planned and %d are taken", name, planned, be.most)
		}
	}
}

// startOnAny is startOn, from weights of the model's shapes where a part of it is trained.
func startOnAny(t *testing.T, cfg run.Config, ds *data.Dataset, be compute.Backend) *Run {
	t.Helper()
	part := cfg.Start
	if part.Trainable == "" {
		return startOn(t, cfg, ds, be)
	}
	w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, tensorsOf(t, cfg, ds)...))
	part.File, part.SHA256 = cfg.Start.File, cfg.Start.SHA256
	cfg.Start = part
	return startFrom(t, cfg, w, ds, be)
}

// TestWhatCannotFitIsRefused: layers, batches and optimisers, each of which is
// within its own bounds, and too much together. A batch is taken in parts that fit.
func TestWhatCannotFitIsRefused(t *testing.T) {
	m := data.Meta{Name: "m", Task: data.Classification, Features: 784, Outputs: 10, TrainRows: 1 << 20, FeatureBytes: 1}
	for name, cfg := range map[string]run.Config{
		"adam":   {Optimizer: "adam", Method: "adaclip", Model: run.Model{Kind: "mlp", Hidden: []int{65536, 1100}}},
		"layers": {Model: run.Model{Kind: "mlp", Hidden: []int{20_000, 20_000}}},
		// Which is known to be drawn number by number when it has its price.
		"exact": {Optimizer: "adam", LearningRate: 0.1, NoiseMode: "secure", NoiseMultiplier: ptr(0.12), Steps: 10_000, Accountant: "rdp", MaxPhysicalBatchSize: 1, Model: run.Model{Kind: "mlp", Hidden: []int{65536, 1100}}},
	} {
		_, err := plan.New(cfg, m)
		var fault *run.ConfigError
		if !errors.As(err, &fault) || fault.Field != "model.hidden" {
			t.Errorf("%s: %v", name, err)
		}
	}
	large := run.Config{ExpectedBatchSize: 1 << 16, MaxPhysicalBatchSize: 1 << 16, Model: run.Model{Kind: "mlp", Hidden: []int{65536}}}
	if p, err := plan.New(large, m); err != nil || p.Info().PhysicalBatch > 1<<12 || p.Info().PhysicalBatch < 1<<8 {
		t.Errorf("a batch that does not fit is not taken in parts that do: %v", err)
	}
	if p, err := plan.New(run.Config{Model: run.Model{Kind: "mlp", Hidden: []int{65536, 1100}}}, m); err != nil || p.Info().MemoryBytes < 3e9 {
		t.Errorf("123 million parameters: %+v, %v", p, err)
	}
}
