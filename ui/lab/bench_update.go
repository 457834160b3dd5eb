package lab

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// open opens a bench for the present experiment, and goes to a place.
func (l *Lab) open(to places) {
	if l.cancel != nil {
		l.cancel()
	}
	l.problem, l.papers.shown = "", nil
	l.bench.busy, l.bench.opening = "Looking at the first batch …", true
	l.touched |= thePage
	cancelled := false
	cancel := func() {}
	l.cancel = func() {
		cancelled = true
		cancel()
	}
	opened := func(b client.Lab, err error) {
		switch {
		case cancelled && b != nil:
			b.Close()
		case cancelled || errors.Is(err, client.ErrAborted):
		default:
			l.update(thePage, func() {
				l.cancel, l.bench.opening = nil, false
				if l.failed(err) {
					l.closeBench()
					l.bench.void = true
					return
				}
				l.bench.places = places{}
				l.useBench(b)
				l.goTo(to)
			})
		}
	}
	l.client.Ready(func(err error) {
		if err != nil {
			opened(nil, err)
		} else if !cancelled {
			cancel = l.client.Lab(l.config, opened)
		}
	})
}

// useBench takes up an open bench, at the first batch.
func (l *Lab) useBench(remote client.Lab) {
	l.closeBench()
	b := &l.bench
	l.remote, b.busy, b.void = remote, "", false
	b.axis, b.draws = firstAxis(), nil
	b.path, b.pathOf = []float64{}, ""
	b.noise, b.epsilon = own(remote.Look()), ""
	l.looked()
}

// closeBench gives up the bench; the boards keep what they show until there is another.
func (l *Lab) closeBench() {
	if l.remote != nil {
		l.remote.Close()
	}
	l.remote, l.bench.look, l.asking, l.stale = nil, nil, false, false
	l.turn++
}

// foresee prepares the boards for another experiment before its bench is open: C moves at
// once where nothing else differs and the model is as at first; otherwise the boards of the
// experiment before are made void.
func (l *Lab) foresee(to *run.Config) {
	b := &l.bench
	if b.look == nil {
		return
	}
	same := l.config
	same.MaxGradNorm = to.MaxGradNorm
	if b.places != (places{}) || !reflect.DeepEqual(same, *to) {
		b.void = true
		return
	}
	b.c = b.axis.within(to.MaxGradNorm)
	l.touched |= theHandles
	l.ask()
}

// looked begins anew from another look.
func (l *Lab) looked() {
	l.turn++
	b, before := &l.bench, l.bench.norms
	look := *l.remote.Look()
	b.look, b.norms = &look, ordered(look.Norms)
	b.axis = b.axis.toward(quantile(b.norms, 0.5))
	b.c = b.axis.within(b.c)
	if l.linkC > 0 && l.linkC != b.c { // the range of the curves follows the gradients
		beyond := fmt.Sprintf("C = %s of this link lies beyond the curves: here it is %s, where they end.", words.Number(l.linkC, 3), words.Number(b.c, 3))
		l.lost = strings.TrimSpace(l.lost + " " + beyond)
	}
	l.linkC = 0
	l.asking, l.stale = false, false
	// What C did to the very same gradients stays until there is an answer: without it they
	// would be drawn unclipped for some frames.
	if b.step != look.Step || !slices.Equal(b.norms, before) || !reflect.DeepEqual(b.method, l.methods()[0]) {
		b.at = nil
	}
	b.step = look.Step
	l.touched |= theBatch | thePlane | theHandles
	l.measure()
	l.draw(fewDraws)
	l.ask()
}

// measure asks for the curves; the earlier ones are shown until they are there.
func (l *Lab) measure() {
	b, cs, turn := &l.bench, l.bench.axis.points(), l.turn
	methods := l.methods()
	next, missing := make([]curve, len(methods)), len(methods)
	for i, m := range methods {
		l.remote.Curve(m, cs, answer(l, 0, func(c run.ClipReply, err error) {
			if turn != l.turn || l.failed(err) {
				return
			}
			next[i] = curve{m.Name, c}
			if missing--; missing == 0 {
				b.curves = next
				l.touched |= thePage | theBoards
				l.noteBench()
			}
		}))
	}
	l.remote.Estimate(cs, answer(l, 0, func(c run.EstimateReply, err error) {
		if turn == l.turn && err == nil {
			b.estimate = &c
			l.touched |= theBoards
		}
	}))
	l.outline()
}

// outline asks for the model's answers in the plane of the data, where that is shown.
func (l *Lab) outline() {
	turn := l.turn
	if l.bench.ground = nil; l.screens["field"] == nil || !l.planar() {
		return
	}
	l.remote.Boundary(boundarySize, answer(l, 0, func(v app.Value, err error) {
		if turn == l.turn && err == nil {
			l.bench.ground = v
			l.touched |= theGround
		}
	}))
}

func (c moveC) apply(l *Lab) {
	if !(c.to > 0) || math.IsInf(c.to, 1) {
		return
	}
	l.bench.c = l.bench.axis.within(form.Round(c.to, 3))
	l.touched |= theHandles
	l.ask()
	l.settleHand()
}

