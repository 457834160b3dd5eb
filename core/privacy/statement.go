package privacy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clipscope/core/chacha"
	"clipscope/core/data"
	"clipscope/core/run"
)

// A Statement holds the privacy statement of a run that has ended: the guarantee in words and as JSON,
// with everything it rests on.
//
// Guarantee: ε is that of all steps that were fixed beforehand. It covers a run
// that was stopped early for what it released; it does not cover a number of
// steps that was decided by anything else computed from the rows. The text says so
// where that could be.
type Statement struct {
	// What ran, filled in by the caller.
	NoiseMultiplier float64 // σ, of everything a step releases together
	SampleRate      float64
	Steps           int  // released
	Planned         int  // fixed beforehand and charged; 0: Steps
	Blind           bool // diagnostics were hidden until the end
	Rested          bool // early stopping ended it, which sees released values alone
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
	ByLoss           bool // it was found by the log loss, not by how many test rows are right
	SecureNoise      bool
	Known
	// What the statement is about: the name of the data, how many rows there are to train
	// on, which where Declared is set is the declared number, and the model in words.
	Data, Model string
	NumExamples int
	Released    []string // what was given out; other values are not covered
	Versions    map[string]string
	// Together is of a run that several parties trained; nil of one alone. It comes with Alone, the event
	// of a step as the noise of one party prices it.
	Together *run.StatementTogether
	Alone    Event
	// Broken says why there is no guarantee: a fixed seed, no noise, scaling
	// measured from the data. Empty means that there is one. Each is a clause.
	Broken []string
	// Checks are the run's tests of itself; nil where there were none.
	Checks []run.Check

	figures
}

// Stretch is some steps, one after the other, of the same noise.
type Stretch struct {
	NoiseMultiplier float64
	PerStep         Event
	Steps           int
}

// figures are the accountants' results for a statement.
type figures struct {
	report   run.ReportReply
	atStep   float64
	groups   []run.GroupEpsilon
	attacker *run.Attack
	alone    float64 // ε of a party that trusts no other
	beside   float64 // of δ, what is for noise that is not exactly what is priced
	infinite bool    // something was released without noise
}

// Known lists the properties of a data set that no guarantee covers, as they are taken for known.
type Known struct {
	Backbone *run.Backbone // what made the features; nil: they are the rows' own
	// ByClass says that each class gave its share of the rows that are held out: which
	// rows those are then depends on how many rows each class has.
	ByClass bool
	// Weights are the declared weights of classes, in words; "" where there are none.
	Weights string
	// Declared says that the number of rows is declared and the counted one covered.
	Declared bool
	// Start is the weights that training starts from; nil where they are drawn at random.
	Start *run.StartInfo
	// PublicRows are mixed into each step; nil: none are.
	PublicRows *run.PublicInfo
}

// What is said of every data set, beside the number of rows.
const public = "class names, and whether a class is rare; size and channels of pictures; names, types, categories, formats and declared bounds of columns; which columns have missing values."

