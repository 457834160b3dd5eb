// Package lab is the laboratory: the page on which clipping's bias and its noise's
// variance are seen to trade places. Everything on it is for teaching: its runs have a
// seed, and what it shows of gradients is diagnostic.
package lab

import (
	"encoding/json"
	"fmt"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/lesson"
	"clipscope/ui/words"
)

// Client is the laboratory's way to the trainer.
type Client interface {
	Ready(func(error))
	Train(cfg run.Config, d client.Handle, paused bool, started func(client.Run, error))
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
	config run.Config
	hands  hands
	lanes  lanes
	course course
	papers papers
	game   game
	wanted string // a lesson that a link asks for, until the lessons have come
	fault  string // of what a lesson sets
}

// New makes a laboratory with the drawn digits, on which a run takes a second.
func New(c Client) *Lab {
	l := &Lab{client: c, changed: func() {}, config: first()}
	l.hands.lab, l.lanes.lab, l.course.lab, l.papers.lab = l, l, l, l
	return l
}

// first is the experiment on the page at first: the drawn digits, on which the best C is
// known (docs/reproductions.md).
func first() run.Config {
	epsilon, seed := 2.0, uint64(1)
	return run.Config{
		Data: "digits", Model: run.Model{Kind: "softmax"}, Method: "constant", MaxGradNorm: 1,
		TargetEpsilon: &epsilon, ExpectedBatchSize: 512, Epochs: 20, LearningRate: 0.3, Seed: &seed,
	}
}

// opened sets the page to what a lesson's step is about; nil: the lesson has been left.
func (l *Lab) opened(s *lesson.Step) {
	l.fault = ""
	if s == nil {
		return
	}
	cfg, err := l.config.With(configured(s.Set))
	if err != nil {
		l.fault = err.Error()
		return
	}
	l.config = cfg
	if noise, sets := s.Set["game"].(float64); sets {
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
	l.changed()
}
