package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"clipscope/ui/lesson"
)

// class holds the answers of many, on a teacher's page.
type class struct {
	pasted, files string // texts with cards in them
	cards         []lesson.Card
	refused       []error
}

// mostText limits the bytes of both: far more than [lesson.MostCards] cards have.
const mostText = 1 << 20

// read finds the cards in what was pasted and in files.
func (c *class) read(list []lesson.Lesson) {
	c.cards, c.refused = nil, nil
	switch text := c.pasted + c.files; {
	case strings.TrimSpace(text) == "":
	case len(text) > mostText:
		c.refused = []error{fmt.Errorf("this text has %d MB, and a class's answers have less than one", len(text)>>20)}
	default:
		c.cards, c.refused = lesson.ReadCards(text, list)
	}
}

// of returns the cards of a lesson, by name.
func (c *class) of(id string) []lesson.Card {
	cards := slices.DeleteFunc(slices.Clone(c.cards), func(o lesson.Card) bool { return o.Lesson != id })
	slices.SortStableFunc(cards, func(a, b lesson.Card) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return cards
}

// The size of the picture of a class's numbers, in its own units.
const stripWidth, stripHeight, stripEdge = 600, 44, 12

// strip has a place for each number of a class, between the least and the greatest.
type strip struct {
	lo, hi float64
	log    bool
}

// newStrip returns the strip of what was said and of the truth. It is logarithmic where all are positive
// and far apart. Numbers too large to be drawn lie at its ends.
func newStrip(t *lesson.Tally) strip {
	all := append([]float64{t.Truth}, t.Said...)
	s := strip{lo: slices.Min(all), hi: slices.Max(all)}
	s.log = s.lo > 0 && s.hi > 10*s.lo
	return s
}

// at returns the place of a number, in the picture's units.
func (s strip) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	share := (v/2 - lo/2) / (hi/2 - lo/2) // halves, as the difference of the greatest numbers is none
	if math.IsNaN(share) {
		share = 0.5
	}
	return stripEdge + (stripWidth-2*stripEdge)*share
}

// picture returns the numbers as dots, with the truth as a line, as SVG.
func (s strip) picture(t *lesson.Tally) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="strip" viewBox="0 0 %d %d" aria-hidden="true"><path class="axis" d="M0 %dH%d"/>`, stripWidth, stripHeight, stripHeight-1, stripWidth)
	fmt.Fprintf(&b, `<path class="truth" d="M%.1f 0V%d"/>`, s.at(t.Truth), stripHeight)
	for i, v := range t.Said {
		y := 8 + 7*(i*3%4) // so that dots of one place are told apart
		fmt.Fprintf(&b, `<path class="said" d="M%.1f %dm-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z"/>`, s.at(v), y)
	}
	b.WriteString(`</svg>`)
	return b.String()
}

// bar returns a share, 0 … 1, as SVG.
func bar(share float64) string {
	return fmt.Sprintf(`<svg class="strip-bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"><path class="axis" d="M0 6H100"/><path class="said" d="M0 6H%.1f"/></svg>`, 100*share)
}
