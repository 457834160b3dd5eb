package train

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
	"clipscope/core/train/traintest"
)

// publicHash stands for the hash of a file of public rows.
var publicHash = strings.Repeat("5a", 32)

// publicBlobs makes n public rows of the blobs, short ones, and names them in cfg.
func publicBlobs(cfg *run.Config, n, batch int, weight float64) *model.PublicRows {
	cfg.PublicRows = run.PublicRows{File: "open.csv", SHA256: publicHash, BatchSize: batch, Weight: weight, Public: true}
	p := &model.PublicRows{Info: run.PublicInfo{PublicRows: run.PublicRows{File: "open.csv", SHA256: publicHash}, Rows: n}}
	p.Split = data.Split{N: n, F32: traintest.Normals(11, 2*n), Y: make([]float32, n)}
	for i := range p.Split.F32 {
		p.Split.F32[i] *= 0.2
	}
	for i := range p.Split.Y {
		p.Split.Y[i] = float32(i % 4)
	}
	return p
}

// mixing plans a run with public rows.
func mixing(t testing.TB, cfg run.Config, w *model.Weights, rows *model.PublicRows, ds *data.Dataset) *plan.Plan {
	t.Helper()
	p, err := plan.Recall(&accounts, cfg, ds.Meta())
	if err == nil && w != nil {
		p, err = p.StartFrom(w)
	}
	if err == nil && rows != nil {
		p, err = p.MixIn(rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func starting(t testing.TB, p *plan.Plan, ds *data.Dataset, be compute.Backend) *Run {
	t.Helper()
	r, err := Start(t.Context(), p, ds, be)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// meanGradient is the mean gradient of softmax regression on rows of two features and four classes, one row
// after the other in float64: of targets smoothed by a, the losses times the classes' weights.
func meanGradient(at []float32, s *data.Split, rows []int, a float64, weights []float64) []float64 {
	g := make([]float64, 12)
	for _, i := range rows {
		x := s.F32[2*i : 2*i+2]
		var z [4]float64
		total := 0.0
		for k := range z {
			z[k] = math.Exp(float64(at[k])*float64(x[0]) + float64(at[4+k])*float64(x[1]) + float64(at[8+k]))
			total += z[k]
		}
		for k := range z {
			y := a / 4
			if k == int(s.Y[i]) {
				y += 1 - a
			}
			d := (z[k]/total - y) * weights[int(s.Y[i])] / float64(len(rows))
			g[k], g[4+k], g[8+k] = g[k]+d*float64(x[0]), g[4+k]+d*float64(x[1]), g[8+k]+d
		}
	}
	return g
}

// TestPublicRowsAreMixedIn: a step with public rows releases what a step without them does, and moves the
// parameters by (1−w)·g̃ + w·ḡ, with every method on every back end. ḡ is computed one row at a time in float64.
func TestPublicRowsAreMixedIn(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	file := traintest.Safetensors(t, nil, traintest.Tensor{Name: "layers.0.weight", Shape: []int{2, 4}, Values: traintest.Normals(1, 8)}, traintest.Tensor{Name: "layers.0.bias", Shape: []int{4}, Values: traintest.Normals(2, 4)})
	first := slices.Concat(traintest.Normals(1, 8), traintest.Normals(2, 4))
	ones := []float64{1, 1, 1, 1}
	const weight, rows, batch = 0.3, 50, 20
	check := func(name string, cfg run.Config, weights []float64, be compute.Backend) {
		t.Helper()
		cfg.Model, cfg.Scaling.Kind, cfg.Steps, cfg.MaxPhysicalBatchSize = run.Model{Kind: "softmax"}, "none", 1, 7
		w := weightsOf(t, &cfg, file)
		without := starting(t, mixing(t, cfg, w, nil, ds), ds, be)
		defer without.Close()
		before, plain := finish(t, without)
		public := publicBlobs(&cfg, rows, batch, weight)
		r := starting(t, mixing(t, cfg, w, public, ds), ds, be)
		defer r.Close()
		events, res := finish(t, r)
		if a, b := released(t, before), released(t, events); a != b || plain.Epsilon != res.Epsilon {
			t.Errorf("%s: released %s at ε = %v, and without public rows %s at %v", name, b, res.Epsilon, a, plain.Epsilon)
		}
		drawn := drawPublic(nil, batch, rows, rand.New(r.work.stream(privacy.Public, 0)))
		g := meanGradient(first, &public.Split, drawn, cfg.LabelSmoothing, weights)
		for i, got := range res.Released.Parameters {
			p := float64(first[i])
			want := p + (1-weight)*(float64(plain.Released.Parameters[i])-p) - weight*cfg.LearningRate*g[i]
			if math.Abs(float64(got)-want) > 2e-5*(1+math.Abs(want-p)) {
				t.Errorf("%s: parameter %d is %v, want %v; it was %v", name, i, got, want, p)
				break
			}
		}
		if a, b := r.noiseVariance(), without.noiseVariance()*(1-weight)*(1-weight); math.Abs(a-b) > 1e-12*b {
			t.Errorf("%s: noise of variance %v, want %v", name, a, b)
		}
	}
	for on, open := range computetest.Backends(t) {
		be := open()
		for _, m := range clip.Methods() {
			check(m.Name+" on "+on, base(m.Name), ones, be)
		}
		secure, layers, smooth, weighed, empty := base("constant"), base("constant"), base("constant"), base("constant"), base("dc-e")
		secure.NoiseMode, layers.Grouping, smooth.LabelSmoothing = "secure", "per-layer", 0.2
		weighed.ClassWeights = map[string]float64{ds.Classes[1]: 3}
		empty.ExpectedBatchSize = 1e-3
		check("secure on "+on, secure, ones, be)
		check("per layer on "+on, layers, ones, be)
		check("smoothed on "+on, smooth, ones, be)
		check("weighed on "+on, weighed, []float64{1, 3, 1, 1}, be)
		check("without private rows on "+on, empty, ones, be)
		be.Close()
	}
}

// released writes out what events say is released.
func released(t *testing.T, events []run.Event) string {
	t.Helper()
	all := ""
	for _, e := range events {
		b, err := json.Marshal(e.Released)
		if err != nil {
			t.Fatal(err)
		}
		all += string(b)
	}
	return all
}

// TestPublicRowsAreDrawnAlike: of five rows all ten pairs are as likely, and no row comes twice. A count of
// 20,000 lies more than 6 deviations off in one of 5·10⁷ runs of this test.
func TestPublicRowsAreDrawnAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	counts := map[[2]int]int{}
	const draws = 20_000
	for range draws {
		rows := drawPublic(nil, 2, 5, rng)
		slices.Sort(rows)
		if len(rows) != 2 || rows[0] == rows[1] || rows[0] < 0 || rows[1] > 4 {
			t.Fatalf("drew %v", rows)
		}
		counts[[2]int(rows)]++
	}
	for pair, n := range counts {
		if math.Abs(float64(n)-draws/10) > 6*math.Sqrt(draws*0.1*0.9) {
			t.Errorf("%v came %d times of %d", pair, n, draws)
		}
	}
	if len(counts) != 10 {
		t.Errorf("%d pairs came", len(counts))
	}
	if all := drawPublic(nil, 3, 3, rng); len(all) != 3 || all[0]+all[1]+all[2] != 3 {
		t.Errorf("drew %v of three rows", all)
	}
}

// TestInterruptedRunsMixInTheSameRows: a seeded run with public rows that goes on from any of its checkpoints
// ends as an undisturbed one, to the bit.
func TestInterruptedRunsMixInTheSameRows(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	for _, method := range []string{"constant", "quantile", "adaclip"} {
		cfg := base(method)
		cfg.Model, cfg.Optimizer, cfg.Iterate, cfg.Steps, cfg.ExpectedBatchSize, cfg.LearningRate = run.Model{Kind: "mlp", Hidden: []int{5}, Dropout: 0.2}, "adam", "ema", 7, 24, 0.1
		p := mixing(t, cfg, nil, publicBlobs(&cfg, 40, 9, 0.5), ds)
		r := starting(t, p, ds, purego.New())
		defer r.Close()
		var kept [][]byte
		for _, err := range r.Steps(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, encoded(t, r))
		}
		end, err := r.Outcome(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range kept {
			n := resumed(t, p, ds, purego.New(), b, 7)
			if _, res := finish(t, n); !slices.Equal(res.Released.Parameters, end.Released.Parameters) {
				t.Errorf("%s: from step %d it ends elsewhere", method, i+1)
			}
			n.Close()
		}
	}
}

// TestPublicRowsAreRefusedByName lists what no run mixes in.
func TestPublicRowsAreRefusedByName(t *testing.T) {
	ds := small(t)
	for name, c := range map[string]struct {
		edit        func(*run.Config, *data.Meta, *model.PublicRows)
		field, said string
	}{
		"fits": {func(*run.Config, *data.Meta, *model.PublicRows) {}, "", ""},
		"not private": {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) {
			c.PublicRows.Public, c.NoPrivacy, c.NoiseMultiplier = false, true, nil
		}, "", ""},
		"undeclared": {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) { c.PublicRows.Public = false }, "public_rows.public", "ε promises nothing to the rows of open.csv"},
		"no file":    {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) { c.PublicRows = run.PublicRows{Public: true} }, "public_rows", "there are no public rows"},
		"no hash":    {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) { c.PublicRows.SHA256 = "abc" }, "public_rows.sha256", `"abc" is no SHA-256`},
		"other file": {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) { c.PublicRows.SHA256 = strings.Repeat("0", 64) }, "public_rows", "another SHA-256"},
		"no weight":  {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) { c.PublicRows.Weight = -0.1 }, "public_rows.weight", "not between 0 and 1"},
		"all weight": {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) { c.PublicRows.Weight = 1 }, "public_rows.weight", "not between 0 and 1"},
		"no number":  {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) { c.PublicRows.Weight = math.NaN() }, "public_rows.weight", "not between 0 and 1"},
		"no batch":   {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) { c.PublicRows.BatchSize = -1 }, "public_rows.batch_size", "not in 1 … 65536"},
		"backbone":   {func(_ *run.Config, m *data.Meta, _ *model.PublicRows) { m.Backbone = &run.Backbone{} }, "public_rows", "a backbone made the features"},
		"no rows":    {func(_ *run.Config, _ *data.Meta, p *model.PublicRows) { p.Split.N = 0 }, "public_rows", "open.csv has no row"},
		"parties": {func(c *run.Config, _ *data.Meta, _ *model.PublicRows) {
			c.Together, c.NoiseMode, c.NumExamples, c.Seed = run.Together{Parties: 3, Quorum: 3}, "secure", 1000, nil
		}, "public_rows", "parties share none"},
	} {
		cfg, meta := base("constant"), ds.Meta()
		cfg.Model = run.Model{Kind: "softmax"}
		rows := publicBlobs(&cfg, 30, 10, 0.5)
		c.edit(&cfg, &meta, rows)
		p, err := plan.Recall(&accounts, cfg, meta)
		if err == nil {
			_, err = p.MixIn(rows)
		}
		refused(t, name, err, c.field, c.said)
	}
	cfg := base("constant")
	publicBlobs(&cfg, 30, 10, 0.5)
	if _, err := Start(t.Context(), planned(t, cfg, ds), ds, purego.New()); err == nil || !strings.Contains(err.Error(), "the rows of open.csv") {
		t.Errorf("a run without the rows at hand: %v", err)
	}
}