// String says it in sentences.
func (k Known) String() string {
	said := "Treated as public: the number of rows and which of them are held out for testing; " + public
	if k.Declared {
		said = fmt.Sprintf("Treated as public: the declared number of rows, and that there are at most %d times as many; %s", MostPerDeclared, public)
	}
	if k.ByClass {
		said += " So is how many rows each class has, of which the same share was held out for testing."
	}
	if k.Weights != "" {
		said += " So are the declared weights of classes, by which losses were multiplied before gradients were clipped: " + k.Weights + "."
	}
	if k.Start != nil {
		said += startInWords(k.Start)
	}
	if p := k.PublicRows; p != nil {
		said += fmt.Sprintf(" %d public rows of %s (SHA-256 %s) were mixed in with weight %g, %d a step, neither clipped nor noised: nothing is promised to them, nor to rows of this run that they were made from.",
			p.Rows, nameOf(p.File), p.SHA256, p.Weight, min(p.BatchSize, p.Rows))
	}
	b := k.Backbone
	if b == nil {
		return said
	}
	of := "the row"
	if b.Column != "" {
		of = fmt.Sprintf("the text in its column %q", b.Column)
	}
	if b.Second != "" {
		of += fmt.Sprintf(" and the one in %q", b.Second)
	}
	made := "A backbone, a model that was trained elsewhere, made the features of a row"
	if b.Tokens > 0 {
		made = fmt.Sprintf("A tokenizer, which was made elsewhere, made a row of the numbers of its tokens (it knows %d)", b.Tokens)
	}
	with := ""
	if b.Tokenizer != "" {
		with = fmt.Sprintf("; its texts became tokens by the tokenizer with the SHA-256 %s, as public", b.Tokenizer)
	}
	said += fmt.Sprintf(" %s from %s (SHA-256 %s, output %q%s). The %s is public too. It is assumed not to have been trained on these rows: what it may tell about them is not covered.", made, of, b.SHA256, b.Output, with, b.Kind())
	if b.Batch > 1 {
		return said + fmt.Sprintf(" It was given %d rows at a time. The guarantee is that of the features. It holds for the rows only if those of a batch do not influence each other, which was tried on made-up rows and is not proven.", b.Batch)
	}
	return said + " It was run for every row alone, so that no other row decides a row's features."
}

// nameOf is the name of a file that the run took beside its data.
func nameOf(file string) string { return cmp.Or(data.Shorten(file), "a file") }

// startInWords says what is assumed of the weights that a run starts from.
func startInWords(s *run.StartInfo) string {
	said := fmt.Sprintf(" Training started from the weights in %s (SHA-256 %s), which are treated as public: nothing is promised to the rows that they were trained on.", nameOf(s.File), s.SHA256)
	switch {
	case s.Frozen > 0 && s.Part != "":
		said += fmt.Sprintf(" Trained were %d parameters: %s. All else is the file’s, and nothing of the rows is in it.", s.Trained, s.Part)
	case s.Frozen > 0:
		said += fmt.Sprintf(" Of the model’s parameters the last %d were trained; the first %d are the file’s, and nothing of the rows is in them.", s.Trained, s.Frozen)
	}
	if s.Private {
		return said + fmt.Sprintf(" Their file says that the run which left them is (ε = %s, δ = %s)-differentially private. That ε is not in this run’s own: for a row that both runs were trained on, the two add up.", run.UpText(float64(s.Epsilon), 4), run.UpText(s.Delta, 2))
	}
	return said + " What the file’s weights may tell about the rows of this run is not covered, if they were trained on them."
}

// MostPerDeclared bounds how many times as many rows there may be as were declared. What sums
// round by is worked out for so many.
const MostPerDeclared = 16

