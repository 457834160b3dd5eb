package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/purego"
	"clipscope/core/compute/rough"
	"clipscope/core/run"
)

// unbounded is a mechanism whose clipping is off.
type unbounded struct{ mechanism }

func (m unbounded) limit() kernel.Limit {
	l := m.mechanism.limit()
	l.C = math.MaxFloat32
	return l
}

// The ways in which an audited run can be broken without saying so.
var sabotages = map[string]func(*Run){
	"":             func(*Run) {},
	"noise halved": func(p *Run) { p.gradNoise /= 2 },
	"clipping off": func(p *Run) { p.mech = unbounded{p.mech} },
}

func auditOnce(t *testing.T, cfg run.AuditRequest, sabotage string) run.AuditReport {
	t.Helper()
	a, err := NewAudit(cfg, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	a.planted = sabotages[sabotage]
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
			r := auditOnce(t, run.AuditRequest{}, sabotage)
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

// TestAudit is one audit of each kind, with fixed coins and noise so that it says
// the same every time. Over random ones the bound on an honest run is 2.05 ± 0.18
// of a claimed 4, and 5.3 ± 0.2 with the noise halved (12 runs each): a wrong
// verdict is some six deviations away.
func TestAudit(t *testing.T) {
	t.Parallel()
	for sabotage := range sabotages {
		r := auditOnce(t, run.AuditRequest{Run: run.Config{Seed: ptr(uint64(7))}, Rows: 100}, sabotage)
		if r.Refuted != (sabotage != "") || r.AnyMechanism > r.LowerBound || !(r.Claimed > 3.9 && r.Claimed <= 4) {
			t.Errorf("%q: %+v", sabotage, r)
		}
		if sabotage == "" && (r.LowerBound < 1 || r.Included < 900 || r.Included > 1100) {
			t.Errorf("the audit has no power: %+v", r)
		}
	}
}

// TestAuditOfOtherMethods: an honest run passes whatever clips it, and however
// the noise is drawn.
func TestAuditOfOtherMethods(t *testing.T) {
	t.Parallel()
	for _, rc := range []run.Config{
		{Method: "auto-s"}, {Method: "dc-e"}, {Method: "constant", NoiseMode: "secure"}, {Method: "value"}, {Method: "per-layer"},
	} {
		rc.Seed = ptr(uint64(3))
		r := auditOnce(t, run.AuditRequest{Run: rc, Canaries: 500, Rows: 300, Steps: 40}, "")
		if r.Refuted {
			t.Errorf("%s %s: %+v", rc.Method, rc.NoiseMode, r)
		}
	}
}

func TestAuditCanBeEnded(t *testing.T) {
	a, err := NewAudit(run.AuditRequest{Canaries: 100, Rows: 50, Steps: 20}, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	enough, seen := errors.New("enough"), 0
	if _, err := a.Run(context.Background(), func(step, steps int) error {
		if seen = step; step == 3 {
			return enough
		}
		return nil
	}); !errors.Is(err, enough) || seen != 3 {
		t.Errorf("ended at step %d with %v", seen, err)
	}
}

func TestAuditRefuses(t *testing.T) {
	for field, cfg := range map[string]run.AuditRequest{
		"canaries": {Canaries: 3}, "rows": {Rows: -1}, "steps": {Steps: -1}, "sample_rate": {SampleRate: 2}, "guesses": {Guesses: 5000},
		"significance": {Significance: 1}, "method": {Run: run.Config{Method: "none"}}, "noise_multiplier": {Run: run.Config{NoiseMultiplier: ptr(0.0)}},
	} {
		_, err := NewAudit(cfg, purego.New())
		if ce := (*run.ConfigError)(nil); !errors.As(err, &ce) || ce.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestAuditIsOfOtherData: what a configuration says of its data is not about an
// audit's.
func TestAuditIsOfOtherData(t *testing.T) {
	cfg := run.Config{Augmentation: run.Augmentation{Kind: "crop", Multiplicity: 4}, PCA: run.PCA{Components: 3}}
	for _, on := range []string{"canaries", "worst-case"} {
		if _, err := NewAudit(run.AuditRequest{Data: on, Canaries: 10, Guesses: 5, Rows: 10, Run: cfg}, purego.New()); err != nil {
			t.Errorf("%s: %v", on, err)
		}
	}
}

// TestWorstCaseAudit: an honest trainer stands, and what each pair of data sets was
// made for is refuted when it is planted. (A centre that cancels in float32 is less than
// an audit can see; TestSumLawCatchesPlantedFaults finds it.) Keys are drawn
// afresh; an honest one is refuted with probability 0.05 at most, in truth far
// less often, as on these data the claim is not tight.
func TestWorstCaseAudit(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of runs on 60,000 rows")
	}
	t.Parallel()
	forward := rough.Orders["forward"]
	whole := rough.New(purego.New(), forward, 1<<16) // a batch in one float32 sum
	inOrder := func(p *Run) { p.mix = func([]int, rand.Source) {} }
	for _, tt := range []struct {
		name    string
		be      compute.Backend
		planted func(*Run)
		cases   []worstCase
	}{
		{"", rough.New(purego.New(), forward, compute.PieceRows), nil, worstCases},
		{"sums in float32, in the rows' order", whole, inOrder, worstCases[:1]},
		{"norms that underflow", lostNorms{purego.New()}, nil, worstCases[1:2]},
		{"clipping off", purego.New(), sabotages["clipping off"], worstCases[2:]},
	} {
		a, err := NewAudit(run.AuditRequest{Data: "worst-case", Runs: 60}, tt.be)
		if err != nil {
			t.Fatal(err)
		}
		a.worst.planted, a.worst.cases = tt.planted, tt.cases
		r, err := a.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range r.WorstCases {
			t.Logf("%q, %s: %d and %d of 45 look as if the row were there, ε ≥ %.3f (claimed %.3f)", tt.name, w.Name, w.Included, w.Excluded, w.LowerBound, float64(r.Claimed))
		}
		if r.Refuted != (tt.name != "") {
			t.Errorf("%q: refuted: %t", tt.name, r.Refuted)
		}
	}
}
