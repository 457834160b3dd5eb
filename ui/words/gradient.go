package words

import (
	"fmt"
	"math"

	"clipscope/core/run"
)

// Gradient says what clipping and noise did to the mean gradient of the last
// batch that was compared; step is that batch's.
func Gradient(g *run.GradientDiag, step int) string {
	if g == nil {
		return ""
	}
	norm := float64(g.TrueNorm)
	if !(norm > 0) || math.IsInf(norm, 1) {
		return ""
	}
	s := fmt.Sprintf("At step %s", Count(step))
	if c := float64(g.Cosine); !math.IsNaN(c) {
		s += fmt.Sprintf(" the clipped mean gradient had cosine %s with the true one", Number(c, 3))
	} else {
		s += " nothing was left of the mean gradient after clipping"
	}
	if b := float64(g.Bias); b >= 0 {
		s += fmt.Sprintf("; clipping moved it by %s of its length", Percent(b/norm, 0))
	}
	if v := float64(g.NoiseVariance); v >= 0 {
		s += fmt.Sprintf("; the noise was %s times as long (variance %s)", Number(math.Sqrt(v)/norm, 2), Number(v, 2))
	}
	return s + "."
}
