package train

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// outsider has a model's file and no part of this program: what docs/applying.md says
// is written out here a second time.
type outsider struct {
	Parameters []float64
	Apply      struct {
		Task     string
		Features int
		Shape    []int
		Classes  []string
		Columns  []outsidersColumn
		Scaling  struct {
			Kind    string
			Lo, Hi  []float64
			LeftOut string `json:"left_out"`
		}
		PCA *struct {
			Components int
			Directions string
			LeftOut    string `json:"left_out"`
		}
		MaxNorm      float64 `json:"max_norm"`
		ChannelsLast bool    `json:"channels_last"`
		Layers       []struct {
			Layer string
			Shape []int
		}
	}
}

type outsidersColumn struct {
	Name, Kind, Decimal, Thousands, Date string
	First, Buckets, Indicator, Clock     int
	Offset                               float64
	Categories                           []string
	IfMissing                            *float64 `json:"if_missing"`
}

// features are a row's, of its cells.
func (o *outsider) features(t *testing.T, cells []string) []float64 {
	x := make([]float64, o.Apply.Features)
	for i, c := range o.Apply.Columns {
		cell, gone := strings.TrimSpace(cells[i]), slices.Contains([]string{"", "NA", "k.A."}, cells[i])
		switch {
		case c.Kind == "numeric" && gone:
			if c.IfMissing == nil {
				t.Fatalf("nothing is said of missing cells in %q", c.Name)
			}
			x[c.First] = *c.IfMissing - c.Offset
			if c.Indicator > 0 {
				x[c.Indicator] = 1
			}
		case c.Kind == "numeric":
			x[c.First] = c.number(t, cell) - c.Offset
		case c.Kind == "categorical":
			if gone {
				cell = "(missing)"
			} else if c.Buckets > 0 {
				h := uint32(2166136261)
				for _, b := range []byte(cell) {
					h = (h ^ uint32(b)) * 16777619
				}
				cell = c.Categories[h%uint32(c.Buckets)]
			}
			if k := slices.Index(c.Categories, cell); k >= 0 {
				x[c.First+k] = 1
			}
		}
	}
	return x
}

