package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/train/traintest"
)

// weightsOf reads weights, and declares them to be public in cfg.
func weightsOf(t testing.TB, cfg *run.Config, file []byte) *model.Weights {
	t.Helper()
	w, err := model.ReadWeights("before.safetensors", file)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Start = run.Start{File: w.Info.File, SHA256: w.Info.SHA256, Public: true}
	return w
}

// startFrom plans and starts a run from weights.
func startFrom(t testing.TB, cfg run.Config, w *model.Weights, ds *data.Dataset, be compute.Backend) *Run {
	t.Helper()
	p, err := plan.Recall(&accounts, cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.StartFrom(w); err != nil {
		t.Fatal(err)
	}
	r, err := Start(t.Context(), p, ds, be)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// saved is the safetensors file of a run's model.
func saved(t testing.TB, cfg run.Config, res *run.Result) []byte {
	t.Helper()
	f := &model.File{
		Format: model.Format, Version: model.Version, Config: cfg, Guarantee: res.Guarantee,
		Epsilon: res.Epsilon, Delta: res.Delta, Accountant: res.Accountant, Steps: res.Steps, Apply: res.Released.Apply, Parameters: res.Released.Parameters,
	}
	var b bytes.Buffer
	if err := f.Safetensors(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// still is a rate so small that no step moves a parameter that is not next to 0.
const still = 1e-30

// TestRunsStartFromWeights: steps that move nothing leave the weights that a run started from, to the
// bit, on every back end.
func TestRunsStartFromWeights(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	given := []traintest.Tensor{
		{Name: "layers.0.weight", Shape: []int{2, 16}, Values: traintest.Normals(1, 32)}, {Name: "layers.0.bias", Shape: []int{16}, Values: traintest.Normals(2, 16)},
		{Name: "layers.2.weight", Shape: []int{16, 4}, Values: traintest.Normals(3, 64)}, {Name: "layers.2.bias", Shape: []int{4}, Values: traintest.Normals(4, 4)},
	}
	shuffled := []traintest.Tensor{given[3], given[0], given[2], given[1]}
	want := slices.Concat(given[0].Values, given[1].Values, given[2].Values, given[3].Values)
	for name, file := range map[string][]byte{
		"in order": traintest.Safetensors(t, nil, given...), "shuffled": traintest.Safetensors(t, map[string]string{"format": "pt"}, shuffled...),
	} {
		for on, open := range computetest.Backends(t) {
			be := open()
			cfg := base("constant")
			cfg.Model, cfg.Steps, cfg.LearningRate = run.Model{Kind: "mlp", Hidden: []int{16}, Activation: "tanh"}, 3, still
			w := weightsOf(t, &cfg, file)
			r := startFrom(t, cfg, w, ds, be)
			_, res := finish(t, r)
			if !slices.Equal(res.Released.Parameters, want) {
				t.Errorf("%s on %s: the parameters are not those of the file", name, on)
			}
			r.Close()
			be.Close()
		}
	}
}

// TestStartIsWhereItWouldHaveBegun: a run that starts from the first parameters of another is that
// run, to the bit: it draws all else as the other does.
func TestStartIsWhereItWouldHaveBegun(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	for _, method := range []string{"constant", "dc-e", "quantile"} {
		cfg := base(method)
		cfg.Model, cfg.Optimizer, cfg.Iterate = run.Model{Kind: "mlp", Hidden: []int{8}, Activation: "relu"}, "adam", "ema"
		cfg.Steps, cfg.LearningRate = 12, 0.05
		first := cfg
		first.Iterate, first.Steps, first.LearningRate, first.Optimizer = "last", 1, still, "sgd"
		_, begun := finish(t, started(t, first, ds))
		plain, want := finish(t, started(t, cfg, ds))
		w := weightsOf(t, &cfg, saved(t, first, &begun))
		events, res := finish(t, startFrom(t, cfg, w, ds, purego.New()))
		for i, p := range res.Released.Parameters {
			// Biases begin at 0, and a step of the first run leaves them next to it.
			if math.Abs(float64(p-want.Released.Parameters[i])) > 1e-6 {
				t.Fatalf("%s: parameter %d is %v, and was %v", method, i, p, want.Released.Parameters[i])
			}
		}
		for i := range events {
			if a, b := float64(events[i].Released.MaxGradNorm), float64(plain[i].Released.MaxGradNorm); math.Abs(a-b) > 1e-6*b {
				t.Fatalf("%s: C in step %d is %v, and was %v", method, i+1, a, b)
			}
		}
	}
}

// TestRegressionsStartInTheDatasUnits: a saved model of numbers answers in the data's units, and a run
// from it begins with those answers though it scales targets.
func TestRegressionsStartInTheDatasUnits(t *testing.T) {
	t.Parallel()
	ds := declaredIncomes(300, 3)
	cfg := base("constant")
	cfg.Model, cfg.Scaling = run.Model{Kind: "linear"}, run.Scaling{Kind: "declared", Lo: 0, Hi: 100}
	_, before := finish(t, started(t, cfg, ds))
	next := cfg
	next.Steps, next.LearningRate = 1, still
	w := weightsOf(t, &next, saved(t, cfg, &before))
	_, after := finish(t, startFrom(t, next, w, ds, purego.New()))
	for i, p := range after.Released.Parameters {
		if was := float64(before.Released.Parameters[i]); math.Abs(float64(p)-was) > 1e-2 {
			t.Errorf("parameter %d is %v, and was %v", i, p, was)
		}
	}
	if a, b := float64(after.TestLoss), float64(before.TestLoss); !(math.Abs(a-b) <= 1e-4*b) {
		t.Errorf("a loss of %v, and it was %v", a, b)
	}
}

// TestStartIsRefusedByName lists what no run starts from.
func TestStartIsRefusedByName(t *testing.T) {
	ds := small(t)
	softmax := []traintest.Tensor{{Name: "layers.0.weight", Shape: []int{2, 4}, Values: traintest.Normals(1, 8)}, {Name: "layers.0.bias", Shape: []int{4}, Values: traintest.Normals(2, 4)}}
	narrow := []traintest.Tensor{{Name: "layers.0.weight", Shape: []int{2, 3}, Values: traintest.Normals(1, 6)}, {Name: "layers.0.bias", Shape: []int{3}, Values: traintest.Normals(2, 3)}}
	odd := []traintest.Tensor{softmax[0], {Name: "layers.0.bias", Shape: []int{4}, Values: []float32{1, float32(math.NaN()), 3, 4}}}
	infinite := []traintest.Tensor{{Name: "layers.0.weight", Shape: []int{2, 4}, Values: []float32{1, 2, 3, 4, 5, 6, 7, float32(math.Inf(-1))}}, softmax[1]}
	double := bytes.Replace(traintest.Safetensors(t, nil, softmax...), []byte("F32"), []byte("F64"), 1)
	for name, c := range map[string]struct {
		file  []byte
		edit  func(*run.Config)
		field string
		said  string
	}{
		"fits":          {traintest.Safetensors(t, nil, softmax...), nil, "", ""},
		"not private":   {traintest.Safetensors(t, nil, softmax...), func(c *run.Config) { c.Start.Public, c.NoPrivacy, c.NoiseMultiplier = false, true, nil }, "", ""},
		"not declared":  {traintest.Safetensors(t, nil, softmax...), func(c *run.Config) { c.Start.Public = false }, "start.public", "before.safetensors count as public"},
		"no weights":    {nil, func(c *run.Config) { c.Start = run.Start{Public: true} }, "start", "no weights"},
		"no hash":       {nil, func(c *run.Config) { c.Start = run.Start{SHA256: "abc", Public: true} }, "start.sha256", `"abc" is no SHA-256`},
		"other file":    {traintest.Safetensors(t, nil, softmax...), func(c *run.Config) { c.Start.SHA256 = strings.Repeat("0", 64) }, "start", "another SHA-256"},
		"pca":           {traintest.Safetensors(t, nil, softmax...), func(c *run.Config) { c.PCA.Components = 1 }, "pca.components", "directions"},
		"other shape":   {traintest.Safetensors(t, nil, narrow...), nil, "start", "the tensor layers.0.weight has the shape [2 3], and layer 1 (dense) takes [2 4]"},
		"transposed":    {traintest.Safetensors(t, nil, traintest.Tensor{Name: "layers.0.weight", Shape: []int{4, 2}, Values: traintest.Normals(1, 8)}, softmax[1]), nil, "start", "layers.0.weight has the shape [4 2]"},
		"missing":       {traintest.Safetensors(t, nil, softmax[0]), nil, "start", "there is no tensor layers.0.bias of shape [4], which layer 1 (dense) takes; there are layers.0.weight"},
		"beside":        {traintest.Safetensors(t, nil, append(slices.Clone(softmax), traintest.Tensor{Name: "layers.1.scale", Shape: []int{1}, Values: traintest.Normals(9, 1)})...), nil, "start", "the tensor layers.1.scale of shape [1] is of no layer"},
		"not a number":  {traintest.Safetensors(t, nil, odd...), nil, "file", "tensor layers.0.bias: number 2 of 4 is NaN"},
		"infinite":      {traintest.Safetensors(t, nil, infinite...), nil, "file", "tensor layers.0.weight: number 8 of 8 is -Inf"},
		"of float64":    {double, nil, "file", "it is of F64, and parameters are F32"},
		"cut short":     {traintest.Safetensors(t, nil, softmax...)[:40], nil, "file", "the file is cut short"},
		"half a tensor": {traintest.Safetensors(t, nil, softmax...)[:len(traintest.Safetensors(t, nil, softmax...))-4], nil, "file", "layers.0.bias"},
		"empty":         {traintest.Safetensors(t, nil), nil, "file", "no tensors"},
		"a table":       {[]byte("a,b\n1,2\n"), nil, "file", "no model that Clipscope saves"},
	} {
		cfg := base("constant")
		cfg.Model = run.Model{Kind: "softmax"}
		err := func() error {
			var w *model.Weights
			if c.file != nil {
				var err error
				if w, err = model.ReadWeights("before.safetensors", c.file); err != nil {
					return &run.ConfigError{Field: "file", Message: err.Error()}
				}
				cfg.Start = run.Start{File: w.Info.File, SHA256: w.Info.SHA256, Public: true}
			}
			if c.edit != nil {
				c.edit(&cfg)
			}
			p, err := plan.Recall(&accounts, cfg, ds.Meta())
			if err == nil {
				_, err = p.StartFrom(w)
			}
			return err
		}()
		refused(t, name, err, c.field, c.said)
	}
}

// TestModelsOfOtherDataAreNamed refuses a model whose features or classes are others, and warns where its
// weights keep a meaning.
func TestModelsOfOtherDataAreNamed(t *testing.T) {
	table := func() *data.Dataset {
		ds := &data.Dataset{Name: "table", Task: data.Classification, Features: 4, Outputs: 2, Classes: []string{"no", "yes"}, Columns: []data.Column{
			{Name: "age", Kind: data.Numeric, First: 0}, {Name: "town", Kind: data.Categorical, First: 1, Categories: []string{"a", "b", "c"}}, {Name: "y", Kind: data.Label, First: -1, Categories: []string{"no", "yes"}},
		}}
		for i := range 200 {
			split := &ds.Train
			if i >= 160 {
				split = &ds.Test
			}
			x := []float32{float32(i % 90), 0, 0, 0}
			x[1+i%3] = 1
			split.N, split.F32, split.Y = split.N+1, append(split.F32, x...), append(split.Y, float32(i%2))
		}
		return ds
	}
	cfg := base("constant")
	cfg.Model, cfg.Scaling, cfg.Steps = run.Model{Kind: "softmax"}, run.Scaling{Kind: "declared", Lo: 0, Hi: 100}, 2
	_, res := finish(t, started(t, cfg, table()))
	file := saved(t, cfg, &res)
	for name, c := range map[string]struct {
		edit    func(*run.Config, *data.Dataset)
		refused string
		warned  string
	}{
		"the same":        {func(*run.Config, *data.Dataset) {}, "", ""},
		"other rows":      {func(_ *run.Config, ds *data.Dataset) { ds.Train.F32[0]++ }, "", ""},
		"classes turned":  {func(_ *run.Config, ds *data.Dataset) { ds.Classes = []string{"yes", "no"} }, "classes in another order: no, yes, and the data has yes, no", ""},
		"other classes":   {func(_ *run.Config, ds *data.Dataset) { ds.Classes = []string{"ham", "spam"} }, "", "other classes: no, yes. The data has ham, spam"},
		"another column":  {func(_ *run.Config, ds *data.Dataset) { ds.Columns[0].Name = "height" }, `column 1 of its features is "age", and of the data’s "height"`, ""},
		"another reading": {func(_ *run.Config, ds *data.Dataset) { ds.Columns[1].Kind = data.Text }, `"town" is read in another way`, ""},
		"categories":      {func(_ *run.Config, ds *data.Dataset) { ds.Columns[1].Categories = []string{"b", "a", "c"} }, `"town" has other categories, or in another order`, ""},
		"a backbone": {func(_ *run.Config, ds *data.Dataset) {
			ds.Backbone = &run.Backbone{SHA256: "c0ffee", Output: "y", Batch: 1}
		}, "a backbone made features of them", ""},
		"labels":           {func(_ *run.Config, ds *data.Dataset) { ds.Task = data.MultiLabel }, "trained for classification, and the data is of multi-label", ""},
		"other bounds":     {func(c *run.Config, _ *data.Dataset) { c.Scaling.Hi = 200 }, "", "other bounds of the features"},
		"another scaling":  {func(c *run.Config, _ *data.Dataset) { c.Scaling = run.Scaling{Kind: "row"} }, "", "trained with the scaling declared, and this run has row"},
		"bounds to be had": {func(c *run.Config, _ *data.Dataset) { c.Scaling = run.Scaling{Kind: "private"} }, "", "trained with the scaling declared, and this run has private"},
	} {
		cfg, ds := cfg, table()
		w := weightsOf(t, &cfg, file)
		c.edit(&cfg, ds)
		if ds.Task == data.MultiLabel {
			cfg.Model.Kind = "linear"
		}
		p, err := plan.Recall(&accounts, cfg, ds.Meta())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, err = p.StartFrom(w)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v, want %q", name, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		said := ""
		for _, w := range p.Info().Warnings {
			if w.Field == "start" {
				said += w.Message + "\n"
			}
		}
		if (said == "") != (c.warned == "") || !strings.Contains(said, c.warned) {
			t.Errorf("%s: warned of %q, want %q", name, said, c.warned)
		}
	}
}

// TestStatementsNameTheStart: guarantee and statement name the weights, what they count as, and the ε that
// their file claims, which adds up.
func TestStatementsNameTheStart(t *testing.T) {
	ds := small(t)
	cfg := base("constant")
	cfg.Model, cfg.Steps, cfg.Seed = run.Model{Kind: "softmax"}, 2, nil
	_, res := finish(t, started(t, cfg, ds))
	private := saved(t, cfg, &res)
	seeded := cfg
	seeded.Seed = ptr(uint64(1))
	_, taught := finish(t, started(t, seeded, ds))
	const adds = "the two add up"
	for name, c := range map[string]struct {
		file []byte
		adds bool
	}{
		"of a private run":   {private, true},
		"without a promise":  {saved(t, seeded, &taught), false},
		"of another program": {traintest.Safetensors(t, nil, traintest.Tensor{Name: "layers.0.weight", Shape: []int{2, 4}, Values: traintest.Normals(1, 8)}, traintest.Tensor{Name: "layers.0.bias", Shape: []int{4}, Values: traintest.Normals(2, 4)}), false},
	} {
		cfg := cfg
		w := weightsOf(t, &cfg, c.file)
		r := startFrom(t, cfg, w, ds, purego.New())
		res := stated(t, r)
		var s run.Statement
		if err := json.Unmarshal(res.Statement, &s); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{s.Text, res.Guarantee} {
			want := fmt.Sprintf("Training started from the weights in before.safetensors (SHA-256 %s), which are treated as public", w.Info.SHA256)
			both := w.Info.WithBefore(float64(res.Epsilon), res.Delta)
			if !strings.Contains(text, want) || strings.Contains(text, adds) != c.adds || (both != "") != c.adds || !strings.Contains(text, both) {
				t.Errorf("%s: %s", name, text)
			}
		}
		if s.Start == nil || s.Start.SHA256 != w.Info.SHA256 || s.Start.Private != c.adds {
			t.Errorf("%s: statement of %+v", name, s.Start)
		}
	}
	if res := stated(t, started(t, cfg, ds)); strings.Contains(string(res.Statement), "Training started from") {
		t.Error("a run from random weights speaks of others")
	}
}

// TestStartedRunsGoOn: a run from weights goes on from its state without their file, as the run that it was, and
// does not begin without it.
func TestStartedRunsGoOn(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	cfg := base("constant")
	cfg.Model, cfg.Steps = run.Model{Kind: "softmax"}, 8
	w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, traintest.Tensor{Name: "layers.0.weight", Shape: []int{2, 4}, Values: traintest.Normals(1, 8)}, traintest.Tensor{Name: "layers.0.bias", Shape: []int{4}, Values: traintest.Normals(2, 4)}))
	_, want := finish(t, startFrom(t, cfg, w, ds, purego.New()))
	c := checkpointAfter(t, startFrom(t, cfg, w, ds, purego.New()), 5)
	bare, err := plan.Recall(&accounts, cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), bare, ds, purego.New()); err == nil || !strings.Contains(err.Error(), "before.safetensors") {
		t.Errorf("without the weights it begins: %v", err)
	}
	known, err := bare.StartFrom(&model.Weights{Info: w.Info})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Resume(t.Context(), known, ds, purego.New(), c, c.Step())
	if err != nil {
		t.Fatal(err)
	}
	_, got := finish(t, again)
	if !slices.Equal(got.Released.Parameters, want.Released.Parameters) {
		t.Error("it ended elsewhere")
	}
	other := cfg
	other.Start.SHA256 = strings.Repeat("a", 64)
	p, err := plan.Recall(&accounts, other, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(c.Fits(p), ErrOtherPlan) {
		t.Errorf("a run from other weights goes on from its state: %v", c.Fits(p))
	}
}

// checkpointAfter breaks a run off after a step.
func checkpointAfter(t *testing.T, r *Run, step int) *Checkpoint {
	t.Helper()
	for e, err := range r.Steps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Step == step {
			break
		}
	}
	c, err := r.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// refused reports an error that is not of the field, or does not say so; where said is empty, any error.
func refused(t *testing.T, name string, err error, field, said string) {
	t.Helper()
	var fault *run.ConfigError
	switch {
	case said == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case said == "":
	case !errors.As(err, &fault) || fault.Field != field || !strings.Contains(fault.Message, said):
		t.Errorf("%s: %v, want %q of %s", name, err, said, field)
	}
}
