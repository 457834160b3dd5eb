package clip

import "math"

// slack steers the threshold by the room that clipping leaves unused: SlaClip's
// indicator (ICML 2026; public threads meta-pytorch/opacus#824 and
// google-deepmind/jax_privacy#317), with a controller of our own.
//
// # The indicator, and why it is free
//
// Beside its clipped gradient ĝ, an example adds K coordinates s to the sum.
// Coordinate k (k = 1 … K) is C/√K when ‖ĝ‖² ≤ C²·(1 − k/K), and 0 otherwise.
// If m of them are set then k = m is, so m·C²/K ≤ C² − ‖ĝ‖², and
//
//	‖(ĝ, s)‖² = ‖ĝ‖² + m·C²/K ≤ C².
//
// The pair is one vector of norm at most C, so under adding or removing one
// example its sum has sensitivity C, and one Gaussian release with noise σC on
// every coordinate, gradient and indicator alike, costs what the gradient alone
// costs. The gradient's coordinates and their noise do not change. The argument
// uses nothing but ‖ĝ‖ ≤ C, so it holds for every weight function here. ∎
//
// The claim of the threads therefore holds. What it buys is limited: coordinate
// k counts the examples with ‖ĝ‖ ≤ C√(1 − k/K) with noise of σ√K examples, so
// K trades resolution for noise, and nothing is learned about norms above C.
//
// # The controller
//
// The threads' own controller is published only in the paper, which we have not
// read. Ours treats the first coordinate, the share of gradients within
// C√(1 − 1/K), as quantile does its count.
type slack struct {
	c, gamma, rate, batch float64
	k                     int
	below                 float64
}

func newSlack(e Env) (Rule, error) {
	return &slack{c: e.MaxGradNorm, gamma: e.Params["gamma"], rate: e.Params["eta_c"], batch: e.ExpectedBatchSize, k: int(e.Params["slack_bins"])}, nil
}

func (s *slack) C() float64            { return s.c }
func (s *slack) Query() *Query         { return &Query{Len: s.k, Value: s.value, Joined: true} }
func (s *slack) ClipFraction() float64 { return 1 - s.below }

// unit is C/√K rounded down to the digits of float32, so that float64 adds up 2²⁹
// of them without rounding.
func (s *slack) unit() float64 {
	x := s.c / math.Sqrt(float64(s.k))
	f := float32(x)
	if float64(f) > x {
		f = math.Nextafter32(f, 0)
	}
	return float64(f)
}

func (s *slack) value(dst []float64, n Norms) {
	r := n.Clipped / s.c
	room := 1 - r*r
	for k := range s.k {
		if float64(k+1)/float64(s.k) > room {
			return
		}
		dst[k] += s.unit()
	}
}

func (s *slack) Adapt(released []float64) {
	s.below = min(max(released[0]/(s.unit()*s.batch), 0), 1)
	s.c = clampThreshold(s.c*math.Exp(-s.rate*(s.below-s.gamma)), s.c)
}

func (s *slack) Snapshot() []float64 { return []float64{s.c, s.below} }

func (s *slack) Restore(v []float64) error {
	if err := fitsShare(v); err != nil {
		return err
	}
	s.c, s.below = v[0], v[1]
	return nil
}

func init() {
	params := []Param{
		{Name: "slack_bins", Label: "Slack bins K", Default: 16, Min: 2, Max: 256, Integer: true, Log: true,
			Help: "How finely the room below C is read; the count's noise grows with √K."},
		{Name: "gamma", Label: "Target share γ", Default: 0.5, Min: 0, Max: 1,
			Help: "The share of gradients that should be shorter than the threshold."},
		{Name: "eta_c", Label: "Threshold rate η_C", Default: 0.2, Min: 1e-4, Max: 10, Log: true,
			Help: "How fast the threshold follows, as a factor e^(±η_C) a step at most."},
	}
	registerRule("slaclip", params, newSlack)
	register(Method{
		Place: 10,
		Info: Info{
			Name:    "slaclip",
			Title:   "Slack indicator (SlaClip)",
			Idea:    "A gradient shorter than C leaves room within the noise that is added anyway. That room carries a noisy count of how many gradients were short, so the threshold can follow them at no cost at all.",
			Formula: "(ĝᵢ, sᵢ) with sᵢ,ₖ = C/√K if ‖ĝᵢ‖² ≤ C²(1 − k/K), so ‖(ĝᵢ, sᵢ)‖ ≤ C",
			When:    "As quantile, without giving any of the budget to the count.",
			Paper:   "SlaClip, ICML 2026; the controller is ours",
			Params:  params,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			rule, err := newSlack(e)
			return &Clipper{Source: Exact, Grouping: Flat, Weight: constant{}, Rule: rule}, err
		},
	})
}
