package privacy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"clipscope/core/chacha"
	"clipscope/core/run"
)

// A Statement is what a run may say of its privacy when it is over: the guarantee
// in words and as JSON, with everything it rests on.
//
// Guarantee: ε is that of all steps that were fixed beforehand. It covers a run
// that was stopped early for what it released; it does not cover a number of
// steps that was decided by anything else computed from the rows, which the text
// says where that could be.
type Statement struct {
	// What ran, filled in by the caller.
	NoiseMultiplier float64 // σ, of everything a step releases together
	SampleRate      float64
	Steps           int  // released
	Planned         int  // fixed beforehand and charged; 0: Steps
	Blind           bool // diagnostics were hidden until the end
	Delta           float64
	Accountant      string // whose ε is quoted
	Clipping        string // the method, in words
	Once            []Event
	// Earlier are the first of the steps, where their noise was another: what follows them
	// has NoiseMultiplier and PerStep.
	Earlier []Stretch
	PerStep Event
	// Runs is how many runs there were on average, all of the same cost, of which what
	// is told here is the best; ScoreNoise is the deviation of the noise by which that was
	// found. 0: this run is the only one.
	Runs, ScoreNoise float64
	SecureNoise      bool
	Known
	Released []string // what was given out; other values are not covered
	Versions map[string]string
	// Broken says why there is no guarantee: a fixed seed, no noise, scaling
	// measured from the data. Empty means that there is one.
	Broken []string

	figures
}

// Stretch is some steps, one after the other, of the same noise.
type Stretch struct {
	NoiseMultiplier float64
	PerStep         Event
	Steps           int
}

// figures are what accountants say for a statement.
type figures struct {
	report   run.ReportReply
	atStep   float64
	groups   []run.GroupEpsilon
	beside   float64 // of δ, what is for noise that is not exactly what is priced
	infinite bool    // something was released without noise
}

// Known is what no guarantee covers of a data set, as it is taken for known.
type Known struct {
	Backbone *run.Backbone // what made the features; nil: they are the rows' own
	// ByClass says that each class gave its share of the rows that are held out: which
	// rows those are then depends on how many rows each class has.
	ByClass bool
}

// public is said of every data set.
const public = "The number of rows and which are held out for testing, the classes and whether one of them is rare, the size and channels of pictures, and of the columns what they are taken for, their categories, how their cells are written, what bounds are declared of them and which have missing ones count as public."

// String says it in sentences.
func (k Known) String() string {
	said := public
	if k.ByClass {
		said += " So does how many rows each class has, of which the same share was held out for testing."
	}
	b := k.Backbone
	if b == nil {
		return said
	}
	of := "it"
	if b.Column != "" {
		of = fmt.Sprintf("its text in the column %q", b.Column)
	}
	said += fmt.Sprintf(" The features of a row are what a backbone, a model trained elsewhere, makes of %s (SHA-256 %s, output %q). It counts as public, and is assumed not to have been trained on these rows: what it may tell of them is not covered.", of, b.SHA256, b.Output)
	if b.Batch > 1 {
		return said + fmt.Sprintf(" It was given %d rows at a time. The guarantee is that of the features, and holds for the rows only if those of a batch do not influence each other, which was tried on made-up ones and is not proven.", b.Batch)
	}
	return said + " It was run for every row alone, so that no other decides a row's features."
}

// groupSizes are those that a statement lists: few, as each takes as long as the
// headline.
var groupSizes = []int{2, 5, 20, 100}

// NewStatement asks every accountant what s.Once and s.Planned times s.PerStep
// cost. A statement of a mechanism without noise lists that under Broken.
func NewStatement(s Statement) (*Statement, error) { return (*Memory)(nil).Statement(s) }

// Statement is [NewStatement].
func (m *Memory) Statement(s Statement) (*Statement, error) {
	if s.Planned == 0 {
		s.Planned = s.Steps
	}
	if s.Steps < 0 || s.Steps > s.Planned {
		return nil, fmt.Errorf("privacy: a statement of %d steps out of %d", s.Steps, s.Planned)
	}
	if _, err := NewAccountant(s.Accountant); err != nil {
		return nil, err
	}
	var err error
	s.figures, err = recall(m, s.account, "statement", s.Accountant, s.Delta, s.events(s.Planned), s.events(s.Steps))
	if err != nil {
		return nil, err
	}
	if s.infinite {
		s.Broken = append(s.Broken, "something was released without noise (ε = ∞)")
	}
	return &s, nil
}

