package lab

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// hands is what is moved by hand: the plane of a batch's gradients, and the U. What
// follows a hand goes to the boards past the virtual DOM; the page is drawn anew once the
// hand rests.
type hands struct {
	lab *Lab

	bench client.Lab // nil until it is open
	void  bool       // it could not be opened, or is yet to be: what the boards show is of another experiment
	busy  string     // what the bench is doing, in words; empty: it answers
	turn  int        // counts looks, so that an answer about an earlier one is known

	axis   axis
	norms  []float64 // of the look, the shortest first; those that are finite
	c      float64
	noise  noise // as the sliders have it
	linear bool  // the plane's radius is
	places

	curves   []curve // of the methods, the experiment's own first
	estimate *run.EstimateReply
	at       *client.At
	method   client.Method // that at is of
	asking   bool          // an At is under way
	stale    bool          // and C has moved since
	draws    *run.Draws
	drawnAt  noise
	drawnC   float64
	shown    int       // which of the draws
	run      []float64 // the thresholds of a run, to be drawn on the U
	of       string    // the lane that it is of; "" for the run that is trained on here

	plane, u, field app.Value // the boards, nil while none is shown
	settling        func() bool
	epsilon         string // that σ and B come to, in words
}

// curve is that of a method.
type curve struct {
	name string
	run.ClipReply
}

// places is how far the model was trained, and which batch is looked at: what a link holds.
type places struct {
	step  int // of the training run
	batch int // how many times another batch was taken since
}

// fewDraws are those that are shown one after the other, and manyDraws is of how many the noise's measured variance is taken.
const (
	fewDraws  = 8
	manyDraws = 100
)

func newHands(l *Lab) hands { return hands{lab: l, axis: firstAxis(), c: 1, run: []float64{}} }

// opened takes up a bench that looks at the first batch.
func (h *hands) opened(b client.Lab) {
	h.close()
	h.bench, h.busy, h.void = b, "", false
	h.axis, h.draws = firstAxis(), nil
	h.run, h.of = []float64{}, ""
	h.reset()
	h.looked()
}

// foresee has the picture go with a text that speaks of another experiment, before there is
// a bench for that: C moves at once where nothing else differs and the model is as at first,
// and where more does, what is shown of the experiment of before is taken away.
func (h *hands) foresee(from, to *run.Config) {
	if h.bench == nil {
		return
	}
	same := *from
	same.MaxGradNorm = to.MaxGradNorm
	if h.places != (places{}) || !reflect.DeepEqual(same, *to) {
		h.void = true
		return
	}
	h.c = h.axis.within(to.MaxGradNorm)
	h.moveBoards()
	h.ask()
}

// close gives up the bench; what is shown stays until there is another.
func (h *hands) close() {
	if h.bench != nil {
		h.bench.Close()
	}
	h.bench, h.asking, h.stale = nil, false, false
	h.turn++
}

// reset puts the sliders where the run is.
func (h *hands) reset() {
	h.noise, h.epsilon = h.own(), ""
}

// own is the noise of the run itself, which the mechanism draws: the sliders only scale
// what is shown.
func (h *hands) own() noise {
	look := h.bench.Look()
	return noise{float64(look.NoiseMultiplier), look.BatchSize, float64(look.Parameters)}
}

// looked begins anew from another look.
func (h *hands) looked() {
	h.turn++
	look, before := h.bench.Look(), h.norms
	h.norms = ordered(look.Norms)
	h.axis = h.axis.toward(quantile(h.norms, 0.5))
	h.c = h.axis.within(h.c)
	h.lab.address.stands(h.c)
	h.asking, h.stale = false, false
	// What C did to the very same gradients stays until there is an answer: without it they
	// would be drawn unclipped for some frames.
	if h.step != look.Step || !slices.Equal(h.norms, before) || !reflect.DeepEqual(h.method, h.lab.methods()[0]) {
		h.at = nil
	}
	h.step = look.Step
	if h.plane != nil {
		h.plane.Call("show", look.Arrays)
		h.paintPlane()
	}
	h.measure()
	h.draw(fewDraws)
	h.moveBoards()
	h.ask()
}

