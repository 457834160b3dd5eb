package worker

import (
	"runtime"

	"clipscope/core/clip"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

func methods() []clip.Info { return clip.Methods() }

// accountant is the name, or the preferred one where it is empty.
func accountant(name string) string {
	if name == "" {
		return privacy.Names()[0]
	}
	return name
}

func epsilon(q EpsilonRequest) (any, error) {
	if err := checkRun(q.SampleRate, q.Steps); err != nil {
		return nil, err
	}
	e, err := cost(q.Accountant, q.SampleRate, q.NoiseMultiplier, q.Steps, q.TargetDelta)
	return run.Number(e), err
}

func cost(name string, sampleRate, noiseMultiplier float64, steps int, delta float64) (float64, error) {
	return privacy.Epsilon(accountant(name), delta, dpsgd(sampleRate, noiseMultiplier, steps))
}

func calibrate(q CalibrateRequest) (any, error) {
	b := privacy.Budget{Accountant: accountant(q.Accountant), Epsilon: q.TargetEpsilon, Delta: q.TargetDelta}
	var reply CalibrateReply
	var sigma float64
	var steps int
	var err error
	rate := q.SampleRate
	switch {
	case q.Steps != nil && q.NoiseMultiplier != nil:
		sigma, steps = *q.NoiseMultiplier, *q.Steps
		rate, err = b.SampleRate(sigma, steps)
		reply.SampleRate = rate
	case q.Steps != nil:
		steps = *q.Steps
		sigma, err = b.NoiseMultiplier(q.SampleRate, steps)
		reply.NoiseMultiplier = sigma
	case q.NoiseMultiplier != nil:
		sigma = *q.NoiseMultiplier
		steps, err = b.Steps(q.SampleRate, sigma)
		reply.Steps = steps
	default:
		err = &run.ConfigError{Field: "steps", Message: "give steps to get noise_multiplier, noise_multiplier to get steps, or both to get sample_rate"}
	}
	if err != nil {
		return nil, err
	}
	e, err := cost(b.Accountant, rate, sigma, steps, q.TargetDelta)
	reply.Epsilon = run.Number(e)
	return reply, err
}

func memory() MemoryReply {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return MemoryReply{HeapBytes: m.HeapAlloc, SystemBytes: m.Sys}
}
