package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"clipscope/ui/words"
)

// game is the audit as a game: a coin decides whether one example is in a batch, and the player guesses
// which from one released number. It is the worst case that ε bounds: the player knows everything else,
// and the example's gradient has norm C, which is 1 here.
type game struct {
	noise    float64 // noise_multiplier σ
	in       bool    // whether the example is in the present batch
	released float64
	fresh    bool // nobody has guessed at the number yet

	guesses, right int
	said           string // verdict on the last guess, in words
	epsilon        string // ε of one such release; "" until it is known
}

// leastGuesses is the number of guesses from which on the game's questions can be answered: fewer say
// nothing.
const leastGuesses = 20

// restart starts a new game with a noise multiplier.
func (g *game) restart(noise float64) {
	*g = game{noise: noise}
	g.draw()
}

// draw tosses the coin and releases a number. The number holds nothing private, so its noise need not
// come from the mechanism.
func (g *game) draw() {
	g.in, g.released, g.fresh = rand.IntN(2) == 1, g.noise*rand.NormFloat64(), true
	if g.in {
		g.released++
	}
}

// guess takes the player's guess, says whether the example was in, and draws the next number.
func (g *game) guess(in bool) {
	g.guesses++
	verdict := "Wrong"
	if in == g.in {
		g.right++
		verdict = "Right"
	}
	was := "was not in"
	if g.in {
		was = "was in"
	}
	g.said = fmt.Sprintf("%s: it %s, and %s was released.", verdict, was, words.Number(g.released, 2))
	g.draw()
}

// play guesses n times in the best way: by the bell that is higher at the released number.
func (g *game) play(n int) {
	for range n {
		g.guess(g.released > 0.5)
	}
	g.said = fmt.Sprintf("The best player guessed %d times.", n)
}

// facts calls note with each number that a lesson may ask for, by name.
func (g *game) facts(note func(name string, value float64)) {
	note("guesses", float64(g.guesses))
	note("right", float64(g.right)/float64(g.guesses))
	if g.guesses >= leastGuesses {
		note("ceiling", g.ceiling())
	}
}

// ceiling returns the share that the best player gets right, Φ(1/2σ): of bells of deviation σ
// about 0 and 1, equally likely, the higher one is the better guess.
func (g *game) ceiling() float64 { return (1 + math.Erf(1/(2*math.Sqrt2*g.noise))) / 2 }

// score returns the score in words.
func (g *game) score() string {
	if g.guesses == 0 {
		return "No guess yet."
	}
	return fmt.Sprintf("Right %d of %d times, %s. In the long run nobody can be right more than %s.",
		g.right, g.guesses, words.Percent(float64(g.right)/float64(g.guesses), 0), words.Percent(g.ceiling(), 1))
}

// The size of the picture, in its own units.
const bellsWidth, bellsHeight = 600, 130

// picture returns the two bells with the released number as SVG. It consists of paths alone, as the page
// lets text become nothing else.
func (g *game) picture() string {
	reach := 3.5 * g.noise
	lo, hi := -reach, 1+reach
	const base, top = bellsHeight - 10.0, 8.0
	x := func(v float64) float64 { return bellsWidth * (min(max(v, lo), hi) - lo) / (hi - lo) }
	var s strings.Builder
	path := func(class, d string) { fmt.Fprintf(&s, `<path class="%s" d="%s"/>`, class, d) }
	bell := func(class string, at float64) {
		const points = 120
		var d strings.Builder
		for i := range points + 1 {
			v := lo + (hi-lo)*float64(i)/points
			z := (v - at) / g.noise
			fmt.Fprintf(&d, "%c%.1f %.1f", "ML"[min(i, 1)], x(v), base-(base-top)*math.Exp(-z*z/2))
		}
		path(class, d.String())
		path(class, fmt.Sprintf("M%.1f %.1fv6", x(at), base))
	}
	fmt.Fprintf(&s, `<svg class="bells" viewBox="0 0 %d %d" role="img" aria-label="Two bells of deviation %s, one about 0, where the digit is not in, and one about 1, where it is. Released: %s">`,
		bellsWidth, bellsHeight, words.Number(g.noise, 2), words.Number(g.released, 2))
	path("axis", fmt.Sprintf("M0 %.1fH%d", base, bellsWidth))
	bell("out", 0)
	bell("in", 1)
	path("released", fmt.Sprintf("M%.1f %.1fm-7 0a7 7 0 1 0 14 0a7 7 0 1 0 -14 0z", x(g.released), base))
	s.WriteString(`</svg>`)
	return s.String()
}
