package privacy

// Event describes a mechanism that ran. The set is closed: an accountant knows
// each kind or refuses it.
type Event interface{ event() }

// Gaussian is a release of a sum of L2 sensitivity 1 with noise of standard
// deviation NoiseMultiplier.
type Gaussian struct{ NoiseMultiplier float64 }

// Joint is several releases that look at the same rows at once, such as a
// clipped sum and a histogram of the same batch. Gaussian parts cost what one
// Gaussian with multiplier (Σ σ_i⁻²)^(−1/2) costs (DC-SGD, Theorem 2).
type Joint struct{ Parts []Gaussian }

// PoissonSampled runs Of on a sample that holds each example independently with
// probability SampleRate.
type PoissonSampled struct {
	SampleRate float64
	Of         Event
}

// SelfComposed is Count runs of Of, one after the other.
type SelfComposed struct {
	Of    Event
	Count int
}

// Composed is several mechanisms on the same data, adaptively chosen.
type Composed struct{ Parts []Event }

// Inexact is Of, made with noise that lies, on any data, within Distance in total
// variation of the noise that Of is priced with. It is charged to δ.
type Inexact struct {
	Of       Event
	Distance float64
}

// FloatNoise is Of, a Gaussian or Joint release or one on a Poisson sample, whose noise of
// Values numbers is the normals of package chacha. They end, which is charged to δ.
type FloatNoise struct {
	Of     Event
	Values int
}

// Selected is the best of K runs, each with a configuration that was drawn at random, K
// being Poisson with mean Runs: neither the other runs nor K are released (Papernot &
// Steinke 2022). A run does what all of Parts do, each on rows of its own: no row is in
// the data of two, as those are that train and those that tell which run is best.
type Selected struct {
	Parts []Event
	Runs  float64
}

// NonPrivate is a release without noise: every accountant answers ε = +Inf.
type NonPrivate struct{}

func (Gaussian) event()       {}
func (Joint) event()          {}
func (PoissonSampled) event() {}
func (SelfComposed) event()   {}
func (Composed) event()       {}
func (Inexact) event()        {}
func (FloatNoise) event()     {}
func (Selected) event()       {}
func (NonPrivate) event()     {}

// Accountant composes events and answers what they cost together.
type Accountant interface {
	// Compose adds e to what has been spent. It returns an error, and adds
	// nothing, for an event it has no proof for.
	Compose(e Event) error
	// Epsilon is an upper bound on ε at δ = delta for everything composed;
	// +Inf when something without noise was.
	Epsilon(delta float64) (float64, error)
}
