package model

import (
	"fmt"
	"math"
	"slices"

	"clipscope/core/nn"
	"clipscope/core/run"
)

// layer adds what a layer does, and takes its parameters from those to come. Ours have
// pictures with their channels last, ONNX has them first.
func (c *chain) layer(l nn.Outline) error {
	p := c.parameters[:l.Parameters]
	c.parameters = c.parameters[l.Parameters:]
	w := run.ReadLayer(l.Text)
	switch w.Name {
	case "relu":
		c.x = c.op("Relu", []string{c.x})
	case "tanh":
		c.x = c.op("Tanh", []string{c.x})
	case "gelu":
		c.gelu()
	case "flatten":
		c.flatten()
	case "bias", "position":
		c.x = c.op("Add", []string{c.x, c.bias(p)})
	case "embedding":
		c.embedding(p, w.Numbers[0], w.Numbers[1], w.Letter('t', 0))
	case "attention":
		c.attention(p, w.Numbers[0])
	case "lstm":
		c.lstm(p, w.Numbers[0])
	case "mean":
		c.mean(c.tokens())
	case "first":
		c.mean(c.edge(func(place int) int { return c.height - place }))
	case "last":
		c.mean(c.edge(func(place int) int { return 1 + place }))
	case "dense":
		c.dense(p, l.Out.Len())
	case "conv":
		c.conv(p, w, w.Numbers[1])
	case "conv1d":
		c.conv(p, w, 1)
	case "wsconv":
		c.conv(standardised(p, w.Numbers[0]), w, w.Numbers[1])
	case "maxpool":
		c.pool("MaxPool", w)
	case "avgpool":
		c.pool("AveragePool", w)
	case "globalpool":
		c.x, c.height, c.width = c.op("GlobalAveragePool", []string{c.x}), 1, 1
	case "groupnorm":
		c.groupNorm(p, w.Numbers[0])
	case "layernorm":
		c.layerNorm(p, math.Pow10(-w.Letter('e', 5)))
	case "skip":
		c.skip(p, w)
	case "add":
		last := len(c.around) - 1
		c.x = c.op("Add", []string{c.x, c.around[last]})
		c.around = c.around[:last]
	default:
		return fmt.Errorf("the layer %q has no form here", w.Name)
	}
	return nil
}

func (c *chain) flatten() {
	if c.height == 0 {
		return
	}
	if c.channels > 1 && c.height*c.width > 1 {
		c.x = c.op("Transpose", []string{c.x}, attribute{"perm", []int{0, 2, 3, 1}})
	}
	c.channels, c.height, c.width = c.channels*c.height*c.width, 0, 0
	c.x = c.op("Reshape", []string{c.x, c.ints("shape", []int{-1, c.channels}, 2)})
}

// bias has a summand for every value.
func (c *chain) bias(p []float32) string {
	if c.height == 0 {
		return c.floats("bias", p, 1, c.channels)
	}
	return c.floats("bias", transposed(p, c.height*c.width, c.channels), 1, c.channels, c.height, c.width)
}

// transposed is an [m×n] matrix as [n×m].
func transposed(p []float32, m, n int) []float32 {
	t := make([]float32, m*n)
	for i := range m {
		for j := range n {
			t[j*m+i] = p[i*n+j]
		}
	}
	return t
}

// embedding has the vector of what is no token, 0, at the end of its tables.
func (c *chain) embedding(p []float32, tokens, channels, types int) {
	whole := c.op("Equal", []string{c.x, c.op("Floor", []string{c.x})})
	within := c.op("And", []string{c.op("GreaterOrEqual", []string{c.x, c.constant(0)}), c.op("Less", []string{c.x, c.constant(float64(tokens * max(types, 1)))})})
	c.there = c.op("And", []string{whole, within})
	number := c.op("Cast", []string{c.x}, attribute{"to", intType})
	look := func(name string, number string, p []float32) string {
		rows := len(p) / channels
		table := c.floats(name, append(slices.Clone(p), make([]float32, channels)...), rows+1, channels)
		return c.op("Gather", []string{table, c.op("Where", []string{c.there, number, c.ints("none", []int{rows})})})
	}
	at := tokens * channels
	if types == 0 {
		c.x = look("weight", number, p)
	} else {
		many := c.ints("tokens", []int{tokens})
		c.x = c.op("Add", []string{look("weight", c.op("Mod", []string{number, many}), p[:at]), look("types", c.op("Div", []string{number, many}), p[at:])})
	}
	c.x = c.op("Transpose", []string{c.x}, attribute{"perm", []int{0, 2, 1}})
	c.channels, c.height, c.width = channels, c.channels, 1
	c.places()
}

