package check

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"clipscope/core/run"
)

var (
	inWeights = regexp.MustCompile(`started from the weights (?:of another|in (.+?)(?: \(SHA-256 |: to the rows ))`)
	inOther   = regexp.MustCompile(`the weights of another, of ε = ` + number + ` as their file says`)
	inBefore  = regexp.MustCompile(`the run which left them is \(ε = ` + number + `, δ = ` + number + `\)`)
	inBoth    = regexp.MustCompile(`both together promise \(ε = ` + number + `, δ = ` + number + `\)`)
	inPublic  = regexp.MustCompile(`public rows of .+? were mixed in`)
)

// ofWeights names the finding on the weights that a run started from.
const ofWeights = "the weights that it started from"

// places are the file's texts, each of which says everything; those that are too long to be sought in are left out.
func (c *claims) places() []string {
	return slices.DeleteFunc([]string{c.text, c.sentence, c.short}, func(text string) bool { return text == "" || len(text) > mostWords })
}

// besides finds what the guarantee leaves out by a declaration of the configuration's: whether the file names it, in its texts, its
// statement's field or its configuration. Where one of them does and another does not, the file contradicts itself.
func (j *judge) besides(claim string, in *regexp.Regexp, stated, configured, declared bool) (named bool) {
	var says []bool
	for _, text := range j.places() {
		says = append(says, in.MatchString(text))
	}
	if j.sections != nil {
		says = append(says, stated)
	}
	if j.config != nil {
		says = append(says, configured)
	}
	switch named = slices.Contains(says, true); {
	case !named || j.broken():
	case slices.Contains(says, false):
		j.differs(claim, "", "", "one part of the file names them, and another does not")
	case configured && !declared:
		j.differs(claim, "", "", "the configuration does not declare them to be public")
	}
	return named
}

// public says that nothing here shows whether rows that were mixed in are public.
func (j *judge) public() {
	const claim = "the public rows"
	c := j.config
	if j.besides(claim, inPublic, j.mixed, c != nil && c.PublicRows.SHA256 != "", c != nil && c.PublicRows.Public) {
		j.unchecked(claim, "", "", "nothing is promised to them, and no file shows whether they are public")
	}
}

// startOf returns the weights that a run started from: from the fields of its statement, or else from words and the
// configuration; nil where the file names none. In words they have no more than name and promise.
func (j *judge) startOf(words string) *run.StartInfo {
	c := j.config
	if !j.besides(ofWeights, inWeights, j.start != nil, c != nil && c.Start.SHA256 != "", c != nil && c.Start.Public) {
		return nil
	}
	s := run.StartInfo{}
	if j.start != nil {
		s = *j.start
	} else if c != nil {
		s.File = c.Start.File
	}
	if m := inWeights.FindStringSubmatch(words); m != nil && s.File == "" {
		s.File = m[1]
	}
	if m := inBefore.FindStringSubmatch(words); m != nil && j.start == nil {
		s.Private, s.Epsilon, s.Delta = true, run.Number(parse(m[1])), parse(m[2])
	}
	s.Chained = s.Chained || strings.Contains(words, "The other started from weights, too")
	return &s
}

// before says that nothing here confirms what was promised of the weights that the run started from, and what both
// promise together.
func (j *judge) before() {
	words := strings.Join(j.places(), "\n")
	s := j.startOf(words)
	if s == nil {
		return
	}
	said := promise(float64(s.Epsilon), s.Delta)
	epsilon, delta := j.epsilon+float64(s.Epsilon), j.delta+s.Delta
	for _, in := range []*regexp.Regexp{inBefore, inOther} {
		for _, m := range in.FindAllStringSubmatch(words, -1) {
			if !s.Private || !near(parse(m[1]), float64(s.Epsilon), fourth) || len(m) > 2 && !near(parse(m[2]), s.Delta, second) {
				j.differs(ofWeights, said, m[0], "the file contradicts itself")
				return
			}
		}
	}
	switch {
	case !s.Private:
		j.unchecked(ofWeights, clipped(s.File), "", "they count as public, and no file shows whether they are")
	case !(s.Epsilon >= 0 && s.Delta >= 0):
		j.differs(ofWeights, said, "", "neither can be below 0")
	case math.IsNaN(epsilon + delta):
		j.unchecked(ofWeights, said, "", "the events of that run are in its own file")
	default:
		both := promise(epsilon, delta)
		for _, m := range inBoth.FindAllStringSubmatch(words, -1) {
			if parse(m[1]) < epsilon*(1-fourth) || parse(m[2]) < delta*(1-second) {
				j.differs(ofWeights, m[0], both, "it is less than the sum of both")
			}
		}
		j.unchecked(ofWeights, said, "both together "+both, "the events of that run are in its own file: check that as well")
		if !j.broken() {
			j.note = " " + s.WithBefore(j.epsilon, j.delta)
		}
	}
}

// promise writes ε and δ, rounded up.
func promise(epsilon, delta float64) string {
	return "(ε = " + run.UpText(epsilon, 4) + ", δ = " + run.UpText(delta, 2) + ")"
}

// near reports whether two numbers are the same but for a relative tolerance.
func near(x, y, tolerance float64) bool { return x == y || math.Abs(x-y) <= tolerance*math.Abs(y) }
