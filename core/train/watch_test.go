package train

import (
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/run"
)

// restsAt returns the step after which values have come to rest, 0 where they never do: the mean of
// a block of them is within a share of the mean of the block before.
func restsAt(values []float64, patience int, share float64) int {
	mean := func(block int) float64 {
		sum := 0.0
		for _, v := range values[block*patience : (block+1)*patience] {
			sum += v
		}
		return sum / float64(patience)
	}
	for block := 1; (block+1)*patience <= len(values); block++ {
		if before := mean(block - 1); math.Abs(mean(block)-before) <= share*math.Abs(before) {
			return (block + 1) * patience
		}
	}
	return 0
}

// TestEarlyStoppingFollowsReleasedValues: on every backend a run ends at the step that the released
// values of the whole run say, what it told until then is what the whole run told, and all planned
// steps are charged. A blind run, which has nothing but released values, ends at the same step.
func TestEarlyStoppingFollowsReleasedValues(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	for on, open := range computetest.Backends(t) {
		for _, c := range []struct {
			method, monitor string
			patience        int
			share           float64
		}{
			{"constant", "noisy_grad_norm", 4, 0.1}, {"constant", "noisy_grad_norm", 3, 1e-9}, {"quantile", "noisy_clip_fraction", 5, 0.2}, {"quantile", "max_grad_norm", 2, 0.1}, {"dc-e", "max_grad_norm", 3, 0.3},
		} {
			cfg := run.Config{Method: c.method, NoiseMultiplier: ptr(1.0), Steps: 40, ExpectedBatchSize: 60, Accountant: "rdp", LearningRate: 0.5, Seed: ptr(uint64(7)), MaxGradNorm: 1}
			be := open()
			r := startOn(t, cfg, ds, be)
			all, whole := finish(t, r)
			r.Close()
			var values []float64
			for _, e := range all {
				v, ok := e.Released.Monitored(c.monitor)
				if !ok {
					t.Fatalf("%s releases no %s", c.method, c.monitor)
				}
				values = append(values, v)
			}
			want := restsAt(values, c.patience, c.share)
			cfg.EarlyStopping = run.EarlyStopping{Monitor: c.monitor, Patience: c.patience, MinDelta: c.share}
			for _, blind := range []bool{false, true} {
				cfg.Blind = blind
				r := startOn(t, cfg, ds, be)
				events, res := finish(t, r)
				r.Close()
				steps := want
				if want == 0 {
					steps = cfg.Steps
				}
				if len(events) != steps || res.Steps != steps || res.Stopped != (want > 0) || res.Rested != res.Stopped {
					t.Errorf("%s, %s by %s: %d steps, stopped %t, want %d", on, c.method, c.monitor, res.Steps, res.Stopped, want)
					continue
				}
				if noted := slices.ContainsFunc(res.Notes, func(s string) bool { return strings.Contains(s, "Early stopping") }); noted != (want > 0) || res.Epsilon != whole.Epsilon {
					t.Errorf("%s, %s by %s: ε = %v of %v, noted %t", on, c.method, c.monitor, res.Epsilon, whole.Epsilon, noted)
				}
				for i, e := range events {
					if e.Released.GradNorm != all[i].Released.GradNorm || e.Released.MaxGradNorm != all[i].Released.MaxGradNorm {
						t.Errorf("%s, %s by %s: step %d differs from the whole run's", on, c.method, c.monitor, e.Step)
						break
					}
				}
			}
			be.Close()
		}
	}
}

// TestEarlyStoppingGoesOnFromACheckpoint: a run that is taken up from the state after any step ends where
// the unbroken one does.
func TestEarlyStoppingGoesOnFromACheckpoint(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	be := purego.New()
	defer be.Close()
	cfg := run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), Steps: 40, ExpectedBatchSize: 60, Accountant: "rdp", LearningRate: 0.5, Seed: ptr(uint64(7)), MaxGradNorm: 1,
		EarlyStopping: run.EarlyStopping{Monitor: "noisy_grad_norm", Patience: 4, MinDelta: 0.1}}
	r := startOn(t, cfg, ds, be)
	defer r.Close()
	events, whole := finish(t, r)
	if !whole.Rested || len(events) < 9 {
		t.Fatalf("the run took %d steps, ended early: %t", len(events), whole.Rested)
	}
	for stop := 1; stop <= len(events); stop++ {
		first := startOn(t, cfg, ds, be)
		for range first.Steps(t.Context()) {
			if first.reported == stop {
				break
			}
		}
		state, err := first.Checkpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first.Close()
		if state, err = ReadCheckpoint(state.Append(nil)); err != nil {
			t.Fatal(err)
		}
		again, err := Resume(t.Context(), first.plan, ds, be, state, stop)
		if err != nil {
			t.Fatal(err)
		}
		if _, res := finish(t, again); res.Steps != whole.Steps || !res.Rested || !slices.Equal(res.Notes[len(res.Notes)-1:], whole.Notes[len(whole.Notes)-1:]) {
			t.Errorf("taken up after step %d it ends after %d, not %d, with the notes %q", stop, res.Steps, whole.Steps, res.Notes)
		}
		again.Close()
	}
}

// TestEarlyStoppingCoversTheNumberOfSteps: what released values ended is not said to be ended by what was
// shown beside them.
func TestEarlyStoppingCoversTheNumberOfSteps(t *testing.T) {
	t.Parallel()
	be := purego.New()
	defer be.Close()
	r := startOn(t, run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), Steps: 40, ExpectedBatchSize: 60, Accountant: "rdp", LearningRate: 0.5, MaxGradNorm: 1,
		EarlyStopping: run.EarlyStopping{Monitor: "noisy_grad_norm", Patience: 4, MinDelta: 0.99}}, firstRows(t), be)
	defer r.Close()
	for _, err := range r.Steps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	res, err := r.Result(t.Context())
	if err != nil || res.Steps%4 != 0 || !res.Rested {
		t.Fatalf("%d steps, at rest: %t (%v)", res.Steps, res.Rested, err)
	}
	if strings.Contains(res.Guarantee, "no ε covers") || !strings.Contains(res.Guarantee, "charged all 40") || !strings.Contains(string(res.Statement), `"rested":true`) {
		t.Errorf("%s\n%s", res.Guarantee, res.Statement)
	}
}

// TestAWatchedValueThatIsNoNumberEndsNothing: neither NaN nor an infinity is at rest.
func TestAWatchedValueThatIsNoNumberEndsNothing(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		w := newWatch(run.EarlyStopping{Monitor: "noisy_grad_norm", Patience: 2, MinDelta: 0.5})
		for step := range 20 {
			w.see(&run.Event{Step: step + 1, Released: run.Released{GradNorm: run.Number(v)}})
		}
		if w.over() {
			t.Errorf("%v is at rest: %s", v, w.why)
		}
	}
}
