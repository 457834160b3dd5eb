// Package assets embeds the prepared experiments. Beside them are the files that the page
// fetches: lessons, the papers' figures, and the icons that icons/main.go draws.
package assets

import _ "embed"

// Presets is a JSON array of {name, title, about, config}: experiments to start
// from. The first is what a first visit sees.
//
//go:embed presets.json
var Presets []byte
