package check

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"clipscope/core/privacy"
	"clipscope/core/run"
)

// How far a number may lie from what it is compared with: numbers in full differ by rounding
// alone, but for accountants of another version; what words or six digits say is rounded.
const (
	exact   = 1e-3 // of ε, below today's bound: what versions of an accountant differ by
	rounded = 2e-3 // of ε that was worked out from rounded numbers
	field   = 1e-9 // of numbers in full that have to be the same
	sixth   = 1e-5 // of numbers with six digits
	fourth  = 1.2e-3
	second  = 0.12
	larger  = 1.05 // an ε that is so many times as large is said to be
)

// judge compares claims with each other and with the accountants.
type judge struct {
	*claims
	budget
	overBudget []string // claims that the budget did not cover
	findings   []run.Finding
	list       []privacy.Event // what ε is worked out from; nil: nothing
	rebuilt    bool            // made of the file's numbers, as it has no list of events
	partial    string          // what is missing in list; "" where nothing is
	of         steps
	note       string // to the verdict's text, after a space
	cost       *work  // of accounting over list
}

// affords reports whether the budget covers a call that a claim is to be compared with, and
// names the claim if not.
func (j *judge) affords(claim, file string, cost float64) bool {
	if j.grant(cost) {
		return true
	}
	j.unchecked(claim, file, "", "not worked out: "+tooMuch)
	j.overBudget = append(j.overBudget, claim)
	return false
}

func (j *judge) addFinding(f run.Finding) { j.findings = append(j.findings, f) }

func (j *judge) agrees(claim, file, ours string) {
	j.addFinding(run.Finding{Claim: claim, File: file, Recomputed: ours, Verdict: run.Agrees})
}

func (j *judge) differs(claim, file, ours, why string) {
	j.addFinding(run.Finding{Claim: claim, File: file, Recomputed: ours, Verdict: run.Differs, Why: why})
}

func (j *judge) unchecked(claim, file, ours, why string) {
	j.addFinding(run.Finding{Claim: claim, File: file, Recomputed: ours, Verdict: run.Unchecked, Why: why})
}

func (j *judge) all() {
	j.findings = append(j.findings, j.claims.findings...)
	if j.ledger != nil {
		j.judgeLedger()
		return
	}
	j.ranges()
	j.guarantee()
	if j.gather() {
		j.numbers()
		j.epsilons()
	}
	j.configuration()
	j.before()
	j.public()
	j.sentences("guarantee", j.sentence)
	if !strings.HasSuffix(j.kind, "text") {
		j.sentences("statement", j.text)
	}
	j.sentences("short version", j.short)
	if j.sections != nil && run.TextOf(j.sections) != j.text {
		j.differs("the sections of the statement", "", "", "they are not what its text says")
	}
	j.series()
	j.ownChecks()
}

// ownChecks names the run's own checks that failed, of which the page makes about ten.
func (j *judge) ownChecks() {
	const most = 64
	failed := 0
	for _, c := range j.checks {
		if c.OK {
			continue
		}
		if failed++; failed <= most {
			j.differs("the run’s own checks", clipped(c.Name)+" failed", "", "the run itself says so: "+clippedAt(c.Detail, 200))
		}
	}
	if failed > most {
		j.differs("the run’s own checks", fmt.Sprintf("%d more failed", failed-most), "", "the run itself says so")
	}
}

// ranges refuses numbers that are no promise.
func (j *judge) ranges() {
	if j.accountant != "" && !slices.Contains(privacy.Names(), j.accountant) {
		j.differs("accountant", clipped(j.accountant), "", "there is "+strings.Join(privacy.Names(), " and "))
		j.accountant = ""
	}
	if !math.IsNaN(j.delta) && !(j.delta > 0 && j.delta < 1) {
		j.differs("δ", show(j.delta), "", "it has to lie between 0 and 1")
		j.delta = math.NaN()
	}
	if j.epsilon < 0 {
		j.differs("ε", show(j.epsilon), "", "it cannot be below 0")
		j.epsilon = math.NaN()
	}
	if j.planned == 0 {
		j.planned = j.steps
	}
	if j.steps < 0 || j.planned < j.steps || j.planned > mostSteps {
		j.differs("steps", fmt.Sprintf("%d of %d", j.steps, j.planned), "", "no run takes more steps than were planned")
	}
}

