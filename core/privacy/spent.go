package privacy

import (
	"errors"
	"fmt"
	"math"
)

// A term is count Gaussian releases on Poisson samples, 0 < sampleRate < 1 and
// 0 < noiseMultiplier < ∞. The neighbours differ in one row, or in the rows of
// group where that is not nil.
type term struct {
	sampleRate, noiseMultiplier float64
	count                       int
	group                       *group
}

// spent is the sum of a tree of events: every supported event is a multiset
// of Gaussians, each on all rows or on a Poisson sample of them. The order of
// events is forgotten, so it cannot matter.
type spent struct {
	precision float64  // Σ σ⁻² of the Gaussians on all rows, exact under composition
	sampled   []term   // distinct (sampleRate, noiseMultiplier)
	selected  rdpCurve // of choices among runs, for which there is no other proof; nil: none
	infinite  bool     // something without noise was released
	distance  float64  // of the noise from what is priced, in total variation
	ends      []end    // of noise that ends: see [FloatNoise]
}

// flatten reduces times runs of e.
func flatten(e Event, times int) (spent, error) {
	var s spent
	if err := s.addEvent(e, times); err != nil {
		return spent{}, err
	}
	return s, nil
}

func (s *spent) addEvent(e Event, times int) error {
	switch e := e.(type) {
	case Gaussian, Joint:
		p, err := precision(e)
		if err != nil {
			return err
		}
		s.addGaussian(p, times)
		return nil
	case PoissonSampled:
		return s.addSampled(e, times)
	case SelfComposed:
		n, err := multiply(times, e.Count)
		if err != nil {
			return err
		}
		return s.addEvent(e.Of, n)
	case Composed:
		for _, part := range e.Parts {
			if err := s.addEvent(part, times); err != nil {
				return err
			}
		}
		return nil
	case Inexact:
		return s.addInexact(e, times)
	case FloatNoise:
		return s.addFloatNoise(e, times)
	case Selected:
		return s.addSelected(e, times)
	case NonPrivate:
		s.infinite = s.infinite || times > 0
		return nil
	default:
		return fmt.Errorf("privacy: no proof of what %T costs", e)
	}
}

func (s *spent) addGaussian(precision float64, times int) {
	if times == 0 || precision == 0 {
		return
	}
	s.precision += precision * float64(times)
	s.infinite = s.infinite || math.IsInf(s.precision, 1)
}

func (s *spent) addSampled(e PoissonSampled, times int) error {
	q := e.SampleRate
	if !(q >= 0 && q <= 1) {
		return fmt.Errorf("privacy: sample_rate %v is not in [0, 1]", q)
	}
	p, err := precision(e.Of)
	if err != nil {
		return fmt.Errorf("in a Poisson sample: %w", err)
	}
	switch {
	case times == 0 || q == 0 || p == 0:
	case q == 1:
		s.addGaussian(p, times)
	case math.IsInf(p, 1):
		s.infinite = true
	default:
		return s.addTerm(term{q, 1 / math.Sqrt(p), times, nil})
	}
	return nil
}

func (s *spent) addTerm(t term) error {
	for i := range s.sampled {
		u := &s.sampled[i]
		if u.sampleRate == t.sampleRate && u.noiseMultiplier == t.noiseMultiplier {
			if u.count > math.MaxInt-t.count {
				return errTooMany
			}
			u.count += t.count
			return nil
		}
	}
	s.sampled = append(s.sampled, t)
	return nil
}

// merge adds all of t, or nothing when it returns an error.
func (s *spent) merge(t spent) error {
	sum := spent{
		precision: s.precision + t.precision,
		sampled:   append([]term(nil), s.sampled...),
		selected:  s.selected.plus(t.selected, 1),
		infinite:  s.infinite || t.infinite,
		distance:  s.distance + t.distance,
		ends:      s.ends,
	}
	for _, e := range t.ends {
		sum.addEnd(e)
	}
	for _, u := range t.sampled {
		if err := sum.addTerm(u); err != nil {
			return err
		}
	}
	*s = sum
	return nil
}

// precisions is the sum of [precision] over parts.
func precisions[E Event](parts []E) (float64, error) {
	sum := 0.0
	for _, part := range parts {
		p, err := precision(part)
		if err != nil {
			return 0, err
		}
		sum += p
	}
	return sum, nil
}

// precision is Σ σ⁻² of the Gaussian releases that e makes of the same rows:
// together they cost what one Gaussian with that precision costs, however
// adaptively they were chosen (Dong, Roth & Su 2022, Corollary 3.3; DC-SGD,
// Theorem 2). +Inf where one of them has no noise.
func precision(e Event) (float64, error) {
	switch e := e.(type) {
	case Gaussian:
		if !(e.NoiseMultiplier >= 0) {
			return 0, fmt.Errorf("privacy: noise_multiplier %v is not a standard deviation: use 0 for no noise, or a positive number", e.NoiseMultiplier)
		}
		return 1 / e.NoiseMultiplier / e.NoiseMultiplier, nil
	case Joint:
		return precisions(e.Parts)
	case SelfComposed:
		p, err := precision(e.Of)
		if err != nil {
			return 0, err
		}
		if _, err := multiply(1, e.Count); err != nil {
			return 0, err
		}
		if e.Count == 0 {
			return 0, nil
		}
		return p * float64(e.Count), nil
	case Composed:
		return precisions(e.Parts)
	case NonPrivate:
		return math.Inf(1), nil
	case PoissonSampled:
		return 0, errors.New("privacy: no proof of what a sample of a sample costs: multiply the two sample rates instead if they are independent")
	default:
		return 0, fmt.Errorf("privacy: no proof of what %T costs", e)
	}
}

var errTooMany = errors.New("privacy: more repetitions than an int holds")

func multiply(a, b int) (int, error) {
	if a < 0 || b < 0 {
		return 0, fmt.Errorf("privacy: a mechanism cannot run %d times", min(a, b))
	}
	if a != 0 && b > math.MaxInt/a {
		return 0, errTooMany
	}
	return a * b, nil
}

// checkDelta refuses a target_delta outside (0, 1).
func checkDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("privacy: target_delta %v is not in (0, 1): use less than 1/N, for instance 1e-5", delta)
	}
	return nil
}
