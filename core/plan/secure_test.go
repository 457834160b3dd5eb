package plan

import (
	"math"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

func ptr[T any](v T) *T { return &v }

// TestSecureGridKeepsSumsExact: whatever the noise and the size of the model, an example's units
// fit into C with what rounding takes, sums are exact, rounding takes a 256th of C or hardly more
// than it has to, two samples do for the usual noise, and where there is too little noise to join,
// numbers are drawn one by one.
func TestSecureGridKeepsSumsExact(t *testing.T) {
	ds, err := builtin.Make("blobs", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range [][]int{{1}, {16}, {5000}, {2500, 1800}} {
		p, err := New(run.Config{
			Method: "constant", Accountant: "rdp", NoiseMode: "secure", NoiseMultiplier: ptr(1.0), MaxGradNorm: 1,
			Model: run.Model{Kind: "mlp", Hidden: hidden}, ExpectedBatchSize: 100, Steps: 60,
		}, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		terms := p.Terms()
		d, alone := terms.Spec.Params(), 0
		for sigma := 0.001; sigma <= 1<<12; sigma *= 1.007 {
			terms.GradNoise = sigma
			checked, err := Secure{}.settleTerms(&terms)
			if err != nil {
				t.Fatal(err)
			}
			exact := checked.(Secure).Exact
			grid := checked.(Secure).Grid(&terms)
			noise, ok := grid.Joined()
			if !ok {
				alone++
			}
			units, rounding := grid.Units(), math.Sqrt(float64(d))/2
			if compute.PieceRows*units > exactly || grid.Shrink()*units+rounding > units {
				t.Errorf("%d parameters, σ = %v: %v units, of which %v are left", d, sigma, units, grid.Shrink())
			}
			if lost := rounding / units; lost > max(1./256, 1.12*rounding*compute.PieceRows/exactly) {
				t.Errorf("%d parameters, σ = %v: rounding takes %v of C", d, sigma, lost)
			}
			few := sigma >= 0.04 && sigma < 4 && d < 1_000_000 || sigma >= 0.04 && sigma < 1.2
			if n := len(noise.Multipliers()); exact != !ok || few && (!ok || n > 2) || sigma < 0.003 && ok {
				t.Errorf("%d parameters, σ = %v: exact is %t, %v", d, sigma, exact, noise.Multipliers())
			}
		}
		if alone == 0 {
			t.Errorf("%d parameters: all noise is joined", d)
		}
	}
}