// guarantee holds that a file with a reason against a guarantee promises none.
func (j *judge) guarantee() {
	if j.promised == nil && j.sentence != "" {
		p := !strings.HasPrefix(j.sentence, run.NoGuarantee)
		j.promised = &p
	}
	if j.promised == nil || !*j.promised || j.config == nil {
		return
	}
	why := ""
	switch c := j.config; {
	case c.Seed != nil:
		why = "the configuration fixes the seed, so the noise can be worked out and taken away"
	case c.NoPrivacy:
		why = "the configuration asks for no privacy"
	case c.Scaling.Kind == "measured":
		why = "the configuration scales by figures measured without noise"
	default:
		return
	}
	j.differs("guarantee", "there is one", "there is none", why)
}

// broken reports whether the file itself says that there is no guarantee.
func (j *judge) broken() bool { return j.promised != nil && !*j.promised }

// gather finds what ε is to be worked out from.
func (j *judge) gather() bool {
	if j.events != nil {
		list, err := j.readEvents(j.events)
		if err != nil {
			j.differs("events", plural(len(j.events), "event"), "", "no run of this page has them: "+reason(err))
			return false
		}
		j.list, j.of = list, stepsOf(list)
		return true
	}
	w, ok := readWords(j.text)
	if !ok {
		w, ok = readWords(j.sentence)
	}
	if ok {
		fill(&j.sigma, w.sigma)
		fill(&j.rate, w.rate)
		if j.planned == 0 {
			j.planned = w.steps
		}
	}
	if math.IsNaN(j.sigma) || math.IsNaN(j.rate) || j.planned < 1 {
		if !j.broken() && !math.IsNaN(j.epsilon) {
			j.unchecked("ε", show(j.epsilon), "", "the file has neither events nor noise, rate and steps to work it out from")
		}
		return false
	}
	e := privacy.SelfComposed{Of: privacy.PoissonSampled{SampleRate: j.rate, Of: privacy.Gaussian{NoiseMultiplier: j.sigma}}, Count: j.planned}
	if err := newLimits().countEvent(e, 1); err != nil {
		j.differs("events", "its numbers", "", "no run of this page has them: "+reason(err))
		return false
	}
	j.list, j.rebuilt, j.of = []privacy.Event{e}, true, stepsOf([]privacy.Event{e})
	secure := ok && w.secure || j.config != nil && j.config.NoiseMode == "secure"
	switch c := j.config; {
	case w.selected || c != nil && c.Tuning.Runs > 0:
		j.partial = "what the choice among several runs costs"
	case w.stretches:
		j.partial = "the steps before its noise was changed"
		j.list = nil
	case w.once || c != nil && (c.Scaling.Kind == "private" || c.Scaling.Target == "private" || c.PCA.Components > 0):
		j.partial = "what was released before the steps, such as bounds"
	case secure:
		j.partial = "by how much secure noise is inexact"
	}
	return true
}

func fill(to *float64, from float64) {
	if math.IsNaN(*to) {
		*to = from
	}
}

// numbers compares the file's noise, rate and steps with its events.
func (j *judge) numbers() {
	if j.rebuilt {
		return
	}
	if s := j.of.count; j.planned > 0 && s > 0 {
		j.equal("steps charged", float64(j.planned), float64(s), 0, "its events")
	}
	if j.of.stretches == 1 {
		tol := field
		if strings.HasSuffix(j.kind, "text") {
			tol = sixth
		}
		j.equal("sample_rate", j.rate, j.of.rate, tol, "its events")
		j.equal("noise_multiplier", j.sigma, j.of.sigma, max(tol, 1e-6), "its events")
	}
}

