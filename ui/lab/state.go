// Package lab shows the laboratory, where clipping's bias and its noise's variance trade
// places. Everything on it is for teaching: its runs have a seed, and what it shows of
// gradients is diagnostic.
//
// One value, [state], holds everything that the page shows. Parts of the page (the files
// *_view.go) draw from a copy of it and send commands (commands.go). Only updates (update.go
// and the files *_update.go) change it.
package lab

import (
	"slices"
	"time"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
)

// state is everything that the page shows. Parts get a copy of it.
type state struct {
	config  run.Config // the experiment that everything on the page starts from
	with    []string   // methods in the U beside the experiment's own
	problem string     // the last error
	fault   string     // the error in what a lesson's step sets
	lost    string     // what of the last link was not understood, or could not be kept

	setup  setup
	bench  bench
	lanes  lanes
	sweep  sweep
	course course
	papers papers
	game   game
}

// setup is the state of the strip at the top.
type setup struct {
	draft *string // the seed while it is typed
	fault string  // the error in it
}

// Lab keeps the state of the laboratory and is the one place that changes it. It outlives the
// page that shows it. Everything in it happens on the page's one thread.
type Lab struct {
	state
	client  Client
	screens map[string]screen // by name, while they are mounted
	touched aspect            // what has changed since the screens were drawn

	remote        client.Lab  // the bench; nil until it is open
	cancel        func()      // cancels the opening of a bench; nil when there is none
	turn          int         // counts looks, so that answers about earlier ones are recognised
	asking, stale bool        // an At is under way, and C has moved since
	settling      func() bool // stops the timer that waits for the hand to rest

	laneQueue, sweepQueue queue
	facts                 map[string]run.Facts // of the built-in data asked for so far, by name

	// wanted is what a link asks for; the lesson opens once the lessons have come.
	wanted struct {
		lesson string
		step   int // from 1
	}
	linkC float64 // C of the last link until the range of the curves is known; 0: none
}

// aspect is a set of things on the page that are drawn anew together.
type aspect uint

const (
	thePage    aspect = 1 << iota // what the virtual DOM draws
	theHandles                    // where C stands
	theBatch                      // the batch's arrows in the plane
	thePlane                      // the means in the plane
	theU                          // the curves
	theRows                       // how much of each row clipping leaves, in the plane of the data
	theGround                     // what the model answers in the plane of the data
	theTexts                      // the sentences about C

	everything = theTexts<<1 - 1
	theBoards  = thePlane | theU | theTexts // with C where it was
)

// screen draws aspects of the state.
type screen func(s *state, what aspect)

// methods returns the methods in the U, the experiment's own first.
func (s *state) methods() []client.Method {
	all := []client.Method{{Name: s.config.Method, Params: s.config.Params}}
	for _, name := range s.with {
		if name != s.config.Method {
			all = append(all, client.Method{Name: name})
		}
	}
	return all
}

// planar reports whether the data has two features, and so can be drawn.
func (s *state) planar() bool {
	return slices.Contains([]string{"moons", "blobs", "spirals"}, s.config.Data)
}

// hash returns the state as the text of a link.
func (s *state) hash() string {
	b := &s.bench
	return link.Lab{Run: s.config, C: b.c, With: s.with, Step: b.step, Batch: b.batch, Linear: b.linear, Lanes: s.lanes.text(), Lesson: s.course.id(), LessonStep: s.course.step + 1}.Hash()
}

// predictFirst reports whether the person is to predict the sweep's result before seeing it.
func (s *state) predictFirst() bool {
	step := s.course.now()
	return s.sweep.predict || step != nil && step.Show == lesson.Sweep && step.Hide
}

// sweepHidden reports whether the sweep's curves are hidden until the person has predicted.
func (s *state) sweepHidden() bool { return s.predictFirst() && !s.sweep.shown }

// budget is the key of the choice of ε, for which the configuration has no single field.
const budget = "lab-epsilon"

// setBudget sets the noise by a choice of ε.
func setBudget(cfg *run.Config, text string) {
	cfg.NoPrivacy, cfg.NoiseMultiplier, cfg.TargetEpsilon = text == link.Unbounded, nil, nil
	if epsilon, err := form.Parse(text); err == nil && !cfg.NoPrivacy {
		cfg.TargetEpsilon = &epsilon
	}
}

// epsilonNow returns the choice of ε that is in force, "" where σ is set instead.
func epsilonNow(cfg *run.Config) string {
	if cfg.NoPrivacy {
		return link.Unbounded
	}
	if cfg.TargetEpsilon != nil {
		return form.Format(*cfg.TargetEpsilon)
	}
	return ""
}

// rest is the pause of a hand before the page is drawn anew and its address written: browsers
// limit the addresses a minute.
const rest = 400 * time.Millisecond
