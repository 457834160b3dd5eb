package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/run"
)

// everything is a weight that clips nothing: clipping that is off.
type everything struct{}

func (everything) Factor(float64, float64) float64 { return 1 }

// The ways in which an audited run can be broken without saying so.
var sabotages = map[string]func(*Plan){
	"":             func(*Plan) {},
	"noise halved": func(p *Plan) { p.gradNoise /= 2 },
	"clipping off": func(p *Plan) { p.clipper.Weight = everything{} },
}

func auditOnce(t *testing.T, cfg AuditConfig, sabotage string) AuditReport {
	t.Helper()
	a, err := NewAudit(cfg, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	sabotages[sabotage](a.plan)
	r, err := a.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAuditTwenty holds the audit to what it is for: never to refute an honest
// run in 20, and to catch halved noise and missing clipping in 18 of 20 at
// least. It takes minutes, so it runs on request: CLIPSCOPE_AUDIT=20.
func TestAuditTwenty(t *testing.T) {
	n := 0
	if _, err := fmt.Sscan(os.Getenv("CLIPSCOPE_AUDIT"), &n); err != nil {
		t.Skip("CLIPSCOPE_AUDIT=20 runs every audit 20 times")
	}
	for sabotage := range sabotages {
		refuted := 0
		for i := range n {
			r := auditOnce(t, AuditConfig{}, sabotage)
			t.Logf("%q %d: claimed %.3f, at least %.3f (any mechanism %.3f), %d of %d right", sabotage, i, r.Claimed, r.LowerBound, r.AnyMechanism, r.Correct, r.Guesses)
			if r.Refuted {
				refuted++
			}
		}
		t.Logf("%q: refuted in %d of %d", sabotage, refuted, n)
		if sabotage == "" && refuted > 0 || sabotage != "" && 10*refuted < 9*n {
			t.Errorf("%q: refuted in %d of %d", sabotage, refuted, n)
		}
	}
}

// one is a seed and a target ε for tests.
func audited(seed uint64) AuditConfig {
	return AuditConfig{Run: run.Config{Seed: ptr(seed)}}
}

func TestAuditRefuses(t *testing.T) {
	for field, cfg := range map[string]AuditConfig{
		"canaries": {Canaries: 3}, "rows": {Rows: -1}, "steps": {Steps: -1}, "sample_rate": {SampleRate: 2}, "guesses": {Guesses: 5000},
		"significance": {Significance: 1}, "method": {Run: run.Config{Method: "none"}}, "noise_multiplier": {Run: run.Config{NoiseMultiplier: ptr(0.0)}},
	} {
		_, err := NewAudit(cfg, purego.New())
		if ce := (*run.ConfigError)(nil); !errors.As(err, &ce) || ce.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