// equal compares two numbers that have to be the same but for a relative tolerance. One that
// is not there is not compared.
func (j *judge) equal(claim string, said, other, tol float64, where string) {
	if math.IsNaN(said) || math.IsNaN(other) {
		return
	}
	if said == other || math.Abs(said-other) <= tol*math.Abs(other) {
		j.agrees(claim, show(said), show(other))
		return
	}
	j.differs(claim, show(said), show(other), where+" say otherwise")
}

// epsilons has the accountants work out ε again.
func (j *judge) epsilons() {
	if math.IsNaN(j.delta) || j.list == nil {
		if !math.IsNaN(j.epsilon) {
			j.unchecked("ε", show(j.epsilon), "", missing(j.partial))
		}
		return
	}
	j.cost = workOf(j.list...)
	name := j.accountant
	if name == "" {
		name = privacy.PLD
	}
	if j.affords("ε", show(j.epsilon), j.cost.report()) {
		j.report(name)
	}
	if s := j.steps; s > 0 && s < j.planned && j.of.stretches == 1 && !j.of.selected {
		j.stoppedAt(name, s)
	}
	j.group(name)
	if j.partial == "" {
		j.attack()
	}
}

// report compares what the accountants say of ε.
func (j *judge) report(name string) {
	r, err := privacy.NewReport(j.delta, j.list...)
	if err != nil {
		j.unchecked("ε", show(j.epsilon), "", "today’s accountants refuse its events: "+reason(err))
		return
	}
	by := func(name string) float64 {
		if name == privacy.RDP {
			return float64(r.RDP)
		}
		return float64(r.PLD)
	}
	j.bound("ε", j.epsilon, by(name), float64(r.Low))
	if e := j.each; e != nil && j.partial == "" {
		quoted := float64(e.PLD)
		if name == privacy.RDP {
			quoted = float64(e.RDP)
		}
		if j.epsilon != quoted {
			j.differs("ε among its accountants", show(quoted), show(j.epsilon)+" in its field ε", "the file contradicts itself")
		}
		j.bound("ε by PLD", float64(e.PLD), float64(r.PLD), float64(r.Low))
		j.bound("ε by RDP", float64(e.RDP), float64(r.RDP), float64(r.Low))
		if low := float64(e.Low); low > float64(r.PLD)*(1+exact) {
			j.differs("lower bound of ε", show(low), run.UpText(float64(r.PLD), 6), "it is above what is proven to be enough")
		}
	}
}

// attack works out what an attacker can tell.
func (j *judge) attack() {
	said := j.attacker
	if said == nil {
		return
	}
	const claim = "what an attacker can tell"
	if !j.affords(claim, "", j.cost.attack()) {
		return
	}
	ours, err := privacy.Attack(j.delta, j.list...)
	if err != nil {
		j.unchecked(claim, "", "", "today’s accountants refuse its events: "+reason(err))
		return
	}
	less := func(what string, said, ours float64) bool {
		if said >= ours*(1-exact) {
			return false
		}
		j.differs(claim, fmt.Sprintf("%s %s", what, show(said)), run.UpText(ours, 6), "smaller than today’s accountants can prove")
		return true
	}
	if less("right at most", float64(said.Right), float64(ours.Right)) || less("sure at most", float64(said.Sure), float64(ours.Sure)) || less("except", said.Except, ours.Except) {
		return
	}
	if float64(said.HalfCosts) > float64(ours.HalfCosts)*(1+exact) {
		j.differs(claim, "half of the rows cost "+show(float64(said.HalfCosts)), run.DownText(float64(ours.HalfCosts), 6), "larger than today’s accountants can prove")
		return
	}
	if len(said.FalsePositive) != len(said.TruePositive) {
		j.differs(claim, "rates without pairs", "", "each false-positive rate has a true-positive rate")
		return
	}
	for i, f := range said.FalsePositive {
		if less(fmt.Sprintf("at a false-positive rate of %s,", show(float64(f))), float64(said.TruePositive[i]), truePositive(ours, float64(f))) {
			return
		}
	}
	j.agrees(claim, "right at most "+show(float64(said.Right)), run.UpText(float64(ours.Right), 6))
}