// gelu is x·(1 + erf(x/√2))/2.
func (c *chain) gelu() {
	e := c.op("Erf", []string{c.op("Mul", []string{c.x, c.constant(math.Sqrt2 / 2)})})
	c.x = c.op("Mul", []string{c.op("Mul", []string{c.x, c.constant(0.5)}), c.op("Add", []string{e, c.constant(1)})})
}

// attention has each place look at those that have a token. Its maps are convolutions of one place.
func (c *chain) attention(p []float32, heads int) {
	d, places := c.channels, c.height
	in := (d + 1) * 3 * d
	all := c.op("Reshape", []string{c.convolution(p[:in], 3*d, 1, 1, 1, 0), c.ints("shape", []int{-1, 3, heads, d / heads, places}, 5)})
	part := func(i int) string {
		return c.op("Gather", []string{all, c.ints("part", []int{i})}, attribute{"axis", 1})
	}
	query := c.op("Transpose", []string{part(0)}, attribute{"perm", []int{0, 1, 3, 2}})
	products := c.op("Mul", []string{c.op("MatMul", []string{query, part(1)}), c.constant(1 / math.Sqrt(float64(d/heads)))})
	there := c.op("Reshape", []string{c.there, c.ints("shape", []int{-1, 1, 1, places}, 4)})
	// Of a row without tokens all are as far down, and nothing is taken of any.
	shares := c.op("Softmax", []string{c.op("Where", []string{there, products, c.constant(-1e30)})}, attribute{"axis", 3})
	shares = c.op("Mul", []string{shares, c.op("Cast", []string{there}, attribute{"to", floatType})})
	seen := c.op("MatMul", []string{part(2), c.op("Transpose", []string{shares}, attribute{"perm", []int{0, 1, 3, 2}})})
	c.x = c.op("Reshape", []string{seen, c.ints("shape", []int{-1, d, places, 1}, 4)})
	c.x = c.convolution(p[in:], d, 1, 1, 1, 0)
}

// lstm passes a row through cells, place by place. ONNX's own operator of the name cannot pass over a
// place without a token.
func (c *chain) lstm(p []float32, cells int) {
	in := (c.channels + 1) * 4 * cells
	weights, biases := p[in:in+4*cells*cells], p[in+4*cells*cells:]
	first := c.op("Reshape", []string{c.convolution(p[:in], 4*cells, 1, 1, 1, 0), c.ints("shape", []int{-1, 4 * cells, c.height}, 3)})
	there := c.op("Reshape", []string{c.there, c.ints("shape", []int{-1, 1, c.height}, 3)})
	n := c.op("Slice", []string{c.op("Shape", []string{c.x}), c.ints("from", []int{0}, 1), c.ints("to", []int{1}, 1)})
	zeros := c.op("ConstantOfShape", []string{c.op("Concat", []string{n, c.ints("cells", []int{cells}, 1)}, attribute{"axis", 0})})

	b := &graph{used: c.used}
	seen, held := b.input("seen", "", floatType, rows, cells), b.input("held", "", floatType, rows, cells)
	input, token := b.input("input", "", floatType, rows, 4*cells), b.input("token", "", boolType, rows, 1)
	axis := b.ints("axis", []int{1}, 1)
	gate := func(i int, kind string) string {
		w := make([]float32, 0, cells*cells)
		for k := range cells {
			w = append(w, weights[(4*k+i)*cells:][:cells]...)
		}
		from := b.op("Gemm", []string{seen, b.floats("weight", w, cells, cells), b.floats("bias", biases[i*cells:][:cells], cells)})
		part := b.op("Slice", []string{input, b.ints("from", []int{i * cells}, 1), b.ints("to", []int{(i + 1) * cells}, 1), axis})
		return b.op(kind, []string{b.op("Add", []string{from, part})})
	}
	enter, forget, value, out := gate(0, "Sigmoid"), gate(1, "Sigmoid"), gate(2, "Tanh"), gate(3, "Sigmoid")
	holds := b.op("Add", []string{b.op("Mul", []string{forget, held}), b.op("Mul", []string{enter, value})})
	shows := b.op("Mul", []string{out, b.op("Tanh", []string{holds})})
	shows, holds = b.op("Where", []string{token, shows, seen}), b.op("Where", []string{token, holds, held})
	for _, name := range []string{shows, holds, b.op("Identity", []string{shows})} {
		b.output(name, "", floatType, rows, cells)
	}

	y := c.name("Scan")
	c.node("", "Scan", []string{zeros, zeros, first, there}, []string{c.name("seen"), c.name("held"), y},
		attribute{"body", b}, attribute{"num_scan_inputs", 2}, attribute{"scan_input_axes", []int{2, 2}}, attribute{"scan_output_axes", []int{2}})
	c.x, c.channels = y, cells
	c.places()
}