func (c *outsidersColumn) number(t *testing.T, cell string) float64 {
	if c.Date != "" {
		layout := map[string]string{"dmy": "2.1.2006", "ymd": "2006-01-02"}[c.Date]
		day, err := time.Parse(layout, cell)
		if err != nil {
			t.Fatal(err)
		}
		return float64(day.Unix()) / 86400
	}
	if c.Thousands != "" {
		cell = strings.ReplaceAll(cell, c.Thousands, "")
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(cell, cmp.Or(c.Decimal, "."), "."), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// outputs are what the model makes of features.
func (o *outsider) outputs(t *testing.T, x []float64) []float64 {
	a := &o.Apply
	if lo, hi := a.Scaling.Lo, a.Scaling.Hi; lo != nil {
		for i := range x {
			k := min(i, len(lo)-1)
			x[i] = min(max((x[i]-lo[k])/(hi[k]-lo[k]), 0), 1)
		}
	}
	norm := func() (n float64) {
		for _, v := range x {
			n = math.Hypot(n, v)
		}
		return n
	}
	shrink := func(by float64) {
		for i := range x {
			x[i] /= by
		}
	}
	if n := norm(); n > 0 && (a.Scaling.Kind == "row" || a.PCA != nil) {
		shrink(n)
	}
	if a.MaxNorm > 0 {
		shrink(max(1, norm()/a.MaxNorm))
	}
	if a.PCA != nil {
		x = o.project(t, x)
	}
	if a.ChannelsLast {
		planes := a.Shape[0]
		turned, size := make([]float64, len(x)), len(x)/planes
		for c := range planes {
			for i := range size {
				turned[i*planes+c] = x[c*size+i]
			}
		}
		x = turned
	}
	at := 0
	for _, l := range a.Layers {
		switch name, _, _ := strings.Cut(l.Layer, ":"); name {
		case "flatten":
		case "tanh":
			for i := range x {
				x[i] = math.Tanh(x[i])
			}
		case "relu":
			for i := range x {
				x[i] = max(0, x[i])
			}
		case "dense":
			width := l.Shape[0]
			y := slices.Clone(o.Parameters[at+len(x)*width : at+(len(x)+1)*width])
			for i := range x {
				for k := range y {
					y[k] += x[i] * o.Parameters[at+i*width+k]
				}
			}
			at += (len(x) + 1) * width
			x = y
		default:
			t.Fatalf("a layer %q", l.Layer)
		}
	}
	if at != len(o.Parameters) {
		t.Fatalf("%d of %d parameters are used", at, len(o.Parameters))
	}
	return x
}

func (o *outsider) project(t *testing.T, x []float64) []float64 {
	b, err := base64.StdEncoding.DecodeString(o.Apply.PCA.Directions)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, o.Apply.PCA.Components)
	for i := range x {
		for k := range y {
			at := 4 * (i*len(y) + k)
			bits := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16 | uint32(b[at+3])<<24
			y[k] += x[i] * float64(math.Float32frombits(bits))
		}
	}
	return y
}

// exported is what a file has of the result of a run.
func exported(t *testing.T, res *run.Result) *outsider {
	t.Helper()
	b, err := json.Marshal(map[string]any{"parameters": res.Released.Parameters, "apply": res.Released.Apply})
	o := &outsider{}
	if err == nil {
		err = json.Unmarshal(b, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// trained is the trainer's own outputs for all test rows [n×outputs].
func trained(t *testing.T, r *Run) []float32 {
	t.Helper()
	var all []float32
	for i := range r.feed.ds.Test.N {
		r.feed.load(&r.feed.ds.Test, []int{i})
		r.work.model.Forward(r.feed.x, 1, 1)
		z := make([]float32, r.work.terms.Spec.Outputs())
		if err := compute.Read(context.Background(), r.work.be, z, r.work.model.Predictions()); err != nil {
			t.Fatal(err)
		}
		r.feed.targetScale.Unscale(z)
		all = append(all, z...)
	}
	return all
}

const applyHeader = "price;age;since;colour;street;kind\n"

// applyRows are the cells of n rows.
func applyRows(seed uint64, n int) (rows [][]string) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		cents := rng.IntN(400_000)
		price := fmt.Sprintf("%d,%02d", cents/100, cents%100)
		if cents >= 100_000 {
			price = price[:len(price)-6] + "." + price[len(price)-6:]
		}
		row := []string{price, strconv.Itoa(18 + rng.IntN(70)), time.Unix(0, 0).UTC().AddDate(0, 0, rng.IntN(18_000)).Format("02.01.2006"),
			[]string{"rot", "grün", "blau"}[rng.IntN(3)], fmt.Sprintf("Straße %d", rng.IntN(500)), []string{"ja", "nein"}[cents/200_000]}
		for k, word := range []string{"k.A.", "NA", ""} {
			if rng.IntN(8) == 0 {
				row[1+k] = word
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func applyTable(rows [][]string) []source.File {
	var b strings.Builder
	b.WriteString(applyHeader)
	for _, r := range rows {
		b.WriteString(strings.Join(r, ";") + "\n")
	}
	return []source.File{source.Bytes("t.csv", []byte(b.String()))}
}

// TestModelIsApplied rebuilds the features of rows from their cells, with what is
// exported of a run alone, and gets the outputs of the trainer.
func TestModelIsApplied(t *testing.T) {
	train, test := applyRows(1, 400), applyRows(2, 60)
	test[7][3] = "violett" // which no training row is
	street := map[string]string{"street": "bucketed"}
	bounds := map[string]run.Bounds{"age": {Lo: 0, Hi: 120}}
	for name, tc := range map[string]struct {
		csv  run.CSV
		edit func(*run.Config)
	}{
		"private bounds": {run.CSV{Missing: "indicator", Columns: street, Buckets: 8, Fill: map[string]float64{"since": 9000}, Bounds: bounds}, func(c *run.Config) {
			c.Scaling.Kind, c.Model = "private", run.Model{Kind: "mlp", Hidden: []int{6}, Activation: "tanh"}
		}},
		"private, and all declared": {run.CSV{Missing: "zero", Columns: street, Bounds: map[string]run.Bounds{"age": {Lo: 0, Hi: 120}, "since": {Lo: 0, Hi: 18_000}, "price": {Lo: 0, Hi: 4000}}}, func(c *run.Config) {
			c.Scaling.Kind = "private"
		}},
		"declared, zero":   {run.CSV{Missing: "zero", Columns: street, Bounds: bounds}, func(c *run.Config) { c.Scaling = run.Scaling{Kind: "declared", Lo: -10, Hi: 18_000} }},
		"rows of length 1": {run.CSV{Missing: "zero", Columns: map[string]string{"street": "ignored"}}, func(c *run.Config) { c.Scaling.Kind = "row" }},
		"PCA": {run.CSV{Missing: "indicator", Columns: map[string]string{"street": "ignored"}}, func(c *run.Config) {
			c.Scaling, c.PCA.Components = run.Scaling{Kind: "private"}, 3
		}},
		"bounded rows":             {run.CSV{Missing: "indicator", Columns: street}, func(c *run.Config) { c.Method, c.Scaling.Kind = "norm-bound", "private" }},
		"bounded rows of length 1": {run.CSV{Missing: "zero", Columns: map[string]string{"street": "ignored"}}, func(c *run.Config) { c.Method, c.Scaling.Kind = "norm-bound", "row" }},
		"numbers":                  {run.CSV{Missing: "zero", Columns: street, Label: "price"}, func(c *run.Config) { c.Scaling.Kind = "private" }},
		"numbers, declared": {run.CSV{Missing: "zero", Columns: street, Label: "price", Bounds: map[string]run.Bounds{"price": {Lo: 0, Hi: 4000}}}, func(c *run.Config) {
			c.Scaling.Kind, c.Model = "row", run.Model{Kind: "mlp", Hidden: []int{6}}
		}},
		"numbers as they are": {run.CSV{Missing: "zero", Columns: street, Label: "price"}, func(c *run.Config) {
			c.Model.Kind, c.LearningRate, c.Scaling = "linear", 1e-3, run.Scaling{Kind: "private", Target: "none"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ds, _, err := load.Load(t.Context(), applyTable(train), applyTable(test), tc.csv, nil)
			if err != nil {
				t.Fatal(err)
			}
			cfg := base("constant")
			cfg.NoiseMultiplier, cfg.Steps, cfg.Seed = ptr(0.8), 20, nil
			tc.edit(&cfg)
			r := started(t, cfg, ds)
			_, res := finish(t, r)
			o, want := exported(t, &res), trained(t, r)
			apart := false
			for i, cells := range test {
				have := o.outputs(t, o.features(t, cells))
				sameOutputs(t, i, have, want[i*len(have):])
				apart = apart || math.Abs(have[0]-float64(want[0])) > 1e-3
			}
			if !apart {
				t.Error("all rows have the same outputs")
			}
			if ds.Task == data.Classification && !slices.Equal(o.Apply.Classes, []string{"ja", "nein"}) {
				t.Errorf("classes %q", o.Apply.Classes)
			}
		})
	}
}

func sameOutputs(t *testing.T, row int, have []float64, want []float32) {
	t.Helper()
	for k, z := range have {
		if w := float64(want[k]); !(math.Abs(z-w) <= 1e-4*(1+math.Abs(w))) {
			t.Fatalf("row %d has %v, the trainer %v", row, have, want[:len(have)])
		}
	}
}

// TestPicturesAreApplied: a picture's bytes come to the trainer's outputs, also where
// layers take its planes of colour together.
func TestPicturesAreApplied(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, layers := range [][]string{{"dense"}, {"relu", "flatten", "dense"}, {"conv:2:3", "flatten", "dense"}} {
		ds := &data.Dataset{Task: data.Classification, Features: 48, Shape: []int{3, 4, 4}, Outputs: 3, Classes: []string{"a", "b", "c"}, Bounds: slices.Repeat([]data.Bound{{Lo: 0, Hi: 255}}, 48)}
		for _, s := range []*data.Split{&ds.Train, &ds.Test} {
			s.N = 120
			for i := range s.N {
				s.Y = append(s.Y, float32(i%3))
				for range ds.Features {
					s.U8 = append(s.U8, uint8(rng.IntN(256)))
				}
			}
		}
		cfg := base("constant")
		cfg.ExpectedBatchSize, cfg.Steps, cfg.Model = 40, 5, run.Model{Kind: "layers", Layers: layers}
		r := started(t, cfg, ds)
		_, res := finish(t, r)
		o, want := exported(t, &res), trained(t, r)
		if strings.HasPrefix(layers[0], "conv") {
			if !o.Apply.ChannelsLast || o.Apply.Layers[0].Layer != layers[0] || !slices.Equal(o.Apply.Layers[0].Shape, []int{2, 2, 2}) {
				t.Errorf("a convolution is applied by %+v", o.Apply)
			}
			continue
		}
		for i := range ds.Test.N {
			x := make([]float64, ds.Features)
			for j := range x {
				x[j] = float64(ds.Test.U8[i*ds.Features+j])
			}
			sameOutputs(t, i, o.outputs(t, x), want[3*i:])
		}
	}
}

// TestApplyHoldsNothingUnreleased: figures that were measured without noise are not
// among what is released, nor is how many cells are missing.
func TestApplyHoldsNothingUnreleased(t *testing.T) {
	ds, _, err := load.Load(t.Context(), applyTable(applyRows(1, 400)), nil, run.CSV{Missing: "zero", Columns: map[string]string{"street": "ignored"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := base("constant")
	cfg.Steps, cfg.Scaling.Kind = 3, "measured"
	_, res := finish(t, started(t, cfg, ds))
	o := exported(t, &res)
	if s := o.Apply.Scaling; s.Lo != nil || s.Hi != nil || !strings.Contains(s.LeftOut, "measured") {
		t.Errorf("measured scaling is exported as %+v", s)
	}
	if !strings.Contains(res.Unusable, "cannot be applied") {
		t.Errorf("of a model that cannot be applied the result says %q", res.Unusable)
	}
	bare := base("none")
	bare.Steps, bare.Scaling.Kind, bare.PCA.Components = 3, "private", 2
	_, teaching := finish(t, started(t, bare, ds))
	o = exported(t, &teaching)
	if s := o.Apply.Scaling; s.Lo != nil || s.Hi != nil || !strings.Contains(s.LeftOut, "without noise") {
		t.Errorf("bounds that were measured without noise are exported as %+v", s)
	}
	if p := o.Apply.PCA; p.Directions != "" || !strings.Contains(p.LeftOut, "without noise") {
		t.Errorf("directions that were measured without noise are exported as %+v", p)
	}
	b, err := json.Marshal(res.Released.Apply)
	if err != nil || strings.Contains(string(b), `"missing":`) {
		t.Errorf("%s, %v", b, err)
	}
	p, err := plan.New(cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	if res := p.Unstarted(); res.Released.Apply != nil {
		t.Errorf("nothing was trained, and is applied by %+v", res.Released.Apply)
	}
}
