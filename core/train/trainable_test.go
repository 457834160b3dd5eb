package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/nn"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/train/traintest"
)

// layered are the tensors of dense layers from 2 values to 4, an activation between each two.
func layered(widths ...int) []traintest.Tensor {
	var all []traintest.Tensor
	in := 2
	for i, out := range append(widths, 4) {
		name := fmt.Sprintf("layers.%d.", 2*i)
		all = append(all,
			traintest.Tensor{Name: name + "weight", Shape: []int{in, out}, Values: traintest.Normals(uint64(2*i+1), in*out)},
			traintest.Tensor{Name: name + "bias", Shape: []int{out}, Values: traintest.Normals(uint64(2*i+2), out)})
		in = out
	}
	return all
}

func valuesOf(all []traintest.Tensor) []float32 {
	var v []float32
	for _, x := range all {
		v = append(v, x.Values...)
	}
	return v
}

// TestFrozenLayersStay: of a run that trains a part of its model the parameters before that part are the file's, to the
// bit, all others have moved, and the plan says how many. Of every method that takes them, with both kinds of noise, on
// every back end.
func TestFrozenLayersStay(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	file := layered(9, 7)
	given := valuesOf(file)
	for method, edit := range map[string]func(*run.Config){
		"constant": nil, "dc-e": nil, "dc-p": nil, "psac": nil, "auto-s": nil, "auto-v": nil, "adaclip": nil, "coordinate": nil, "smooth": nil, "slaclip": nil, "micro-batch": nil, "per-layer": nil, "none": nil,
		"quantile": func(c *run.Config) { c.Grouping = "per-layer" },
	} {
		for _, c := range []struct {
			what   string
			frozen int
		}{{"head", 27 + 70}, {"last:1", 27}, {"last:2", 0}} {
			for on, open := range computetest.Backends(t) {
				for _, noise := range []string{"float", "secure"} {
					cfg := base(method)
					cfg.Model, cfg.Steps, cfg.LearningRate, cfg.NoiseMode = run.Model{Kind: "mlp", Hidden: []int{9, 7}, Activation: "tanh"}, 3, 0.5, noise
					if edit != nil {
						edit(&cfg)
					}
					w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, file...))
					cfg.Start.Trainable = c.what
					p, err := plan.Recall(&accounts, cfg, ds.Meta())
					if noise == "secure" && err != nil {
						continue // refused by name, as for whole models
					}
					if err != nil {
						t.Fatalf("%s, %s: %v", method, c.what, err)
					}
					if p, err = p.StartFrom(w); err != nil {
						t.Fatal(err)
					}
					be := open()
					r, err := Start(t.Context(), p, ds, be)
					if err != nil {
						t.Fatal(err)
					}
					_, res := finish(t, r)
					name := fmt.Sprintf("%s, %s, %s, %s", method, noise, c.what, on)
					got := res.Released.Parameters
					if len(got) != len(given) || !slices.Equal(got[:c.frozen], given[:c.frozen]) {
						t.Fatalf("%s: %d parameters, of which the first %d are not the file's", name, len(got), c.frozen)
					}
					stayed := 0
					for i, x := range got[c.frozen:] {
						if x == given[c.frozen+i] {
							stayed++
						}
					}
					if trained := len(got) - c.frozen; stayed > trained/20 { // a small step may round to none
						t.Errorf("%s: %d of %d parameters have not moved", name, stayed, trained)
					}
					if info := p.Info(); info.Parameters != len(given) || c.frozen > 0 && info.Trained != len(given)-c.frozen {
						t.Errorf("%s: planned %d of %d trained", name, info.Trained, info.Parameters)
					}
					r.Close()
					be.Close()
				}
			}
		}
	}
}

