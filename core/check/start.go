package check

import (
	"cmp"
	"fmt"
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
	said := fmt.Sprintf("(ε = %s, δ = %s)", show(float64(s.Epsilon)), show(s.Delta))
	m := inBefore.FindStringSubmatch(words)
	switch {
	case m != nil && !(s.Private && near(parse(m[1]), float64(s.Epsilon), fourth) && near(parse(m[2]), s.Delta, second)):
		j.differs(claim, said+" in its field", fmt.Sprintf("(ε = %s, δ = %s) in its words", m[1], m[2]), "the file contradicts itself")
		return
	case !s.Private:
		j.unchecked(claim, clipped(s.File), "", "they count as public, and no file shows whether they are")
		return
	case !(s.Epsilon >= 0 && s.Delta >= 0):
		j.differs(claim, said, "", "neither can be below 0")
		return
	case math.IsNaN(j.epsilon) || math.IsNaN(j.delta):
		j.unchecked(claim, said, "", "the events of that run are in its own file")
		return
	}
	epsilon, delta := j.epsilon+float64(s.Epsilon), j.delta+s.Delta
	both := fmt.Sprintf("both together (ε = %s, δ = %s)", run.UpText(epsilon, 4), run.UpText(delta, 2))
	if m := inBoth.FindStringSubmatch(words); m != nil && (parse(m[1]) < epsilon*(1-fourth) || parse(m[2]) < delta*(1-second)) {
		j.differs(claim, fmt.Sprintf("both together (ε = %s, δ = %s)", m[1], m[2]), both, "it is less than the sum of both")
	}
	why := "the events of that run are in its own file: check that as well"
	if s.Chained {
		why += ". It started from weights, too, whose ε is in neither"
	}
	j.unchecked(claim, said, both, why)
	if !j.broken() {
		j.note = " " + s.WithBefore(j.epsilon, j.delta)
	}
}

// near reports whether two numbers are the same but for a relative tolerance.
func near(x, y, tolerance float64) bool { return x == y || math.Abs(x-y) <= tolerance*math.Abs(y) }