// account asks the accountants.
func (s *Statement) account() (f figures, err error) {
	events := s.events(s.Planned)
	flat, err := flatten(Composed{events}, 1)
	if err != nil {
		return f, err
	}
	f.infinite = flat.infinite
	if f.report, err = NewReport(s.Delta, events...); err != nil {
		return f, err
	}
	f.beside = flat.beside(f.quoted(s.Accountant))
	f.atStep = f.quoted(s.Accountant)
	if s.stopped() {
		if f.atStep, err = Epsilon(s.Accountant, s.Delta, s.events(s.Steps)...); err != nil {
			return f, err
		}
	}
	for _, k := range groupSizes {
		e, err := GroupEpsilon(s.Accountant, k, s.Delta, events...)
		if err != nil {
			return f, err
		}
		f.groups = append(f.groups, run.GroupEpsilon{Rows: k, Epsilon: run.Number(e)})
	}
	return f, nil
}

// quoted is ε by the accountant of that name.
func (f *figures) quoted(accountant string) float64 {
	if accountant == RDP {
		return float64(f.report.RDP)
	}
	return float64(f.report.PLD)
}

// events is what so many steps release, and what comes before them.
func (s *Statement) events(steps int) []Event {
	events := slices.Clone(s.Once)
	for _, e := range append(slices.Clone(s.Earlier), Stretch{PerStep: s.PerStep, Steps: steps}) {
		if n := min(steps, e.Steps); n > 0 {
			events = append(events, SelfComposed{e.PerStep, n})
			steps -= n
		}
	}
	if s.Runs > 0 {
		return []Event{Selected{[]Event{Composed{events}, Gaussian{s.ScoreNoise}}, s.Runs}}
	}
	return events
}

// Epsilon is the quoted ε, an upper bound for the run as it was planned; it means
// nothing where Broken is not empty.
func (s *Statement) Epsilon() float64 { return s.quoted(s.Accountant) }

// EpsilonAtStep is what Epsilon would be had the steps that were released been
// fixed beforehand.
//
// Guarantee: none for a run that was stopped.
func (s *Statement) EpsilonAtStep() float64 { return s.atStep }

// stopped reports whether the run ended before it was planned to.
func (s *Statement) stopped() bool { return s.Steps < s.Planned }

// Text is the statement in words, one paragraph a line.
func (s *Statement) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if len(s.Broken) > 0 {
		line("For teaching, no guarantee: %s. The figures below describe the same run without that.", strings.Join(s.Broken, "; "))
	}
	if s.Runs > 0 {
		line("The best of several runs is told, their number drawn at random (Poisson with mean %g) and not released, each configuration drawn from a list; neither is anything of the other runs. "+
			"It was found by how many test rows a run has right, under Gaussian noise of standard deviation %.4g, so the guarantee holds for test rows as well.", s.Runs, s.ScoreNoise)
	}
	line("DP-SGD with sample_rate = %.6g and noise_multiplier = %s over %d steps satisfies (ε = %s, δ = %s)-differential privacy by the %s accountant.",
		s.SampleRate, s.noises(), s.Planned, atMost(s.Epsilon()), run.UpText(s.Delta, 3), strings.ToUpper(s.Accountant))
	line("%s", s.ending())
	line("Neighbouring data sets differ by adding or removing one row, after the split into rows to train on and rows to test on; the unit of privacy is the row, so someone with k rows is protected less: %s.", s.groupText())
	line("Each row entered each batch independently (Poisson sampling); this is what ran and what was accounted. Batches that came out empty were released and counted.")
	if s.Clipping != "" {
		line("Clipping: %s.", s.Clipping)
	}
	if len(s.Once) > 0 {
		line("Besides the steps, %s made once and charged.", released(len(s.Once)))
	}
	line("ε by accountant: PLD %s (the truth is at least %s), RDP %s at order %g; the Gaussian approximation says %.4g, which is not a bound.",
		atMost(float64(s.report.PLD)), run.DownText(float64(s.report.Low), 4), atMost(float64(s.report.RDP)), s.report.Order, s.report.GDP)
	if s.report.Notice != "" {
		line("Note: %s.", s.report.Notice)
	}
	if len(s.Released) > 0 {
		line("Covered: %s.", strings.Join(s.Released, ", "))
	}
	line("Not covered: losses, accuracies, raw norms, clip rates and anything else computed from the rows without noise. %s", s.Known)
	line("%s", s.noiseText())
	return b.String()
}

// noises are the noise multipliers of the steps.
func (s *Statement) noises() string {
	text := ""
	for _, e := range s.Earlier {
		text += fmt.Sprintf("%.6g for %d steps, then ", e.NoiseMultiplier, e.Steps)
	}
	return text + fmt.Sprintf("%.6g", s.NoiseMultiplier)
}

// atMost writes an upper bound.
func atMost(epsilon float64) string { return run.UpText(epsilon, 4) }

