package clip

import (
	"math"
	"slices"
)

// Source says where the norm of an example's gradient comes from.
type Source string

const (
	// Exact norms come from the layers without forming any gradient (ghost norms).
	Exact Source = "exact"
	// Bounded norms are upper bounds from the loss and the forward pass alone;
	// the loss gradient is scaled before one backward pass (value clipping).
	Bounded Source = "bound"
	// OneAtATime runs examples one by one: the naive baseline to time against.
	OneAtATime Source = "one-at-a-time"
)

// Grouping says which parameters are clipped together.
type Grouping string

const (
	// Flat clips the whole gradient as one vector.
	Flat Grouping = "flat"
	// PerLayer clips each of L layers on its own, so that all together stay within C: to C/√L
	// (Abadi et al. 2016), or to what a [Divided] rule says.
	PerLayer Grouping = "per-layer"
)

// Weight is the weight function of a method.
type Weight interface {
	// Factor is what an example's gradient of L2 norm n is multiplied with at
	// threshold c > 0.
	//
	// Guarantee: 0 ≤ Factor(n, c)·n ≤ c for every n ≥ 0, and Factor is 0 for
	// n = NaN and +Inf. It depends on nothing but n and c.
	Factor(n, c float64) float64
}

// Powered is a weight whose factor is g(n)·c^Power wherever that times n stays
// below c, and c/n beyond, so that one table of g serves every threshold.
type Powered interface {
	Weight
	Power() int
}

// Rule moves the threshold between steps.
type Rule interface {
	// C is the threshold of the coming step: finite and positive always.
	C() float64
	// Query is the statistic the rule wants from the coming step's batch, nil
	// when it needs none. It is constant over a run but for what Value reads
	// of the rule's own state.
	Query() *Query
	// Adapt moves the threshold, given the noisy answer to Query (nil when
	// there is none). It is called once after every step.
	//
	// Guarantee: the new state is a function of the old state and released
	// alone, so adapting is post-processing and costs nothing.
	Adapt(released []float64)
	// Snapshot is all that Adapt has changed, and Restore takes it up in a rule of
	// the same method and [Env] that has not begun: it then does ever after as the
	// rule that the snapshot is of. What is no snapshot of such a rule is an error
	// and changes nothing.
	//
	// Guarantee: as Adapt's, so a snapshot may be stored.
	Snapshot() []float64
	Restore(snapshot []float64) error
}

// Query is a vector statistic: a sum over the examples of a batch, released
// with Gaussian noise inside the same Poisson sample as the gradient.
type Query struct {
	Len int
	// Value adds what one example adds to dst [Len]. It is not called for
	// gradients that are not finite.
	Value func(dst []float64, n Norms)
	// Sensitivity bounds the L2 norm of what one call of Value adds, and
	// NoiseStd is the standard deviation of the noise on each element. Both
	// are unused with Joined.
	Sensitivity float64
	NoiseStd    float64
	// Joined says that what Value adds and the clipped gradient, taken as one
	// vector, stay within C together. The statistic then gets the gradient's
	// own noise and costs nothing on top.
	Joined bool
}

// Norms holds the norms of one example's gradient.
type Norms struct {
	Whole   float64
	Clipped float64   // an upper bound on what is left of the whole after weighing
	Groups  []float64 // of each group that is clipped apart; valid while Value runs
}

// Divided is a rule with a threshold of its own for each group of parameters.
type Divided interface {
	Rule
	// Thresholds are the groups' in the coming step: finite and positive.
	//
	// Guarantee: the square root of the sum of their squares is no more than C.
	Thresholds() []float64
}

// divisible is a rule that there is one of for each of several groups, where they are clipped apart.
type divisible interface{ divide(groups int) Divided }

// NoiseMultiplier is the query's noise in units of its sensitivity, which is
// what an accountant wants. It has no meaning for a joined query.
func (q *Query) NoiseMultiplier() float64 { return q.NoiseStd / q.Sensitivity }

// FractionReleaser is a rule whose statistic also estimates, at no further
// cost, the share of gradients longer than the threshold.
type FractionReleaser interface {
	// ClipFraction is that share in the step last adapted to, within [0, 1].
	ClipFraction() float64
}

// HistogramReleaser is a rule whose statistic is a histogram of norms.
type HistogramReleaser interface {
	// HistogramRange is where the histogram ends, R, in the coming step.
	HistogramRange() float64
}

