package clip

import (
	"math"
	"slices"
)

// dce chooses the threshold with the least expected squared error
// (DC-SGD, Algorithms 1, 2 and 4).
//
// Caution is our addition. With it C and R stay where they are unless the released histogram says
// otherwise by more than so many standard deviations of its noise. Without it noisy bins alone shrink
// the range until the longest gradients lie beyond it. C follows, and the gradients of a rare class are
// then cut to nothing. Caution uses released values and the size of the noise, so it is post-processing.
type dce struct {
	histogram
	c      float64
	z      float64 // caution
	varC2  float64 // σ_T²·d/B²: the variance term is varC2·C²
	curves Curves
}

// Curves holds an estimate of the expected squared error by threshold, in its two parts: the bias of a single
// gradient, which that of their mean never exceeds, and the mean's noise. The three lists have one length, or are nil.
type Curves struct{ C, Variance, Bias []float64 }

// Curver is a rule that can show the curves of its last adaptation.
type Curver interface{ Curves() Curves }

// candidates is the number of multiples of the present threshold that are compared. maxRecentre bounds
// the number of times that the search moves on from an end of them: 2²⁰ and 10⁻²⁰ cover every useful
// threshold in one step.
const (
	candidates  = 20
	maxRecentre = 20
)

func newDCE(e Env) (Rule, error) {
	d := &dce{histogram: newHistogram(e), c: e.MaxGradNorm, z: e.Params["caution"]}
	sigmaT, err := Split(e.NoiseMultiplier, d.query())
	if err != nil {
		return nil, err
	}
	d.varC2 = sigmaT * sigmaT * float64(e.Dim) / (e.ExpectedBatchSize * e.ExpectedBatchSize)
	return d, nil
}

func (d *dce) C() float64     { return d.c }
func (d *dce) Query() *Query  { return d.query() }
func (d *dce) Curves() Curves { return d.curves }

// HistogramRange returns R of the coming step.
func (d *dce) HistogramRange() float64 { return d.r }

func (d *dce) Adapt(h []float64) {
	s := total(h)
	if !usableTotal(s) || !(d.bias(h, s, 0) > 0 && d.mean(h, s) > 0) {
		return // no norms have such moments: the histogram is noise alone
	}
	if c := clampThreshold(d.search(h, s), d.c); d.z == 0 || d.gain(h, s, c) > d.z*d.doubt(s, c) {
		d.c = c
	}
	d.moveRange(h, s)
}

// Snapshot returns C, R and, once there are any, the curves: a step whose histogram is noise alone shows
// the last ones.
func (d *dce) Snapshot() []float64 {
	return slices.Concat([]float64{d.c, d.r}, d.curves.C, d.curves.Variance, d.curves.Bias)
}

func (d *dce) Restore(v []float64) error {
	n := 2
	if len(v) > n {
		n += 3 * candidates
	}
	if err := fits(v, 2, n); err != nil {
		return err
	}
	d.c, d.r = v[0], v[1]
	if v = slices.Clone(v[2:]); len(v) > 0 {
		d.curves = Curves{v[:candidates:candidates], v[candidates : 2*candidates : 2*candidates], v[2*candidates:]}
	}
	return nil
}

// gain returns the estimated error at the present threshold less the one at c.
func (d *dce) gain(h []float64, s, c float64) float64 {
	return d.varC2*(d.c*d.c-c*c) + d.bias(h, s, d.c) - d.bias(h, s, c)
}

// doubt returns the standard deviation of a gain that comes of noise in the bins. The gain is linear in
// the bins, except for their sum, whose noise is left out.
func (d *dce) doubt(s, c float64) float64 {
	sum := 0.0
	for k := range d.bins {
		now, then := max(d.mid(k)-d.c, 0), max(d.mid(k)-c, 0)
		w := now*now - then*then
		sum += w * w
	}
	return d.std * math.Sqrt(sum) / s
}

// search minimises E over {0.1, 0.2, …, 2.0}·C, recentring while the minimum
// sits on an end.
func (d *dce) search(h []float64, s float64) float64 {
	centre := d.c
	for range maxRecentre {
		best := d.weigh(h, s, centre)
		c := d.curves.C[best]
		if best != 0 && best != candidates-1 {
			return c
		}
		centre = clampThreshold(c, centre)
	}
	return centre
}

// weigh fills the curves for candidates around centre and returns the index of the least sum.
func (d *dce) weigh(h []float64, s, centre float64) int {
	d.curves = Curves{make([]float64, candidates), make([]float64, candidates), make([]float64, candidates)}
	best, least := 0, 0.0
	for i := range candidates {
		c := centre * float64(i+1) / 10
		d.curves.C[i], d.curves.Variance[i], d.curves.Bias[i] = c, d.varC2*c*c, d.bias(h, s, c)
		if e := d.curves.Variance[i] + d.curves.Bias[i]; i == 0 || e < least {
			best, least = i, e
		}
	}
	return best
}

// bias returns the mean over the histogram of max(norm − c, 0)².
func (d *dce) bias(h []float64, s, c float64) float64 {
	sum := 0.0
	for k, v := range h {
		if over := d.mid(k) - c; over > 0 {
			sum += v * over * over
		}
	}
	return sum / s
}

// mean returns the mean of the norms by the histogram. Where noise makes it negative, the least error
// lies at C = 0, and the search would go down as far as it can.
func (d *dce) mean(h []float64, s float64) float64 {
	sum := 0.0
	for k, v := range h {
		sum += v * d.mid(k)
	}
	return sum / s
}

// moveRange doubles R when half of all norms sit in the last bin. It halves R when the right half of the
// bins is as good as empty; with caution, only if noise that lowered their sum cannot explain it.
func (d *dce) moveRange(h []float64, s float64) {
	b := len(h)
	doubt := d.z * d.std * math.Sqrt(float64(b-b/2)) // of the right half's sum
	switch {
	case h[b-1] >= 0.5*s:
		d.setRange(2 * d.r)
	case total(h[b/2:])+doubt <= s/float64(b):
		d.setRange(d.r / 2)
	}
}

func init() {
	params := append(histogramParams(20), Param{
		Name: "caution", Label: "Caution", Default: 0, Min: 0, Max: 10,
		Help: "C and the histogram's range move when noise alone would not move them so: by this many of its standard deviations. 0 has none, as the paper; for tables it is 4 unless you say otherwise.",
	})
	registerRule("dc-e", params, newDCE)
	register(Method{
		Place: 9,
		Info: Info{
			Name:    "dc-e",
			Title:   "Least squared error (DC-SGD-E)",
			Idea:    "A noisy histogram of gradient norms estimates, for every possible threshold, how much clipping would bias the update and how much noise would blur it. C moves to where the sum of the two is least.",
			Formula: "C ← argmin σ_T²C²d/B² + mean max(‖gᵢ‖−C, 0)²",
			When:    "When you do not know the size of the gradients, or it changes during training.",
			Paper:   "DC-SGD, Algorithms 1, 2 and 4",
			Params:  params,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			rule, err := newDCE(e)
			if err != nil {
				return nil, err
			}
			return &Clipper{Source: Exact, Grouping: Flat, Weight: constant{}, Rule: rule}, nil
		},
	})
}
