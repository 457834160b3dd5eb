package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// incomes are rows of a table with some columns of numbers, from which an income follows,
// and another of its own noise.
func incomes(n, columns int) *data.Dataset {
	rng := rand.New(rand.NewPCG(7, 3))
	ds := &data.Dataset{Name: "incomes", Task: data.Regression, Features: columns, Outputs: 1}
	slopes := make([]float64, columns)
	for j := range columns {
		ds.Columns = append(ds.Columns, data.Column{Name: fmt.Sprint("column ", j+1), Kind: data.Numeric, First: j})
		slopes[j] = rng.NormFloat64()
	}
	ds.Columns = append(ds.Columns, data.Column{Name: "income", Kind: data.Label, First: -1})
	for i := range n + n/2 {
		s := &ds.Train
		if i >= n {
			s = &ds.Test
		}
		y := 60_000 + 5_000*rng.NormFloat64()
		for _, slope := range slopes {
			x := rng.Float64()
			s.F32 = append(s.F32, float32(20+80*x))
			y += 20_000 * slope * (x - 0.5)
		}
		s.Y, s.N = append(s.Y, float32(y)), s.N+1
	}
	return ds
}

// declaredIncomes has the bounds of the target declared.
func declaredIncomes(n, columns int) *data.Dataset {
	ds := incomes(n, columns)
	ds.TargetBounds = []data.Bound{{Lo: 0, Hi: 120_000}}
	return ds
}

// allDeclared has the bounds of all columns declared, and not the target's.
func allDeclared(n, columns int) *data.Dataset {
	ds := incomes(n, columns)
	for j := range columns {
		ds.Columns[j].Bounds = &data.Bound{Lo: 0, Hi: 100}
		ds.Bounds = append(ds.Bounds, *ds.Columns[j].Bounds)
	}
	return ds
}

// TestTargetsInThousandsAreLearnt: what nobody has set learns numbers of any size, and answers in
// their units; targets as they are would need to be small.
func TestTargetsInThousandsAreLearnt(t *testing.T) {
	t.Parallel()
	r2 := func(ds *data.Dataset, target string) float64 {
		cfg := run.Config{Method: "constant", TargetEpsilon: ptr(3.0), Seed: ptr(uint64(5)), Scaling: run.Scaling{Target: target}}
		_, res := finish(t, started(t, cfg, ds))
		if s := res.TestScores; target != "none" && !(s.RootError < 10_000 && s.MeanError > 3_000) {
			t.Errorf("errors %v and %v", s.MeanError, s.RootError)
		}
		return float64(res.TestScores.R2)
	}
	bought, declared, none := r2(incomes(2000, 4), ""), r2(declaredIncomes(2000, 4), ""), r2(incomes(2000, 4), "none")
	if !(bought > 0.75) || !(declared > 0.75) || none > 0 {
		t.Errorf("R² is %v with private bounds, %v with declared ones, %v with none", bought, declared, none)
	}
}

