package audit

import (
	"context"
	"errors"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/run"
)

func ptr[T any](v T) *T { return &v }

// TestAuditPassesHonestRunsOfEveryMethod: an honest run passes whatever clips it, and however
// the noise is drawn.
func TestAuditPassesHonestRunsOfEveryMethod(t *testing.T) {
	t.Parallel()
	for _, rc := range []run.Config{
		{Method: "auto-s"}, {Method: "dc-e"}, {Method: "constant", NoiseMode: "secure"}, {Method: "value"}, {Method: "per-layer"},
	} {
		rc.Seed = ptr(uint64(3))
		a, err := New(run.AuditRequest{Run: rc, Canaries: 500, Rows: 300, Steps: 40}, purego.New())
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Refuted {
			t.Errorf("%s %s: %+v", rc.Method, rc.NoiseMode, r)
		}
	}
}

func TestAuditCanBeEnded(t *testing.T) {
	a, err := New(run.AuditRequest{Canaries: 100, Rows: 50, Steps: 20}, purego.New())
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
		_, err := New(cfg, purego.New())
		if ce := (*run.ConfigError)(nil); !errors.As(err, &ce) || ce.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestAuditIgnoresSettingsOfTheData: what a configuration says of its data is not about an
// audit's.
func TestAuditIgnoresSettingsOfTheData(t *testing.T) {
	cfg := run.Config{Augmentation: run.Augmentation{Kind: "crop", Multiplicity: 4}, PCA: run.PCA{Components: 3}}
	for _, on := range []string{"canaries", "worst-case"} {
		if _, err := New(run.AuditRequest{Data: on, Canaries: 10, Guesses: 5, Rows: 10, Run: cfg}, purego.New()); err != nil {
			t.Errorf("%s: %v", on, err)
		}
	}
}
