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

// startOf returns the weights that a run started from: from the fields of its statement, or else from its words, or
// its configuration; nil where the file names none.
func (c *claims) startOf() *run.StartInfo {
	if c.start != nil {
		return c.start
	}
	var s *run.StartInfo
	if c.config != nil && c.config.Start.SHA256 != "" {
		s = &run.StartInfo{File: c.config.Start.File}
	}
	text := cmp.Or(c.text, c.sentence)
	if len(text) > mostWords {
		return s
	}
	if m := inStart.FindStringSubmatch(text); m != nil {
		s = &run.StartInfo{File: m[1]}
	}
	if m := inBefore.FindStringSubmatch(text); m != nil && s != nil {
		s.Private, s.Epsilon, s.Delta = true, run.Number(parse(m[1])), parse(m[2])
	}
	return s
}

// before says that nothing here confirms what was promised of the weights that the run started from, and what both
// promise together.
func (j *judge) before() {
	s := j.startOf()
	if s == nil {
		return
	}
	const claim = "the weights that it started from"
	if !s.Private {
		j.unchecked(claim, clipped(s.File), "", "they count as public, and no file shows whether they are")
		return
	}
	said := fmt.Sprintf("(ε = %s, δ = %s)", show(float64(s.Epsilon)), show(s.Delta))
	if math.IsNaN(j.epsilon) || math.IsNaN(j.delta) {
		j.unchecked(claim, said, "", "the events of that run are in its own file")
		return
	}
	epsilon, delta := j.epsilon+float64(s.Epsilon), j.delta+s.Delta
	both := fmt.Sprintf("both together (ε = %s, δ = %s)", run.UpText(epsilon, 4), run.UpText(delta, 2))
	text := cmp.Or(j.text, j.sentence)
	if m := inBoth.FindStringSubmatch(text[:min(len(text), mostWords)]); m != nil && (parse(m[1]) < epsilon*(1-fourth) || parse(m[2]) < delta*(1-second)) {
		j.differs(claim, "both together "+m[0][len("both together promise "):], both, "it is less than the sum of both")
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
