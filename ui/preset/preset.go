// Package preset reads the prepared experiments that come with the page.
package preset

import (
	"encoding/json"

	"clipscope/assets"
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Preset is an experiment to start from.
type Preset struct {
	Name   string     `json:"name"`
	Title  string     `json:"title"`
	About  string     `json:"about"`
	Config run.Config `json:"config"`
}

// All reads the experiments that come with the page; the first is what a
// first visit sees.
func All() []Preset {
	var list []Preset
	if err := json.Unmarshal(assets.Presets, &list); err != nil {
		app.Log("ui: presets: ", err)
	}
	return list
}

// First returns the configuration of a visit without a link.
func First() run.Config {
	if list := All(); len(list) > 0 {
		return list[0].Config
	}
	return run.Config{}
}
