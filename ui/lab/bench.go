package lab

import (
	"math"
	"slices"

	"clipscope/core/data/builtin"
	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// bench is the state of the plane and the U: the gradients of one batch, and what is set by
// hand beside them.
type bench struct {
	look    *client.Look // nil until a bench is open
	opening bool         // a bench is being opened
	void    bool         // the boards show another experiment: the bench failed, or is yet to open
	busy    string       // what the bench is doing, in words; "": it answers

	axis   axis
	norms  []float64 // the finite ones of the look, ascending
	c      float64
	noise  noise // as the sliders have it
	linear bool  // scale of the plane's radius
	places

	curves   []curve // of the methods, the experiment's own first
	estimate *run.EstimateReply
	at       *client.At
	method   client.Method // of at
	ground   app.Value     // the model's answers in the plane of the data; nil until they are known
	draws    *run.Draws
	drawnAt  noise
	drawnC   float64
	shown    int       // index of the draw shown, modulo their number
	path     []float64 // the thresholds of a run in the U
	pathOf   string    // the lane of that run; "" for the run trained on here
	epsilon  string    // of σ and B, in words
}

// curve is the curve of one method.
type curve struct {
	name string
	run.ClipReply
}

// places is the destination of a link: a step of the training run, and a batch.
type places struct {
	step  int // of the training run
	batch int // how many times another batch was taken since
}

// manyDraws is the number of draws that the noise's measured variance is taken over, and
// fewDraws the number that are shown one after the other.
const (
	fewDraws  = 8
	manyDraws = 100
)

// boundarySize is the number of points each way at which the model answers: as fine as can be
// told apart beside the rows.
const boundarySize = 64

// mostOfPath is the most dots of a path that can be told apart.
const mostOfPath = 100

// off reports whether the bench answers no commands now.
func (b *bench) off() bool { return b.look == nil || b.busy != "" }

// own returns the noise that the run's mechanism draws; the sliders only scale what is shown.
func own(look *client.Look) noise {
	return noise{float64(look.NoiseMultiplier), look.BatchSize, float64(look.Parameters)}
}

// title names the batch.
func (b *bench) title() string {
	switch {
	case b.void && b.busy != "":
		return b.busy
	case b.look == nil:
		return "Gradients"
	}
	return words.Plural(b.look.Rows, "gradient") + " at step " + words.Count(b.look.Step)
}

// before reports whether the model is yet to be trained as far as a lesson speaks of.
func (b *bench) before(step int) bool {
	return step > 0 && (b.look == nil || b.opening || b.look.Step < step)
}

// walk says where the path leads.
func (b *bench) walk() string {
	if len(b.path) == 0 {
		return ""
	}
	return words.Walk(b.pathOf, b.path[0], b.path[len(b.path)-1], b.clipped().Least)
}

// walked extends the path by the run's own threshold, where that has moved.
func (b *bench) walked(from, to float64) {
	if b.pathOf != "" || len(b.path) == 0 {
		if to == from {
			return
		}
		b.path, b.pathOf = []float64{from}, ""
	}
	b.path = thin(append(b.path, to), mostOfPath)
}

// trace makes the path that of a lane's run.
func (b *bench) trace(of string, thresholds []float64) {
	b.path, b.pathOf = thin(thresholds, mostOfPath), of
}

// clipped returns what is said of C.
func (b *bench) clipped() words.Clipped {
	w := words.Clipped{C: b.c}
	if b.look == nil || b.at == nil || len(b.curves) == 0 {
		return w
	}
	w.True = float64(b.look.TrueNorm)
	w.Along, w.Across, w.Bias2 = float64(b.at.Along), float64(b.at.Across), float64(b.at.Bias2)
	w.C = float64(b.at.MaxGradNorm)
	w.Variance = b.noise.variance(w.C)
	first := b.curves[0]
	w.Least, _ = least(first.MaxGradNorm, total(first.ClipReply, b.noise))
	return w
}

// facts calls note with each number that a lesson may ask for, by name.
func (b *bench) facts(note func(name string, value float64)) {
	typical := quantile(b.norms, 0.5)
	note("median_norm", typical)
	note("stretch", quantile(b.norms, 1)/typical)
	note("longest_left", min(1, b.c/quantile(b.norms, 1)))
	if all := b.look; all != nil && len(all.Largest) > 0 && len(all.Modules) > 0 {
		parts := all.Largest[0].Parts
		if at := slices.Index(parts, slices.Max(parts)); at >= 0 {
			note("longest_part", float64(at))
		}
	}
	if halved(b.norms, b.c) {
		note("half_c", typical)
	}
	all, long := frequent(b.look, quantile(b.norms, 15./16))
	note("rare_all", all)
	note("rare_long", long)
	w := b.clipped()
	if w.True > 0 {
		note("angle", words.Turn(w.Along, w.Across))
		note("bias", math.Sqrt(w.Bias2))
		note("noise", math.Sqrt(w.Variance)/w.True)
		note("best_c", w.Least)
	}
}

// halved reports whether C clips about half of a batch, give or take a tenth of it.
func halved(norms []float64, c float64) bool {
	return quantile(norms, 0.4) <= c && c <= quantile(norms, 0.6)
}

// frequent returns the share of the rare class in a batch, and among its gradients of length
// far or longer.
func frequent(look *client.Look, far float64) (all, long float64) {
	var of, few, longOf, longFew float64
	for i, n := range look.Norms {
		if i >= len(look.Labels) || math.IsNaN(n) {
			continue
		}
		of++
		if n >= far {
			longOf++
		}
		if look.Labels[i] == builtin.RareDigit {
			few++
			if n >= far {
				longFew++
			}
		}
	}
	return few / max(of, 1), longFew / max(longOf, 1)
}