// measure asks for the curves; those of before are shown until they are there.
func (h *hands) measure() {
	cs, turn := h.axis.points(), h.turn
	methods := h.lab.methods()
	next, missing := make([]curve, len(methods)), len(methods)
	for i, m := range methods {
		h.bench.Curve(m, cs, func(c run.ClipReply, err error) {
			if turn != h.turn || h.fault(err) {
				return
			}
			next[i] = curve{m.Name, c}
			if missing--; missing == 0 {
				h.curves = next
				h.paint()
				h.note()
				h.lab.changed()
			}
		})
	}
	h.bench.Estimate(cs, func(c run.EstimateReply, err error) {
		if turn == h.turn && err == nil {
			h.estimate = &c
			h.paint()
		}
	})
	h.outline()
}

// outline asks for what is drawn in the plane of the data.
func (h *hands) outline() {
	turn := h.turn
	if h.field == nil || !h.lab.planar() {
		return
	}
	h.bench.Boundary(boundarySize, func(v app.Value, err error) {
		if turn == h.turn && err == nil && h.field != nil {
			h.field.Call("set", v, factors(h.at))
		}
	})
}

// boundarySize is how many points each way the model is asked about: as fine as can be
// told beside the rows.
const boundarySize = 64

// again measures anew, as other methods are chosen.
func (h *hands) again() {
	if h.bench == nil {
		return
	}
	h.turn++
	h.asking = false
	h.measure()
	h.ask()
}

// fault reports whether an error is one, and shows it.
func (h *hands) fault(err error) bool {
	if err != nil {
		h.lab.problem = err.Error()
		h.busy = ""
		h.lab.changed()
	}
	return err != nil
}

// moved is called when a hand has moved C.
func (h *hands) moved(c float64) {
	if !(c > 0) || math.IsInf(c, 1) {
		return
	}
	h.c = h.axis.within(form.Round(c, 3))
	h.moveBoards()
	h.ask()
	h.settle()
}

// ask asks what C does: one question at a time, the newest C next.
func (h *hands) ask() {
	if h.bench == nil {
		return
	}
	if h.asking {
		h.stale = true
		return
	}
	h.asking, h.stale = true, false
	turn, method := h.turn, h.lab.methods()[0]
	h.bench.At(method, h.c, func(a client.At, err error) {
		if turn != h.turn {
			return
		}
		h.asking = false
		if h.fault(err) {
			return
		}
		h.at, h.method = &a, method
		h.paintPlane()
		if h.field != nil {
			h.field.Call("clipped", a.Arrays)
		}
		h.say()
		h.note()
		if h.stale {
			h.ask()
		}
	})
}

// draw draws the noise n times.
func (h *hands) draw(n int) {
	c, now, turn := h.c, h.own(), h.turn
	h.bench.Draws(h.lab.methods()[0], c, n, func(d run.Draws, err error) {
		// A method whose noise cannot be drawn is no fault unless somebody asks for it.
		if turn != h.turn || n < manyDraws && err != nil || h.fault(err) {
			return
		}
		h.draws, h.drawnAt, h.drawnC = &d, now, c
		if w := h.clipped(); n >= manyDraws && w.True > 0 {
			h.lab.course.note("drawn", math.Sqrt(float64(d.MeanSquare))/w.True)
		}
		h.shown++
		h.paint()
		h.lab.changed()
		if n >= manyDraws && h.lab.course.now() != nil {
			h.lab.course.show() // which a phone has above what was pressed
		}
	})
}

// trainOn has the model trained so many steps on.
func (h *hands) trainOn(steps int) {
	if h.bench == nil {
		return
	}
	from, s := h.bench.Look().MaxGradNorm, h.lab.course.now()
	waited := s != nil && h.before(s.From)
	h.do(fmt.Sprintf("Training %s on …", words.Plural(steps, "step")), func(done func(error)) { h.bench.On(steps, done) }, func() { h.walked(from) }, func() {
		if waited && !h.before(s.From) {
			h.lab.course.show()
		}
	})
}

