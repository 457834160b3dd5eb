package ui

import (
	"encoding/json"

	"clipscope/assets"
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// preset is an experiment to start from.
type preset struct {
	Name   string     `json:"name"`
	Title  string     `json:"title"`
	About  string     `json:"about"`
	Config run.Config `json:"config"`
}

// presets reads the experiments that come with the page; the first is what a
// first visit sees.
func presets() []preset {
	var list []preset
	if err := json.Unmarshal(assets.Presets, &list); err != nil {
		app.Log("ui: presets: ", err)
	}
	return list
}

func firstVisit() run.Config {
	if list := presets(); len(list) > 0 {
		return list[0].Config
	}
	return run.Config{}
}
