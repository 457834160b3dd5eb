package lab

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

// drawing is what web/guard.js lets become elements.
var drawing = regexp.MustCompile(`(?i)^(<\/?(svg|path)( [a-z-]+="[^"<>]*")*\/?>)*$`)

// TestTheBestPlayerIsRightAsOftenAsStated has the best player play: the share that is right must
// lie within five standard errors of Φ(1/2σ), which fails once in a million times.
func TestTheBestPlayerIsRightAsOftenAsStated(t *testing.T) {
	for noise, want := range map[float64]float64{0.3: 0.9522, 1: 0.6915, 3: 0.5662} {
		var g game
		g.restart(noise)
		if math.Abs(g.ceiling()-want) > 1e-4 {
			t.Errorf("σ = %v: at most %v, want %v", noise, g.ceiling(), want)
		}
		const n = 20_000
		g.play(n)
		share := float64(g.right) / n
		if g.guesses != n || math.Abs(share-want) > 5*math.Sqrt(want*(1-want)/n) {
			t.Errorf("σ = %v: %v of %d right, want %v", noise, share, g.guesses, want)
		}
	}
}

func TestGameSaysWhetherTheRowWasIn(t *testing.T) {
	var g game
	g.restart(1)
	for range 20 {
		in := g.in
		g.guess(true)
		if strings.HasPrefix(g.said, "Right") != in {
			t.Fatalf("it was in: %v, and is told %q", in, g.said)
		}
	}
	if g.guesses != 20 || g.right > 20 || !strings.Contains(g.score(), "of 20 times") {
		t.Error(g.score())
	}
	if p := g.picture(); !drawing.MatchString(p) || strings.Contains(p, "NaN") {
		t.Error(p)
	}
}
