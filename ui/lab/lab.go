// Package lab is the laboratory: the page on which clipping's bias and its noise's
// variance are seen to trade places. Everything on it is for teaching: its runs have a
// seed, and what it shows of gradients is diagnostic.
package lab

import (
	"clipscope/core/run"
	"clipscope/ui/client"
)

// Client is the laboratory's way to the trainer.
type Client interface {
	Ready(func(error))
	Train(cfg run.Config, d client.Handle, paused bool, started func(client.Run, error))
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
}

// New makes a laboratory with the drawn digits, on which a run takes a second.
func New(c Client) *Lab {
	l := &Lab{client: c, changed: func() {}, config: first()}
	l.hands.lab, l.lanes.lab = l, l
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
