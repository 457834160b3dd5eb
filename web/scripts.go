// Package web embeds the programs that apply a model without the page. They go with every
// model that is saved as an archive, so that the two fit.
package web

import _ "embed" // of the programs

//go:embed predict.mjs
var javaScript []byte

//go:embed predict.py
var python []byte

// Scripts are the programs by the names of their files. They are not to be changed.
func Scripts() map[string][]byte {
	return map[string][]byte{"predict.mjs": javaScript, "predict.py": python}
}