func TestTargetScalingFollowsTheTable(t *testing.T) {
	numbers := func() *data.Dataset { return builtin.LinearTruth(1, 60, 0, 3) }
	bounded := run.Model{Kind: "layers", Layers: []string{"dense:3", "relu", "dense", "tanh"}}
	for name, tc := range map[string]struct {
		ds     *data.Dataset
		model  run.Model
		in     run.Scaling
		target string
		paid   bool
		fault  string
	}{
		"a table":               {incomes(60, 3), run.Model{}, run.Scaling{}, "private", true, ""},
		"columns declared":      {incomes(60, 3), run.Model{}, run.Scaling{Kind: "declared", Hi: 100}, "private", true, ""},
		"all columns declared":  {allDeclared(60, 3), run.Model{}, run.Scaling{Kind: "private"}, "private", true, ""},
		"rows of length 1":      {incomes(60, 3), run.Model{}, run.Scaling{Kind: "row"}, "private", true, ""},
		"nothing scaled":        {incomes(60, 3), run.Model{}, run.Scaling{Kind: "none"}, "none", false, ""},
		"but the target":        {incomes(60, 3), run.Model{}, run.Scaling{Kind: "none", Target: "private"}, "private", true, ""},
		"the target declared":   {declaredIncomes(60, 3), run.Model{}, run.Scaling{Kind: "none"}, "declared", false, ""},
		"declared, and bought":  {declaredIncomes(60, 3), run.Model{}, run.Scaling{Target: "private"}, "private", true, ""},
		"taken back":            {incomes(60, 3), run.Model{}, run.Scaling{Kind: "row", Target: "none"}, "none", false, ""},
		"without columns":       {numbers(), run.Model{}, run.Scaling{}, "none", false, ""},
		"without, and asked":    {numbers(), run.Model{}, run.Scaling{Target: "private"}, "private", true, ""},
		"not dense at last":     {incomes(60, 3), bounded, run.Scaling{Kind: "row"}, "none", false, ""},
		"not dense, and asked":  {incomes(60, 3), bounded, run.Scaling{Target: "private"}, "", false, "tanh, is not dense"},
		"nothing declared":      {incomes(60, 3), run.Model{}, run.Scaling{Target: "declared"}, "", false, "nothing is declared of the targets"},
		"no such":               {incomes(60, 3), run.Model{}, run.Scaling{Target: "row"}, "", false, `no scaling of targets "row"`},
		"classes":               {firstRows(t), run.Model{}, run.Scaling{Kind: "private"}, "", true, ""},
		"classes, and asked":    {firstRows(t), run.Model{}, run.Scaling{Target: "private"}, "", false, "this data has classes"},
		"classes, and said not": {firstRows(t), run.Model{}, run.Scaling{Target: "none"}, "none", false, ""},
	} {
		cfg := base("constant")
		cfg.ExpectedBatchSize, cfg.Model, cfg.Scaling = 20, tc.model, tc.in
		p, err := plan.Recall(&accounts, cfg, tc.ds.Meta())
		var at *run.ConfigError
		switch {
		case tc.fault != "":
			if !errors.As(err, &at) || at.Field != "scaling.target" || !strings.Contains(at.Message, tc.fault) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", name, err)
			continue
		case p.Terms().Config.Scaling.Target != tc.target || (p.Terms().BoundsNoise > 0) != tc.paid || (len(p.Info().Events.Once) == 1) != tc.paid || (p.Info().ScalingShare > 0) != tc.paid:
			t.Errorf("%s: target by %q, noise of bounds %v, %d events before", name, p.Terms().Config.Scaling.Target, p.Terms().BoundsNoise, len(p.Info().Events.Once))
		}
		if said := slices.Contains(p.Draft(1).Released, "the private bounds of the targets"); said != (tc.target == "private") {
			t.Errorf("%s: covers %q", name, p.Draft(1).Released)
		}
		if said := slices.Contains(p.Draft(1).Released, "the private bounds of the features"); said != (p.Terms().Config.Scaling.Kind == "private" && len(tc.ds.NumericFeatures()) > 0) {
			t.Errorf("%s: covers %q", name, p.Draft(1).Released)
		}
	}
}

