package train

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// oneMore is ds with one row more to train on, at the end, unlike any other.
func oneMore(ds *data.Dataset) *data.Dataset {
	more := *ds
	row := make([]float32, ds.Features)
	for i := range row {
		row[i] = float32(i%3) - 0.7
	}
	more.Train = data.Split{N: ds.Train.N + 1, F32: slices.Concat(ds.Train.F32, row), Y: slices.Concat(ds.Train.Y, []float32{1})}
	return &more
}

// decided is all that a plan decides.
func decided(t *testing.T, cfg run.Config, ds *data.Dataset) []any {
	t.Helper()
	p, err := plan.New(cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	name, meta, err := p.Names()
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Statement(p.Terms().Steps)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	terms := p.Terms()
	return []any{terms.Config, terms.Meta, p.Info(), name, meta, p.Terms().SampleRate, p.Terms().BatchSize, p.Terms().Steps, p.Terms().Horizon, p.Terms().NoiseMultiplier, p.Terms().GradNoise, p.Terms().BoundsNoise, p.Terms().PCANoise, p.Terms().Capacity, evaluations(&terms), string(b)}
}

// declarations are configurations that decide as much as they can by the number of rows.
var declarations = map[string]run.Config{
	"defaults":            {},
	"epochs and a target": {Method: "dc-e", TargetEpsilon: ptr(3.0), ExpectedBatchSize: 50, Epochs: 2},
	"private bounds":      {TargetEpsilon: ptr(3.0), Epochs: 2, Scaling: run.Scaling{Kind: "private"}},
	"PCA":                 {Method: "quantile", NoiseMultiplier: ptr(2.0), Epochs: 2, PCA: run.PCA{Components: 3}},
	"AdaCliP":             {Method: "adaclip", NoiseMultiplier: ptr(2.0), Epochs: 2, ExpectedBatchSize: 60},
	"secure":              {Method: "constant", NoiseMultiplier: ptr(2.0), Epochs: 2, ExpectedBatchSize: 60, NoiseMode: "secure"},
}

// TestDeclaredPlanIsTheSame: with a declared number, one row more to train on and one more
// to test on change nothing of a plan; without, they change it.
func TestDeclaredPlanIsTheSame(t *testing.T) {
	t.Parallel()
	for name, cfg := range declarations {
		t.Run(name, func(t *testing.T) {
			ds := planted()
			more := oneMore(ds)
			more.Test = more.Train
			counted := cfg
			if reflect.DeepEqual(decided(t, counted, ds), decided(t, counted, more)) {
				t.Error("without a declaration the plan does not depend on the number of rows, so that this shows nothing")
			}
			cfg.NumExamples = 500 // there are 400
			one, other := decided(t, cfg, ds), decided(t, cfg, more)
			for i := range one {
				if !reflect.DeepEqual(one[i], other[i]) {
					t.Errorf("part %d is\n%v\nwith one row more\n%v", i, one[i], other[i])
				}
			}
			p, err := plan.New(cfg, ds.Meta())
			if err != nil {
				t.Fatal(err)
			}
			if p.Terms().SampleRate != p.Terms().BatchSize/500 {
				t.Errorf("sample_rate %v of batches of %v rows", p.Terms().SampleRate, p.Terms().BatchSize)
			}
			if cfg.Epochs > 0 && p.Terms().Steps != int(math.Ceil(cfg.Epochs*500/p.Terms().BatchSize-1e-9)) {
				t.Errorf("%v epochs are %d steps", cfg.Epochs, p.Terms().Steps)
			}
		})
	}
}

// TestDeclaredRunsDifferInWhatIsNoised: two runs with the same randomness, of which one has a
// row more, scale alike, sample the same of the others, and release the same until that
// row is sampled; then their sums differ by its clipped gradient, and the noise is the same.
func TestDeclaredRunsDifferInWhatIsNoised(t *testing.T) {
	t.Parallel()
	for name, cfg := range declarations {
		if name == "defaults" {
			continue // its batches are a quarter of the rows
		}
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			ds := planted()
			cfg.NumExamples = 500
			cfg.Seed = ptr(lateSeed(t, cfg, ds))
			one, more := started(t, cfg, ds), started(t, cfg, oneMore(ds))
			if !reflect.DeepEqual(one.feed.scale.Bounds(), more.feed.scale.Bounds()) || one.work.capacity != more.work.capacity {
				t.Error("they scale differently")
			}
			if one.clipping.mech.sensitivity() != more.clipping.mech.sensitivity() {
				t.Errorf("noise of %v, and %v", one.clipping.mech.sensitivity(), more.clipping.mech.sensitivity())
			}
			same := 0
			for range one.work.terms.Steps {
				a, err := one.next(ctx)
				if err != nil {
					t.Fatal(err)
				}
				b, err := more.next(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if one.feed.pca != nil && same == 0 { // the directions are released with the row in them
					if d := rowsOf(more.rows, 400); !slices.Equal(d, sorted(one.rows)) {
						t.Errorf("sampled %v, and %v", one.rows, more.rows)
					}
					return
				}
				if !slices.Contains(more.rows, 400) {
					a.Diag, b.Diag = nil, nil
					if !reflect.DeepEqual(a, b) || !slices.Equal(one.rows, more.rows) {
						t.Fatalf("step %d, without the row: %+v of %v, and %+v of %v", a.Step, a, one.rows, b, more.rows)
					}
					same++
					continue
				}
				if d := rowsOf(more.rows, 400); !slices.Equal(d, sorted(one.rows)) {
					t.Errorf("the others that were sampled are %v, and %v", sorted(one.rows), d)
				}
				if a.Released.MaxGradNorm != b.Released.MaxGradNorm || a.Released.Epsilon != b.Released.Epsilon || a.Steps != b.Steps {
					t.Errorf("step %d: %+v, and %+v", a.Step, a.Released, b.Released)
				}
				if one.work.clipper.Geometry == nil { // or norms are not those of the noise's coordinates
					d, most := math.Abs(float64(a.Released.GradNorm-b.Released.GradNorm))*one.work.terms.BatchSize, one.clipping.mech.sensitivity()
					if !(d > 0 && d <= most*1.001) {
						t.Errorf("step %d: the lengths of the sums differ by %v, and the noise is for %v", a.Step, d, most)
					}
				}
				break
			}
			if same == 0 {
				t.Error("the row was sampled in the first step")
			}
		})
	}
}