// groupSizes lists the group sizes of a statement: few, as each takes as long as the
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
	s.figures, err = recall(m, s.account, "statement", s.Accountant, s.Delta, s.events(s.Planned), s.events(s.Steps), s.Alone)
	if err != nil {
		return nil, err
	}
	switch {
	case s.infinite && s.NoiseMultiplier == 0:
		s.Broken = append(s.Broken, "it was trained without noise")
	case s.infinite:
		s.Broken = append(s.Broken, "something was released without noise")
	}
	if len(s.Broken) == 0 {
		s.attacker, err = recall(m, func() (*run.Attack, error) { return Attack(s.Delta, s.events(s.Planned)...) }, "attack", s.Delta, s.events(s.Planned))
		if err != nil {
			return nil, err
		}
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
	if s.Together != nil {
		if f.alone, err = Epsilon(s.Accountant, s.Delta, SelfComposed{s.Alone, s.Planned}); err != nil {
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

// events returns the releases of so many steps, and those before them.
func (s *Statement) events(steps int) []Event {
	events := slices.Clone(s.Once)
	for _, e := range append(slices.Clone(s.Earlier), Stretch{PerStep: s.PerStep, Steps: steps}) {
		if n := min(steps, e.Steps); n > 0 {
			events = append(events, SelfComposed{e.PerStep, n})
			steps -= n
		}
	}
	if s.Runs > 0 {
		return []Event{Selected{[]Event{Composed{events}, FloatNoise{Gaussian{s.ScoreNoise}, 1}}, s.Runs}}
	}
	return events
}

// Epsilon is the quoted ε, an upper bound for the run as it was planned; it means
// nothing where Broken is not empty.
func (s *Statement) Epsilon() float64 { return s.quoted(s.Accountant) }

// EpsilonAtStep returns the value of Epsilon had the steps that were released been
// fixed beforehand.
//
// Guarantee: none for a run that was stopped.
func (s *Statement) EpsilonAtStep() float64 { return s.atStep }

// Least is a lower bound on the ε of the run as it was planned.
func (s *Statement) Least() float64 { return float64(s.report.Low) }

// failed says which of the run's tests of itself failed; "" where none did.
func (s *Statement) failed() string {
	var failed []string
	for _, c := range s.Checks {
		if !c.OK {
			failed = append(failed, fmt.Sprintf("Failed: “%s”. %s", c.Name, c.Detail))
		}
	}
	return strings.Join(failed, " ")
}

// passed lists the run's tests of itself.
func (s *Statement) passed() string {
	names := make([]string, len(s.Checks))
	for i, c := range s.Checks {
		names[i] = c.Name
	}
	return "All of its tests passed: " + strings.Join(names, ", ") + "."
}

// stopped reports whether the run ended before it was planned to.
func (s *Statement) stopped() bool { return s.Steps < s.Planned }

// Text is the statement in words: headings, and one paragraph a line.
func (s *Statement) Text() string { return run.TextOf(s.sections()) }

// sections are the parts of the statement. A section that another part of the program adds
// goes behind them.
func (s *Statement) sections() []run.Section {
	if why := s.failed(); why != "" {
		return []run.Section{{ID: "promise", Title: "No guarantee: a check failed", Lines: []string{"The run checked itself, and a check failed. No ε is claimed.", why, "Treat its model and figures as you treat the rows."}}}
	}
	if len(s.Broken) > 0 {
		return []run.Section{{ID: "promise", Title: "For teaching, no guarantee", Lines: []string{
			fmt.Sprintf("This run is for teaching and has no guarantee: %s. No ε bounds what it tells about a row. Treat its model and figures as you treat the rows.", strings.Join(s.Broken, "; and ")),
		}}}
	}
	sections := []run.Section{
		{ID: "promise", Title: "What is promised", Lines: s.promise()},
		s.togetherSection(),
		dataSection(s.about()),
		{ID: "covered", Title: "What is covered", Lines: s.coverageLines()},
		{ID: "not_covered", Title: "What is not covered", Lines: s.notCovered()},
		{ID: "attacker", Title: "What an attacker can do", Lines: attackerLines(s.attacker)},
		{ID: "method", Title: "How it was worked out", Lines: s.method()},
	}
	sections = slices.DeleteFunc(sections, func(part run.Section) bool { return part.ID == "" })
	if len(s.Checks) > 0 {
		sections = append(sections, run.Section{ID: "checks", Title: "How the run checked itself", Lines: []string{s.passed()}})
	}
	return sections
}

// satisfied is the promise in its usual form.
func (s *Statement) satisfied() string {
	return fmt.Sprintf("satisfies (ε = %s, δ = %s)-differential privacy", atMost(s.Epsilon()), run.UpText(s.Delta, 3))
}

func (s *Statement) promise() []string {
	times := "e^ε"
	if likely := math.Exp(s.Epsilon()); likely < 1e6 {
		times += " = " + run.UpText(likely, 3)
	}
	lines := []string{fmt.Sprintf("What this run released %s by the %s accountant.", s.satisfied(), strings.ToUpper(s.Accountant))}
	if both := s.Start.WithBefore(s.Epsilon(), s.Delta); both != "" {
		lines = append(lines, both)
	}
	if s.Declared {
		lines = append(lines,
			"Two data sets are neighbours if the second has one row more or less than the first (add-or-remove relation). The number of rows is covered as well: sample rate, steps, noise and divisor follow from the declared number.",
			fmt.Sprintf("Any outcome is at most %s times as likely with a row as without it, but for a probability of δ.", times))
	} else {
		lines = append(lines,
			"Two data sets are neighbours if one row of the first is replaced in the second by an empty row, which adds nothing (zero-out relation). Both have the same number of rows, which is public.",
			fmt.Sprintf("Any outcome is at most %s times as likely with a row as with an empty one in its place, but for a probability of δ.", times))
	}
	return append(lines, fmt.Sprintf("The unit of privacy is the row. Someone with several rows is protected less: %s.", s.groupText()))
}

// togetherSection says who trained, and who is trusted for which ε; an empty section of a run alone.
func (s *Statement) togetherSection() run.Section {
	t := s.Together
	if t == nil {
		return run.Section{}
	}
	lines := []string{
		fmt.Sprintf("%d parties were to train it, each on rows of its own, and no step was taken with fewer than %d. The row above is one of any party's.", t.Parties, t.Quorum),
		s.trusted(),
		"A party that does not keep to what was agreed can make the model useless. It cannot make ε larger, but for its own noise.",
	}
	if t.Transcript != "" {
		lines = append(lines, fmt.Sprintf("What all parties were told has the hash %s: it is the same in the statements of all.", t.Transcript))
	}
	return run.Section{ID: "together", Title: "Who trained, and who is trusted", Lines: lines}
}

// trusted says for whom which ε holds.
func (s *Statement) trusted() string {
	needed := plural(s.Together.Needed(), "1 party keeps to itself", "%d parties keep to themselves")
	return fmt.Sprintf("ε = %s holds as long as, in each step, at least %s the noise that was drawn there. For a party that trusts no other, ε = %s: its own noise alone protects its rows then.", atMost(s.Epsilon()), needed, atMost(s.alone))
}

// about returns a statement of names alone: data, model and number of rows.
func (s *Statement) about() *run.Statement {
	return &run.Statement{Data: s.Data, Model: s.Model, NumExamples: s.NumExamples, Declared: s.Declared}
}

// dataSection names the data and the model of a statement.
func dataSection(s *run.Statement) run.Section {
	rows := ""
	switch {
	case s.NumExamples > 0 && s.Declared:
		rows = fmt.Sprintf(", declared to have %s rows to train on", grouped(s.NumExamples))
	case s.NumExamples > 0:
		rows = fmt.Sprintf(", %s rows to train on", grouped(s.NumExamples))
	}
	var lines []string
	if s.Data != "" || rows != "" {
		lines = append(lines, fmt.Sprintf("Data: %s%s.", cmp.Or(data.Shown(s.Data), "not named"), rows))
	}
	if s.Model != "" {
		lines = append(lines, "Model: "+s.Model+".")
	}
	if s.Date != "" {
		lines = append(lines, "Date: "+s.Date+".")
	}
	return run.Section{ID: "data", Title: "What it is about", Lines: lines}
}

// grouped writes n with commas between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func (s *Statement) coverageLines() []string {
	var lines []string
	if len(s.Released) > 0 {
		list := strings.Join(s.Released, ", ")
		_, size := utf8.DecodeRuneInString(list)
		lines = append(lines, strings.ToUpper(list[:size])+list[size:]+".")
	}
	if s.Runs > 0 {
		lines = append(lines, "The guarantee holds for test rows as well: they chose the run, through noise.")
	}
	return lines
}

func (s *Statement) notCovered() []string {
	lines := []string{"Losses, accuracies, raw norms, clip rates and anything else computed from the rows without noise."}
	if s.Runs > 0 {
		lines = append(lines, "How many runs there were, and anything of those that were not chosen.")
	} else {
		lines = append(lines, "Rows used only for testing. The model does not depend on them. Figures about them have no noise, and stand in exports only if the owner asks for them.")
	}
	return append(lines, s.Known.String())
}

// attackerLines say what the figures mean.
func attackerLines(a *run.Attack) []string {
	if a == nil {
		return nil
	}
	lucky := fmt.Sprintf("A lucky attacker learns more, but is never more than %s sure of either answer, except with probability %s.", atMostPercent(float64(a.Sure)), run.UpText(a.Except, 3))
	if a.AllButCertain() {
		lucky = "A lucky attacker may become all but certain."
	}
	lines := []string{
		"Assume an attacker who knows every other row and sees everything that was released. Before that, the attacker thinks it 50 % likely that this row is in the data.",
		fmt.Sprintf("The attacker's best guess, “in” or “not in”, is right at most %s of the time.", atMostPercent(float64(a.Right))),
		"That is an average. " + lucky,
		fmt.Sprintf("A test that wrongly accuses 1 of 1,000 rows that were not in the data finds at most %s of those that were.", atMostPercent(a.TruePositiveAt(0.001))),
	}
	if accused := 1000 * float64(a.HalfCosts); accused >= 1 {
		lines = append(lines, fmt.Sprintf("To find half of the rows that were in the data, a test wrongly accuses at least %s of 1,000 that were not.", run.DownText(accused, 3)))
	}
	return lines
}

// atMostPercent writes a share, rounded up.
func atMostPercent(share float64) string {
	percent := 100 * share
	if percent > 99 { // digits of what is left
		return run.UpText(min(percent, 100), 4) + " %"
	}
	return run.UpText(percent, 3) + " %"
}

func (s *Statement) method() []string {
	var lines []string
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if s.Runs > 0 {
		by := "The run with the most correct test rows was chosen, counted"
		if s.ByLoss {
			by = "The run with the least log loss on the test rows, of which none counts for more than one row, was chosen, by a sum"
		}
		line("The best of several runs is released. Their number was drawn at random (Poisson with mean %g) and is not released; each configuration was drawn from a list. "+
			"%s with Gaussian noise of standard deviation %.4g.", s.Runs, by, s.ScoreNoise)
	}
	line("DP-SGD ran with sample_rate = %.6g and noise_multiplier = %s over %d planned steps.", s.SampleRate, s.noises(), s.Planned)
	line("%s", s.ending())
	line("Each row entered each batch independently (Poisson sampling). The run did this, and ε is worked out for it. Empty batches were released and counted, too.")
	if s.Clipping != "" {
		line("Clipping: %s.", s.Clipping)
	}
	if len(s.Once) > 0 {
		line("Before the steps, %s made and charged once.", released(len(s.Once)))
	}
	if s.Runs > 0 { // for which there is no other accountant
		line("ε by accountant: RDP %s at order %g.", atMost(float64(s.report.RDP)), s.report.Order)
	} else {
		line("ε by accountant: PLD %s (the truth is at least %s), RDP %s at order %g. The Gaussian approximation says %.4g, which is not a bound.",
			atMost(float64(s.report.PLD)), run.DownText(float64(s.report.Low), 4), atMost(float64(s.report.RDP)), s.report.Order, s.report.GDP)
	}
	if s.report.Notice != "" && s.Runs == 0 {
		line("Note: %s.", s.report.Notice)
	}
	line("%s", s.noiseText())
	return lines
}

// short is the statement as a paragraph for a report.
func (s *Statement) short() string {
	about := s.about()
	if len(s.Broken) > 0 {
		return fmt.Sprintf("The model was trained without a privacy guarantee: %s.", strings.Join(s.Broken, "; and "))
	}
	var b strings.Builder
	b.WriteString("The model")
	if s.Model != "" {
		fmt.Fprintf(&b, " (%s)", s.Model)
	}
	b.WriteString(" was trained with DP-SGD")
	switch {
	case about.NumExamples > 0 && about.Declared:
		fmt.Fprintf(&b, " on a declared number of %s rows", grouped(about.NumExamples))
	case about.NumExamples > 0:
		fmt.Fprintf(&b, " on %s rows", grouped(about.NumExamples))
	}
	if s.Data != "" {
		fmt.Fprintf(&b, " of %s", data.Shown(s.Data))
	}
	clipping := ""
	if s.Clipping != "" {
		clipping = ", clipping " + s.Clipping
	}
	fmt.Fprintf(&b, ". It %s for one row, %s, by the %s accountant (Poisson sampling at rate %.4g, noise multiplier %s, %d steps%s).",
		s.satisfied(), run.RelationOf(s.Declared).Phrase(), strings.ToUpper(s.Accountant), s.SampleRate, s.noises(), s.Planned, clipping)
	if s.Runs > 0 {
		fmt.Fprintf(&b, " It is the best of a random number of runs, %g on average, and ε covers that choice.", s.Runs)
	}
	if s.Together != nil {
		b.WriteString(" " + s.trusted())
	}
	if both := s.Start.WithBefore(s.Epsilon(), s.Delta); both != "" {
		b.WriteString(" " + both)
	} else if s.Start != nil {
		fmt.Fprintf(&b, " Training started from the weights in %s: to the rows that they were trained on this ε promises nothing.", nameOf(s.Start.File))
	}
	if p := s.PublicRows; p != nil {
		fmt.Fprintf(&b, " %s public rows of %s were mixed in, to which this ε promises nothing.", grouped(p.Rows), nameOf(p.File))
	}
	if s.Backbone != nil {
		fmt.Fprintf(&b, " A %s, which counts as public, made the features: what it may tell about the rows is not covered.", s.Backbone.Kind())
	}
	if a := s.attacker; a != nil {
		fmt.Fprintf(&b, " An attacker who thinks it 50 %% likely that a row is in the data, and then sees everything that this run released, guesses right at most %s of the time. A test that wrongly accuses 1 of 1,000 rows that were not in the data finds at most %s of those that were.",
			atMostPercent(float64(a.Right)), atMostPercent(a.TruePositiveAt(0.001)))
	}
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
		return "It took all of its steps. Their number was fixed beforehand; diagnostics were shown and did not end the run."
	}
	text := fmt.Sprintf("It was stopped after step %d. ε is still that of all %d steps, because what was released may have decided when to stop. Had %d steps been planned, ε would be %s.",
		s.Steps, s.Planned, s.Steps, atMost(s.atStep))
	if s.Rested {
		return text + " Early stopping ended it, which sees released values alone: ε covers the number of steps too."
	}
	if s.Blind {
		return text + " Diagnostics were hidden until the end, so nothing but released values could decide when to stop. ε covers the number of steps too."
	}
	return text + " Diagnostics were shown while it ran. If they decided when to stop, the number of steps tells something about the rows that no ε covers. Hiding diagnostics until the end (blind) avoids that."
}

// groupText is ε for several rows of one person.
func (s *Statement) groupText() string {
	parts := make([]string, len(s.groups))
	for i, g := range s.groups {
		parts[i] = fmt.Sprintf("ε = %s for %d", atMost(float64(g.Epsilon)), g.Rows)
	}
	text := strings.Join(parts, ", ") + " rows, at the same δ"
	if last := s.groups[len(s.groups)-1].Epsilon; s.beside > 0 && math.IsInf(float64(last), 1) && !math.IsInf(s.Epsilon(), 1) {
		text += " (∞: for so many rows the inexactness of the noise alone takes more than δ)"
	}
	return text
}

func (s *Statement) noiseText() string {
	if s.SecureNoise {
		text := "Noise: secure. It is discrete Gaussian on an integer grid, from a cryptographic generator (Canonne, Kamath & Steinke 2020). It withstands attacks on floating-point noise, not on timing."
		if s.beside > 0 {
			text += fmt.Sprintf(" It is joined from draws of a table (Micciancio & Walter 2017), which are not exactly discrete Gaussian. The difference is charged to δ, of which it takes at most %s.", run.UpText(s.beside, 2))
		}
		return text
	}
	text := "Noise: floating-point Gaussian, from a cryptographic generator. An attacker who sees the exact bits of a release may learn more than ε states (Mironov 2012). Secure noise rules that out."
	if s.beside > 0 {
		text += fmt.Sprintf(" Noise beyond %g standard deviations is never drawn. That is charged to δ, of which it takes at most %s.", chacha.MaxNormal, run.UpText(s.beside, 2))
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
	sections := s.sections()
	epsilon, atStep, attacker, epsilons, groups := s.Epsilon(), s.atStep, s.attacker, s.report.Epsilons, s.groups
	if s.failed() != "" { // and nothing is claimed
		none := run.Number(math.Inf(1))
		epsilon, atStep, attacker = math.Inf(1), math.Inf(1), nil
		epsilons = run.Epsilons{PLD: none, RDP: none, GDP: none}
		groups = slices.Clone(groups)
		for i := range groups {
			groups[i].Epsilon = none
		}
	}
	together := s.Together
	if together != nil {
		of := *together
		if of.EpsilonAlone = run.Number(s.alone); s.failed() != "" {
			of.EpsilonAlone = run.Number(math.Inf(1))
		}
		together = &of
	}
	return json.Marshal(run.Statement{
		Together:  together,
		Guarantee: len(s.Broken) == 0, NoGuarantee: s.Broken,
		Data: s.Data, Model: s.Model, NumExamples: s.NumExamples, Declared: s.Declared,
		Neighbours: run.RelationOf(s.Declared), Unit: "row", Sampler: "poisson",
		SampleRate: s.SampleRate, NoiseMultiplier: run.Number(s.NoiseMultiplier),
		Steps: s.Steps, Planned: s.Planned, Stopped: s.stopped(), Blind: s.Blind, Rested: s.Rested,
		Clipping: s.Clipping, Events: events,
		Epsilon: run.Number(epsilon), EpsilonAtStep: run.Number(atStep), Delta: s.Delta, Accountant: s.Accountant,
		Epsilons: epsilons, Groups: groups, Order: s.report.Order, Notice: s.report.Notice,
		RNG: "chacha12", Noise: noise, Released: s.Released, Backbone: s.Backbone, Start: s.Start, PublicRows: s.PublicRows, Versions: s.Versions, Checks: s.Checks,
		Attacker: attacker, Short: s.short(), Sections: sections, Text: run.TextOf(sections),
	})
}

// Conclude adds to a run's statement what only the page knows when it is over: the names of
// its files, the date, the version that it comes from, and what the ledger says of its data.
func Conclude(q run.StatementRequest) (run.Statement, error) {
	s := q.Statement
	s.Sections = slices.Clone(s.Sections)
	if q.Data != "" {
		s.Data = q.Data
	}
	s.Date = q.Date
	for i, part := range s.Sections {
		if part.ID == "data" {
			s.Sections[i] = dataSection(&s)
		}
	}
	if q.Account != nil {
		t, err := Spent(run.SpentRequest{Account: *q.Account})
		if err != nil {
			return q.Statement, err
		}
		s.Ledger = &run.StatementLedger{Runs: len(t.Runs), Open: t.Open, Unprotected: t.Unprotected, Epsilon: t.Epsilon, GuaranteedEpsilon: &t.GuaranteedEpsilon, Delta: t.Delta}
		lines := []string{t.Text}
		if n := len(t.Runs); n > 1 && s.Guarantee {
			lines = append(lines, fmt.Sprintf("This run is one of the %d. The ε above is its own. Picking the best of them is not covered by it.", n))
		}
		s.Sections = append(s.Sections, run.Section{ID: "ledger", Title: "What the data have spent", Lines: lines})
	}
	s.Versions = maps.Clone(s.Versions)
	if s.Versions == nil {
		s.Versions = map[string]string{}
	}
	s.Versions["clipscope"] = q.Version
	made := "Made by Clipscope " + q.Version
	s.Sections = append(s.Sections, run.Section{ID: "program", Title: "Where it comes from", Lines: []string{made + "."}})
	s.Short += " " + made
	if q.Date != "" {
		s.Short += " on " + q.Date
	}
	s.Short += "."
	s.Text = run.TextOf(s.Sections)
	return s, nil
}

// released counts what was released besides the steps.
func released(n int) string {
	if n == 1 {
		return "1 release was"
	}
	return fmt.Sprintf("%d releases were", n)
}
