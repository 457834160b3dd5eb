package simd

import (
	"testing"
	"time"
)

// TestAsManyThreadsShareAsHelp: after some steps a run has the number of threads with which they
// take least time, keeps it, and has spent little time on others.
func TestAsManyThreadsShareAsHelp(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		most   int
		times  []time.Duration // of a step, by threads from 1; what a loaded machine takes
		then   []time.Duration // from the middle of the run on; nil: the same
		want   int             // before the middle
		end    int
		excess float64 // that trials of other numbers may cost
	}{
		"one":                   {1, []time.Duration{ms}, nil, 1, 1, 0},
		"quiet":                 {2, []time.Duration{ms, 6 * ms / 10}, nil, 2, 2, 0.01},
		"quiet, long steps":     {2, []time.Duration{700 * ms, 400 * ms}, nil, 2, 2, 0.02},
		"no difference":         {2, []time.Duration{ms, ms}, nil, 2, 2, 0},
		"one core is busy":      {2, []time.Duration{ms, 15 * ms / 10}, nil, 1, 1, 0.03},
		"a core becomes busy":   {2, []time.Duration{ms, 6 * ms / 10}, []time.Duration{ms, 18 * ms / 10}, 2, 1, 0.04},
		"a core becomes free":   {2, []time.Duration{ms, 13 * ms / 10}, []time.Duration{ms, 6 * ms / 10}, 1, 2, 0.04},
		"one of four is busy":   {4, []time.Duration{8 * ms, 5 * ms, 4 * ms, 6 * ms}, nil, 3, 3, 0.05},
		"three of four":         {4, []time.Duration{4 * ms, 6 * ms, 7 * ms, 8 * ms}, nil, 1, 1, 0.05},
		"steps of microseconds": {2, []time.Duration{20 * time.Microsecond, 30 * time.Microsecond}, nil, 1, 1, 0.03},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChooser(tt.most)
			run := func(times []time.Duration) (excess float64) {
				least := times[0]
				for _, d := range times {
					least = min(least, d)
				}
				var spent, best time.Duration
				for steps := 0; steps < 1000 || spent < time.Minute; steps++ {
					d := times[c.threads()-1]
					c.took(d)
					spent, best = spent+d, best+least
				}
				return float64(spent)/float64(best) - 1
			}
			for i, times := range [][]time.Duration{tt.times, tt.then} {
				if times == nil {
					continue
				}
				want := []int{tt.want, tt.end}[i]
				if excess := run(times); c.chosen != want || excess > tt.excess {
					t.Errorf("part %d: %d threads, want %d; %.3f of the time went to others, want at most %v", i+1, c.chosen, want, excess, tt.excess)
				}
			}
		})
	}
}