// before reports whether the model is yet to be trained as far as a lesson speaks of.
func (h *hands) before(step int) bool {
	return step > 0 && (h.bench == nil || h.lab.opening != nil || h.bench.Look().Step < step)
}

// walked adds to the path where the run's own threshold has gone since it was from; one
// that stands still has none.
func (h *hands) walked(from float64) {
	to := h.bench.Look().MaxGradNorm
	if h.of != "" || len(h.run) == 0 {
		if to == from {
			return
		}
		h.run, h.of = []float64{from}, ""
	}
	h.run = thin(append(h.run, to), mostOfPath)
}

func (h *hands) anotherBatch() {
	if h.bench != nil {
		h.do("Taking another batch …", h.bench.Again, func() { h.batch++ }, nil)
	}
}

func (h *hands) toStart() {
	if h.bench != nil {
		h.do("Going back …", h.bench.Back, func() { h.run, h.of = []float64{}, "" }, nil)
	}
}

// do has the bench do what ends with another look: before is called ahead of that, and
// after at the end; either may be nil.
func (h *hands) do(what string, f func(done func(error)), before, after func()) {
	if h.bench == nil || h.busy != "" {
		return
	}
	h.busy, h.lab.problem = what, ""
	h.lab.changed()
	bench := h.bench
	f(func(err error) {
		if bench != h.bench || h.fault(err) {
			return
		}
		h.busy = ""
		if before != nil {
			before()
		}
		h.looked()
		h.settle()
		h.lab.changed()
		if after != nil {
			after()
		}
	})
}

// path draws where the thresholds of a lane's run went through the U.
func (h *hands) path(of string, thresholds []float64) {
	h.run, h.of = thin(thresholds, mostOfPath), of
	h.paint()
}

// mostOfPath is how many dots of a path can be told from each other.
const mostOfPath = 100

// walk says where the path leads.
func (h *hands) walk() string {
	if len(h.run) == 0 {
		return ""
	}
	return words.Walk(h.of, h.run[0], h.run[len(h.run)-1], h.clipped().Least)
}

// thin are at most n of v, the first and the last among them, without what no axis has.
func thin(v []float64, n int) []float64 {
	out := []float64{}
	for i, x := range v {
		last := len(out) < n && (len(v) <= n || i == len(v)-1 || i*(n-1)/len(v) != (i-1)*(n-1)/len(v) || i == 0)
		if last && x > 0 && !math.IsInf(x, 1) {
			out = append(out, x)
		}
	}
	return out
}

// paint draws what is known now on both boards, and says it.
func (h *hands) paint() {
	show(h.u, h.uNow())
	h.paintPlane()
	h.say()
}

func (h *hands) paintPlane() { show(h.plane, h.planeNow(), factors(h.at)) }

func (h *hands) moveBoards() {
	for _, b := range []app.Value{h.plane, h.u} {
		if b != nil {
			b.Call("move", h.c, "C = "+words.Number(h.c, 3))
		}
	}
	if s := script(); s != nil {
		s.Call("slide", "lab-threshold", math.Log10(h.c), "C = "+words.Number(h.c, 3))
	}
}

// clipped is what is said of C.
func (h *hands) clipped() words.Clipped {
	w := words.Clipped{C: h.c}
	if h.bench == nil || h.at == nil || len(h.curves) == 0 {
		return w
	}
	w.True = float64(h.bench.Look().TrueNorm)
	w.Along, w.Across, w.Bias2 = float64(h.at.Along), float64(h.at.Across), float64(h.at.Bias2)
	w.C = float64(h.at.MaxGradNorm)
	w.Variance = h.noise.variance(w.C)
	first := h.curves[0]
	w.Least, _ = least(first.MaxGradNorm, total(first.ClipReply, h.noise))
	return w
}