// TestTargetsAreWarnedOf: before a run it is said where bounds of targets, or of columns,
// will be guesses, each at its field, and where declared ones are of no use.
func TestTargetsAreWarnedOf(t *testing.T) {
	layers := run.Model{Kind: "layers", Layers: []string{"dense:3", "relu", "dense", "tanh"}}
	for name, tc := range map[string]struct {
		ds    *data.Dataset
		cfg   run.Config
		want  string
		field string
		not   string
	}{
		"many columns":      {incomes(1000, 120), run.Config{TargetEpsilon: ptr(1.0)}, "Bounds of 120 columns will be guesses", "scaling.kind", "scaling.target"},
		"the target alone":  {incomes(30, 3), run.Config{TargetEpsilon: ptr(0.1), Scaling: run.Scaling{Kind: "row"}}, "and so will all answers", "scaling.target", "scaling.kind"},
		"not dense at last": {declaredIncomes(60, 3), run.Config{TargetEpsilon: ptr(1.0), Model: layers, Scaling: run.Scaling{Kind: "row"}}, "Targets stay as they are", "scaling.target", "scaling.kind"},
		"nothing to say":    {incomes(5000, 3), run.Config{TargetEpsilon: ptr(1.0)}, "", "", "scaling.target"},
	} {
		cfg := tc.cfg
		cfg.Method, cfg.ExpectedBatchSize, cfg.Steps = "constant", 20, 3
		at := map[string]string{}
		for _, w := range planned(t, cfg, tc.ds).Info().Warnings {
			at[w.Field] += w.Message
		}
		if !strings.Contains(at[tc.field], tc.want) || at[tc.not] != "" {
			t.Errorf("%s: %q", name, at)
		}
	}
}

// TestTargetsAreMeasuredAsNone: to measure a step takes no bounds, of whatever they were.
func TestTargetsAreMeasuredAsNone(t *testing.T) {
	for _, cfg := range []run.Config{{Method: "none", PCA: run.PCA{Components: 2}}, {Method: "none"}, {Method: "constant", NoiseMultiplier: ptr(1.0)}} {
		cfg.Steps, cfg.ExpectedBatchSize = 3, 20
		for _, ds := range []*data.Dataset{declaredIncomes(200, 6), incomes(200, 6)} {
			if _, err := StepTime(t.Context(), planned(t, cfg, ds), purego.New()); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTargetsFarOffAreRefused: a bound that no parameter could reach is refused.
func TestTargetsFarOffAreRefused(t *testing.T) {
	ds := incomes(60, 3)
	ds.TargetBounds = []data.Bound{{Lo: 0, Hi: 1e36}}
	cfg := base("constant")
	cfg.ExpectedBatchSize = 20
	var at *run.ConfigError
	if _, err := plan.New(cfg, ds.Meta()); !errors.As(err, &at) || at.Field != "scaling.target" {
		t.Errorf("%v", err)
	}
}

// TestResumeKeepsTheBoundsOfTargets: a run on numbers that is killed goes on with the bounds that
// it had bought, and releases the same parameters in the same units.
func TestResumeKeepsTheBoundsOfTargets(t *testing.T) {
	t.Parallel()
	for name, scaling := range map[string]run.Scaling{
		"both": {}, "the target alone": {Kind: "row"}, "the columns alone": {Kind: "private", Target: "none"}, "nothing known of columns": {Kind: "none", Target: "private"},
	} {
		t.Run(name, func(t *testing.T) {
			ds, cfg := incomes(120, 3), base("constant")
			cfg.ExpectedBatchSize, cfg.Steps, cfg.Scaling = 30, 6, scaling
			p := planned(t, cfg, ds)
			r := start(t, p, ds)
			defer r.Close()
			var kept []byte
			for e, err := range r.Steps(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Step == 3 {
					kept = encoded(t, r)
				}
			}
			want, err := r.Outcome(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			n := resumed(t, p, ds, purego.New(), kept, 6)
			defer n.Close()
			_, got := finish(t, n)
			if !slices.Equal(got.Released.Parameters, want.Released.Parameters) || got.TestScores.R2 != want.TestScores.R2 {
				t.Errorf("parameters %v, want %v", got.Released.Parameters, want.Released.Parameters)
			}
			c, err := ReadCheckpoint(kept)
			if err != nil {
				t.Fatal(err)
			}
			c.bounds = append(c.bounds, data.Bound{Lo: 0, Hi: 1})
			if err := c.Fits(p); !errors.Is(err, ErrFormat) {
				t.Errorf("with one bound more: %v", err)
			}
		})
	}
}