// ending says how the run ended, and what that may tell.
func (s *Statement) ending() string {
	switch {
	case !s.stopped() && s.Blind:
		return "It took all of its steps, with diagnostics hidden until the end."
	case !s.stopped():
		return "It took all of its steps, a number that was fixed beforehand; diagnostics were shown and did not end it."
	}
	text := fmt.Sprintf("It was stopped after step %d. ε is that of all %d steps, as where a run is stopped may depend on what it released; had %d been fixed beforehand, ε would be %s.",
		s.Steps, s.Planned, s.Steps, atMost(s.atStep))
	if s.Blind {
		return text + " Diagnostics were hidden until the end, so nothing but released values could decide when to stop, and ε covers the number of steps too."
	}
	return text + " Diagnostics were shown while it ran. If it was stopped for what they showed, the number of steps was decided by private values and tells something about them that no ε covers; hiding diagnostics until the end (blind) avoids that."
}

// groupText is ε for several rows of one person.
func (s *Statement) groupText() string {
	parts := make([]string, len(s.groups))
	for i, g := range s.groups {
		parts[i] = fmt.Sprintf("ε = %s for %d", atMost(float64(g.Epsilon)), g.Rows)
	}
	text := strings.Join(parts, ", ") + " rows, at the same δ"
	if last := s.groups[len(s.groups)-1].Epsilon; s.beside > 0 && math.IsInf(float64(last), 1) && !math.IsInf(s.Epsilon(), 1) {
		text += " (∞ is more than δ covers of what the noise is inexact by)"
	}
	return text
}

func (s *Statement) noiseText() string {
	if s.SecureNoise {
		text := "Noise: secure, discrete Gaussian on an integer grid from a cryptographic generator (Canonne, Kamath & Steinke 2020). It withstands attacks on floating-point noise, not on timing."
		if s.beside > 0 {
			text += fmt.Sprintf(" It is joined from draws of a table (Micciancio & Walter 2017), which are not exactly discrete Gaussian: that is charged to δ, of which it takes at most %s.", run.UpText(s.beside, 2))
		}
		return text
	}
	text := "Noise: floating-point Gaussian from a cryptographic generator. Floating-point numbers leave holes, and where they lie depends on the value beneath the noise: whoever sees every bit of a release may be able to rule values out with certainty, whatever ε says (Mironov 2012). Secure mode avoids that."
	if s.beside > 0 {
		text += fmt.Sprintf(" The noise ends at %g standard deviations: that is charged to δ, of which it takes at most %s.", chacha.MaxNormal, run.UpText(s.beside, 2))
	}
	return text
}

// MarshalJSON writes the statement for machines, as [run.Statement].
func (s *Statement) MarshalJSON() ([]byte, error) {
	events := []json.RawMessage{}
	for _, e := range s.events(s.Planned) {
		b, err := MarshalEvent(e)
		if err != nil {
			return nil, err
		}
		events = append(events, b)
	}
	noise := "float"
	if s.SecureNoise {
		noise = "secure"
	}
	return json.Marshal(run.Statement{
		Guarantee: len(s.Broken) == 0, NoGuarantee: s.Broken,
		Neighbours: "add or remove one row", Unit: "row", Sampler: "poisson",
		SampleRate: s.SampleRate, NoiseMultiplier: run.Number(s.NoiseMultiplier),
		Steps: s.Steps, Planned: s.Planned, Stopped: s.stopped(), Blind: s.Blind,
		Clipping: s.Clipping, Events: events,
		Epsilon: run.Number(s.Epsilon()), EpsilonAtStep: run.Number(s.atStep), Delta: s.Delta, Accountant: s.Accountant,
		Epsilons: s.report.Epsilons, Groups: s.groups, Order: s.report.Order, Notice: s.report.Notice,
		RNG: "chacha12", Noise: noise, Released: s.Released, Backbone: s.Backbone, Versions: s.Versions, Text: s.Text(),
	})
}

// Conclude adds to a run's statement what only the page knows when it is over:
// the version that it comes from, and what the ledger says of its data.
func Conclude(q run.StatementRequest) (run.Statement, error) {
	s := q.Statement
	if q.Account != nil {
		t, err := Spent(run.SpentRequest{Account: *q.Account})
		if err != nil {
			return s, err
		}
		s.Ledger = &run.StatementLedger{Runs: len(t.Runs), Open: t.Open, Unprotected: t.Unprotected, Epsilon: t.Epsilon, Delta: t.Delta}
		s.Text += t.Text
		if n := len(t.Runs); n > 1 {
			s.Text += fmt.Sprintf(" This run is one of the %d: ε above is its own, and a choice among them is not covered by it.", n)
		}
		s.Text += "\n"
	}
	s.Versions = maps.Clone(s.Versions)
	if s.Versions == nil {
		s.Versions = map[string]string{}
	}
	s.Versions["clipscope"] = q.Version
	s.Text += "Made by Clipscope " + q.Version + ".\n"
	return s, nil
}

// released counts what was released besides the steps.
func released(n int) string {
	if n == 1 {
		return "1 release was"
	}
	return fmt.Sprintf("%d releases were", n)
}