// say writes what goes with C and the sliders.
func (h *hands) say() {
	s := script()
	if s == nil || h.bench == nil {
		return
	}
	sentence, advice, lengths, walk := "Say first what you expect: then this is shown.", "", "", ""
	if !h.lab.course.hidden() {
		w := h.clipped()
		sentence, advice, walk = w.String(), w.Advice(), h.walk()
		if h.at != nil {
			lengths = words.Lengths(float64(h.at.Clipped), quantile(h.norms, 0.5), quantile(h.norms, 1), math.Sqrt(w.Variance), w.Left())
		}
	}
	s.Call("say", "lab-lengths", lengths)
	s.Call("say", "lab-walk", walk)
	s.Call("say", "lab-sentence", sentence)
	s.Call("say", "lab-advice", advice)
	s.Call("say", "lab-sigma-now", words.Number(h.noise.sigma, 3)+h.epsilon)
	s.Call("say", "lab-batch-now", words.Number(h.noise.batch, 4))
	s.Call("say", "lab-width-now", words.Number(h.noise.dim, 3))
}

// note writes down for a lesson what is seen now; nothing while another experiment is
// being opened, as what is seen is not its.
func (h *hands) note() {
	if h.bench == nil || h.lab.opening != nil {
		return
	}
	note, look := h.lab.course.note, h.bench.Look()
	if s := h.lab.course.now(); s == nil || h.before(s.From) {
		return
	}
	typical := quantile(h.norms, 0.5)
	note("median_norm", typical)
	note("stretch", quantile(h.norms, 1)/typical)
	if halved(h.norms, h.c) {
		note("half_c", typical)
	}
	all, long := frequent(look, quantile(h.norms, 15./16))
	note("rare_all", all)
	note("rare_long", long)
	w := h.clipped()
	if w.True > 0 {
		note("angle", words.Turn(w.Along, w.Across))
		note("bias", math.Sqrt(w.Bias2))
		note("noise", math.Sqrt(w.Variance)/w.True)
		note("best_c", w.Least)
	}
}

// halved reports whether C clips about half of a batch: within a tenth of all.
func halved(norms []float64, c float64) bool {
	return quantile(norms, 0.4) <= c && c <= quantile(norms, 0.6)
}

// frequent are the shares of the rare class in a batch, and among those of it whose
// gradients are as long as far, or longer.
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
		if look.Labels[i] == data.RareDigit {
			few++
			if n >= far {
				longFew++
			}
		}
	}
	return few / max(of, 1), longFew / max(longOf, 1)
}

// adopt has the experiment's run clip at the C that the hand has found.
func (h *hands) adopt() {
	to := h.places
	h.lab.config.MaxGradNorm = h.c
	h.lab.open(to)
	h.lab.address.write()
}

// rest is how long a hand must rest before the page is drawn anew and its address written:
// browsers allow only so many addresses in a minute.
const rest = 400 * time.Millisecond

func (h *hands) settle() {
	if h.settling != nil {
		h.settling()
	}
	h.settling = browser.After(rest, func() {
		h.settling = nil
		h.lab.address.write()
		h.lab.changed()
	})
}

// slide is called when a slider of the noise has been moved.
func (h *hands) slide(set func(*noise)) {
	if h.bench == nil {
		return
	}
	set(&h.noise)
	h.epsilon = ""
	h.paint()
	h.settle()
}

// spent asks for the ε that the sliders' σ and B come to, once they rest.
func (h *hands) spent() {
	if h.bench == nil {
		return
	}
	cfg, now := h.lab.config, h.noise
	cfg.NoiseMultiplier, cfg.TargetEpsilon, cfg.ExpectedBatchSize = &now.sigma, nil, now.batch
	h.lab.client.Plan(cfg, nil, func(p run.PlanInfo, err error) {
		if err != nil || now != h.noise {
			return
		}
		h.epsilon = ", ε = " + words.Epsilon(float64(p.Epsilon))
		h.say()
	})
}

// script is the page's script that draws; nil where there is none.
func script() app.Value {
	if !app.IsClient {
		return nil
	}
	if s := app.Window().Get("clipscopeLab"); s.Truthy() {
		return s
	}
	return nil
}