// TestFrozenLayersAreFeatures: to train the head of a model is to train a model of one layer on what the frozen ones make
// of the rows, to the bit, thresholds and noise included.
func TestFrozenLayersAreFeatures(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	file := layered(6)
	for _, method := range []string{"constant", "dc-e", "psac", "adaclip"} {
		cfg := base(method)
		cfg.Model, cfg.Steps, cfg.Scaling, cfg.Optimizer, cfg.LearningRate = run.Model{Kind: "layers", Layers: []string{"dense:6", "relu", "dense"}}, 12, run.Scaling{Kind: "none"}, "adam", 0.05
		cfg.Iterate, cfg.Seed = "ema", ptr(uint64(5))
		w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, file...))
		cfg.Start.Trainable = "head"
		events, whole := finish(t, startFrom(t, cfg, w, ds, purego.New()))

		features := *ds
		features.Features, features.Columns, features.Shape, features.Bounds = 6, nil, nil, nil
		for _, s := range []*data.Split{&features.Train, &features.Test} {
			s.F32, s.U8 = hidden(t, s, file), nil
		}
		next := cfg
		next.Model = run.Model{Kind: "layers", Layers: []string{"dense"}}
		v := weightsOf(t, &next, traintest.Safetensors(t, nil,
			traintest.Tensor{Name: "layers.0.weight", Shape: []int{6, 4}, Values: file[2].Values}, traintest.Tensor{Name: "layers.0.bias", Shape: []int{4}, Values: file[3].Values}))
		plain, head := finish(t, startFrom(t, next, v, &features, purego.New()))
		if got := whole.Released.Parameters[18:]; !slices.Equal(got, head.Released.Parameters) {
			t.Errorf("%s: the head ended with %v…, and that of the features with %v…", method, got[:3], head.Released.Parameters[:3])
		}
		for i := range events {
			if a, b := events[i].Released.MaxGradNorm, plain[i].Released.MaxGradNorm; a != b {
				t.Errorf("%s: C of step %d is %v, and of the features %v", method, i+1, a, b)
			}
		}
	}
}

// hidden returns what a dense layer of 6 units with relu makes of rows of 2 values.
func hidden(t *testing.T, s *data.Split, file []traintest.Tensor) []float32 {
	t.Helper()
	spec, err := nn.Read(nn.Shape{Channels: 2}, []string{"dense:6", "relu"}, 6, nn.Squared)
	if err != nil {
		t.Fatal(err)
	}
	be := purego.New()
	defer be.Close()
	m := nn.New(be, spec, s.N, 1)
	be.Write(m.All(), valuesOf(file[:2]))
	x := be.New(len(s.F32))
	be.Write(x, s.F32)
	v := make([]float32, 6*s.N)
	if err := compute.Read(t.Context(), be, v, m.Forward(x, s.N, 1)); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPartlyTrainedRunsGoOn: a run that trains a part of its model goes on from its state without the file, as the run
// that it was, and not from a state whose frozen layers are of another size; and when its back end is lost.
func TestPartlyTrainedRunsGoOn(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	cfg := base("dc-e")
	cfg.Model, cfg.Steps, cfg.Optimizer = run.Model{Kind: "mlp", Hidden: []int{8}, Activation: "tanh"}, 8, "adam"
	w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, layered(8)...))
	cfg.Start.Trainable = "head"
	_, want := finish(t, startFrom(t, cfg, w, ds, purego.New()))
	c, err := ReadCheckpoint(checkpointAfter(t, startFrom(t, cfg, w, ds, purego.New()), 5).Append(nil))
	if err != nil {
		t.Fatal(err)
	}
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
	if got := goneOn(t, known, ds, c); !slices.Equal(got.Released.Parameters, want.Released.Parameters) {
		t.Error("it ended elsewhere")
	}
	c.frozen = c.frozen[1:]
	if _, err := Resume(t.Context(), known, ds, purego.New(), c, c.Step()); err == nil {
		t.Error("it goes on with a parameter less")
	}
}

// goneOn returns the result of a run that goes on from a state and loses its back end at once; its steps are measured first.
func goneOn(t *testing.T, p *plan.Plan, ds *data.Dataset, c *Checkpoint) run.Result {
	t.Helper()
	if _, err := StepTime(t.Context(), p, purego.New()); err != nil {
		t.Errorf("its steps are not measured: %v", err)
	}
	again, err := Resume(t.Context(), p, ds, &traintest.Fragile{Backend: purego.New(), Life: 1 << 30}, c, c.Step())
	if err != nil {
		t.Fatal(err)
	}
	if again, err = again.Continue(t.Context(), purego.New()); err != nil {
		t.Fatal(err)
	}
	_, res := finish(t, again)
	return res
}

