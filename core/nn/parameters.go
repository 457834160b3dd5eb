package nn

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Total is the number of parameters of the layers as they are listed, trained or not: those of a saved model.
func (s Spec) Total() (n int) {
	for _, l := range s.Layers {
		n += l.Own()
	}
	return n
}

// Own is the number of parameters of the layer as it is listed, trained or not.
func (o *Outline) Own() (n int) {
	for _, t := range o.Tensors {
		n += t.Len()
	}
	return n
}

// Start gives the model the parameters of a saved one, [Spec.Total] of them, tensor by tensor; where they end before those
// of the last layers, these stay as they are. Maps of low rank have an A that is drawn, and that stays as it is where it is
// trained. It returns what is not trained, in the order of Still.
func (m *Model) Start(given []float32, rng *rand.Rand) (still []float32) {
	rest, left, trained := given, m.still, m.params
	take := func(t Tensor, v []float32) {
		to := &trained
		if t.Still {
			to = &left
			if m.InPart() {
				still = append(still, v...)
			}
		}
		if v != nil {
			m.be.Write(to.Slice(0, len(v)), v)
		}
		*to = to.Slice(t.Len(), to.Len()-t.Len())
	}
	for _, l := range m.Layers {
		for _, t := range l.Tensors {
			if len(rest) == 0 {
				break
			}
			take(t, rest[:t.Len()])
			rest = rest[t.Len():]
		}
		for _, t := range l.LowRank {
			if t.Still {
				take(t, drawA(rng, t.Shape[0], t.Shape[1]))
			} else {
				take(t, nil)
			}
		}
	}
	if !m.InPart() {
		return given[:m.frozen.params]
	}
	return still
}

// Join returns the parameters of the layers as they are listed, [Spec.Total] of them, of those that are not trained and those
// that are. Products of maps of low rank are added to the weights that they stand beside.
func (s Spec) Join(still, trained []float32) []float32 {
	if !s.InPart() {
		return slices.Concat(still, trained)
	}
	all := make([]float32, 0, s.Total())
	take := func(t Tensor) []float32 {
		from := &trained
		if t.Still {
			from = &still
		}
		v := (*from)[:t.Len()]
		*from = (*from)[t.Len():]
		return v
	}
	for _, l := range s.Layers {
		at := len(all)
		for _, t := range l.Tensors {
			all = append(all, take(t)...)
		}
		for i := 0; i < len(l.LowRank); i += 2 {
			a, b := l.LowRank[i], l.LowRank[i+1]
			s.frozen.low.add(all[at:], strings.TrimSuffix(a.Name, ".lora_a"), a.Shape[0], take(a), take(b))
		}
	}
	return all
}

// add adds the product of a map's A [c×rank] and B [rank×c], times Alpha/Rank, to its columns of an attention's parameters.
func (l LowRank) add(attention []float32, target string, c int, a, b []float32) {
	first, wide := slices.Index(lowRankTargets, target)*c, 3*c
	if target == "dense" {
		attention, first, wide = attention[3*c*(c+1):], 0, c
	}
	for i := range c {
		for j := range c {
			sum := 0.0
			for k := range l.Rank {
				sum += float64(a[i*l.Rank+k]) * float64(b[k*c+j])
			}
			w := &attention[i*wide+first+j]
			*w = float32(float64(*w) + l.scale()*sum)
		}
	}
}
