package privacy

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"clipscope/core/run"
)

func TestRepeatAndSelectGivesKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		q, sigma    float64
		steps       int
		mean, shape float64
		want        float64 // dp_accounting 0.6.0, δ = 1e-5
	}{
		{256. / 60000, 1.1, 4690, 10, 1, 3.006485},
		{256. / 60000, 1.1, 4690, 10, 0, 2.528179},
		{256. / 60000, 1.1, 4690, 100, 1, 3.834851},
		{256. / 60000, 1.1, 4690, 10, 0.5, 2.781377},
		{256. / 60000, 2, 14040, 10, math.Inf(1), 2.559523},
		{0.01, 1.5, 1000, 10, math.Inf(1), 2.280581},
		{1, 10, 1, 10, 1, 0.849245},
		{1, 10, 1, 100, 1, 1.075912},
	} {
		got, err := RepeatAndSelect(1e-5, SelfComposed{PoissonSampled{c.q, Gaussian{c.sigma}}, c.steps}, c.mean, c.shape)
		if err != nil {
			t.Fatal(err)
		}
		// Our orders are more: a little below, never above.
		if got > c.want*(1+1e-5) || got < c.want*0.985 {
			t.Errorf("%+v: ε = %v", c, got)
		}
	}
	if _, err := RepeatAndSelect(1e-5, Gaussian{1}, 0.5, 1); err == nil {
		t.Error("no error for half a run")
	}
	if _, err := RepeatAndSelect(1e-5, Gaussian{1}, 5, -1); err == nil {
		t.Error("no error for shape -1")
	}
}

func TestRepeatGammaHasTheMean(t *testing.T) {
	if g := repeatGamma(10, 1); !within(g, 0.1, 1e-9) {
		t.Errorf("geometric of mean 10: γ = %v", g)
	}
	if g := repeatGamma(10, 0); !within((1/g-1)/math.Log(1/g), 10, 1e-9) {
		t.Errorf("logarithmic of mean 10: γ = %v", g)
	}
}

func TestLiuTalwarEqualsTheReference(t *testing.T) {
	if r := LiuTalwarRounds(10); !within(r, 921.0340371976183, 1e-12) {
		t.Errorf("rounds %v", r)
	}
	if d := LiuTalwarDelta(1./60000, 10); !within(d, 1.81917146037436e-17, 1e-9) {
		t.Errorf("δ₁ = %v", d)
	}
	if d := LiuTalwarDelta(1e-21, 10); d != 0 {
		t.Errorf("δ₁ = %v of a δ below δ₂", d)
	}
	name := referenceFile()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Logf("without %s", name)
		return
	}
	t.Logf("with %s", name)
	var r struct {
		Inverse []struct {
			G             int
			EpsilonPrime  float64 `json:"epsilon_prime"`
			DeltaPrime    float64 `json:"delta_prime"`
			Epsilon1      float64
			Delta1        float64
			SampleRate    float64 `json:"sample_rate"`
			Steps         int     `json:"steps_per_run"`
			SigmaLT       float64 `json:"sigma_lt_rdp"`
			SigmaComposed float64 `json:"sigma_rdp_composition_over_G_runs"`
		} `json:"liu_talwar_inverse"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Inverse {
		d := LiuTalwarDelta(c.DeltaPrime, c.G)
		if !within(d, c.Delta1, 1e-9) {
			t.Errorf("G=%d: δ₁ = %v, want %v", c.G, d, c.Delta1)
		}
		run := func(sigma float64) Event {
			return SelfComposed{PoissonSampled{c.SampleRate, Gaussian{sigma}}, c.Steps}
		}
		if e := 3*mustEpsilon(t, RDP, d, run(c.SigmaLT)) + 3*math.Sqrt(2*d); e > c.EpsilonPrime*(1+1e-4) || e < c.EpsilonPrime*0.75 { // the peer tries few orders above 63
			t.Errorf("G=%d: ε′ = %v, want %v", c.G, e, c.EpsilonPrime)
		}
		costs, err := NewTuningCosts(c.DeltaPrime, run(c.SigmaLT), c.G)
		if err != nil {
			t.Fatal(err)
		}
		if float64(costs.LiuTalwar) > c.EpsilonPrime*(1+1e-4) || float64(costs.LiuTalwar) < c.EpsilonPrime*0.6 {
			t.Errorf("G=%d: by PLD ε′ = %v, want just below %v", c.G, costs.LiuTalwar, c.EpsilonPrime)
		}
		costs, err = NewTuningCosts(c.DeltaPrime, run(c.SigmaComposed), c.G)
		if err != nil {
			t.Fatal(err)
		}
		if e := float64(costs.CompositionRDP); e > c.EpsilonPrime*(1+1e-3) || e < c.EpsilonPrime*0.98 {
			t.Errorf("G=%d: composed ε = %v, want %v", c.G, e, c.EpsilonPrime)
		}
		if costs.CompositionPLD > costs.CompositionRDP {
			t.Errorf("G=%d: PLD %v above RDP %v", c.G, costs.CompositionPLD, costs.CompositionRDP)
		}
	}
}

func TestTuningOfOneRunCostsNoLessThanTheRun(t *testing.T) {
	once := SelfComposed{PoissonSampled{0.01, Gaussian{1.2}}, 300}
	c, err := NewTuningCosts(1e-5, once, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e := mustEpsilon(t, PLD, 1e-5, once); float64(c.CompositionPLD) != e {
		t.Errorf("one run costs %v, composed %v", e, c.CompositionPLD)
	}
	for what, e := range map[string]run.Number{"LT": c.LiuTalwar, "geometric": c.Geometric, "logarithmic": c.Logarithmic, "Poisson": c.Poisson} {
		if e < c.CompositionPLD || math.IsInf(float64(e), 1) {
			t.Errorf("%s costs %v, one run alone %v", what, e, c.CompositionPLD)
		}
	}
	if _, err := NewTuningCosts(1e-5, once, 0); err == nil {
		t.Error("no error for no runs")
	}
	free, err := NewTuningCosts(1e-5, NonPrivate{}, 3)
	if err != nil || !math.IsInf(float64(free.Geometric), 1) || !math.IsInf(float64(free.CompositionPLD), 1) || !math.IsInf(float64(free.LiuTalwar), 1) {
		t.Errorf("without noise: %+v, %v", free, err)
	}
}