// tokens returns whether each place that is left has a token, [rows×height].
func (c *chain) tokens() string {
	return c.op("Slice", []string{c.there, c.ints("from", []int{0}, 1), c.ints("to", []int{c.height}, 1), c.ints("axis", []int{1}, 1)})
}

// edge returns whether each place is that of the token whose place has the greatest rank, which is positive.
func (c *chain) edge(rank func(place int) int) string {
	ranks := make([]float32, c.height)
	for place := range ranks {
		ranks[place] = float32(rank(place))
	}
	there := c.tokens()
	of := c.op("Mul", []string{c.op("Cast", []string{there}, attribute{"to", floatType}), c.floats("ranks", ranks, 1, c.height)})
	most := c.op("ReduceMax", []string{of}, attribute{"axes", []int{1}}, attribute{"keepdims", 1})
	return c.op("And", []string{there, c.op("Equal", []string{of, most})})
}

// mean adds the mean over places.
func (c *chain) mean(places string) {
	there := c.op("Reshape", []string{c.op("Cast", []string{places}, attribute{"to", floatType}), c.ints("shape", []int{-1, 1, c.height, 1}, 4)})
	axes := c.ints("axes", []int{2, 3}, 2)
	sum := c.op("ReduceSum", []string{c.op("Mul", []string{c.x, there}), axes}, attribute{"keepdims", 0})
	n := c.op("Max", []string{c.op("ReduceSum", []string{there, axes}, attribute{"keepdims", 0}), c.constant(1)})
	c.x, c.height, c.width = c.op("Div", []string{sum, n}), 0, 0
}

func (c *chain) dense(p []float32, outputs int) {
	c.flatten()
	in := len(p)/outputs - 1
	c.x = c.op("Gemm", []string{c.x, c.floats("weight", p[:in*outputs], in, outputs), c.floats("bias", p[in*outputs:], outputs)})
	c.channels = outputs
}

// conv adds a convolution whose kernels have this width.
func (c *chain) conv(p []float32, w run.LayerText, wide int) {
	out, size := w.Numbers[0], w.Numbers[1]
	c.x = c.convolution(p, out, size, wide, w.Letter('s', 1), w.Letter('p', 0))
	c.channels, c.height, c.width = out, places(c.height, size, w.Letter('s', 1), w.Letter('p', 0)), places(c.width, wide, w.Letter('s', 1), w.Letter('p', 0))
}

// places is at how many a window of a size stands along a side.
func places(side, size, stride, pad int) int { return (side+2*pad-size)/stride + 1 }

