package plan

import (
	"cmp"
	"math"

	"clipscope/core/chacha"
	"clipscope/core/compute"
	"clipscope/core/privacy"
)

// Secure is discrete noise on an integer grid: see package train's mechanism, and [Grid].
type Secure struct {
	// Exact says that it is drawn number by number, and not joined from samples of a table.
	// It is where noise is so small that no samples of the table join to it, or ε so large
	// that δ does not pay for the table.
	Exact bool
}

func init() { noises["secure"] = Secure{} }

// Discrete reports true.
func (Secure) Discrete() bool { return true }

func (n Secure) settleTerms(t *Terms) (Noise, error) {
	if t.NonPrivate() {
		return n, Fault("noise_mode", "a run without noise cannot be secure; choose float")
	}
	if c := t.first; c.Geometry != nil || c.Coordinates {
		return n, Fault("noise_mode", "secure noise needs gradients clipped as a whole; %s measures coordinates on their own. Choose another method or float noise", t.Config.Method)
	}
	if t.query != nil && t.query.Joined {
		return n, Fault("noise_mode", "secure noise has no grid for the statistic of %s; choose another threshold rule or float noise", cmp.Or(t.Config.Threshold, t.Config.Method))
	}
	if t.PCANoise > 0 {
		return n, Fault("noise_mode", "PCA is released with float noise; leave out one of them")
	}
	if t.GradNoise > 1<<12 {
		return n, Fault("noise_multiplier", "%.4g is more than secure noise is drawn for (4096)", t.GradNoise)
	}
	if t.Config.Together.Parties > 0 {
		return newShared(t)
	}
	g := n.Grid(t)
	if _, ok := g.Joined(); !ok {
		n.Exact = true
		g = n.Grid(t)
	}
	return n, g.check()
}

// ended returns e: secure noise has no end but its tables', which distance covers.
func (Secure) ended(e privacy.Event, _ int) privacy.Event { return e }

func (Secure) values(int) int { return 0 }

// distance returns the distance of a table, unless the noise is exact.
func (n Secure) distance(parameters int) float64 {
	if n.Exact {
		return 0
	}
	return privacy.JoinedDistance(parameters)
}

func (Secure) exactly() Noise { return Secure{Exact: true} }

// TestedNumbers bounds the numbers of a tensor's noise that a run tests where noise is drawn and
// added in one.
const TestedNumbers = 1 << 10

func (n Secure) memory() footprint {
	m := footprint{numbers: 3 * TestedNumbers, wide: true}
	if n.Exact {
		m.copies, m.ours = 2, 4
	} else {
		m.numbers += chacha.TableLen
	}
	return m
}

func (Secure) fixedReason() string {
	return "how secure noise is drawn was settled for the noise_multiplier that the run began with; take float noise"
}

func (Secure) guarantee() string { return "Noise is secure: discrete noise on an integer grid." }

// Grid is the integer grid of a run with secure noise: C in its units, and what rounding to
// it takes of C.
type Grid struct {
	parameters int
	gradNoise  float64 // σ_T
	exact      bool
	most       float64 // units that C may have
}

// Grid returns the grid of a run on these terms.
func (n Secure) Grid(t *Terms) Grid { return Grid{t.Spec.Params(), t.GradNoise, n.Exact, mostUnits} }

// check refuses a grid that is too coarse.
func (g Grid) check() error {
	if g.Shrink() < 0.5 {
		return Fault("noise_mode", "%d parameters are too many for the integer grid: rounding would take more than half of the clipping bound. Take a smaller model or float noise", g.parameters)
	}
	return nil
}

// exactly is the largest magnitude up to which float32 holds every whole number.
const exactly = 1 << 24

// arithmetic covers the relative rounding of the unit, of factors and of products in
// float32, before they are rounded to the grid: six roundings of 2⁻²⁴ each, with room.
const arithmetic = 1 - 1e-6

// mostUnits bounds C in units of the grid, so that sums of a full piece are exact.
const mostUnits = exactly / compute.PieceRows

// littleRounding is the part of C that rounding may take for the sake of fewer samples:
// nobody chooses C as finely as that.
const littleRounding = 0x1p-8

// Joined returns the noise of a step, for a grid as fine as exact sums allow, or coarser
// where that has it joined from fewer samples: by a tenth, or as far as rounding takes
// but little of C. ok is false where there is no such noise, as where there is little.
func (g Grid) Joined() (noise privacy.JoinedNoise, ok bool) {
	least := min(g.rounding()/littleRounding, 0.9*g.most)
	return privacy.NewJoinedNoise(g.gradNoise*least, g.gradNoise*g.most)
}

// Units returns C in units of the grid, whatever C is.
func (g Grid) Units() float64 {
	if noise, ok := g.Joined(); ok && !g.exact {
		return noise.Deviation() / g.gradNoise
	}
	return g.most
}

// Shrink returns the part of C that is left for a gradient when rounding has taken its own.
func (g Grid) Shrink() float64 { return (1 - g.rounding()/g.Units()) * arithmetic }

// rounding returns the most that rounding to the grid moves a gradient by, in units.
func (g Grid) rounding() float64 { return math.Sqrt(float64(g.parameters)) / 2 }
