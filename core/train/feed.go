package train

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
	"clipscope/core/input"
	"clipscope/core/privacy"
)

// feed brings rows of a data set and their targets onto the backend: scaled, projected or
// augmented as the terms say.
type feed struct {
	*workspace
	ds           *data.Dataset
	scale        *data.Scale
	targetScale  *data.TargetScale // nil: targets stay as they are
	pca          *input.Projection // nil: rows as they are
	pipe         *input.Pipe
	augmentation *augmentation // nil: rows as they are
	bytes        *byteRows     // nil: features are made on this side
	kept         *keptRows     // nil: every row goes through all layers

	x, targets compute.Buffer
	pulls      compute.Buffer // of smooth; none without label smoothing
	weights    compute.Buffer // of weighClasses; none without class weights
	keys       compute.Buffer // of dropKeys; none without dropout
	host       struct{ x, targets, pulls, weights, keys []float32 }
}

// open makes the memory that rows of a physical batch take, for a model that is there.
func (f *feed) open() {
	c := &f.terms.Config
	width := f.ds.TargetWidth()
	rows := f.capacity * c.Augmentation.Multiplicity
	f.augmentation = newAugmentation(&f.terms, f.capacity)
	f.x, f.targets = f.be.New(rows*f.terms.Inputs()), f.be.New(rows*width)
	f.host.targets = make([]float32, rows*width)
	if c.LabelSmoothing > 0 {
		f.pulls, f.host.pulls = f.be.New(rows*f.ds.Outputs), make([]float32, rows*f.ds.Outputs)
	}
	if f.terms.ClassWeights != nil {
		f.weights, f.host.weights = f.be.New(rows), make([]float32, rows)
	}
	if f.terms.Spec.Dropout > 0 {
		f.keys, f.host.keys = f.be.New(2*rows), make([]float32, 2*rows)
	}
	f.pipe = input.NewPipe(f.terms.Spec.Input, f.pca, f.terms.Longest())
	if f.bytes = f.newByteRows(rows); f.bytes == nil {
		f.host.x = make([]float32, rows*f.ds.Features)
	}
	f.kept = newKeptRows(f.workspace, &f.ds.Train, &f.ds.Test)
}

// checkTargets refuses labels beyond 0, no, and 1, yes: value clipping bounds their
// gradients by the loss, which holds between these.
func (f *feed) checkTargets() error {
	if f.ds.Task != data.MultiLabel {
		return nil
	}
	for i, y := range f.ds.Train.Y {
		if !(y >= 0 && y <= 1) {
			return fmt.Errorf("train: training row %d has a label of %v, and labels lie between 0 and 1", i/f.ds.Outputs+1, y)
		}
	}
	return nil
}

// beginViews seeds the random views of a step.
func (f *feed) beginViews(step int) {
	if f.augmentation != nil {
		f.augmentation.rng = rand.New(f.stream(privacy.Views, step))
	}
}

// load brings rows of a split and their targets onto the backend as they are.
func (f *feed) load(split *data.Split, rows []int) { f.write(split, rows, nil, 1) }

// loadViews brings training rows and their targets onto the backend as they are trained on,
// and returns how many views of each there are.
func (f *feed) loadViews(rows []int) (views int) {
	views = 1
	if f.augmentation != nil {
		views = f.terms.Config.Augmentation.Multiplicity
	}
	f.write(&f.ds.Train, rows, f.augmentation, views)
	return views
}

func (f *feed) write(split *data.Split, rows []int, as *augmentation, views int) {
	n, width := len(rows), f.ds.TargetWidth()
	t := f.host.targets[:views*n*width]
	split.Targets(t[:n*width], width, rows)
	f.targetScale.Scale(t[:n*width])
	for v := 1; v < views; v++ {
		copy(t[v*n*width:], t[:n*width])
	}
	f.be.Write(f.targets, t)
	if f.bytes != nil {
		f.bytes.load(f.be, split, rows, f.ds.Features, f.x)
		return
	}
	x := f.host.x[:views*n*f.ds.Features]
	f.scale.Rows(x[:n*f.ds.Features], split, rows)
	if as != nil {
		as.views(x, n)
	}
	f.pipe.Write(f.be, x, f.ds.Features, f.x)
}

// dropKeys brings the keys by which a step drops units of rows onto the backend, for each view of each row.
//
// Guarantee: a row's keys are drawn from the run's key, the step, the row's number and the view's alone:
// alike for all numbers, and independent of each other, of the data, of sampling and of noise. The
// clipping bound holds for any keys. With a row removed, those after it have other numbers, so other
// keys; as keys are secret and alike, what the run releases is distributed as if each kept its own.
func (f *feed) dropKeys(step int, rows []int, views int) compute.Buffer {
	if f.terms.Spec.Dropout == 0 {
		return compute.Buffer{}
	}
	keys := f.host.keys[:0]
	for v := range views {
		for _, row := range rows {
			a, b := dropKey(f.key, v, step, row)
			keys = append(keys, a, b)
		}
	}
	f.be.Write(f.keys, keys)
	return f.keys
}

