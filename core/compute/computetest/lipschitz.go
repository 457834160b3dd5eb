package computetest

import (
	"math"

	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/lipschitz"
)

func init() {
	parts = append(parts,
		suitePart{"Spectral", "spectral", checkSpectral}, suitePart{"Chain", "chain", checkChain}, suitePart{"Gain", "gain", checkGain},
	)
}

// upTo wants an upper bound on v that is at most 10⁻⁴ of it above.
func upTo(v float64) value {
	if v > math.MaxFloat32/2 {
		v = math.Inf(1)
	}
	return value{v: v * (1 + 5e-5), tol: v*5e-5*(1+1e-8) + 0x1p-126, bound: true} // v itself is one, too
}

// huge lists values that float32 may lose on the way to a bound.
func huge(v ...float64) bool {
	for _, x := range v {
		if x > 0x1p60 && !math.IsInf(x, 1) {
			return true
		}
	}
	return false
}

func checkSpectral(c *check) {
	c.denormals = true
	defer func() { c.denormals = false }()
	errors := lipschitz.SpectralErrors{Square: 1e-5, Gram: 1e-4, GramLost: 1e-30, Frobenius: 1e-33, Bias: 1e-35, Product: 2e-5}
	for k := range 9 {
		for i := range 40 {
			overlap, places := 1+i%3*7, 1+i%2*99
			norms, dst := c.arg("norms", squares(c.edgy(k+3, 20))), c.arg("dst", c.normals(2))
			lipschitz.Spectral(c.b, k, overlap, places, errors, norms.buf, dst.buf)
			g, any := float64(norms.data[k]), false
			for i := k - 1; i >= 0; i-- {
				switch v := norms.data[i]; {
				case v == 0:
					g = 0
				case v-v != 0:
					g = math.Inf(1)
				default:
					any = any || huge(g, float64(v))
					g = kernel.NormalizedBy(v) * math.Sqrt(g+errors.Square)
				}
			}
			w, b := float64(norms.data[k+1]), float64(norms.data[k+2])
			any = any || huge(g, w, b)
			g += errors.Gram*w*w + errors.GramLost
			o := float64(overlap)
			g, w, b = o*g, o*(w*w+errors.Frobenius), float64(places)*(b*b+errors.Bias)
			dst.want = []value{
				upTo((math.Sqrt(g) + errors.Product*math.Sqrt(w)) * (1 + 1e-6 + o*0x1p-23)),
				upTo((math.Sqrt(g+b+1) + errors.Product*math.Sqrt(w+b)) * (1 + 1e-6 + o*0x1p-23)),
			}
			dst.want[0].any, dst.want[1].any = any, any
			c.verify("Spectral(%d, %d, %d)", k, overlap, places)
		}
	}
}

func checkChain(c *check) {
	c.denormals = true
	defer func() { c.denormals = false }()
	for layers := range 67 {
		for _, paper := range []bool{false, true} {
			bounds, reach, dst := c.arg("bounds", squares(c.edgy(2*layers, 200))), c.arg("reach", squares(c.normals(2*layers))), c.arg("dst", c.normals(4*layers))
			for i := range reach.data {
				if c.rng.IntN(3) == 0 {
					reach.data[i] = 0
				}
			}
			c.b.Write(reach.buf, reach.data)
			lipschitz.Chain(c.b, layers, paper, bounds.buf, reach.buf, dst.buf)
			dst.want = each(4*layers, func(i int) value {
				j, product, most, high := i/4, 1.0, 1.0, false
				for l := range layers {
					if !paper && l > j {
						product *= float64(bounds.data[2*l])
					} else if paper && l != j {
						product *= float64(bounds.data[2*l+1])
					}
					most, high = max(most, product), high || huge(product) || product < 0x1p-60
				}
				r := float64(reach.data[2*j+i%2])
				if r == 0 {
					return exactly(0)
				}
				w := upTo(product * r)
				if i%4 >= 2 {
					w = upTo(most * r)
				}
				w.any = high
				return w
			})
			c.verify("Chain(%d, %v)", layers, paper)
		}
	}
}

func checkGain(c *check) {
	c.denormals = true
	defer func() { c.denormals = false }()
	tops := []func(f float64) float64{
		func(f float64) float64 { return 2 * math.Pow(math.Expm1(-f), 2) },
		func(f float64) float64 { return math.Min(f, f*f) },
		func(f float64) float64 { return 2 * f },
		func(f float64) float64 { return 8 * f },
		func(f float64) float64 { return 4 * math.Min(1, 2*f) },
	}
	for n := range 40 {
		for top, of := range tops {
			layers, k, stride := 1+n%5, n%7, (n%2)*(n+3)
			above, more := float64(n%3)/4, float64(n%4) // exact in float32
			after, inputs := c.arg("after", squares(c.edgy(4*layers, 20))), c.arg("inputs", squares(c.edgy(stride*(layers-1)+n, 20)))
			losses, outputs, dst := c.arg("losses", squares(c.edgy(n, 20))), c.arg("outputs", c.edgy(n*k, 4)), c.arg("dst", c.normals(n))
			lipschitz.Gain(c.b, lipschitz.Top(top), n, k, layers, stride, above, more, after.buf, inputs.buf, losses.buf, outputs.buf, dst.buf)
			dst.want = each(n, func(i int) value {
				g, longest, largest, high := 0.0, 0.0, 0.0, false
				for j := range layers {
					a, b, h := float64(after.data[4*j]), float64(after.data[4*j+1]), float64(inputs.data[j*stride+i])
					if far, most := float64(after.data[4*j+2]), float64(after.data[4*j+3]); most != 0 {
						g += a*a*h*h + b*b
						longest = max(longest, far*far*h*h+most*most)
						high = high || huge(h, a, b, far, most)
					}
				}
				for _, z := range outputs.data[i*k : (i+1)*k] {
					largest = max(largest, math.Abs(float64(z)))
				}
				f := float64(losses.data[i])*(1+1e-5+float64(k)*0x1p-24) + 1e-6*(1+largest) + above
				if !(longest <= lipschitz.Greatest*lipschitz.Greatest) {
					g = math.Inf(1)
				}
				w := upTo(math.Sqrt(g*of(f)+more) * (1 + 2e-5))
				w.any = (high || huge(f)) && !math.IsInf(g, 1)
				return w
			})
			c.verify("Gain(%d, top %d, %d layers, stride %d, above %v, more %v)", n, top, layers, stride, above, more)
		}
	}
}
