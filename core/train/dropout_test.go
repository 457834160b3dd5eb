package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// network is a chain of dense layers with an activation behind all but the last, in float64, that is
// trained one row at a time.
type network struct {
	widths     []int       // of the input, and of each layer's output
	layers     [][]float64 // weight [in×out], then bias
	activation string
	dropout    float64
	seed       uint64
}

// newNetwork takes the parameters of a run.
func newNetwork(t *testing.T, r *Run, widths []int, activation string, dropout float64) *network {
	t.Helper()
	n := &network{widths: widths, activation: activation, dropout: dropout, seed: *r.work.terms.Config.Seed}
	all, err := r.work.parameters(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for l := range len(widths) - 1 {
		of := make([]float64, (widths[l]+1)*widths[l+1])
		for i := range of {
			of[i] = float64(all[i])
		}
		n.layers, all = append(n.layers, of), all[len(of):]
	}
	return n
}

// mask returns the factors of a row's hidden units in a step: 0, or what scales the units that stay.
func (n *network) mask(step, row int) []float64 {
	units := 0
	for _, w := range n.widths[1 : len(n.widths)-1] {
		units += w
	}
	m := slices.Repeat([]float64{1}, units)
	if n.dropout == 0 {
		return m
	}
	k := privacy.SeededKey(n.seed).Stream(privacy.Dropout, 0, uint64(step)<<32|uint64(row)).Uint64()
	least := uint64(math.RoundToEven(n.dropout * (1 << 24)))
	for u := range m {
		h := (uint64(u)*0x9e3779b1 + k>>40) % (1 << 32)
		h = (h ^ h>>16) * 0x7feb352d % (1 << 32)
		h = (h ^ h>>15 ^ k>>16%(1<<24)) * 0x846ca68b % (1 << 32)
		if (h^h>>16)>>8 < least {
			m[u] = 0
		} else {
			m[u] = 1 / (1 - float64(least)/(1<<24))
		}
	}
	return m
}

// function is an activation and its slope.
func (n *network) function(x float64) (y, slope float64) {
	switch n.activation {
	case "tanh":
		y = math.Tanh(x)
		return y, 1 - y*y
	case "gelu":
		p := math.Erfc(-x/math.Sqrt2) / 2
		return x * p, p + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
	}
	if x > 0 {
		return x, 1
	}
	return 0, 0
}

// gradient returns that of a row's cross-entropy by all parameters, layer by layer, with hidden units
// times their factors.
func (n *network) gradient(x []float64, class int, mask []float64) [][]float64 {
	inputs, slopes := [][]float64{x}, [][]float64{}
	for l, of := range n.layers {
		in, width := inputs[l], n.widths[l+1]
		z := slices.Clone(of[len(in)*width:])
		for i, v := range in {
			for j := range z {
				z[j] += v * of[i*width+j]
			}
		}
		if l == len(n.layers)-1 {
			inputs = append(inputs, z)
			break
		}
		slope := make([]float64, width)
		for j := range z {
			z[j], slope[j] = n.function(z[j])
			z[j], slope[j] = z[j]*mask[j], slope[j]*mask[j]
		}
		mask = mask[width:]
		inputs, slopes = append(inputs, z), append(slopes, slope)
	}
	z := inputs[len(inputs)-1]
	most, sum, d := slices.Max(z), 0.0, make([]float64, len(z))
	for j, v := range z {
		d[j] = math.Exp(v - most)
		sum += d[j]
	}
	for j := range d {
		d[j] /= sum
	}
	d[class]--
	all := make([][]float64, len(n.layers))
	for l := len(n.layers) - 1; l >= 0; l-- {
		in, width := inputs[l], n.widths[l+1]
		g, before := make([]float64, len(n.layers[l])), make([]float64, len(in))
		for j, v := range d {
			for i, x := range in {
				g[i*width+j] = v * x
				before[i] += v * n.layers[l][i*width+j]
			}
			g[len(in)*width+j] = v
		}
		if l > 0 {
			for i := range before {
				before[i] *= slopes[l-1][i]
			}
		}
		all[l], d = g, before
	}
	return all
}

// step takes one step on all rows, each clipped to c, as a whole or each layer to its share.
func (n *network) step(ds *data.Dataset, step int, perLayer bool, c, rate float64) {
	moves := make([][]float64, len(n.layers))
	for l := range moves {
		moves[l] = make([]float64, len(n.layers[l]))
	}
	for row := range ds.Train.N {
		x := make([]float64, ds.Features)
		for i := range x {
			x[i] = float64(ds.Train.F32[row*ds.Features+i])
		}
		g := n.gradient(x, int(ds.Train.Y[row]), n.mask(step, row))
		limit, square := c, 0.0
		for _, of := range g {
			for _, v := range of {
				square += v * v
			}
		}
		for l, of := range g {
			if perLayer {
				limit, square = c/math.Sqrt(float64(len(g))), 0
				for _, v := range of {
					square += v * v
				}
			}
			for i, v := range of {
				moves[l][i] += min(1, limit/math.Sqrt(square)) * v
			}
		}
	}
	for l, of := range moves {
		for i, v := range of {
			n.layers[l][i] -= rate * v / float64(ds.Train.N)
		}
	}
}

// TestDropoutStepsAreOfTheRows: twenty steps are those of a reference in float64 that takes one row at a
// time with masks of its own, for each activation, clipped as a whole and by layers, on every back end,
// in one physical batch and in many.
func TestDropoutStepsAreOfTheRows(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	const steps, c, rate = 20, 0.7, 0.5
	widths := []int{ds.Features, 9, 6, ds.Outputs}
	for i, activation := range []string{"tanh", "relu", "gelu"} {
		for _, method := range []string{"constant", "per-layer"} {
			var want *network
			for on, open := range computetest.Backends(t) {
				for _, physical := range []int{ds.Train.N, 7} {
					name, be, dropout := fmt.Sprintf("%s, %s, on %s, %d rows at once", activation, method, on, physical), open(), []float64{0.1, 0.5, 0.3}[i]
					r := startOn(t, run.Config{
						Method: method, Model: run.Model{Layers: []string{"dense:9", activation, "dense:6", activation, "dense"}, Dropout: dropout}, Scaling: run.Scaling{Kind: "none"}, LearningRate: rate, MaxGradNorm: c,
						ExpectedBatchSize: float64(ds.Train.N), MaxPhysicalBatchSize: physical, Steps: steps, NoiseMultiplier: ptr(0.0), NoPrivacy: true, Seed: ptr(uint64(5)),
					}, ds, be)
					if want == nil {
						want = newNetwork(t, r, widths, activation, dropout)
						for s := range steps {
							want.step(ds, s, method == "per-layer", c, rate)
						}
					}
					_, res := finish(t, r)
					for i, w := range slices.Concat(want.layers...) {
						if have := float64(res.Released.Parameters[i]); math.Abs(have-w) > 2e-5*(1+math.Abs(w)) {
							t.Errorf("%s: parameter %d is %g, want %g", name, i, have, w)
							break
						}
					}
					r.Close()
					be.Close()
				}
			}
		}
	}
}

// droppingModels has a network of each kind that has activations.
var droppingModels = map[string]run.Model{
	"mlp":      {Kind: "mlp", Hidden: []int{7, 5}, Dropout: 0.5},
	"conv":     {Kind: "layers", Layers: strings.Fields("conv:3:5:s3 groupnorm:3 relu flatten dense:6 tanh dense"), Dropout: 0.3},
	"residual": {Kind: "layers", Layers: strings.Fields("conv:3:5:s3 relu skip wsconv:3:3:p1 tanh add maxpool:2 flatten dense"), Dropout: 0.5},
}

// TestDroppedRowsDoNotDependOnOthers: the clipped gradients of rows taken together are the sum of those of
// each row taken alone, which drops the same units then, also of several views.
func TestDroppedRowsDoNotDependOnOthers(t *testing.T) {
	t.Parallel()
	ds := builtin.Digits(3, 40, 20)
	rows := []int{3, 31, 7, 0, 19, 12}
	for name, model := range droppingModels {
		for on, open := range computetest.Backends(t) {
			for _, views := range []run.Augmentation{{}, {Kind: "crop", Multiplicity: 3}} {
				be := open()
				cfg := run.Config{Method: "constant", Model: model, MaxGradNorm: 0.5}
				if name != "mlp" && views.Kind != "" {
					cfg.Augmentation = views
				}
				r := begunAs(t, cfg, ds, 1, be)
				if cfg.Augmentation.Kind != "" {
					r.feed.augmentation.crop = false // the same picture in all views, which differ in what they drop
				}
				whole := added(t, r, rows)
				sum := make([]float64, len(whole))
				for i := range rows {
					for j, v := range added(t, r, rows[i:i+1]) {
						sum[j] += v
					}
				}
				for j := range sum {
					if math.Abs(sum[j]-whole[j]) > 1e-5 {
						t.Errorf("%s on %s: %d rows at once add %g, one at a time %g", name, on, len(rows), whole[j], sum[j])
						break
					}
				}
				r.done++
				if other := added(t, r, rows); length(other) == length(whole) {
					t.Errorf("%s on %s: the next step drops the same units", name, on)
				}
				r.Close()
				be.Close()
			}
		}
	}
}

// TestDroppedUnitsAreAShare: of all units, of each unit's rows and of each row's units as many are dropped
// as are asked for, and neighbours, steps and views do not follow each other. 8 standard deviations
// of fewer than 4,000 shares: falsely alarmed less than once in 10¹¹.
func TestDroppedUnitsAreAShare(t *testing.T) {
	t.Parallel()
	ds := small(t)
	const n, units, p = 400, 300, 0.3
	r := startOn(t, run.Config{
		Method: "constant", Model: run.Model{Kind: "mlp", Hidden: []int{units}, Activation: "relu", Dropout: p}, Steps: 1, ExpectedBatchSize: n, MaxPhysicalBatchSize: n,
		NoiseMultiplier: ptr(1.0), Accountant: "rdp", Seed: ptr(uint64(1)), Scaling: run.Scaling{Kind: "none"},
	}, ds, computetest.Fast(t))
	defer r.Close()
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	x := r.work.be.New(n * units)
	// dropped has 1 where a step drops a unit of a row.
	dropped := func(step, view int) []float64 {
		keys := r.feed.dropKeys(step, rows, 1)
		if view > 0 {
			var k []float32
			for _, row := range rows {
				a, b := dropKey(r.work.key, view, step, row)
				k = append(k, a, b)
			}
			r.work.be.Write(keys, k)
		}
		host := slices.Repeat([]float32{1}, n*units)
		r.work.be.Write(x, host)
		kernel.DropUnits(r.work.be, n, units, kernel.NewDrop(p, 0), keys, x, x)
		if err := compute.Read(context.Background(), r.work.be, host, x); err != nil {
			t.Fatal(err)
		}
		out := make([]float64, len(host))
		for i, v := range host {
			if v == 0 {
				out[i] = 1
			}
		}
		return out
	}
	share := func(what string, count, of int, p float64) {
		if d := math.Sqrt(float64(of) * p * (1 - p)); math.Abs(float64(count)-p*float64(of)) > 8*d {
			t.Errorf("%s: %d of %d, want %g", what, count, of, p*float64(of))
		}
	}
	first, next, other := dropped(0, 0), dropped(1, 0), dropped(0, 1)
	all, byUnit, byRow, neighbours, below, steps, views := 0, make([]int, units), make([]int, n), 0, 0, 0, 0
	for i := range first {
		if first[i] == 0 {
			continue
		}
		all++
		byUnit[i%units]++
		byRow[i/units]++
		steps += int(next[i])
		views += int(other[i])
		if i%units > 0 {
			neighbours += int(first[i-1])
		}
		if i >= units {
			below += int(first[i-units])
		}
	}
	share("all units", all, n*units, p)
	share("neighbours", neighbours, n*(units-1), p*p)
	share("rows that follow each other", below, (n-1)*units, p*p)
	share("two steps", steps, n*units, p*p)
	share("two views", views, n*units, p*p)
	for u, count := range byUnit {
		share(fmt.Sprintf("unit %d", u), count, n, p)
	}
	for i, count := range byRow {
		share(fmt.Sprintf("row %d", i), count, units, p)
	}
}

// TestNothingDroppedChangesNothing: a run that draws keys, and of whose units none is dropped, ends with the
// parameters of a run without dropout, to the bit; dropout of more does not.
func TestNothingDroppedChangesNothing(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	ends := func(dropout float64) []float32 {
		r := started(t, run.Config{
			Method: "quantile", Model: run.Model{Kind: "mlp", Hidden: []int{6}, Dropout: dropout}, NoiseMultiplier: ptr(1.0), Steps: 5,
			ExpectedBatchSize: 40, Accountant: "rdp", Seed: ptr(uint64(3)),
		}, ds)
		defer r.Close()
		_, res := finish(t, r)
		return res.Released.Parameters
	}
	plain := ends(0)
	if !slices.Equal(plain, ends(0x1p-30)) || slices.Equal(plain, ends(0.1)) {
		t.Error("nothing dropped changes something, or something nothing")
	}
}

// TestTestsDropNothing: what a run with dropout tells of its test rows is what a run without tells of the
// same parameters, and the model takes its answers from all units.
func TestTestsDropNothing(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	cfg := run.Config{
		Method: "constant", Model: run.Model{Kind: "mlp", Hidden: []int{6}}, NoiseMultiplier: ptr(1.0), Steps: 3, ExpectedBatchSize: 40, Accountant: "rdp", Seed: ptr(uint64(3)),
	}
	plain := started(t, cfg, ds)
	defer plain.Close()
	cfg.Model.Dropout = 0.6
	r := started(t, cfg, ds)
	defer r.Close()
	for _, err := range r.Steps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	v, err := r.work.parameters(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	plain.work.be.Write(plain.work.model.All(), v)
	outputs := func(r *Run) []float32 {
		n := 30
		z := make([]float32, n*ds.Outputs)
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i
		}
		r.feed.load(&ds.Test, rows)
		if err := compute.Read(context.Background(), r.work.be, z, r.work.model.Forward(r.feed.x, n, 1)); err != nil {
			t.Fatal(err)
		}
		return z
	}
	if !slices.Equal(outputs(r), outputs(plain)) {
		t.Error("test rows drop units")
	}
}