// tensorsOf draws a file's tensors for a model of a data set's rows.
func tensorsOf(t *testing.T, cfg run.Config, ds *data.Dataset) []traintest.Tensor {
	t.Helper()
	cfg.Start = run.Start{}
	p, err := plan.Recall(&accounts, cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	var all []traintest.Tensor
	for i, l := range p.Terms().Spec.Layers {
		for j, x := range l.Tensors {
			all = append(all, traintest.Tensor{Name: fmt.Sprintf("layers.%d.%s", i, x.Name), Shape: x.Shape, Values: traintest.Normals(uint64(100*i+j), x.Len())})
		}
	}
	return all
}

// TestPartsOfLayersAreTrained: of a run that trains biases, or maps of low rank, what is released is the file's but for the
// biases, the weights that have maps beside them, and the head, which have moved; of every method that takes such models, with
// both kinds of noise, on every back end. A run that goes on from its state without the file, or after its back end is lost, ends
// as it would have.
func TestPartsOfLayersAreTrained(t *testing.T) {
	t.Parallel()
	ds := names(150)
	for _, m := range clip.Methods() {
		if !ofSequences(m) {
			continue
		}
		for part, c := range map[string]struct {
			start run.Start
			moves func(tensor string) bool
		}{
			"biases": {run.Start{}, func(tensor string) bool { return strings.Contains(tensor, "bias") }},
			"lora:2": {run.Start{LoraTargets: "key, dense", LoraAlpha: 40}, func(tensor string) bool { return tensor == "in_weight" || tensor == "out_weight" }},
			"lora:1": {run.Start{FreezeA: true, LoraAlpha: 20}, func(tensor string) bool { return tensor == "in_weight" }},
		} {
			cfg := base(m.Name)
			cfg.Model, cfg.Steps, cfg.LearningRate, cfg.Scaling = attends, 3, 0.5, run.Scaling{Kind: "none"}
			file := tensorsOf(t, cfg, ds)
			w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, file...))
			cfg.Start.Trainable, cfg.Start.LoraTargets, cfg.Start.LoraAlpha, cfg.Start.FreezeA = part, c.start.LoraTargets, c.start.LoraAlpha, c.start.FreezeA
			for _, noise := range []string{"float", "secure"} {
				cfg.NoiseMode = noise
				if _, err := plan.Recall(&accounts, cfg, ds.Meta()); noise == "secure" && err != nil {
					continue // refused by name, as for whole models
				}
				for on, open := range computetest.Backends(t) {
					be := open()
					r := startFrom(t, cfg, w, ds, be)
					_, res := finish(t, r)
					rest := res.Released.Parameters
					for i, x := range file {
						got := rest[:len(x.Values)]
						rest = rest[len(x.Values):]
						_, tensor, _ := strings.Cut(strings.TrimPrefix(x.Name, "layers."), ".")
						if moves := c.moves(tensor) || i >= len(file)-2; moves == slices.Equal(got, x.Values) {
							t.Errorf("%s, %s, %s, %s: %s moved: %t", m.Name, part, noise, on, x.Name, !moves)
						}
					}
					if len(rest) > 0 {
						t.Errorf("%s, %s: %d parameters too many", m.Name, part, len(rest))
					}
					be.Close()
				}
			}
			if m.Name != "dc-e" {
				continue
			}
			cfg.NoiseMode, cfg.Optimizer, cfg.Steps = "float", "adam", 8
			_, want := finish(t, startFrom(t, cfg, w, ds, purego.New()))
			state, err := ReadCheckpoint(checkpointAfter(t, startFrom(t, cfg, w, ds, purego.New()), 5).Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			bare, err := plan.Recall(&accounts, cfg, ds.Meta())
			if err != nil {
				t.Fatal(err)
			}
			for what, from := range map[string]*model.Weights{"without its file": {Info: w.Info}, "with its file": w} {
				known, err := bare.StartFrom(from)
				if err != nil {
					t.Fatal(err)
				}
				if got := goneOn(t, known, ds, state); !slices.Equal(got.Released.Parameters, want.Released.Parameters) {
					t.Errorf("%s, %s: it ended elsewhere", part, what)
				}
			}
		}
	}
}

