package clip

import (
	"fmt"
	"math"
)

// schedule is the threshold C₀·ρ^(t/T) of Du et al. 2021: it depends on the step's number
// alone. ρ is the share of C₀ that is left in the end, as in public code of Du's method and in
// DC's Table VII, whose ρ_C from 0.1 to 0.9 would raise the threshold if C₀ were divided by it.
type schedule struct {
	c0, rho  float64
	t, steps int
}

func newSchedule(e Env) (Rule, error) {
	return &schedule{c0: e.MaxGradNorm, rho: e.Params["end_share"], steps: max(1, e.Steps)}, nil
}

func (s *schedule) C() float64 {
	return clampThreshold(s.c0*math.Pow(s.rho, float64(s.t)/float64(s.steps)), s.c0)
}
func (s *schedule) Query() *Query   { return nil }
func (s *schedule) Adapt([]float64) { s.t++ }

func (s *schedule) Snapshot() []float64 { return []float64{float64(s.t)} }

func (s *schedule) Restore(v []float64) error {
	if err := fits(v, 0, 1); err != nil {
		return err
	}
	if t := v[0]; !(t >= 0 && t <= 1<<53 && t == math.Trunc(t)) {
		return fmt.Errorf("clip: %v is no number of steps", t)
	}
	s.t = int(v[0])
	return nil
}

func init() {
	params := []Param{{
		Name: "end_share", Label: "Share left at the end ρ_C", Default: 0.5, Min: 0.01, Max: 100, Log: true,
		Help: "The threshold ends at ρ_C·C₀; values above 1 let it grow. DC tries 0.1 to 0.9.",
	}}
	registerRule("schedule", params, newSchedule)
	register(Method{
		Place: 7,
		Info: Info{
			Name:    "schedule",
			Title:   "Falling schedule",
			Idea:    "The threshold shrinks from C₀ to ρ_C·C₀ over the run, by a plan fixed beforehand. As gradients get smaller late in training, so does the noise.",
			Formula: "Cₜ = C₀·ρ_C^(t/T)",
			When:    "When you expect gradients to shrink steadily and know how far.",
			Paper:   "Du et al. 2021",
			Params:  params,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			rule, err := newSchedule(e)
			return &Clipper{Source: Exact, Grouping: Flat, Weight: constant{}, Rule: rule}, err
		},
	})
}
