package simd_test

import (
	"math"
	"math/rand/v2"
	"syscall/js"
	"testing"
	"time"

	"clipscope/core/compute/simd"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/train"
)

// TestRunsAreTheSameWhateverTheirThreads: a run whose number of threads changes between steps
// ends with the bits of one that has one thread throughout.
func TestRunsAreTheSameWhateverTheirThreads(t *testing.T) {
	share := gather(t, 3)
	ds, err := builtin.Make("digits", 1)
	if err != nil {
		t.Fatal(err)
	}
	sigma, seed := 1.0, uint64(3)
	for _, method := range []string{"constant", "dc-e"} {
		p, err := plan.New(run.Config{
			Data: "digits", Method: method, Model: run.Model{Kind: "mlp", Hidden: []int{32}}, NoiseMultiplier: &sigma,
			ExpectedBatchSize: 64, Steps: 30, LearningRate: 0.1, Optimizer: "adam", Accountant: "rdp", Seed: &seed,
		}, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		parameters := func(threads func() int) []float32 {
			b := open(t)
			defer b.Close()
			share.Invoke(threads())
			r, err := train.Start(t.Context(), p, ds, b)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for _, err := range r.Steps(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				share.Invoke(threads())
			}
			res, err := r.Result(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return res.Released.Parameters
		}
		rng := rand.New(rand.NewPCG(5, 6))
		want, got := parameters(func() int { return 1 }), parameters(func() int { return 1 + rng.IntN(3) })
		for i, v := range got {
			if math.Float32bits(v) != math.Float32bits(want[i]) {
				t.Fatalf("%s: parameter %d is %v with a number of threads that changes, and %v with one", method, i, v, want[i])
			}
		}
	}
}

// TestThreadsThatDoNotHelpAreLeftOut: the kernels share calls by as many threads as the backend
// finds to help, where their number is left to it, and by as many as were asked for otherwise.
func TestThreadsThatDoNotHelpAreLeftOut(t *testing.T) {
	for _, fair := range []bool{true, false} {
		gather(t, 2)
		if n, why := simd.Share(2, fair); n != 2 {
			t.Fatal(why)
		}
		b := open(t)
		loader := js.Global().Get("clipscopeWorker").Get("kernels")
		used := map[int]bool{}
		last := 2
		for range 1000 {
			if last = 2; loader.Get("useful").Float() == 1 {
				last = 1
			}
			used[last] = true
			b.StepTook(time.Duration(last) * 5 * time.Millisecond)
		}
		if used[1] != fair || (last == 1) != fair {
			t.Errorf("fair %v: threads %v, and %d in the end, of which the second takes time", fair, used, last)
		}
		b.Close()
	}
}
