package privacy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pmf returns the probabilities of a discrete Gaussian with variance v at −n … n.
func pmf(v float64, n int) []float64 {
	p := make([]float64, 2*n+1)
	sum := 0.0
	for i := range p {
		x := float64(i - n)
		p[i] = math.Exp(-x * x / (2 * v))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// convolve returns the probabilities of the sum of two numbers in −n … n, cut to that.
func convolve(p, q []float64) []float64 {
	n := (len(p) - 1) / 2
	r := make([]float64, len(p))
	for i := range p {
		for j := range q {
			if k := i + j - n; k >= 0 && k < len(r) {
				r[k] += p[i] * q[j]
			}
		}
	}
	return r
}

// hockeyStick returns δ(ε) of numbers with such probabilities against the same moved by shift.
func hockeyStick(p []float64, shift int, epsilon float64) float64 {
	delta := 0.0
	for i := shift; i < len(p); i++ {
		delta += max(0, p[i-shift]-math.Exp(epsilon)*p[i])
	}
	return delta
}

// TestSharesCostNoMoreThanTheyAreWorth, by brute force: for every number of parties, of those that
// are tolerated and of shares that are there, δ at some ε of the sum of shares beneath a sensitivity is
// never above that of Gaussian noise of the deviation that [Shares.Of] says.
func TestSharesCostNoMoreThanTheyAreWorth(t *testing.T) {
	const n, sensitivity = 260, 8 // in units
	for parties := 2; parties <= 6; parties++ {
		for tolerance := range parties {
			s := Shares{parties, tolerance}
			sigma := CoarsestShare * math.Sqrt(float64(s.Needed())) * 2 // in units
			noise, err := s.Noise(sigma, 1)
			if err != nil {
				t.Fatal(err)
			}
			share := pmf(noise.d.Sigma()*noise.d.Sigma(), n)
			sum := share
			for shares := 1; shares <= parties; shares++ {
				if shares > 1 {
					sum = convolve(sum, share)
				}
				worth := s.Of(sigma, shares)
				for _, epsilon := range []float64{0.1, 0.5, 1, 2, 4, 8} {
					mu := sensitivity / worth
					want := phi(mu/2-epsilon/mu) - math.Exp(epsilon)*phi(-mu/2-epsilon/mu)
					if got := hockeyStick(sum, sensitivity, epsilon); got > want+1e-12 {
						t.Errorf("%+v: %d shares have δ(%g) = %.6g, Gaussian noise of deviation %.4g has %.6g", s, shares, epsilon, got, worth, want)
					}
				}
				if w := s.Of(sigma, s.Needed()); shares == s.Needed() && (w > sigma || w < sigma*(1-1e-12)) {
					t.Errorf("%+v: the shares that are needed are worth %v of %v", s, w, sigma)
				}
			}
		}
	}
}

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// TestSumOfSharesIsDiscreteGaussian: the probabilities of a sum of the smallest shares are those of a
// discrete Gaussian of their variances' sum, to the last digits.
func TestSumOfSharesIsDiscreteGaussian(t *testing.T) {
	const n = 200
	v := 2.0 * roundingVariance
	sum := pmf(v, n)
	for shares := 2; shares <= 5; shares++ {
		sum = convolve(sum, pmf(v, n))
		want := pmf(v*float64(shares), n)
		for i := n - 20; i <= n+20; i++ {
			if r := sum[i] / want[i]; math.Abs(r-1) > 1e-12 {
				t.Errorf("%d shares: probability of %d is %v times that of a discrete Gaussian", shares, i-n, r)
			}
		}
	}
}

// TestSharesAdd: drawn shares have the deviation together that the whole has. A false alarm has a
// probability of some 10⁻⁹: the variance of n numbers errs by √(2/n), and 6 of those are allowed.
func TestSharesAdd(t *testing.T) {
	s := Shares{Parties: 5, Tolerance: 2}
	const unit, sigma, n = 0.25, 20, 20000
	noise, err := s.Noise(sigma, unit)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.NewPCG(3, 4)
	sum := 0.0
	for range n {
		x := 0.0
		for range s.Needed() {
			x += float64(noise.Draw(rng)) * unit
		}
		sum += x * x
	}
	if v := sum / n / (sigma * sigma); math.Abs(v-1) > 6*math.Sqrt(2.0/n)+2*roundingVariance*unit*unit*3/(sigma*sigma) {
		t.Errorf("the variance of %d shares is %v times the whole's", s.Needed(), v)
	}
}

func TestSharesAreRefused(t *testing.T) {
	for _, s := range []Shares{{}, {1, 0}, {2, 2}, {3, -1}, {MostParties + 1, 0}, {-2, 0}} {
		if s.Check() == nil {
			t.Errorf("%+v is taken", s)
		}
		if _, err := s.Noise(100, 1); err == nil {
			t.Errorf("%+v has noise", s)
		}
	}
	for _, sigma := range []float64{0, -1, math.NaN(), math.Inf(1), 2.8} {
		if _, err := (Shares{3, 1}).Noise(sigma, 1); err == nil {
			t.Errorf("a share of noise of deviation %v is taken", sigma)
		}
	}
}
