// Package lipschitz defines the kernels that only value clipping needs (VC §5 and Appendix
// D).
package lipschitz

import (
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// SpectralErrors bound what rounding and underflow took on the way to the norms
// that [Spectral] reads.
type SpectralErrors struct {
	Square    float64 // of ‖A·Aᵀ‖ where ‖A‖_F ≤ 1, and of ‖A‖ when it was scaled to that
	Gram      float64 // of the first Gram matrix, in parts of ‖W‖_F²
	GramLost  float64 // of it besides
	Frobenius float64 // of ‖W‖_F²
	Bias      float64 // of ‖b‖²
	Product   float64 // of a row times W, in parts of its length and ‖W‖_F
}

// Spectral bounds the spectral norms of weights W, and of W̃ = [[W, 0], [b, 1]], the
// weights with the bias folded in, from above, and besides how much longer a row can
// become when it is multiplied with them in float32. norms [squarings+3] are those
// of the Gram matrices that were squared as [kernel.Normalize] wrote them, of the
// last one, of W and of b. NaN or ±Inf among them gives +Inf. It may err upwards by
// 10⁻⁴ of the result, never downwards.
//
//	g := norms[squarings]
//	for k := squarings-1; k >= 0; k-- { g = by(norms[k]) * √(g + Square) }   0 where norms[k] is 0
//	g += Gram*norms[squarings+1]² + GramLost; w := norms[squarings+1]² + Frobenius; b := norms[squarings+2]² + Bias
//	g, w, b = overlap*g, overlap*w, places*b
//	more := 1 + 10⁻⁶ + overlap*2⁻²³
//	dst[0] = more * (√g + Product*√w)
//	dst[1] = more * (√(g + b + 1) + Product*√(w + b))
//
// For ‖W̃‖² ≤ ‖[W; b]‖² + ‖[0; 1]‖² ≤ ‖W‖² + ‖b‖² + 1, as the two blocks act on
// disjoint outputs. A convolution multiplies with W at so many places, where at most
// overlap see the same value; a dense layer has one of both.
func Spectral(q compute.Queue, squarings, overlap, places int, e SpectralErrors, norms, dst compute.Buffer) {
	q.Run(spectral, compute.Args{
		N: [5]int{squarings, overlap, places}, F: [6]float64{e.Square, e.Gram, e.GramLost, e.Frobenius, e.Bias, e.Product},
		Buf: [5]compute.Buffer{norms.Slice(0, squarings+3), dst.Slice(0, 2)},
	})
}

var spectral = compute.Define(compute.Kernel{Name: "spectral", Loop: func(o *compute.Operands) {
	k, norms, dst := o.N[0], o.Buf[0], o.Buf[1]
	g := float64(norms[k])
	for i := k - 1; i >= 0; i-- {
		if v := norms[i]; v == 0 {
			g = 0 // nothing but zeros
		} else if v-v != 0 {
			g = math.Inf(1)
		} else {
			g = kernel.NormalizedBy(v) * math.Sqrt(g+o.F[0])
		}
	}
	w, b := float64(norms[k+1]), float64(norms[k+2])
	g += o.F[1]*w*w + o.F[2]
	overlap, places := float64(o.N[1]), float64(o.N[2])
	g, w, b = overlap*g, overlap*(w*w+o.F[3]), places*(b*b+o.F[4])
	more := 1 + 1e-6 + overlap*0x1p-23
	dst[0] = orInf((math.Sqrt(g) + o.F[5]*math.Sqrt(w)) * more)
	dst[1] = orInf((math.Sqrt(g+b+1) + o.F[5]*math.Sqrt(w+b)) * more)
}})

// orInf is the least float32 that is not below x ≥ 0, and +Inf where x is NaN.
func orInf(x float64) float32 {
	if math.IsNaN(x) {
		x = math.Inf(1)
	}
	return kernel.Above(x)
}