// TestPartsAreRefusedByName: what cannot be trained in part.
func TestPartsAreRefusedByName(t *testing.T) {
	ds := small(t)
	for name, c := range map[string]struct {
		edit        func(*run.Config)
		field, said string
	}{
		"head":               {func(*run.Config) {}, "", ""},
		"too many":           {func(c *run.Config) { c.Start.Trainable = "last:2" }, "start.trainable", "there are 1 blocks"},
		"no part":            {func(c *run.Config) { c.Start.Trainable = "weights" }, "start.trainable", `"weights" names no part`},
		"no attention":       {func(c *run.Config) { c.Start.Trainable = "lora:4" }, "start.trainable", "no attention beside whose maps"},
		"no rank":            {func(c *run.Config) { c.Start.Trainable = "lora:x" }, "start.trainable", "a rank of 0 is not between 1"},
		"a rank with a sign": {func(c *run.Config) { c.Start.Trainable = "lora:+4" }, "start.trainable", "a rank of 0 is not between 1"},
		"no biases":          {func(c *run.Config) { c.Model, c.Start.Trainable = run.Model{Kind: "softmax"}, "biases" }, "start.trainable", "no biases"},
		"random weights":     {func(c *run.Config) { c.Start = run.Start{Trainable: "head"} }, "start", "no weights to start from"},
		"value clipping":     {func(c *run.Config) { c.Method, c.Model.Activation = "value", "relu" }, "method", "not trained there is no bound"},
		"not declared":       {func(c *run.Config) { c.Start.Public = false }, "start.public", "count as public"},
	} {
		cfg := base("constant")
		cfg.Model = run.Model{Kind: "mlp", Hidden: []int{5}, Activation: "tanh"}
		w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, layered(5)...))
		cfg.Start.Trainable = "head"
		c.edit(&cfg)
		p, err := plan.Recall(&accounts, cfg, ds.Meta())
		if err == nil {
			_, err = p.StartFrom(w)
		}
		refused(t, name, err, c.field, c.said)
	}
}

// TestOtherHeadsAreDrawn: a file whose last layer is for other classes, or that has none, gives the layers before it;
// the last one is drawn at random, and the plan says so. A file of which more is missing is refused.
func TestOtherHeadsAreDrawn(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	file := layered(8)
	other := slices.Clone(file)
	other[2] = traintest.Tensor{Name: "layers.2.weight", Shape: []int{8, 3}, Values: traintest.Normals(9, 24)}
	other[3] = traintest.Tensor{Name: "layers.2.bias", Shape: []int{3}, Values: traintest.Normals(8, 3)}
	for name, c := range map[string]struct {
		file  []traintest.Tensor
		drawn bool
		said  string // of a refusal
	}{
		"the same":      {file, false, ""},
		"other classes": {other, true, ""},
		"no head":       {file[:2], true, ""},
		"half a head":   {file[:3], true, ""},
		"no first":      {file[2:], false, "there is no tensor layers.0.weight"},
	} {
		for _, trainable := range []string{"all", "head"} {
			cfg := base("constant")
			cfg.Model, cfg.Steps, cfg.LearningRate = run.Model{Kind: "mlp", Hidden: []int{8}, Activation: "tanh"}, 2, still
			w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, c.file...))
			cfg.Start.Trainable = trainable
			p, err := plan.Recall(&accounts, cfg, ds.Meta())
			if err != nil {
				t.Fatal(err)
			}
			p, err = p.StartFrom(w)
			if c.said != "" {
				refused(t, name, err, "start", c.said)
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			warned := slices.ContainsFunc(p.Info().Warnings, func(w run.Warning) bool { return strings.Contains(w.Message, "The last layer is drawn at random") })
			r, err := Start(t.Context(), p, ds, purego.New())
			if err != nil {
				t.Fatal(err)
			}
			_, res := finish(t, r)
			got, first := res.Released.Parameters, valuesOf(file[:2])
			if !slices.Equal(got[:24], first) || slices.Equal(got[24:56], file[2].Values) == c.drawn || warned != c.drawn {
				t.Errorf("%s, %s: warned: %t; the head begins with %v", name, trainable, warned, got[24:28])
			}
			if c.drawn && (got[24] == 0 || math.Abs(float64(got[24])) > 5) {
				t.Errorf("%s, %s: the head was not drawn: %v", name, trainable, got[24:28])
			}
		}
	}
}

