package check

import (
	"cmp"
	"math"
	"regexp"

	"clipscope/core/run"
)

var (
	inStart  = regexp.MustCompile(`Training started from the weights in (.+?) \(SHA-256 `)
	inBefore = regexp.MustCompile(`the run which left them is \(ε = ` + number + `, δ = ` + number + `\)`)
	inBoth   = regexp.MustCompile(`both together promise \(ε = ` + number + `, δ = ` + number + `\)`)
)

// startOf returns the weights that a run started from: from the fields of its statement, or else from words and the
// configuration; nil where the file names none. In words they have no more than name and promise.
func (c *claims) startOf(words string) *run.StartInfo {
	s := c.start
	if s == nil && c.config != nil && c.config.Start.SHA256 != "" {
		s = &run.StartInfo{File: c.config.Start.File}
	}
	if m := inStart.FindStringSubmatch(words); m != nil && s == nil {
		s = &run.StartInfo{File: m[1]}
	}
	if m := inBefore.FindStringSubmatch(words); m != nil && s != nil && c.start == nil {
		s.Private, s.Epsilon, s.Delta = true, run.Number(parse(m[1])), parse(m[2])
	}
	return s
}

// before says that nothing here confirms what was promised of the weights that the run started from, and what both
// promise together.
func (j *judge) before() {
	words := cmp.Or(j.text, j.sentence)
	words = words[:min(len(words), mostWords)]
	s := j.startOf(words)
	if s == nil {
		return
	}
	const claim = "the weights that it started from"
	said := promise(float64(s.Epsilon), s.Delta)
	epsilon, delta := j.epsilon+float64(s.Epsilon), j.delta+s.Delta
	switch m := inBefore.FindStringSubmatch(words); {
	case m != nil && !(s.Private && near(parse(m[1]), float64(s.Epsilon), fourth) && near(parse(m[2]), s.Delta, second)):
		j.differs(claim, said+" in its field", m[0], "the file contradicts itself")
	case !s.Private:
		j.unchecked(claim, clipped(s.File), "", "they count as public, and no file shows whether they are")
	case !(s.Epsilon >= 0 && s.Delta >= 0):
		j.differs(claim, said, "", "neither can be below 0")
	case math.IsNaN(epsilon + delta):
		j.unchecked(claim, said, "", "the events of that run are in its own file")
	default:
		both := promise(epsilon, delta)
		if m := inBoth.FindStringSubmatch(words); m != nil && (parse(m[1]) < epsilon*(1-fourth) || parse(m[2]) < delta*(1-second)) {
			j.differs(claim, m[0], both, "it is less than the sum of both")
		}
		j.unchecked(claim, said, "both together "+both, "the events of that run are in its own file: check that as well")
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
