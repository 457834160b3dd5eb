package train

import (
	"math"
	"testing"
)

func TestPace(t *testing.T) {
	var p pace
	if !math.IsNaN(p.left(100)) {
		t.Error("an unknown pace gives a time")
	}
	for i := range 20 {
		p.see(float64(i)*0.5, 10*i)
	}
	if got := p.left(290); math.Abs(got-5) > 1e-9 {
		t.Errorf("100 steps at 20 a second take %v s", got)
	}
	p.rest()
	p.see(1000, 190) // after a pause
	p.see(1000.5, 200)
	if got := p.left(300); math.Abs(got-5) > 1e-6 {
		t.Errorf("the pause counts: %v s", got)
	}
}
