package nn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// frozen counts the layers at the start of a model that are not trained.
type frozen struct {
	parts, layers int // of which layers are made, and those of them and in their blocks that are listed
	params        int
}

// Frozen is the number of parameters that are not trained, which come before all others.
func (s Spec) Frozen() int { return s.frozen.params }

// Before is the number of values that the frozen layers make of a row; 0 where there are none.
func (s Spec) Before() int {
	if s.frozen.layers == 0 {
		return 0
	}
	return s.Layers[s.frozen.layers-1].Out.Len()
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

// Trainable returns s with a part of its layers trained and those before them frozen: all; head, from [Spec.Head] on; or
// last:K, the head with the K blocks before it. A block begins with an attention, or where a model has none with a dense
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
	case !last:
		return s, fmt.Errorf("nn: %q names no part of a model; write all, head, or last:1 for the head and the block before it", clipped(what))
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
	whole := s
	s.frozen = frozen{parts: parts}
	for _, p := range s.placed[:parts] {
		s.frozen.layers += p.listed()
	}
	s.Layers = slices.Clone(s.Layers)
	for i := range s.frozen.layers {
		l := &s.Layers[i]
		l.Floats -= l.Back
		l.Back, l.Formed, l.Frozen, l.Parameters = 0, 0, l.Parameters, 0
		s.frozen.params += l.Frozen
		s.params -= l.Frozen
	}
	if s.frozen.params == 0 {
		return whole
	}
	return s
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
