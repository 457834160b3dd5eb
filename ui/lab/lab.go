// Package lab shows the laboratory, where clipping's bias and its noise's variance trade
// places. Everything on it is for teaching: its runs have a seed, and what it shows of
// gradients is diagnostic.
package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/words"
)

// Client is the laboratory's way to the trainer.
type Client interface {
	Ready(func(error))
	Open(source any, csv run.CSV, progress func(data.Progress), done func(client.Opened, error)) (cancel func())
	Plan(cfg run.Config, d client.Handle, done func(run.PlanInfo, error))
	Train(cfg run.Config, d client.Handle, paused bool, started func(client.Run, error))
	// Lab looks at the model of a configuration on a batch, and returns what cancels that.
	Lab(cfg run.Config, done func(client.Lab, error)) func()
	// Text fetches a file of this site.
	Text(url string, done func([]byte, error))
	Ask(function string, request any, done func([]byte, error)) (cancel func())
}

// Lab is what is being tried. It outlives the page that shows it. Everything in it
// happens on the page's one thread.
type Lab struct {
	client  Client
	changed func()

	// config is the experiment that everything on the page starts from.
	config  run.Config
	with    []string             // methods that the U shows beside the experiment's own
	problem string               // what went wrong last
	opening func()               // cancels what opens a bench; nil when nothing does
	facts   map[string]run.Facts // of built-in data that was asked for, by its name

	setup   setup
	address address
	hands   hands
	lanes   lanes
	sweep   sweep
	course  course
	papers  papers
	game    game
	wanted  wanted
	fault   string // of what a lesson sets
}

// wanted is the lesson that a link asks for, and its step from 1; until the lessons have come
// nobody knows whether there is one.
type wanted struct {
	lesson string
	step   int
}

// New makes a laboratory with the drawn digits, on which a run takes a second.
func New(c Client) *Lab {
	l := &Lab{client: c, changed: func() {}, config: link.First(), facts: map[string]run.Facts{}}
	l.hands = newHands(l)
	l.lanes, l.sweep = newLanes(l), newSweep(l)
	l.setup.lab, l.address.lab, l.course.lab, l.papers.lab = l, l, l, l
	return l
}

// methods are those that the U shows, the experiment's own first.
func (l *Lab) methods() []client.Method {
	all := []client.Method{{Name: l.config.Method, Params: l.config.Params}}
	for _, name := range l.with {
		if name != l.config.Method {
			all = append(all, client.Method{Name: name})
		}
	}
	return all
}

// planar reports whether the data has two features, and can be drawn.
func (l *Lab) planar() bool {
	return slices.Contains([]string{"moons", "blobs", "spirals"}, l.config.Data)
}

// open has a bench look at the experiment as it is now, and go to a place.
func (l *Lab) open(to places) {
	l.stop()
	l.problem, l.papers.shown = "", nil
	l.hands.busy = "Looking at the first batch …"
	l.changed()
	cancelled := false
	cancel := func() {}
	l.opening = func() {
		cancelled = true
		cancel()
	}
	opened := func(b client.Lab, err error) {
		switch {
		case cancelled && b != nil:
			b.Close()
		case cancelled || errors.Is(err, client.ErrAborted):
		case l.hands.fault(err):
			l.opening = nil
			l.hands.close()
			l.hands.void = true
		default:
			l.opening = nil
			l.hands.places = places{}
			l.hands.opened(b)
			l.changed()
			l.goTo(to)
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

// follow goes to where the address says; the first time also without one.
func (l *Lab) follow() {
	to, ok := l.address.read(browser.Hash())
	if ok || l.hands.bench == nil && l.opening == nil {
		l.open(to)
	}
	if l.wanted.lesson != "" && l.course.list != nil {
		l.course.open(l.wanted.lesson, l.wanted.step)
	}
	if !ok && l.wanted.lesson == "" {
		l.address.write()
	}
}

// stop calls off what opens a bench.
func (l *Lab) stop() {
	if l.opening != nil {
		l.opening()
		l.opening = nil
	}
}

// goTo trains on to where a link says, and takes as many other batches.
func (l *Lab) goTo(to places) {
	h := &l.hands
	var again func()
	again = func() {
		if h.batch < to.batch {
			h.do("Taking another batch …", h.bench.Again, func() { h.batch++ }, again)
		}
	}
	if to.step == 0 {
		again()
		return
	}
	h.do("Training to where the link says …", func(done func(error)) { h.bench.On(to.step, done) }, nil, again)
}

// opened sets the page to what a lesson's step sets; nothing where it sets nothing, or
// where the lesson has been left.
func (l *Lab) opened(set map[string]any) {
	l.fault = ""
	own := configured(set)
	cfg, err := l.config.With(own)
	if err != nil {
		l.fault = err.Error()
		return
	}
	if len(own) > 0 {
		l.hands.foresee(&l.config, &cfg)
		l.config, l.hands.c = cfg, cfg.MaxGradNorm
		l.open(places{})
	}
	l.hands.note()
	l.hands.paint()
	l.sweep.again()
	if text, sets := set["lanes"].(string); sets {
		if err := l.lanes.restore(text); err != nil {
			l.fault = err.Error()
		}
	}
	if noise, sets := set["game"].(float64); sets {
		l.play(noise)
	}
}

// play begins the game, and finds out what its release would cost.
func (l *Lab) play(noise float64) {
	l.game.begin(noise)
	const delta = 1e-5 // as everywhere on the page at first
	l.client.Ask("epsilon", map[string]any{"noise_multiplier": noise, "sample_rate": 1, "steps": 1, "target_delta": delta}, func(b []byte, err error) {
		var epsilon run.Number
		if err != nil || json.Unmarshal(b, &epsilon) != nil || l.game.noise != noise {
			return
		}
		l.game.epsilon = fmt.Sprintf(": one such release has ε = %s at δ = 1e−5", words.Epsilon(float64(epsilon)))
		l.changed()
	})
}

// reproduce sets the page to a figure of a paper, and starts its runs.
func (l *Lab) reproduce(f *lesson.Figure) {
	l.config = f.Base
	if f.Base.Seed == nil {
		l.config.Seed = link.First().Seed
	}
	l.open(places{})
	if len(f.Lanes) == 0 {
		l.papers.shown = f
		browser.Scroll("lab-claim")
		return
	}
	l.lanes.compare(l.config, f.Lanes, f.Watch)
	l.lanes.about = f
}
