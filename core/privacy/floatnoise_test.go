package privacy

import (
	"fmt"
	"math"
	"testing"

	"clipscope/core/chacha"
)

// floatSteps are n of DP-SGD's with float noise of so many numbers.
func floatSteps(sigma float64, values, n int) Event {
	return SelfComposed{FloatNoise{PoissonSampled{0.01, Gaussian{sigma}}, values}, n}
}

func mustEnd(t *testing.T, events ...Event) float64 {
	t.Helper()
	mass, err := NoiseEnd(events...)
	if err != nil {
		t.Fatal(err)
	}
	return mass
}

// TestNoiseBeyondItsEndIsCharged recomputes the mass beyond the end by integrating over the angle
// and the radius of a pair, and from the generator's words: what is charged is at least that.
func TestNoiseBeyondItsEndIsCharged(t *testing.T) {
	if want := math.Exp(-endRadius * endRadius / 2); math.Abs(endBelow/want-1) > 1e-12 {
		t.Errorf("a pair lies beyond %v with probability %v, not %v", endRadius, want, endBelow)
	}
	// Where the words of a radius are 96, u ≥ 2⁻⁸³ leaves 2¹³ and more values of u below it.
	if endRadius >= chacha.MaxNormal || endRadius < math.Sqrt(2*64*math.Ln2) {
		t.Errorf("%v is not between the end of 64 digits and that of all, %v", endRadius, chacha.MaxNormal)
	}
	for _, sigma := range []float64{0.2, 0.3, 0.5, 1, 4, 100} {
		s := 1 / sigma
		// P(‖z + s‖ > R) = ∫ over directions of z of ½π⁻¹·e^(−r²/2), where the ray leaves the disc.
		const rays = 20_000
		mass := 0.0
		for i := range rays {
			c := math.Cos(2 * math.Pi * (float64(i) + 0.5) / rays)
			r := -s*c + math.Sqrt(endRadius*endRadius-s*s*(1-c*c))
			mass += math.Exp(-r*r/2) / rays
		}
		for _, n := range []int{2, 100, 101_770} {
			got := mustEnd(t, FloatNoise{Gaussian{sigma}, n})
			if least := mass + float64(n/2-1)*endBelow; !(got >= least) {
				t.Errorf("σ = %v: the end of %d numbers takes %v, at most %v is charged", sigma, n, least, got)
			}
			if got > 30*mass*math.Exp(s*s/2)+3*float64(n)*endBelow {
				t.Errorf("σ = %v: %v is charged for %d numbers, %v would do for one pair", sigma, got, n, mass)
			}
		}
		// Halving the shift between two pairs is not worse than all of it in one.
		if split, whole := 2*(besselI0(endRadius*s/math.Sqrt2)-1), besselI0(endRadius*s)-1; split > whole {
			t.Errorf("σ = %v: two pairs take %v, one %v", sigma, split, whole)
		}
	}
}

// TestFloatNoiseIsChargedToDelta: usual runs pay next to nothing, at any accountant and by
// every way of asking; where the end takes all of δ, ε is ∞.
func TestFloatNoiseIsChargedToDelta(t *testing.T) {
	t.Parallel()
	const n = 1000
	for _, c := range []struct {
		sigma, delta float64
		values       int
		share        float64 // of δ that the end takes at most; above 1: all
	}{
		{1, 1e-5, 101_770, 1e-10}, {0.6, 1e-5, 101_770, 1e-8}, {0.4, 1e-5, 10_000_000, 1e-6}, {0.3, 1e-5, 101_770, 0.01},
		{1, 1e-10, 101_770, 1e-5}, {1, 1e-12, 101_770, 1e-3}, {1, 1e-15, 7850, 0.02},
		{1, 1e-20, 101_770, 2}, {0.5, 1e-15, 101_770, 2}, {0.2, 1e-5, 10, 2}, {0.1, 1e-5, 10, 2},
	} {
		name := fmt.Sprintf("σ = %v, δ = %v, %d numbers", c.sigma, c.delta, c.values)
		mass := mustEnd(t, floatSteps(c.sigma, c.values, n))
		if share := mass / c.delta; share > 1 != (c.share > 1) || c.share <= 1 && share > c.share {
			t.Errorf("%s: the end takes %v of δ, want %v", name, share, c.share)
		}
		step := FloatNoise{PoissonSampled{0.01, Gaussian{c.sigma}}, c.values}
		for _, accountant := range Names() {
			ideal := mustEpsilon(t, accountant, c.delta, SelfComposed{step.Of, n})
			e := mustEpsilon(t, accountant, c.delta, SelfComposed{step, n})
			curve, err := NewCurve(accountant, c.delta, step, n)
			if err != nil {
				t.Fatal(err)
			}
			if c.share > 1 {
				if !math.IsInf(e, 1) || !math.IsInf(curve.Epsilon(n), 1) {
					t.Errorf("%s, %s: ε = %v, and %v on a curve", name, accountant, e, curve.Epsilon(n))
				}
				continue
			}
			if want := mustEpsilon(t, accountant, c.delta-mass, SelfComposed{step.Of, n}); !(e >= ideal && math.Abs(e/want-1) < 1e-9) {
				t.Errorf("%s, %s: ε = %v, %v at what is left of δ, %v without an end", name, accountant, e, want, ideal)
			}
			if c.share < 1e-5 && e > ideal*(1+1e-5) {
				t.Errorf("%s, %s: ε = %v moves a shown digit of %v", name, accountant, e, ideal)
			}
			if got := curve.Epsilon(n); math.Abs(got/e-1) > 1e-3 {
				t.Errorf("%s, %s: a curve ends at %v, ε is %v", name, accountant, got, e)
			}
			if d, err := Delta(accountant, e, SelfComposed{step, n}); err != nil || d > c.delta*(1+1e-9) || d < mass {
				t.Errorf("%s, %s: δ = %v at ε = %v (%v)", name, accountant, d, e, err)
			}
			if g := mustGroup(t, accountant, 2, c.delta, SelfComposed{step, n}); g < e {
				t.Errorf("%s, %s: ε = %v for two rows, %v for one", name, accountant, g, e)
			}
		}
	}
}