// lateSeed is a seed with which row 400 is sampled, not in the first step, and row 399 not until
// then: after the last row but that nothing is drawn, and the order of a batch is.
func lateSeed(t *testing.T, cfg run.Config, ds *data.Dataset) uint64 {
	t.Helper()
	p, err := plan.New(cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	s, err := privacy.NewSampler(401, p.Terms().SampleRate)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(1000) {
		for step := range p.Terms().Steps {
			rows := s.Append(nil, privacy.SeededKey(seed).Stream(privacy.Sampling, 0, uint64(step)))
			if slices.Contains(rows, 399) {
				break
			}
			if slices.Contains(rows, 400) {
				if step > 0 {
					return seed
				}
				break
			}
		}
	}
	t.Fatal("there is no such seed")
	return 0
}

// rowsOf is rows without one, in order.
func rowsOf(rows []int, without int) []int {
	return sorted(slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return i == without }))
}

func sorted(rows []int) []int { return slices.Sorted(slices.Values(rows)) }

// TestDeclaredFilesDoNotTellTheNumber: where the row that is more is in no batch, the archives of
// two models are the same to the byte.
func TestDeclaredFilesDoNotTellTheNumber(t *testing.T) {
	t.Parallel()
	ds := planted()
	cfg := run.Config{Method: "dc-e", NoiseMultiplier: ptr(2.0), ExpectedBatchSize: 10, Steps: 4, NumExamples: 500, Seed: ptr(uint64(0))}
	rest := func(ds *data.Dataset) (map[string]string, bool) {
		r := started(t, cfg, ds)
		drawn := false
		for _, err := range r.Steps(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			drawn = drawn || slices.Contains(r.rows, 400) || slices.Contains(r.rows, 399)
		}
		res := stated(t, r)
		return archived(t, &res, cfg, string(res.Statement)), drawn
	}
	for ; *cfg.Seed < 100; *cfg.Seed++ {
		other, drawn := rest(oneMore(ds))
		if drawn {
			continue
		}
		one, _ := rest(ds)
		if !reflect.DeepEqual(one, other) {
			t.Error("the files differ")
		}
		return
	}
	t.Error("the row was always drawn")
}

// TestDeclarationIsRefused: what a declaration cannot cover is refused by its field.
func TestDeclarationIsRefused(t *testing.T) {
	shuffled := planted()
	shuffled.HeldOut = data.Shuffled
	for _, tc := range []struct {
		n    int
		ds   *data.Dataset
		say  string
		want bool
	}{
		{500, planted(), "", true},
		{25, planted(), "", true}, // sixteen times as many
		{24, planted(), "more than 16 times", false},
		{1_000_000, planted(), "", true},
		{-1, planted(), "from 1 to a billion", false},
		{500, shuffled, "csv.hold_out", false},
	} {
		cfg := run.Config{NumExamples: tc.n, NoiseMultiplier: ptr(1.0), ExpectedBatchSize: 20, Steps: 3}
		_, err := plan.New(cfg, tc.ds.Meta())
		if tc.want != (err == nil) || err != nil && (!strings.HasPrefix(err.Error(), "num_examples: ") || !strings.Contains(err.Error(), tc.say)) {
			t.Errorf("%d declared: %v", tc.n, err)
		}
	}
}

// TestDeclaredStatementNamesTheRelation: guarantee, statement and result of a declared run name
// the relation and the declared number, and not the one that was counted.
func TestDeclaredStatementNamesTheRelation(t *testing.T) {
	cfg := run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), ExpectedBatchSize: 20, Steps: 3}
	zero := stated(t, started(t, cfg, planted()))
	cfg.NumExamples = 1234
	res := stated(t, started(t, cfg, planted()))
	for _, text := range []string{string(res.Statement), res.Guarantee} {
		if strings.Contains(text, "400") || strings.Contains(text, "zero-out") || !strings.Contains(text, "add-or-remove") {
			t.Errorf("declared: %s", text)
		}
	}
	for _, text := range []string{string(zero.Statement), zero.Guarantee} {
		if !strings.Contains(text, "zero-out") || strings.Contains(text, "add-or-remove") {
			t.Errorf("counted: %s", text)
		}
	}
}
