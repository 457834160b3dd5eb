package nn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// training names a part of layers' parameters, which is trained.
type training int

const (
	whole       training = iota
	biasesAlone          // what is added, while weights stand still
	lowRank              // maps beside those of attentions, which stand still as all else
	still                // nothing, and nothing comes back through them
)

// frozen says what of a model is not trained. Behind its frozen layers there may be some of which a part is trained, and
// behind these all is.
type frozen struct {
	parts, layers int // of which frozen layers are made, and those of them and in their blocks that are listed
	until, listed int // as these, with those behind them of which a part is trained
	between       training
	low           LowRank
	params        int // that are not trained
}

// Frozen is the number of parameters that are not trained.
func (s Spec) Frozen() int { return s.frozen.params }

// InPart reports whether biases or maps of low rank are trained, so that what stands still does not all come before them.
func (s Spec) InPart() bool { return s.frozen.between != whole }

// Before is the number of values that the frozen layers make of a row; 0 where there are none, or none that multiplies,
// so that nothing is gained by keeping what they make.
func (s Spec) Before() int {
	for _, l := range s.Layers[:s.frozen.layers] {
		if l.Products > 0 {
			return s.Layers[s.frozen.layers-1].Out.Len()
		}
	}
	return 0
}

// Head is the number, from 0, of the layer that the head begins with: the last one that is more than an activation, a norm,
// a bias or a mean, mostly the dense layer that answers. Layers from a skip to its add are one.
func (s Spec) Head() int {
	blocks, n := s.blocks(), 0
	for _, p := range s.placed[:blocks[len(blocks)-1]] {
		n += p.listed()
	}
	return n
}

// Trainable returns s with a part of its layers trained and those before them frozen: all; head, from [Spec.Head] on;
// last:K, the head with the K blocks before it; or biases, the head with the biases of all layers before it (BitFit, Zaken et
// al. 2022; DP-BiTFiT, Bu et al. 2024). A block begins with an attention, or where a model has none with a dense
// layer, a convolution, an embedding or an lstm; layers from a skip to its add stay together. Where no parameter stands
// before the part, all is trained. Its error says what is there to be trained.
//
// Guarantee: the gradients of a spec are those by the parameters that are trained, and of these alone. What is frozen
// gets neither a gradient nor noise, so that it has to count as public.
func (s Spec) Trainable(what string) (Spec, error) {
	blocks := s.blocks()
	head := blocks[len(blocks)-1]
	switch number, last := strings.CutPrefix(what, "last:"); {
	case what == "" || what == "all":
		return s, nil
	case what == "head":
		return s.freeze(head), nil
	case what == "biases":
		return s.between(head, biasesAlone)
	case !last:
		return s, fmt.Errorf("nn: %q names no part of a model; write all, head, biases, lora:8, or last:1 for the head and the block before it", clipped(what))
	default:
		k, err := strconv.Atoi(number)
		if err != nil || k < 1 || k > len(blocks)-1 {
			return s, fmt.Errorf("nn: %q names no part of this model: before its head there are %d blocks", clipped(what), len(blocks)-1)
		}
		return s.freeze(blocks[len(blocks)-1-k]), nil
	}
}

// blocks returns the number of the part that each block begins with, and at last that of the head.
func (s Spec) blocks() []int {
	begins := placed.maps
	if slices.ContainsFunc(s.placed, placed.attends) {
		begins = placed.attends
	}
	head := len(s.placed) - 1
	for head > 0 && !s.placed[head].maps() {
		head--
	}
	var all []int
	for i, p := range s.placed[:head] {
		if begins(p) {
			all = append(all, i)
		}
	}
	return append(all, head)
}

// freeze returns s with so many parts not trained; s itself where they have no parameters.
func (s Spec) freeze(parts int) Spec {
	s.frozen = frozen{parts: parts, until: parts}
	return s.parted()
}

// between returns s with a part of the layers before a head trained, and those frozen that come before any such.
func (s Spec) between(head int, how training) (Spec, error) {
	s.frozen.until, s.frozen.between = head, how
	trained := func(p placed) bool { return p.added(s.frozen.low) > 0 }
	if how == biasesAlone {
		trained = placed.biased
	}
	for s.frozen.parts < head && !trained(s.placed[s.frozen.parts]) {
		s.frozen.parts++
	}
	if s.frozen.parts == head {
		return s, fmt.Errorf("nn: before its head the model has no %s", map[training]string{biasesAlone: "biases", lowRank: "attention beside whose maps others could be trained"}[how])
	}
	return s.parted(), nil
}

// parted notes what is not trained in the outlines of layers; it returns s as it was where that is nothing.
func (s Spec) parted() Spec {
	before := s
	before.frozen = frozen{}
	f := &s.frozen
	for i, p := range s.placed[:f.until] {
		if f.listed += p.listed(); i < f.parts {
			f.layers = f.listed
		}
	}
	s.Layers = slices.Clone(s.Layers)
	for i := range f.listed {
		l := &s.Layers[i]
		how := f.between
		if i < f.layers {
			how = still
		}
		all := l.Parameters
		l.train(how, f.low)
		f.params += l.Frozen
		s.params += l.Parameters - all
	}
	if f.params == 0 {
		return before
	}
	return s
}

// train notes in an outline what of its layer is trained.
func (o *Outline) train(how training, low LowRank) {
	formed := o.Formed
	o.Parameters, o.Anew, o.Tensors = 0, nil, slices.Clone(o.Tensors)
	for i := range o.Tensors {
		t := &o.Tensors[i]
		if t.Still = how != biasesAlone || !strings.Contains(t.Name, "bias"); t.Still {
			o.Frozen += t.Len()
		} else {
			o.Parameters += t.Len()
		}
	}
	if how == lowRank {
		low.outline(o)
	}
	for _, t := range o.LowRank {
		if t.Still {
			o.Frozen += t.Len()
		} else {
			o.Parameters += t.Len()
		}
	}
	if o.Formed > 0 {
		o.Formed = int64(o.Parameters)
	}
	o.Back -= formed - o.Formed
	o.Floats -= formed - o.Formed
	if how == still {
		o.Floats -= o.Back
		o.Back = 0
	}
}

// listed returns how many layers of the list a part is.
func (p placed) listed() int {
	b, ok := p.layerSpec.(residualSpec)
	if !ok {
		return 1
	}
	n := 2 // skip and add
	for _, within := range b.layers {
		n += within.listed()
	}
	return n
}

// attends reports whether a part is an attention, or has one.
func (p placed) attends() bool {
	b, ok := p.layerSpec.(residualSpec)
	if !ok {
		_, ok = p.layerSpec.(attentionSpec)
		return ok
	}
	return slices.ContainsFunc(b.layers, placed.attends)
}

// biased reports whether a part has biases.
func (p placed) biased() bool {
	b, ok := p.layerSpec.(residualSpec)
	if ok {
		return !b.skip.bare || slices.ContainsFunc(b.layers, placed.biased)
	}
	o, _ := p.outline(p.in)
	return slices.ContainsFunc(o.Tensors, func(t Tensor) bool { return strings.Contains(t.Name, "bias") })
}

// maps reports whether a part is, or has, more than a change of what single places and units hold.
func (p placed) maps() bool {
	switch l := p.layerSpec.(type) {
	case denseSpec, convSpec, wsconvSpec, conv1dSpec, embeddingSpec, lstmSpec, attentionSpec:
		return true
	case residualSpec:
		return !l.skip.bare || slices.ContainsFunc(l.layers, placed.maps)
	}
	return false
}
