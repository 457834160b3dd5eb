package ui

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

// Presets reads the experiments that come with the page; the first is what a
// first visit sees.
func Presets() []Preset {
	var list []Preset
	if err := json.Unmarshal(assets.Presets, &list); err != nil {
		app.Log("ui: presets: ", err)
	}
	return list
}

// FirstVisit is what one who comes without a link sees.
func FirstVisit() run.Config {
	if list := Presets(); len(list) > 0 {
		return list[0].Config
	}
	return run.Config{}
}
