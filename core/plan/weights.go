package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/data"
)

// mostWeight bounds the weight of a class, either way.
const mostWeight = 1e6

// chooseWeights settles the weight of each class.
//
// Guarantee: weights are declared, and class names are public, so neither tells of the rows. A row's
// loss is multiplied before its gradient is clipped, so the sensitivity is that of the clipper.
func (d *draft) chooseWeights() error {
	c := &d.terms.Config
	if len(c.ClassWeights) == 0 {
		return nil
	}
	classes := d.terms.Meta.Classes
	switch {
	case d.terms.Meta.Task != data.Classification:
		return Fault("class_weights", "only data of which each row has one class has classes to weigh; leave them out")
	case len(classes) != d.terms.Meta.Outputs:
		return Fault("class_weights", "the data's classes have no names; leave the weights out")
	case d.terms.first.Source == clip.Bounded:
		return Fault("class_weights", "%s bounds gradients by the losses of the rows as they are; leave the weights out, or choose another method", c.Method)
	}
	weights := slices.Repeat([]float32{1}, len(classes))
	for _, name := range slices.Sorted(maps.Keys(c.ClassWeights)) {
		w, k := c.ClassWeights[name], slices.Index(classes, name)
		switch {
		case k < 0:
			return Fault("class_weights", "there is no class %q; there are %s", name, listed(classes))
		case !(w >= 1/mostWeight && w <= mostWeight):
			return Fault("class_weights", "a weight of %v for %q is not in %g … %g", w, name, 1/mostWeight, mostWeight)
		}
		weights[k] = float32(w)
	}
	d.terms.ClassWeights = weights
	return nil
}

// listed names the first few of names.
func listed(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " …"
	}
	return strings.Join(names, ", ")
}

// weightsInWords lists the weights of classes that were declared; "" where none were.
func (t *Terms) weightsInWords() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(t.Config.ClassWeights)) {
		parts = append(parts, fmt.Sprintf("%g for %q", t.Config.ClassWeights[name], name))
	}
	return strings.Join(parts, ", ")
}