// TestStatementsCountFrozenParameters: in the statement's fields too.
func TestStatementsCountFrozenParameters(t *testing.T) {
	ds := small(t)
	cfg := base("constant")
	cfg.Model, cfg.Steps, cfg.Seed = run.Model{Kind: "mlp", Hidden: []int{5}, Activation: "tanh"}, 2, nil
	w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, layered(5)...))
	cfg.Start.Trainable = "head"
	res := stated(t, startFrom(t, cfg, w, ds, purego.New()))
	var s run.Statement
	if err := json.Unmarshal(res.Statement, &s); err != nil {
		t.Fatal(err)
	}
	if s.Start == nil || s.Start.Frozen != 15 || s.Start.Trained != 24 {
		t.Errorf("the statement has %+v", s.Start)
	}
	for _, said := range []string{"39 parameters, 24 trained", "the last 24 were trained; the first 15 are the file’s"} {
		if !strings.Contains(s.Text, said) {
			t.Errorf("the statement does not say %q: %s", said, s.Text)
		}
	}
	if said := "the last 24 were trained"; !strings.Contains(res.Guarantee, said) {
		t.Errorf("the guarantee does not say %q: %s", said, res.Guarantee)
	}
}

// TestKeptRowsChangeNothing: a run that keeps what its frozen layers make of a row is the run that makes it in each step, to
// the bit, with dropout behind the layers that are trained, in batches of several parts; and rows go through the frozen
// layers once. Where rows have other views in each step, or there is no room, nothing is kept.
func TestKeptRowsChangeNothing(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	cfg := base("dc-e")
	cfg.Model, cfg.Steps, cfg.MaxPhysicalBatchSize = run.Model{Kind: "mlp", Hidden: []int{9, 7}, Activation: "tanh", Dropout: 0.3}, 20, 16
	w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, layered(9, 7)...))
	cfg.Start.Trainable = "last:1"
	for on, open := range computetest.Backends(t) {
		be := open()
		r := startFrom(t, cfg, w, ds, be)
		if r.feed.kept == nil {
			t.Fatalf("%s: nothing is kept", on)
		}
		_, kept := finish(t, r)
		for name, s := range map[string]*data.Split{"training": &ds.Train, "test": &ds.Test} {
			if places := r.feed.kept.places[s]; len(places) != s.N || slices.Max(places) < 0 {
				t.Errorf("%s: of %d %s rows %d have a place, or none was kept", on, s.N, name, len(places))
			}
		}
		r.Close()
		anew := startFrom(t, cfg, w, ds, be)
		anew.feed.kept = nil
		_, want := finish(t, anew)
		if !slices.Equal(kept.Released.Parameters, want.Released.Parameters) || kept.TestLoss != want.TestLoss {
			t.Errorf("%s: it ends elsewhere than a run that keeps nothing", on)
		}
		anew.Close()
		be.Close()
	}
	keptOnDevice(t, cfg, ds)
	large := ds.Meta()
	large.TrainRows = 1 << 30
	if p, err := plan.Recall(&accounts, cfg, large); err == nil {
		if terms := p.Terms(); terms.Kept() != 0 {
			t.Errorf("%d bytes are kept", terms.Kept())
		}
	}
	whole := cfg
	whole.Start = run.Start{}
	p, err := plan.Recall(&accounts, whole, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	if terms := p.Terms(); terms.Kept() != 0 {
		t.Errorf("a model without frozen layers keeps %d bytes", terms.Kept())
	}
}

// embeds counts the calls that take what is kept on a backend with its own memory.
type embeds struct {
	*roomy
	embeds int
}

func (e *embeds) Run(k *compute.Kernel, a compute.Args) {
	if k.Name == "embed" {
		e.embeds++
	}
	e.roomy.Run(k, a)
}