// TestStatementNamesPublicRows: ε is that of a run without public rows, and plan, guarantee, statement and memory
// tell of them.
func TestStatementNamesPublicRows(t *testing.T) {
	ds := small(t)
	cfg := base("constant")
	cfg.Seed, cfg.Steps = nil, 2
	plain := planned(t, cfg, ds)
	p := mixing(t, cfg, nil, publicBlobs(&cfg, 3000, 0, 0), ds)
	want := "3000 public rows of open.csv (SHA-256 " + publicHash + ") were mixed in with weight 0.5, 64 a step, neither clipped nor noised: nothing is promised to them"
	info := p.Info()
	if info.Epsilon != plain.Info().Epsilon || info.PublicRows == nil || info.PublicRows.Rows != 3000 || !strings.Contains(info.Guarantee, want) {
		t.Errorf("ε = %v of %v, %+v: %s", info.Epsilon, plain.Info().Epsilon, info.PublicRows, info.Guarantee)
	}
	if more := info.MemoryBytes - plain.Info().MemoryBytes; more < 3000*12 {
		t.Errorf("3000 rows of 12 bytes take %d bytes", more)
	}
	r := starting(t, p, ds, purego.New())
	defer r.Close()
	_, res := finish(t, r)
	s, err := p.Statement(2)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var told run.Statement
	if err := json.Unmarshal(b, &told); err != nil {
		t.Fatal(err)
	}
	if !told.Guarantee || !strings.Contains(told.Text, want) || told.PublicRows == nil || told.PublicRows.SHA256 != publicHash || told.PublicRows.Weight != 0.5 {
		t.Errorf("%+v: %s", told.PublicRows, told.Text)
	}
	if !strings.Contains(res.Guarantee, want) {
		t.Error(res.Guarantee)
	}
}