// convolution has the weights [high×wide×in×out] as ONNX has them, [out×in×high×wide].
func (c *chain) convolution(p []float32, out, high, wide, stride, pad int) string {
	patch := len(p)/out - 1
	w := transposed(p[:patch*out], patch, out)
	for i := 0; i < len(w); i += patch {
		copy(w[i:i+patch], transposed(w[i:i+patch], high*wide, c.channels))
	}
	return c.op("Conv", []string{c.x, c.floats("weight", w, out, c.channels, high, wide), c.floats("bias", p[patch*out:], out)},
		attribute{"kernel_shape", []int{high, wide}}, attribute{"strides", []int{stride, stride}}, attribute{"pads", []int{pad, pad, pad, pad}})
}

// normEpsilon keeps variances from 0 in normalisations, as in core/compute/kernel/picture.
const normEpsilon = 1e-5

// standardised are weights of mean 0 and length 1 for each channel, and the biases.
func standardised(p []float32, channels int) []float32 {
	patch := len(p)/channels - 1
	w := append([]float32(nil), p...)
	for k := range channels {
		mean, square := 0.0, 0.0
		for i := range patch {
			mean += float64(p[i*channels+k]) / float64(patch)
		}
		for i := range patch {
			d := float64(p[i*channels+k]) - mean
			square += d * d / float64(patch)
		}
		for i := range patch {
			w[i*channels+k] = float32((float64(p[i*channels+k]) - mean) / math.Sqrt((square+normEpsilon)*float64(patch)))
		}
	}
	return w
}

func (c *chain) pool(kind string, w run.LayerText) {
	size := w.Numbers[0]
	stride := w.Letter('s', size)
	c.x = c.op(kind, []string{c.x}, attribute{"kernel_shape", []int{size, size}}, attribute{"strides", []int{stride, stride}})
	c.height, c.width = places(c.height, size, stride, 0), places(c.width, size, stride, 0)
}

// groupNorm has each group for an instance, as operator set 13 knows none of groups. Its
// mean is taken off beforehand: of a group that is the same all over, such as a blank
// picture's, the rounding of the mean is all there is, and would be divided by √normEpsilon.
func (c *chain) groupNorm(p []float32, groups int) {
	ones, zeros := make([]float32, groups), make([]float32, groups)
	for i := range ones {
		ones[i] = 1
	}
	together := c.op("Reshape", []string{c.x, c.ints("shape", []int{-1, groups, c.channels / groups * c.height * c.width}, 3)})
	mean := c.op("ReduceMean", []string{together}, attribute{"axes", []int{2}}, attribute{"keepdims", 1})
	c.x = c.op("InstanceNormalization", []string{c.op("Sub", []string{together, mean}), c.floats("ones", ones, groups), c.floats("zeros", zeros, groups)}, attribute{"epsilon", float32(normEpsilon)})
	c.places()
	c.x = c.op("Mul", []string{c.x, c.floats("factor", p[:c.channels], 1, c.channels, 1, 1)})
	c.x = c.op("Add", []string{c.x, c.floats("summand", p[c.channels:], 1, c.channels, 1, 1)})
}

// layerNorm is of the channels of each place.
func (c *chain) layerNorm(p []float32, epsilon float64) {
	over := []attribute{{"axes", []int{1}}, {"keepdims", 1}}
	off := c.op("Sub", []string{c.x, c.op("ReduceMean", []string{c.x}, over...)})
	square := c.op("ReduceMean", []string{c.op("Mul", []string{off, off})}, over...)
	c.x = c.op("Div", []string{off, c.op("Sqrt", []string{c.op("Add", []string{square, c.constant(epsilon)})})})
	c.x = c.op("Mul", []string{c.x, c.floats("factor", p[:c.channels], 1, c.channels, 1, 1)})
	c.x = c.op("Add", []string{c.x, c.floats("summand", p[c.channels:], 1, c.channels, 1, 1)})
}

// skip keeps what goes around a block until its add.
func (c *chain) skip(p []float32, w run.LayerText) {
	around := c.x
	if len(w.Numbers) > 0 {
		around = c.convolution(p, w.Numbers[0], 1, 1, w.Letter('s', 1), 0)
	}
	c.around = append(c.around, around)
}
