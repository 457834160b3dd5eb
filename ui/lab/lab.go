// Package lab is the laboratory: the page on which clipping's bias and its noise's
// variance are seen to trade places. Everything on it is for teaching: its runs have a
// seed, and what it shows of gradients is diagnostic.
//
// One value, [state], holds everything that the page shows. Parts of the page (the files
// *_view.go) draw from a copy of it and send commands (commands.go). Only updates (update.go
// and the files *_update.go) change it.
package lab

import (
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/client"
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
