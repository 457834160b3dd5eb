package privacy

import (
	"encoding/json"
	"fmt"
	"strings"

	"clipscope/core/run"
)

// A Statement is what a run may say of its privacy when it is over: the guarantee
// in words and as JSON, with everything it rests on.
type Statement struct {
	// What ran, filled in by the caller.
	NoiseMultiplier float64 // σ, of everything a step releases together
	SampleRate      float64
	Steps           int // released, not planned
	Delta           float64
	Accountant      string // whose ε is quoted
	Clipping        string // the method, in words
	Once            []Event
	PerStep         Event
	SecureNoise     bool
	Released        []string // what was given out; other values are not covered
	TuningRuns      int      // configurations compared on the same data, this one included
	Ledger          *Total   // of the data set, this run included; nil where none is kept
	Versions        map[string]string
	// Broken says why there is no guarantee: a fixed seed, no noise, scaling
	// measured from the data. Empty means that there is one.
	Broken []string

	report Report
}

// NewStatement asks every accountant what s.Once and s.Steps times s.PerStep
// cost. A statement of a mechanism without noise lists that under Broken.
func NewStatement(s Statement) (*Statement, error) {
	events := append([]Event(nil), s.Once...)
	if s.Steps > 0 {
		events = append(events, SelfComposed{s.PerStep, s.Steps})
	}
	r, err := NewReport(s.Delta, events...)
	if err != nil {
		return nil, err
	}
	if _, err := NewAccountant(s.Accountant); err != nil {
		return nil, err
	}
	s.report = r
	if flat, err := flatten(Composed{events}, 1); err != nil {
		return nil, err
	} else if flat.infinite {
		s.Broken = append(s.Broken, "something was released without noise (ε = ∞)")
	}
	return &s, nil
}

// Epsilon is the quoted ε, an upper bound; it means nothing where Broken is not
// empty.
func (s *Statement) Epsilon() float64 {
	if s.Accountant == RDP {
		return s.report.RDP
	}
	return s.report.PLD
}

// Text is the statement in words, one paragraph a line.
func (s *Statement) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if len(s.Broken) > 0 {
		line("For teaching, no guarantee: %s. The figures below describe the same run without that.", strings.Join(s.Broken, "; "))
	}
	line("DP-SGD with sample_rate = %.6g and noise_multiplier = %.6g over %d steps satisfies (ε = %.4g, δ = %.3g)-differential privacy by the %s accountant.",
		s.SampleRate, s.NoiseMultiplier, s.Steps, s.Epsilon(), s.Delta, strings.ToUpper(s.Accountant))
	line("Neighbouring data sets differ by adding or removing one row; the unit of privacy is the row, so someone with k rows has less.")
	line("Each row entered each batch independently (Poisson sampling); this is what ran and what was accounted. Batches that came out empty were released and counted.")
	if s.Clipping != "" {
		line("Clipping: %s.", s.Clipping)
	}
	if len(s.Once) > 0 {
		line("Besides the steps, %d releases were made once and are charged.", len(s.Once))
	}
	line("ε by accountant: PLD %.4g (the truth is at least %.4g), RDP %.4g at order %g; the Gaussian approximation says %.4g, which is not a bound.",
		s.report.PLD, s.report.Low, s.report.RDP, s.report.Order, s.report.GDP)
	if s.report.Notice != "" {
		line("Note: %s.", s.report.Notice)
	}
	if len(s.Released) > 0 {
		line("Covered: %s.", strings.Join(s.Released, ", "))
	}
	line("Not covered: losses, accuracies, raw norms, clip rates and anything else computed from the rows without noise. The number of rows, the columns and the classes count as public.")
	if s.SecureNoise {
		line("Noise: secure, discrete Gaussian on an integer grid from a cryptographic generator. It withstands attacks on floating-point noise, not on timing.")
	} else {
		line("Noise: floating-point Gaussian from a cryptographic generator. Its low digits can, in principle, tell more than ε says (Mironov 2012); secure mode avoids that.")
	}
	if s.TuningRuns > 1 {
		line("This is one of %d configurations compared on the same data. ε above is this run's alone: the choice among them is not covered.", s.TuningRuns)
	}
	if s.Ledger != nil {
		line("This data set has spent ε = %.4g at δ = %.3g in %d runs so far, %d of them without a guarantee.", s.Ledger.Epsilon, s.Ledger.Delta, s.Ledger.Runs, s.Ledger.Unprotected)
	}
	return b.String()
}

// MarshalJSON writes the statement for machines.
func (s *Statement) MarshalJSON() ([]byte, error) {
	type epsilons struct {
		PLD run.Number `json:"pld"`
		Low run.Number `json:"pld_lower_bound"`
		RDP run.Number `json:"rdp"`
		GDP run.Number `json:"gdp_approximation"`
	}
	type ledger struct {
		Total
		Epsilon run.Number `json:"epsilon"`
	}
	events := []json.RawMessage{}
	for _, e := range s.Once {
		b, err := MarshalEvent(e)
		if err != nil {
			return nil, err
		}
		events = append(events, b)
	}
	if s.Steps > 0 {
		b, err := MarshalEvent(SelfComposed{s.PerStep, s.Steps})
		if err != nil {
			return nil, err
		}
		events = append(events, b)
	}
	var spent *ledger
	if s.Ledger != nil {
		spent = &ledger{*s.Ledger, run.Number(s.Ledger.Epsilon)}
	}
	noise := "float"
	if s.SecureNoise {
		noise = "secure"
	}
	return json.Marshal(struct {
		Guarantee       bool              `json:"guarantee"`
		NoGuarantee     []string          `json:"no_guarantee_because,omitempty"`
		Neighbours      string            `json:"neighbouring_relation"`
		Unit            string            `json:"unit_of_privacy"`
		Sampler         string            `json:"sampler"`
		SampleRate      float64           `json:"sample_rate"`
		NoiseMultiplier run.Number        `json:"noise_multiplier"`
		Steps           int               `json:"steps"`
		Clipping        string            `json:"clipping"`
		Events          []json.RawMessage `json:"events"`
		Epsilon         run.Number        `json:"epsilon"`
		Delta           float64           `json:"delta"`
		Accountant      string            `json:"accountant"`
		Epsilons        epsilons          `json:"epsilons"`
		Order           float64           `json:"rdp_order"`
		Notice          string            `json:"notice,omitempty"`
		RNG             string            `json:"rng"`
		Noise           string            `json:"noise_mode"`
		Released        []string          `json:"released"`
		TuningRuns      int               `json:"tuning_runs"`
		Ledger          *ledger           `json:"ledger,omitempty"`
		Versions        map[string]string `json:"versions,omitempty"`
		Text            string            `json:"text"`
	}{
		len(s.Broken) == 0, s.Broken, "add or remove one row", "row", "poisson", s.SampleRate, run.Number(s.NoiseMultiplier), s.Steps, s.Clipping, events,
		run.Number(s.Epsilon()), s.Delta, s.Accountant,
		epsilons{run.Number(s.report.PLD), run.Number(s.report.Low), run.Number(s.report.RDP), run.Number(s.report.GDP)},
		s.report.Order, s.report.Notice, "chacha12", noise, s.Released, max(1, s.TuningRuns), spent, s.Versions, s.Text(),
	})
}
