package plan

import (
	"fmt"
	"sort"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// MostMemory bounds the bytes of a WebAssembly program, the kernels or ours.
const MostMemory = 1 << 32

// What of that a physical batch may fill, and with what stays: the rest is for what the
// browser itself needs. A ResNet-18's tab as a whole stays below 2 GB.
const (
	batchRoom = 1 << 30
	wholeRoom = 2 << 30
)

// checkMemory refuses what cannot fit, before any of it is taken.
func (d *draft) checkMemory() error {
	backend, host := d.terms.Memory(d.terms.capacity())
	if need := max(backend, host); need > MostMemory {
		advice := "fewer or narrower layers"
		if d.terms.capacity() > 1 {
			advice += ", or a smaller max_physical_batch_size"
		}
		if d.terms.Config.Augmentation.Multiplicity > 1 {
			advice += ", or a smaller augmentation.multiplicity"
		}
		if d.terms.Spec.Input.IsPicture() {
			advice += ", or smaller pictures"
		}
		if d.terms.Spec.Vocabulary() > 0 {
			advice += fmt.Sprintf(", or fewer than the %d tokens of a row", d.terms.Spec.Input.Len())
		}
		if d.terms.Config.Start.SHA256 != "" {
			advice += ", or train a smaller part: start.trainable last:1 or head"
		}
		return Fault(modelField(d.terms.Config.Model), "such a run needs %s GB, more than a browser tab can hold (4 GB); take %s",
			run.UpText(float64(need)/(1<<30), 2), advice)
	}
	return nil
}

// Memory estimates the most bytes that a run holds at a time with physical batches of so
// many rows. On the backend: parameters and all that is as large, a physical batch on its way
// through the layers, and what the method asks for. On this side: the data, a physical batch,
// and at the end the parameters twice, once on their way to the page.
func (t *Terms) Memory(capacity int) (backend, host int64) {
	sums := 1 // in float32, and float64 from the second block on
	if t.Noise.memory().wide || t.Config.DiagnosticsEvery > 0 || t.first.Geometry != nil || t.first.Coordinates || t.Spec.Vocabulary() > 0 ||
		max(min(t.Likely(), t.Meta.TrainRows), t.Config.PublicRows.BatchSize) > min(capacity, compute.BlockRows) {
		sums = wideSums
	}
	return t.memory(capacity, sums)
}

// wideSums is the number of copies of the parameters that their sums take in float32 and float64.
const wideSums = 3

// memory is Memory with so many copies of the parameters for their sums.
func (t *Terms) memory(capacity, sums int) (backend, host int64) {
	backend, host = t.fixed(sums)
	backend += float * (int64(capacity+1)*t.width() + t.anew(capacity))
	if t.Meta.FeatureBytes == 1 {
		backend += int64((capacity+1)*t.Meta.Features + float*256)
	}
	if f := t.Meta.Features; t.Config.PCA.Components > 0 { // before there is a model
		backend = max(backend, float*int64(f*(5*f+t.Config.PCA.Components+capacity)))
	}
	if t.Kept() > 0 {
		host += float * int64(capacity*t.Spec.Before())
	}
	return backend, host + float*int64((1+t.Config.Augmentation.Multiplicity)*capacity*t.Meta.Features)
}

// float is the bytes of a value.
const float = 4

// fixed returns the bytes that are held whatever the physical batch, with so many copies of the
// parameters for their sums.
func (t *Terms) fixed(sums int) (backend, host int64) {
	noise := t.Noise.memory()
	copies, ours := 2+sums+map[string]int{"momentum": 1, "adam": 2, "adam-bc": 2}[t.Config.Optimizer], 2
	for _, part := range []struct {
		asked        bool
		copies, ours int
	}{
		{t.Config.Iterate != "last", 1, 0},
		{t.Config.DiagnosticsEvery > 0, 6, 4},
		{t.first.Geometry != nil, 6, 0},
		{true, noise.copies, noise.ours},
	} {
		if part.asked {
			copies, ours = copies+part.copies, ours+part.ours
		}
	}
	backend = float * (int64(copies)*int64(t.Spec.Params()) + t.squares() + kernel.TableSize + noise.numbers)
	host = float * int64(ours) * int64(t.Spec.Params())
	if still := float * int64(t.Spec.Frozen()); still > 0 { // as they were given, and in the result
		backend, host = backend+still, host+2*still+t.Kept()
		if t.Spec.InPart() { // and by themselves
			host += still
		}
	}
	for _, rows := range []int{t.Meta.TrainRows, t.Meta.TestRows, t.publicRows()} {
		host += int64(rows) * int64(t.Meta.FeatureBytes*t.Meta.Dense()+float*t.Meta.TargetWidth())
	}
	return backend, host
}

// mostKept bounds the bytes of what frozen layers make of all rows, where it is kept.
const mostKept = 1 << 30

// Kept returns the bytes that what frozen layers make of all rows takes, so that each goes through them once; 0
// where there are no such layers, more bytes than mostKept, other views of a row in each step, or more rows than float32
// has numbers for, by which a GPU finds them.
func (t *Terms) Kept() int64 {
	rows := max(t.Meta.TrainRows, t.Config.NumExamples*privacy.MostPerDeclared) + t.Meta.TestRows
	if n := float * int64(rows) * int64(t.Spec.Before()); n <= mostKept && rows <= 1<<24 && t.Config.Augmentation.Kind == "none" {
		return n
	}
	return 0
}

// width returns the number of values of a row that the layers hold.
func (t *Terms) width() int64 {
	// What stands there for the gradient by the inputs, which is not made, is that of
	// the inputs themselves.
	views := t.Config.Augmentation.Multiplicity
	width := t.Spec.Floats(views) + int64(views*t.Spec.Outputs())
	if t.Spec.Frozen() > 0 { // which have no gradient by the inputs
		width += int64(views * t.Inputs())
	}
	if t.Kept() > 0 {
		width += int64(t.Spec.Before())
	}
	if t.Config.LabelSmoothing > 0 {
		width += int64(views * t.Spec.Outputs())
	}
	if t.ClassWeights != nil {
		width += int64(views)
	}
	if t.Spec.Dropout > 0 {
		width += 2 * int64(views)
	}
	if t.Config.PCA.Components > 0 {
		width += int64(t.Meta.Features)
	}
	in := int64(t.Inputs())
	for _, o := range t.Spec.Layers {
		if out := int64(o.Out.Len()); o.Parameters > 0 {
			width += 12 // norms and losses
			switch d, formed := int64(o.Parameters), o.Formed > 0 || views > 1; {
			case t.first.Geometry != nil && formed:
				width += d
				for _, less := range t.Spec.AnewOf(&o) {
					width -= int64(less)
				}
			case (t.first.Geometry != nil || t.Config.DiagnosticsEvery > 0) && !formed:
				width += min(in+2*out, d)
			}
		}
		in = int64(o.Out.Len())
	}
	return width
}

// anew returns the number of values of gradients that are formed for some of so many rows at a time, and of what is
// made of them.
func (t *Terms) anew(capacity int) int64 {
	copies := int64(1)
	if t.Config.Augmentation.Multiplicity > 1 {
		copies++
	}
	if t.first.Geometry != nil {
		copies++
	}
	return copies * int64(t.Spec.Anew(capacity))
}

// FormedAnew returns terms by which gradients of large convolutions are formed anew for each question, so many values at a
// time, so that more rows go through the model at once ([nn.Spec.FormedAnew]).
func (t Terms) FormedAnew(values int64) Terms {
	t.Spec = t.Spec.FormedAnew(values)
	return t
}

// squares returns the number of values in matrices that are not parameters: those of
// bounds, where of a picture's layers the least side is not known here and their
// channels bound it, of what layers make of their parameters, and of PCA.
func (t *Terms) squares() (n int64) {
	if t.first.Source == clip.Bounded {
		in := int64(t.Inputs())
		for _, o := range t.Spec.Layers {
			if o.Parameters > 0 {
				side := min(in, int64(o.Out.Channels))
				n += 2 * side * side
			}
			in = int64(o.Out.Len())
		}
	}
	for _, o := range t.Spec.Layers {
		n += o.Once
	}
	return n + int64(t.Meta.Features*t.Config.PCA.Components)
}

// capacity returns the number of rows that go through the model at once in the memory of a tab.
func (t *Terms) capacity() int {
	held, _ := t.fixed(wideSums)
	fit := int(min(wholeRoom-held, batchRoom) / (float * t.width()))
	return max(1, min(t.mostAtOnce(), t.Config.MaxPhysicalBatchSize, fit))
}

// mostAtOnce returns the number of rows that go through the model at once where memory is no
// limit.
func (t *Terms) mostAtOnce() int {
	if t.first.Source == clip.OneAtATime {
		return 1
	}
	return max(1, min(t.asked, t.Likely(), max(t.Meta.TrainRows, t.Meta.TestRows)))
}

// Room estimates the most bytes that a run holds on a backend with memory of its own, with
// physical batches of so many rows.
func (t *Terms) Room(capacity int) int64 {
	backend, _ := t.memory(capacity, wideSums)
	return backend
}

// Resident returns the bytes that all rows, and the numbers of those that are asked for, take on a
// backend with memory of its own; 0 where rows are no bytes, or values are made of them on
// this side.
func (t *Terms) Resident() int64 {
	c := &t.Config
	if t.Meta.FeatureBytes != 1 || c.Augmentation.Kind != "none" || c.PCA.Components > 0 || t.Longest() > 0 {
		return 0
	}
	train := max(t.Meta.TrainRows, c.NumExamples*privacy.MostPerDeclared)
	return int64(train+t.Meta.TestRows+t.publicRows())*int64(t.Meta.Features) + float*int64(t.mostAtOnce()+3)
}

// CapacityIn returns the number of rows that go through the model at once on a backend with
// so many bytes of memory of its own: 0 where it has no room for one.
//
// Guarantee: that of the plan. Like Capacity, it is no function of a row.
func (t *Terms) CapacityIn(room int64) int {
	_, host := t.memory(t.Capacity, wideSums)
	most := max(host, wholeRoom)
	return sort.Search(t.mostAtOnce(), func(i int) bool {
		_, host := t.memory(i+1, wideSums)
		return t.Room(i+1) > room || host > most
	})
}
