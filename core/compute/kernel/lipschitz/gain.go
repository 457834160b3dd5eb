package lipschitz

import (
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// Top bounds the squared norm of the gradient of a loss f ≥ 0 by the outputs.
type Top int

// The losses.
const (
	// CrossEntropy: p_y = e^(−f), so ‖p − e_y‖² = (1 − p_y)² + Σ_{j≠y} p_j² ≤
	// 2(1 − e^(−f))².
	CrossEntropy Top = iota
	// Binary: each label's part f_j has a gradient of at most 1 − e^(−f_j) ≤
	// min(1, f_j), and Σ min(1, f_j)² ≤ Σ f_j and ≤ (Σ f_j)².
	Binary
	// Squares: ‖z − t‖² = 2f exactly.
	Squares
	// LinearCrossEntropy is the first bound of VC's Appendix D, 8f: the β₁·f of Algorithm 3.
	LinearCrossEntropy
	// CappedCrossEntropy is the bound at the end of VC's Appendix D, 4·min(1, 2f). It lies
	// above CrossEntropy's, as (1 − e^(−f))² ≤ min(1, f)² ≤ min(1, 2f).
	CappedCrossEntropy
)

// Greatest limits the factor by which a gradient may grow at any
// layer that it passes: beyond, its bound is +Inf, so that its example is refused and
// what underflow leaves there stays nothing beside the least threshold. Inputs that
// are longer are refused with it.
const Greatest = 0x1p60

// Gain bounds the gradient norms of n examples from their losses, their outputs
// [n×k], the norms of the inputs of layers, stride apart, and how much longer
// gradients become in each and after it, for its input and for 1 [layers×4] (see [Chain];
// 0 for layers without parameters).
// NaN, where it is looked at, gives +Inf. It may err upwards by 10⁻⁴ of the result,
// never downwards. Above, at least 0, is how far losses lie above the least that they are
// assumed to reach, and more, at least 0, is added to the squared norm (VC's −f_lb and β₂).
//
//	for i := range n {
//		g := Σ_j (after[4*j] * inputs[j*stride+i])² + after[4*j+1]²     of j where after[4*j+3] ≠ 0
//		f := losses[i]*(1+10⁻⁵+k*2⁻²⁴) + 10⁻⁶*(1+max_j |outputs[i*k+j]|)
//		dst[i] = √(g * top(f+above) + more) * (1+2·10⁻⁵)
//		or +Inf where max_j (after[4*j+2] * inputs[j*stride+i])² + after[4*j+3]² is above Greatest²
//	}
//
// A loss computed in float32 is off by a few units in the last place of the largest
// output it was taken from, and by half of one of its own for each that is added. The
// factor of 1 + 2·10⁻⁵ covers the roundings of tanh's gradient and of the factors on at
// most 64 layers; those of products are in the spectral norms.
func Gain(q compute.Queue, top Top, n, k, layers, stride int, above, more float64, after, inputs, losses, outputs, dst compute.Buffer) {
	q.Run(gain, compute.Args{
		N: [5]int{int(top), n, k, layers, stride}, F: [6]float64{float64(kernel.Above(above)), float64(kernel.Above(more))},
		Buf: [5]compute.Buffer{
			after.Slice(0, 4*layers), inputs.Slice(0, stride*(layers-1)+n), losses.Slice(0, n), outputs.Matrix(n, k), dst.Slice(0, n),
		},
	})
}

var gain = compute.Define(compute.Kernel{Name: "gain", Loop: func(o *compute.Operands) {
	top, k, layers, stride := Top(o.N[0]), o.N[2], o.N[3], o.N[4]
	after, inputs, losses, outputs, dst := o.Buf[0], o.Buf[1], o.Buf[2], o.Buf[3], o.Buf[4]
	for i := range dst {
		g, longest, largest := 0.0, 0.0, 0.0
		for j := range layers {
			if a := after[4*j : 4*j+4]; a[3] != 0 {
				h := float64(inputs[j*stride+i])
				g += square(float64(a[0])*h) + square(float64(a[1]))
				longest = max(longest, square(float64(a[2])*h)+square(float64(a[3])))
			}
		}
		for _, z := range outputs[i*k : (i+1)*k] {
			largest = max(largest, math.Abs(float64(z))) // math.Max loses NaN beside +Inf
		}
		f := float64(losses[i])*(1+1e-5+float64(k)*0x1p-24) + 1e-6*(1+largest) + o.F[0]
		if !(longest <= Greatest*Greatest) { // or NaN
			g = math.Inf(1)
		}
		dst[i] = orInf(math.Sqrt(g*top.of(f)+o.F[1]) * (1 + 2e-5))
	}
}})

func square(x float64) float64 { return x * x }

func (t Top) of(f float64) float64 {
	switch t {
	case CrossEntropy:
		e := math.Expm1(-f)
		return 2 * e * e
	case Binary:
		return math.Min(f, f*f)
	case Squares:
		return 2 * f
	case LinearCrossEntropy:
		return 8 * f
	default:
		return 4 * math.Min(1, 2*f)
	}
}