// dropKey returns the keys of a view of a row, whole numbers below 2²⁴.
func dropKey(key privacy.Key, view, step, row int) (a, b float32) {
	k := key.Stream(privacy.Dropout, uint16(view), uint64(step)<<32|uint64(row)).Uint64()
	return float32(k >> 40), float32(k >> 16 & (1<<24 - 1))
}

// judge fills in what a forward pass says of n rows: losses and hits.
func (f *feed) judge(n int) {
	f.model.Losses(f.targets, f.report.losses)
	if f.ds.Task != data.Regression {
		kernel.Hits(f.be, f.ds.Task == data.MultiLabel, n, f.model.Outputs(), f.model.Predictions(), f.targets, f.report.hits)
	}
}

// adjust turns the gradients of the n rows just judged into those of the loss that is trained on: of
// smoothed targets, times the weight of the row's class.
func (f *feed) adjust(n, views int) {
	f.smooth(n, views)
	f.weighClasses(n, views)
}

// weighClasses multiplies the loss of each of n rows by the weight of its class.
//
// Guarantee: a row's factor follows from its own label and declared weights alone, and its gradient
// is clipped after it.
func (f *feed) weighClasses(n, views int) {
	if f.terms.ClassWeights == nil {
		return
	}
	w := f.host.weights[:views*n]
	for i := range w {
		w[i] = 1
		if k := int(f.host.targets[i]); k >= 0 && k < len(f.terms.ClassWeights) {
			w[i] = f.terms.ClassWeights[k]
		}
	}
	f.be.Write(f.weights, w)
	f.model.WeighLosses(f.weights)
}

// smooth turns the gradients of the n rows just judged into those by smoothed targets, (1−a)·t + a/k for
// one of k classes, (1−a)·t + a/2 for each of several labels: by the outputs they are a·(t − 1/k) more.
//
// Guarantee: what is added to a row's gradient depends on its own label alone, before it is clipped.
func (f *feed) smooth(n, views int) {
	a, k := f.terms.Config.LabelSmoothing, f.ds.Outputs
	if a == 0 {
		return
	}
	choices := k
	if f.ds.Task == data.MultiLabel {
		choices = 2
	}
	pulls := f.host.pulls[:views*n*k]
	for i := range pulls {
		t := 0.0
		switch {
		case f.ds.Task == data.MultiLabel:
			t = float64(f.host.targets[i])
		case f.host.targets[i/k] == float32(i%k):
			t = 1
		}
		pulls[i] = float32(a * (t - 1/float64(choices)) / float64(views))
	}
	f.be.Write(f.pulls, pulls)
	f.model.Smooth(f.pulls)
}

// writeStart gives the model the weights that the run starts from, if there are some. They answer in the
// data's units.
//
// Guarantee: weights are declared to be public, and the targets' bounds were declared or paid for.
func (f *feed) writeStart() {
	if given := f.terms.StartWeights; given != nil {
		still := f.model.Start(given, rand.New(f.stream(privacy.Init, 1)))
		if f.targetScale != nil && len(given) == f.terms.Spec.Total() {
			last := slices.Clone(given[len(given)-f.lastParameters():])
			f.targetScale.Unfold(f.lastLayer(last))
			f.be.Write(f.model.All().Slice(f.model.All().Len()-len(last), len(last)), last)
		}
		if f.frozen == nil && len(still) > 0 {
			f.frozen = still
			return
		}
	}
	if f.frozen != nil { // of a run that goes on
		f.be.Write(f.model.Still(), f.frozen)
	}
}

// lastParameters is the number of parameters of the last layer.
func (f *feed) lastParameters() int {
	return f.terms.Spec.Layers[len(f.terms.Spec.Layers)-1].Parameters
}

// lastLayer returns the weight and the bias of a dense last layer among parameters.
func (f *feed) lastLayer(parameters []float32) (weight, bias []float32) {
	k := f.ds.Outputs
	last := parameters[len(parameters)-f.lastParameters():]
	return last[:len(last)-k], last[len(last)-k:]
}

// unscale has parameters that were trained on scaled targets give answers in the
// data's units: the last layer is dense then, and its weight and bias are what comes last.
//
// Guarantee: that of the parameters and of the targets' bounds, from which it computes: in a
// run without noise there is none.
func (f *feed) unscale(parameters []float32) {
	if f.targetScale != nil {
		f.targetScale.Fold(f.lastLayer(parameters))
	}
}
