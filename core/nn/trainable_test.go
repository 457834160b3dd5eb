package nn

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
)

// TestTrainableIsAPart: what is frozen of models, by the layer before which that ends.
func TestTrainableIsAPart(t *testing.T) {
	mlp := chain(SoftmaxCE, "relu", 9, 8, 7, 5)
	for _, c := range []struct {
		spec  Spec
		what  string
		first string // layer that is trained, with all behind it
		at    int    // its number, from 0
	}{
		{mlp, "", "dense:8", 0},
		{mlp, "all", "dense:8", 0},
		{mlp, "head", "dense:5", 4},
		{mlp, "last:1", "dense:7", 2},
		{mlp, "last:2", "dense:8", 0},
		{chain(SoftmaxCE, "", 4, 3), "head", "dense:3", 0},
		{pictures[0], "head", "dense", 8},
		{pictures[0], "last:2", "conv:4:2:s2", 3},
		{pictures[2], "last:1", "wsconv:3:2:s2", 3}, // a norm is of the block before it
		{pictures[3], "last:1", "skip", 9},
		{pictures[3], "last:2", "skip:6:s2", 3},
		{pictures[3], "last:3", "conv:4:3:p1", 0},
		{sequences[0], "last:2", "embedding:4:5", 0},
		{sequences[5], "last:1", "attention:2", 2},
		{sequences[6], "head", "dense", 14},
		{sequences[6], "last:1", "skip", 2}, // the attention's, and not the last one
		{sequences[7], "last:1", "lstm:3", 3},
		{must(Read(Shape{Channels: 3}, []string{"tanh", "dense"}, 2, SoftmaxCE)), "head", "tanh", 0}, // nothing before it is trained anyway
		{must(Read(Shape{6, 5, 2}, []string{"avgpool:2", "conv:4:2", "relu", "flatten", "dense"}, 2, SoftmaxCE)), "last:1", "avgpool:2", 0},
		{must(Read(Shape{Channels: 3}, []string{"dense:4", "relu", "dense:2", "bias"}, 2, SoftmaxCE)), "head", "dense:2", 2}, // and its bias
	} {
		s, err := c.spec.Trainable(c.what)
		if err != nil {
			t.Fatalf("%s, %q: %v", written(c.spec), c.what, err)
		}
		if s.frozen.layers != c.at || s.Layers[c.at].Text != c.first {
			t.Errorf("%s, %q: %d layers are frozen, before %s; want %d, before %s", written(c.spec), c.what, s.frozen.layers, s.Layers[s.frozen.layers].Text, c.at, c.first)
		}
		if c.what == "head" && s.Frozen() > 0 && c.spec.Head() != c.at {
			t.Errorf("%s: the head begins with layer %d, and not %d", written(c.spec), c.spec.Head(), c.at)
		}
		New(purego.New(), s, 1, 1)
		frozen := 0
		for i, l := range s.Layers {
			was := c.spec.Layers[i]
			if l.Parameters+l.Frozen != was.Parameters || (l.Frozen > 0) && i >= c.at || (l.Parameters > 0) && i < c.at || l.Floats > was.Floats {
				t.Errorf("%s, %q: layer %d trains %d, and not %d of %d", written(s), c.what, i+1, l.Parameters, l.Frozen, was.Parameters)
			}
			frozen += l.Frozen
		}
		if frozen != s.Frozen() || s.Params()+s.Frozen() != c.spec.Params() {
			t.Errorf("%s, %q: %d trained and %d frozen of %d", written(s), c.what, s.Params(), s.Frozen(), c.spec.Params())
		}
	}
	for _, c := range []struct {
		spec       Spec
		what, says string
	}{
		{mlp, "last:3", "there are 2 blocks"},
		{mlp, "last:0", "there are 2 blocks"},
		{mlp, "last:-1", "there are 2 blocks"},
		{mlp, "last:99999999999999999999", "there are 2 blocks"},
		{mlp, "last:", "there are 2 blocks"},
		{mlp, "Head", "names no part of a model; write all, head"},
		{mlp, "last", "names no part of a model; write all, head"},
		{chain(SoftmaxCE, "", 4, 3), "last:1", "there are 0 blocks"},
		{sequences[6], "last:2", "there are 1 blocks"},
	} {
		if _, err := c.spec.Trainable(c.what); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %q: %v, want …%s…", written(c.spec), c.what, err, c.says)
		}
	}
}

// TestFrozenLayersAreNotTrained: a model of which a part is trained has the outputs and losses of the whole one, to the
// bit, and each row's gradient is the whole one's by the parameters that are trained.
func TestFrozenLayersAreNotTrained(t *testing.T) {
	const n = 7
	for name, open := range computetest.Backends(t) {
		for _, spec := range partly {
			be := open()
			whole := spec
			whole.Layers = slices.Clone(spec.Layers)
			for i := range whole.frozen.layers {
				whole.Layers[i].Parameters = whole.Layers[i].Frozen
			}
			whole.params, whole.frozen = spec.params+spec.Frozen(), frozen{}
			b := randomBatch(rand.New(rand.NewPCG(7, 7)), spec, n)
			part, all := newModel(t, be, spec, n), newModel(t, be, whole, n)
			still := spec.Frozen()
			be.Write(all.All(), slices.Concat(read(t, be, part.Still(), still), read(t, be, part.All(), spec.Params())))
			for i := range n {
				one, other := measure(t, be, part, b, []int{0, 1, 2, 3, 4, 5, 6}, i)(), measure(t, be, all, b, []int{0, 1, 2, 3, 4, 5, 6}, i)()
				// The sums' two halves come tensor by tensor, those of the last ones last.
				other.gradient, other.norm = other.gradient[2*still:], one.norm
				if !one.equal(other) {
					t.Errorf("%s, %s: row %d has another gradient than in the whole model", name, written(spec), i)
				}
			}
			be.Close()
		}
	}
}

// TestFrozenLayersTakeNoMemoryForGradients: what a model makes on its backend is less than the whole one by no less than outlines
// say.
func TestFrozenLayersTakeNoMemoryForGradients(t *testing.T) {
	for _, spec := range partly {
		const n = 50
		held := func(s Spec) int {
			c := &counting{Backend: purego.New()}
			defer c.Close()
			New(c, s, n, 1)
			return c.values
		}
		whole := must(Read(spec.Input, texts(spec), spec.Outputs(), spec.Loss))
		less, said := held(whole)-held(spec), n*(whole.Floats(1)-spec.Floats(1))
		said -= n * int64(spec.Input.Len()) // that by the inputs is not made, and counted
		if int64(less) < said {
			t.Errorf("%s: %d values less than the whole model, and its outlines say %d", written(spec), less, said)
		}
	}
}

// counting counts the values that are asked for.
type counting struct {
	compute.Backend
	values int
}

func (c *counting) New(n int) compute.Buffer {
	c.values += n
	return c.Backend.New(n)
}

func texts(s Spec) []string {
	var all []string
	for _, l := range s.Layers {
		all = append(all, l.Text)
	}
	return all
}
