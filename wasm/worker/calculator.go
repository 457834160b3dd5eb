package worker

import (
	"cmp"
	"math"

	"clipscope/core/privacy"
	"clipscope/core/run"
)

// The questions of the calculator are about a run and need no data. Their types
// check them when they are read, see [request].

// accountant returns the name, or the preferred one where it is empty.
func accountant(name string) string { return cmp.Or(name, privacy.Names()[0]) }

// dpsgd returns a run of DP-SGD as an event.
func dpsgd(m run.Mechanism) privacy.Event {
	return privacy.SelfComposed{Of: step(m), Count: m.Steps}
}

func step(m run.Mechanism) privacy.Event {
	return privacy.PoissonSampled{SampleRate: m.SampleRate, Of: privacy.Gaussian{NoiseMultiplier: m.NoiseMultiplier}}
}

func epsilon(q run.EpsilonRequest) (run.Number, error) {
	e, err := privacy.Epsilon(accountant(q.Accountant), q.TargetDelta, dpsgd(q.Mechanism))
	return run.Number(e), err
}

func calibrate(q run.CalibrateRequest) (run.CalibrateReply, error) {
	b := privacy.Budget{Accountant: accountant(q.Accountant), Epsilon: q.TargetEpsilon, Delta: q.TargetDelta}
	m := run.Mechanism{SampleRate: q.SampleRate, Accountant: q.Accountant}
	var reply run.CalibrateReply
	var err error
	switch {
	case q.Steps != nil && q.NoiseMultiplier != nil:
		m.NoiseMultiplier, m.Steps = *q.NoiseMultiplier, *q.Steps
		m.SampleRate, err = b.SampleRate(m.NoiseMultiplier, m.Steps)
		reply.SampleRate = m.SampleRate
	case q.Steps != nil:
		m.Steps = *q.Steps
		m.NoiseMultiplier, err = b.NoiseMultiplier(m.SampleRate, m.Steps)
		reply.NoiseMultiplier = m.NoiseMultiplier
	case q.NoiseMultiplier != nil:
		m.NoiseMultiplier = *q.NoiseMultiplier
		m.Steps, err = b.Steps(m.SampleRate, m.NoiseMultiplier)
		reply.Steps = m.Steps
	default:
		err = &run.ConfigError{Field: "steps", Message: "give steps to get noise_multiplier, noise_multiplier to get steps, or both to get sample_rate"}
	}
	if err != nil {
		return reply, err
	}
	reply.Epsilon, err = epsilon(run.EpsilonRequest{Mechanism: m, TargetDelta: q.TargetDelta})
	return reply, err
}

func delta(q run.DeltaRequest) (run.Number, error) {
	d, err := privacy.Delta(accountant(q.Accountant), q.Epsilon, dpsgd(q.Mechanism))
	return run.Number(d), err
}

func report(q run.EpsilonRequest) (run.ReportReply, error) {
	return privacy.NewReport(q.TargetDelta, dpsgd(q.Mechanism))
}

func group(q run.GroupRequest) (run.Number, error) {
	e, err := privacy.GroupEpsilon(accountant(q.Accountant), q.Rows, q.TargetDelta, dpsgd(q.Mechanism))
	return run.Number(e), err
}

func attack(q run.AttackRequest) (*run.Attack, error) {
	return privacy.Attack(q.TargetDelta, dpsgd(q.Mechanism))
}

func curve(q run.CurveRequest) (run.CurveReply, error) {
	q = q.WithDefaults()
	if q.Over == "epsilon" {
		return overEpsilon(q)
	}
	return overSteps(q)
}

// overSteps spaces its points evenly in √steps, as ε grows about so.
func overSteps(q run.CurveRequest) (run.CurveReply, error) {
	var steps []int
	for i := range q.Points {
		x := float64(i) / float64(q.Points-1)
		if n := int(math.Round(x * x * math.Floor(q.To))); i == 0 || n > steps[len(steps)-1] {
			steps = append(steps, n)
		}
	}
	e, err := privacy.Epsilons(accountant(q.Accountant), q.TargetDelta, step(q.Mechanism), steps)
	if err != nil {
		return run.CurveReply{}, err
	}
	return run.CurveReply{Steps: steps, Epsilon: numbersOf(e)}, nil
}

func overEpsilon(q run.CurveRequest) (run.CurveReply, error) {
	if q.To == 0 {
		e, err := epsilon(q.EpsilonRequest)
		if err != nil {
			return run.CurveReply{}, err
		}
		q.To = 2 * float64(e)
	}
	if !(q.To > 0) || math.IsInf(q.To, 1) {
		q.To = 1
	}
	epsilons := make([]float64, q.Points)
	for i := range epsilons {
		epsilons[i] = q.To * float64(i) / float64(q.Points-1)
	}
	d, err := privacy.Profile(accountant(q.Accountant), epsilons, dpsgd(q.Mechanism))
	if err != nil {
		return run.CurveReply{}, err
	}
	return run.CurveReply{Epsilon: numbersOf(epsilons), Delta: numbersOf(d)}, nil
}

func numbersOf(x []float64) []run.Number {
	out := make([]run.Number, len(x))
	for i, v := range x {
		out[i] = run.Number(v)
	}
	return out
}

func tuning(q run.TuningRequest) (run.TuningReply, error) {
	return privacy.NewTuningCosts(q.TargetDelta, dpsgd(q.Mechanism), q.Runs)
}
