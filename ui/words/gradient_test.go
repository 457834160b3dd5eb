package words

import (
	"math"
	"testing"

	"clipscope/core/run"
)

func TestGradientSaysCosineAndLength(t *testing.T) {
	nan := run.Number(math.NaN())
	for _, c := range []struct {
		g    *run.GradientDiag
		want string
	}{
		{nil, ""},
		{&run.GradientDiag{TrueNorm: 0}, ""},
		{&run.GradientDiag{TrueNorm: nan, Cosine: 1}, ""},
		{&run.GradientDiag{TrueNorm: 2, Cosine: 0.91234, Bias: 0.5, NoiseVariance: 16}, "At step 1,200 the clipped mean gradient had cosine 0.912 with the true one; clipping moved it by 25 % of its length; the noise was 2 times as long (variance 16)."},
		{&run.GradientDiag{TrueNorm: 2, Cosine: nan, Bias: 2, NoiseVariance: nan}, "At step 1,200 nothing was left of the mean gradient after clipping; clipping moved it by 100 % of its length."},
	} {
		if got := Gradient(c.g, 1200); got != c.want {
			t.Errorf("%+v: %q, want %q", c.g, got, c.want)
		}
	}
}