// truePositive is the bound at the greatest listed rate that is no greater.
func truePositive(a *run.Attack, rate float64) float64 {
	most := 0.0
	for i, f := range a.FalsePositive {
		if float64(f) <= rate*(1+1e-12) {
			most = float64(a.TruePositive[i])
		}
	}
	return most
}

// stoppedAt works out ε for the steps that a stopped run took.
func (j *judge) stoppedAt(name string, steps int) {
	const claim = "ε had its steps been planned"
	if math.IsNaN(j.atStep) || !j.affords(claim, show(j.atStep), j.cost.epsilon()) {
		return
	}
	var list []privacy.Event
	for _, e := range j.list {
		if s, ok := e.(privacy.SelfComposed); ok {
			e = privacy.SelfComposed{Of: s.Of, Count: steps}
		}
		list = append(list, e)
	}
	e, err := privacy.Epsilon(name, j.delta, list...)
	if err == nil {
		j.bound(claim, j.atStep, e, 0)
	}
}

// group works out ε for several rows of one person.
func (j *judge) group(name string) {
	const most = 8
	if len(j.groups) > most {
		j.differs("groups", fmt.Sprint(len(j.groups)), fmt.Sprintf("at most %d", most), "the page writes no more")
	}
	for _, g := range j.groups[:min(most, len(j.groups))] {
		claim := fmt.Sprintf("ε for %d rows", g.Rows)
		if g.Rows < 1 || g.Rows > mostGroup {
			j.unchecked(claim, show(float64(g.Epsilon)), "", fmt.Sprintf("only up to %d rows are worked out", mostGroup))
			continue
		}
		if !j.affords(claim, show(float64(g.Epsilon)), j.cost.group(g.Rows)) {
			continue
		}
		if e, err := privacy.GroupEpsilon(name, g.Rows, j.delta, j.list...); err == nil {
			j.bound(claim, float64(g.Epsilon), e, 0)
		}
	}
}

// bound compares an ε, which has to be an upper bound, with ours; low is a proven lower
// bound of the truth, or 0.
func (j *judge) bound(claim string, said, ours, low float64) {
	if math.IsNaN(said) {
		return
	}
	file, we := show(said), run.UpText(ours, 6)
	if show(ours) == file { // and the last digit would differ by the direction of rounding alone
		we = file
	}
	tol := exact
	if j.rebuilt {
		tol = rounded
	}
	switch {
	case j.partial != "" && said >= min(ours, low)*(1-tol):
		j.unchecked(claim, file, "more than "+run.DownText(low, 4), missing(j.partial))
	case math.IsInf(said, 1) && math.IsInf(ours, 1), said >= ours && said <= ours*larger, said < ours && said >= ours*(1-tol):
		j.agrees(claim, file, we)
	case said >= ours:
		j.addFinding(run.Finding{Claim: claim, File: file, Recomputed: we, Verdict: run.Agrees, Why: "larger than today’s accountants need, and an upper bound all the same; those of an earlier version may have been looser"})
	case math.IsInf(ours, 1):
		j.differs(claim, file, "∞", "something was released without noise")
	case said < low*(1-tol):
		j.differs(claim, file, we, "too small: it is at least "+run.DownText(low, 4))
	default:
		j.differs(claim, file, we, "smaller than today’s accountants can prove")
	}
}

func missing(what string) string {
	if what == "" {
		return "the file does not say enough to work it out"
	}
	return "the file does not say " + what
}

// configuration compares the run with what it was asked to be.
func (j *judge) configuration() {
	c := j.config
	if c == nil {
		return
	}
	if c.TargetDelta > 0 {
		j.equal("δ", j.delta, c.TargetDelta, field, "its configuration")
	}
	if c.NoiseMultiplier != nil {
		tol := field
		if j.rebuilt && math.Abs(j.sigma-*c.NoiseMultiplier) <= sixth**c.NoiseMultiplier {
			tol = sixth
		}
		j.equal("noise_multiplier, as configured", j.sigma, *c.NoiseMultiplier, tol, "its configuration")
	}
	if c.Steps > 0 && j.planned > 0 {
		j.equal("steps, as configured", float64(j.planned), float64(c.Steps), 0, "its configuration")
	}
	if t := c.TargetEpsilon; t != nil && !j.broken() && j.epsilon > *t*(1+exact) {
		j.differs("target_epsilon", show(j.epsilon), "at most "+show(*t), "its configuration says otherwise")
	}
	if c.Accountant != "" && j.accountant != "" && c.Accountant != j.accountant && c.Tuning.Runs == 0 {
		j.differs("accountant", j.accountant, clipped(c.Accountant), "its configuration says otherwise")
	}
	if b := c.ExpectedBatchSize; b > 0 && j.rate > 0 {
		j.unchecked("rows", fmt.Sprintf("%.4g (expected_batch_size ÷ sample_rate)", b/j.rate), "", "the data are not in the file")
	}
}