// TestEndOfNoiseRefutesAClaimWithoutTheCharge: with the noise of a step ending at R, some outputs
// of the one data set are none of the other; the claim without a charge is then false, and with it
// true.
func TestEndOfNoiseRefutesAClaimWithoutTheCharge(t *testing.T) {
	without := false
	for _, sigma := range []float64{0.15, 0.2, 0.3, 0.5, 1} {
		impossible := tail(endRadius - 1/sigma) // along the direction of the row
		for _, delta := range []float64{1e-20, 1e-15, 1e-12, 1e-8, 1e-5} {
			ideal := mustEpsilon(t, PLD, delta, Gaussian{sigma})
			e := mustEpsilon(t, PLD, delta, FloatNoise{Gaussian{sigma}, 10})
			without = without || !math.IsInf(ideal, 1) && impossible > delta
			if !math.IsInf(e, 1) && impossible > delta {
				t.Errorf("σ = %v: (%v, %v) is claimed, and outputs of mass %v refute it", sigma, e, delta, impossible)
			}
		}
	}
	if !without {
		t.Error("nothing would have been refuted without the charge")
	}
}

// TestFloatNoiseEventsAreReadBack: what is written down is read, what cannot be is refused, and a
// choice among runs is charged for the ends of all.
func TestFloatNoiseEventsAreReadBack(t *testing.T) {
	step := FloatNoise{PoissonSampled{0.01, Joint{[]Gaussian{{1}, {5}}}}, 300}
	b, err := MarshalEvent(step)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := UnmarshalEvent(b); err != nil || fmt.Sprint(got) != fmt.Sprint(step) {
		t.Errorf("%s is read as %v (%v)", b, got, err)
	}
	if _, err := MarshalEvent(FloatNoise{step, 3}); err == nil {
		t.Error("noise that ends twice is written down")
	}
	for _, bad := range []string{`{"kind":"gaussian","noise_multiplier":1,"float_values":-1}`, `{"float_values":3}`, `{"kind":"gaussian","float_values":3}`} {
		if _, err := UnmarshalEvent([]byte(bad)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if e := mustEpsilon(t, RDP, 1e-5, FloatNoise{NonPrivate{}, 3}); !math.IsInf(e, 1) {
		t.Errorf("without noise ε = %v", e)
	}
	const runs = 10
	ideal := mustEpsilon(t, RDP, 1e-5, Selected{[]Event{SelfComposed{step.Of, 500}}, runs})
	e := mustEpsilon(t, RDP, 1e-5, Selected{[]Event{SelfComposed{step, 500}}, runs})
	if !(e >= ideal && e < ideal*(1+1e-5)) {
		t.Errorf("a choice costs ε = %v, %v without an end", e, ideal)
	}
	if e := mustEpsilon(t, RDP, 1e-18, Selected{[]Event{SelfComposed{step, 500}}, runs}); !math.IsInf(e, 1) {
		t.Errorf("a choice costs ε = %v at a δ that the ends take", e)
	}
	if _, err := RepeatAndSelect(1e-5, step, 10, 1); err == nil {
		t.Error("a selection is priced without a proof")
	}
}

// TestGroupsPayForEnds: several rows of one person have a finite ε where few of them are in
// one sample, and ∞ where all are and move a sum beyond the end of its noise.
func TestGroupsPayForEnds(t *testing.T) {
	t.Parallel()
	of := func(rate float64, values int) Event {
		return SelfComposed{FloatNoise{PoissonSampled{rate, Gaussian{1}}, values}, 20}
	}
	for _, rows := range []int{2, 5, 20} {
		ideal := mustGroup(t, RDP, rows, 1e-5, SelfComposed{PoissonSampled{0.032, Gaussian{1}}, 20})
		if e := mustGroup(t, RDP, rows, 1e-5, of(0.032, 1000)); !(e >= ideal && e < ideal*1.2+1) {
			t.Errorf("%d rows: ε = %v, %v without an end", rows, e, ideal)
		}
	}
	// Of 100 rows eleven and more are in some of 20 samples with a probability of 0.003.
	if e := mustGroup(t, RDP, 100, 1e-5, of(0.032, 1000)); !math.IsInf(e, 1) {
		t.Errorf("100 rows: ε = %v", e)
	}
	if e := mustGroup(t, RDP, 12, 1e-5, FloatNoise{Gaussian{1}, 10}); !math.IsInf(e, 1) {
		t.Errorf("12 rows that are all in move a sum by 12σ: ε = %v", e)
	}
}