// ask asks what C does: one question at a time, the newest C next.
func (l *Lab) ask() {
	if l.remote == nil {
		return
	}
	if l.asking {
		l.stale = true
		return
	}
	l.asking, l.stale = true, false
	turn, method := l.turn, l.methods()[0]
	l.remote.At(method, l.bench.c, answer(l, 0, func(a client.At, err error) {
		if turn != l.turn {
			return
		}
		l.asking = false
		if l.failed(err) {
			return
		}
		l.bench.at, l.bench.method = &a, method
		l.touched |= thePlane | theRows | theTexts
		l.noteBench()
		if l.stale {
			l.ask()
		}
	}))
}

// draw draws the noise n times.
func (l *Lab) draw(n int) {
	b, turn := &l.bench, l.turn
	c, now := b.c, own(b.look)
	l.remote.Draws(l.methods()[0], c, n, answer(l, 0, func(d run.Draws, err error) {
		// A method whose noise cannot be drawn is no fault unless somebody asks for it.
		if turn != l.turn || n < manyDraws && err != nil || l.failed(err) {
			return
		}
		b.draws, b.drawnAt, b.drawnC = &d, now, c
		if w := b.clipped(); n >= manyDraws && w.True > 0 {
			l.note("drawn", math.Sqrt(float64(d.MeanSquare))/w.True)
		}
		b.shown++
		l.touched |= thePage | theBoards
		if n >= manyDraws && l.course.now() != nil {
			l.showStep() // on a phone it is above the button
		}
	}))
}

func (drawNoise) apply(l *Lab) {
	if !l.bench.off() {
		l.draw(manyDraws)
	}
}

func (c trainOn) apply(l *Lab) {
	if l.remote == nil {
		return
	}
	from, s := l.bench.look.MaxGradNorm, l.course.now()
	waited := s != nil && l.bench.before(s.From)
	on := func(b client.Lab, done func(error)) { b.On(c.steps, done) }
	l.move(fmt.Sprintf("Training %s on …", words.Plural(c.steps, "step")), on, func() { l.bench.walked(from, l.remote.Look().MaxGradNorm) }, func() {
		if waited && !l.bench.before(s.From) {
			l.showStep()
		}
	})
}

func (c nextBatch) apply(l *Lab) {
	l.move("Taking another batch …", client.Lab.Again, func() { l.bench.batch++ }, c.after)
}

func (backStart) apply(l *Lab) {
	l.move("Going back …", client.Lab.Back, func() { l.bench.path, l.bench.pathOf = []float64{}, "" }, nil)
}

// goTo trains to where a link leads, and takes as many other batches.
func (l *Lab) goTo(to places) {
	if on := func(b client.Lab, done func(error)) { b.On(to.step, done) }; to.step > 0 {
		l.move(fmt.Sprintf("Training to step %d …", to.step), on, nil, func() { l.goTo(places{batch: to.batch}) })
	} else if l.bench.batch < to.batch {
		nextBatch{func() { l.goTo(to) }}.apply(l)
	}
}

// move has the bench go to another look by f. It calls before ahead of the look, and after at
// the end; either may be nil.
func (l *Lab) move(what string, f func(b client.Lab, done func(error)), before, after func()) {
	if l.bench.off() {
		return
	}
	l.bench.busy, l.problem = what, ""
	l.touched |= thePage
	remote := l.remote
	f(remote, func(err error) {
		l.update(0, func() {
			if remote != l.remote || l.failed(err) {
				return
			}
			l.bench.busy = ""
			if before != nil {
				before()
			}
			l.looked()
			l.settleHand()
			l.touched |= thePage
			if after != nil {
				after()
			}
		})
	})
}

func (c trace) apply(l *Lab) {
	if one := l.lanes.find(c.label); one != nil && len(one.runs) > 0 {
		l.bench.trace(c.label, one.runs[0].walk())
		l.touched |= theBoards
		browser.Scroll("hands")
	}
}

// noteBench notes for a lesson what is seen now; nothing while another experiment is being
// opened, as what is seen is not its.
func (l *Lab) noteBench() {
	if l.remote == nil || l.bench.opening {
		return
	}
	if s := l.course.now(); s != nil && !l.bench.before(s.From) {
		l.bench.facts(l.note)
	}
}

func (adopt) apply(l *Lab) {
	to := l.bench.places
	l.config.MaxGradNorm = l.bench.c
	l.open(to)
	l.writeHash()
}

func (c scale) apply(l *Lab) {
	l.bench.linear = c.linear
	l.touched |= thePlane
	l.writeHash()
}

// settleHand draws the page and writes its address once the hand has rested.
func (l *Lab) settleHand() {
	if l.settling != nil {
		l.settling()
	}
	l.settling = browser.After(rest, func() {
		l.update(thePage, func() {
			l.settling = nil
			l.writeHash()
		})
	})
}

func (c slide) apply(l *Lab) {
	if l.remote == nil {
		return
	}
	*l.bench.noise.of(c.knob) = c.to
	l.bench.epsilon = ""
	l.touched |= theBoards
	l.settleHand()
}

func (price) apply(l *Lab) {
	if l.remote == nil {
		return
	}
	cfg, now := l.config, l.bench.noise
	cfg.NoiseMultiplier, cfg.TargetEpsilon, cfg.ExpectedBatchSize = &now.sigma, nil, now.batch
	l.client.Plan(cfg, nil, answer(l, 0, func(p run.PlanInfo, err error) {
		if err == nil && now == l.bench.noise {
			l.bench.epsilon = ", ε = " + words.Epsilon(float64(p.Epsilon))
			l.touched |= theTexts
		}
	}))
}