// sentences compares the numbers in a text with those in fields.
func (j *judge) sentences(name, text string) {
	if text == "" || j.broken() && strings.HasPrefix(text, run.NoGuarantee) && !inPromise.MatchString(text) {
		return
	}
	if len(text) > mostSaid {
		j.differs("the words of the "+name, fmt.Sprintf("%d bytes", len(text)), fmt.Sprintf("at most %d", mostSaid), "the page writes no more")
		return
	}
	w, ok := readWords(text)
	if !ok {
		if j.steps > 0 && (inClaim.MatchString(text) || !j.broken() && strings.Contains(text, "ε")) {
			j.differs("the words of the "+name, clippedAt(text, 80), "", "the page writes ε and δ once, as (ε = …, δ = …)-differential privacy")
		}
		return
	}
	before := len(j.findings)
	says := func(what string, said, other, tol float64) {
		if math.IsNaN(said) || math.IsNaN(other) || said == other || math.Abs(said-other) <= tol*math.Abs(other) {
			return
		}
		j.differs(what+" in the words of the "+name, show(said), show(other)+" in its field", "the file contradicts itself")
	}
	says("ε", w.epsilon, j.epsilon, fourth)
	says("δ", w.delta, j.delta, second)
	says("sample_rate", w.rate, j.rate, sixth)
	if !w.stretches {
		says("noise_multiplier", w.sigma, j.sigma, sixth)
	}
	if w.steps > 0 && j.planned > 0 {
		says("steps", float64(w.steps), float64(j.planned), 0)
	}
	if j.each != nil {
		says("ε by PLD", w.pld, float64(j.each.PLD), fourth)
		says("ε by RDP", w.rdp, float64(j.each.RDP), fourth)
	}
	if j.steps < j.planned {
		says("ε had its steps been planned", w.atStep, j.atStep, fourth)
	}
	for _, g := range j.groups {
		if e, ok := w.groups[g.Rows]; ok {
			says(fmt.Sprintf("ε for %d rows", g.Rows), e, float64(g.Epsilon), fourth)
		}
	}
	if w.accountant != "" && j.accountant != "" && w.accountant != j.accountant {
		j.differs("accountant in the words of the "+name, clipped(w.accountant), j.accountant+" in its field", "the file contradicts itself")
	}
	if w.broken && j.promised != nil && *j.promised {
		j.differs("the words of the "+name, "no guarantee", "a guarantee in its field", "the file contradicts itself")
	}
	if len(j.findings) == before {
		j.agrees("the words of the "+name, "the same numbers", "")
	}
}

// series holds that ε never falls, and that its last value is that of the steps taken.
func (j *judge) series() {
	if len(j.curve) == 0 {
		return
	}
	for i := 1; i < len(j.curve); i++ {
		if j.curve[i] < j.curve[i-1] || math.IsNaN(j.curve[i]) {
			j.differs("ε step by step", fmt.Sprintf("falls to %s", show(j.curve[i])), "at least "+show(j.curve[i-1]), "what has been spent stays spent")
			return
		}
	}
	last := j.curve[len(j.curve)-1]
	switch {
	case !math.IsNaN(j.epsilon) && last > j.epsilon*(1+exact):
		j.differs("ε step by step", "up to "+show(last), "at most "+show(j.epsilon), "a step cost more than the whole run")
	case !math.IsNaN(j.atStep) && last < j.atStep*(1-exact):
		j.differs("ε step by step", "up to "+show(last), show(j.atStep), "its last value is not that of the steps taken")
	case strings.HasSuffix(j.kind, "CSV"):
		j.agrees("ε step by step", "never falls", "")
		j.unchecked("ε after the last step", show(last), "", "a CSV has neither noise nor rate to work it out from: check the run’s JSON")
	default:
		j.agrees("ε step by step", "never falls", "")
	}
}