// ticking is a clock that goes a second on whenever it is asked.
func ticking() func() time.Time {
	now := time.Time{}
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// keptOnDevice trains on backends with memory of their own, of which one has room for what is kept: nothing of that comes back, and the estimate
// bounds what is taken.
func keptOnDevice(t *testing.T, cfg run.Config, ds *data.Dataset) {
	t.Helper()
	cfg.Model.Hidden, cfg.MaxPhysicalBatchSize = []int{2, 60}, 0 // a row takes more on its way than what is kept of it
	w := weightsOf(t, &cfg, traintest.Safetensors(t, nil, layered(2, 60)...))
	cfg.Start.Trainable = "last:1"
	r := startFrom(t, cfg, w, ds, purego.New())
	terms := r.feed.terms
	r.Close()
	most := terms.Room(terms.CapacityIn(math.MaxInt64))
	var want []float32
	tight := map[bool]int{}
	rooms := []int64{most, most + terms.Kept() - 1, most + terms.Kept()}
	for n := terms.CapacityIn(most); n > 0; n -= max(n/3, 1) {
		rooms = append(rooms, terms.Room(n), terms.Room(n)+terms.Kept())
	}
	for _, room := range rooms {
		be := &roomy{counted: newCounted(), room: room}
		r := startFrom(t, cfg, w, ds, be)
		kept := r.feed.kept != nil
		if room < most {
			tight[kept]++
		} else if kept != (room >= most+terms.Kept()) {
			t.Fatalf("of %d bytes for %d, what frozen layers make is kept: %v", room, most+terms.Kept(), kept)
		}
		if whole := terms.CapacityIn(room); r.feed.capacity < whole && (!kept || 4*r.feed.capacity < 3*whole) {
			t.Errorf("of %d bytes, which %d rows take, %d rows use some", room, whole, r.feed.capacity)
		}
		_, res := finish(t, r)
		if be.most > room {
			t.Errorf("%d bytes were reserved and %d are taken", room, be.most)
		}
		if want == nil {
			want = res.Released.Parameters
		}
		if !slices.Equal(res.Released.Parameters, want) {
			t.Errorf("with %d bytes it ends elsewhere than where nothing is kept", room)
		}
		r.Close()
	}
	p, err := plan.Recall(&accounts, cfg, ds.Meta())
	if err == nil {
		p, err = p.StartFrom(w)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int64{most + terms.Kept() - 1, most + terms.Kept()} { // of which what is measured takes less
		be := &embeds{roomy: &roomy{counted: newCounted(), room: room}}
		if _, err := stepTime(t.Context(), p, be, ticking()); err != nil || (be.embeds > 0) != (room == most+terms.Kept()) {
			t.Errorf("with %d bytes for %d a step that is measured takes kept rows %d times, %v", room, most+terms.Kept(), be.embeds, err)
		}
	}
	if tight[true] == 0 || tight[false] == 0 {
		t.Errorf("where not all rows have room, what frozen layers make is kept or not: %v", tight)
	}
}

// TestFrozenLayersTakeTimeOnce: a plan that keeps what they make of rows says nothing of hours that it will not take. Public
// rows go through them in each step.
func TestFrozenLayersTakeTimeOnce(t *testing.T) {
	ds := firstRows(t)
	for trainable, want := range map[string]bool{"all": true, "last:1": true, "head": false, "head, public rows": true} {
		trainable, public := strings.CutSuffix(trainable, ", public rows")
		cfg := base("constant")
		cfg.Model, cfg.Steps, cfg.Accountant = run.Model{Kind: "mlp", Hidden: []int{4096, 4096}, Activation: "tanh"}, 1_000_000, "rdp"
		cfg.Start = run.Start{File: "a.zip", SHA256: strings.Repeat("a", 64), Public: true, Trainable: trainable}
		if public {
			cfg.PublicRows = run.PublicRows{File: "b.csv", SHA256: strings.Repeat("b", 64), BatchSize: 1000, Weight: 0.5, Public: true}
		}
		p, err := plan.Recall(&accounts, cfg, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(p.Info().Warnings, func(w run.Warning) bool { return strings.Contains(w.Message, "hours") }); got != want {
			t.Errorf("%s, public rows: %t: warned of hours: %t", trainable, public, got)
		}
	}
}