// Geometry is a change of coordinates in which gradients are measured, clipped
// and noised: u = (g − a)/b, coordinate by coordinate (AC, Algorithm 1). The
// centre a and each coordinate's deviation s follow the released gradients, and
// b_j = √s_j·√(Σ_k s_k), which is least noise for the clipping (AC, Theorem 1,
// with γ = 1).
//
// Guarantee: as [Rule.Adapt]: a and b are functions of released values alone.
type Geometry struct {
	// BetaMean and BetaSpread say how slowly a and s² follow.
	BetaMean, BetaSpread float64
	// Least and Greatest bound a variance.
	Least, Greatest float64
	// Literal starts and estimates variances as the paper prints it, for batches of one, about the
	// centre before its update, which the paper's indices leave open;
	// otherwise the variance of a mean over a batch is multiplied by its size.
	Literal bool
}

// First is the deviation of every coordinate before the first step. AC's Algorithm 1 prints
// s⁰ = √(h₁h₂), which is between the bounds of a variance, while s is a deviation; so it is
// s⁰ = √(h₁h₂) with Literal, though not below 10⁻¹⁰, the least of which float32 can divide by
// the square, and its root without.
func (g *Geometry) First() float64 {
	if g.Literal {
		return max(math.Sqrt(g.Least*g.Greatest), 1e-10)
	}
	return math.Sqrt(math.Sqrt(g.Least * g.Greatest))
}

// Smallest is a deviation below which no coordinate's ever falls.
func (g *Geometry) Smallest() float64 { return min(math.Sqrt(g.Least), g.First()) }

// Update says what to do with a coordinate's squared deviation from its centre:
// times·(dev² − noise·Σs·s) estimates its variance, where noiseStd is the standard
// deviation of the noise on the sum before scaling by b, b² = s·Σs.
func (g *Geometry) Update(noiseStd, batchSize float64) (times, noise float64) {
	times = batchSize
	if g.Literal {
		times = 1
	}
	return times, noiseStd * noiseStd / (batchSize * batchSize)
}

// Growth chooses a bound of gradients by losses, for value clipping; package nn has the
// bounds and their proofs. The zero value is the one at the end of VC's Appendix D.
type Growth struct {
	// Tight takes the sharper bound that uses the norms of every layer's input.
	Tight bool
	// Linear takes β₁·f for cross-entropy, as VC's Algorithm 3, without Appendix D's cap.
	Linear bool
	// Least is f_lb ≤ 0 and Offset β₂ ≥ 0 (VC, Algorithm 3). Either only raises the bound.
	Least, Offset float64
}

// Clipper is a point in the product of the axes.
type Clipper struct {
	Source   Source
	Grouping Grouping
	Weight   Weight
	Rule     Rule
	// Geometry is nil for plain Euclidean coordinates.
	Geometry *Geometry
	// Coordinates clamps every coordinate to [−C, C] instead of scaling the
	// gradient; Weight is then not used.
	Coordinates bool
	// Growth chooses the bound of Source Bounded.
	Growth Growth
	// FeatureBound, where positive, limits the norm of each row of features
	// (with the constant 1 of the bias) before the forward pass, so that C is
	// a proven bound on the gradient (norm-bound).
	FeatureBound float64
	// NonPrivate marks the baseline that bounds nothing and adds no noise.
	NonPrivate bool
}

// Sensitivity is the most, in L2 norm, that one example adds to the clipped sum
// of a model with d parameters in the coming step, in the coordinates of the
// clipper's geometry: +Inf for the non-private baseline.
//
// Guarantee: nobody else multiplies C by anything; noise and accountant ask here.
func (c *Clipper) Sensitivity(d int) float64 {
	switch {
	case c.NonPrivate:
		return math.Inf(1)
	case c.Coordinates:
		return c.Rule.C() * math.Sqrt(float64(d))
	default:
		return c.Rule.C()
	}
}

// GroupThresholds returns the threshold of each of so many groups in the coming step: of one, C.
func (c *Clipper) GroupThresholds(groups int) []float64 {
	if d, ok := c.Rule.(Divided); ok {
		return d.Thresholds()
	}
	return slices.Repeat([]float64{c.Rule.C() / math.Sqrt(float64(groups))}, groups)
}

// Thresholds stay within these bounds whatever the noise does: far beyond any
// useful norm, yet safe to square in float32.
const (
	MinThreshold = 1e-12
	MaxThreshold = 1e12
)

// clampThreshold keeps a proposed threshold finite and positive; a NaN keeps the old one.
func clampThreshold(proposed, old float64) float64 {
	if math.IsNaN(proposed) {
		return old
	}
	return min(max(proposed, MinThreshold), MaxThreshold)
}

// usable reports whether n is a norm a weight function may divide by.
func usable(n float64) bool { return n >= 0 && !math.IsInf(n, 1) }