// unknown lists the claims that no check can confirm.
func (j *judge) unknown() []string {
	all := []string{}
	switch {
	case j.ledger != nil:
		return append(all, "Whether the ledger has every run on the data, and none was deleted.", "Whether the events are what happened.")
	case j.rebuilt:
		all = append(all, "Whether there were other releases than the steps: the file has no list of its events, and ε was worked out from its noise, rate and steps.")
	case j.list != nil:
		all = append(all, "Whether the events are what happened. Somebody who changed them and ε together is not noticed.")
	}
	all = append(all, "Whether noise and batches were drawn as stated.", "What else was published about the same data.")
	if strings.HasPrefix(j.kind, "saved model") {
		all = append(all, "Whether these parameters come from that run: nothing ties them to it.")
	}
	return all
}

// judgeLedger works out what runs on each data set have spent together.
func (j *judge) judgeLedger() {
	data := map[int][]run.Line{}
	var order []int
	for _, l := range j.ledger {
		if data[l.Data] == nil {
			order = append(order, l.Data)
		}
		data[l.Data] = append(data[l.Data], l)
	}
	slices.Sort(order)
	const most = 64
	for _, n := range order[:min(most, len(order))] {
		j.judgeData(n, data[n])
	}
	if len(order) > most {
		claim := fmt.Sprintf("data sets beyond the first %d", most)
		j.unchecked(claim, plural(len(order)-most, "data set"), "", "not worked out: "+tooMuch)
		j.overBudget = append(j.overBudget, claim)
	}
}

func (j *judge) judgeData(n int, lines []run.Line) {
	claim := fmt.Sprintf("data set %d", n)
	var list []privacy.Event
	open := 0
	for i, l := range lines {
		if l.Done > l.Charged && !l.Unprotected || l.Charged < 0 {
			j.differs(fmt.Sprintf("%s, run %d", claim, i+1), fmt.Sprintf("%d steps done", l.Done), fmt.Sprintf("%d charged", l.Charged), "a run is charged for all of its steps")
		}
		if l.Unprotected {
			open++
		}
		events, err := j.readEvents(l.Once)
		if err == nil && len(l.PerStep) > 0 && string(l.PerStep) != "null" && l.Charged > 0 {
			var step []privacy.Event
			if step, err = j.readEvents([]json.RawMessage{l.PerStep}); err == nil {
				e := privacy.SelfComposed{Of: step[0], Count: l.Charged}
				err = newLimits().countEvent(e, 1)
				events = append(events, e)
			}
		}
		if err != nil {
			j.differs(fmt.Sprintf("%s, run %d", claim, i+1), "its events", "", "no run of this page has them: "+reason(err))
			return
		}
		list = append(list, events...)
	}
	file := plural(len(lines), "run")
	if !j.affords(claim, file, workOf(list...).epsilon()) {
		return
	}
	e, err := privacy.Epsilon(privacy.PLD, run.DefaultDelta, list...)
	switch {
	case err != nil:
		j.unchecked(claim, file, "", "today’s accountants refuse its events: "+reason(err))
	case open > 0:
		j.unchecked(claim, file, "ε = ∞", fmt.Sprintf("%d without a guarantee; the others have spent %s at δ = %g", open, run.UpText(e, 4), run.DefaultDelta))
	default:
		j.unchecked(claim, file, fmt.Sprintf("ε = %s at δ = %g", run.UpText(e, 4), run.DefaultDelta), "the file names no total to compare; each run is charged for all of its steps")
	}
}

func show(x float64) string {
	if math.IsInf(x, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.6g", x)
}

// plural returns a number of things in words.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
