// Package clip turns per-sample gradient norms into factors, and released statistics into
// thresholds. It never sees a gradient.
//
// A clipping method is a point in a product of five small axes: where the norm
// comes from, what is grouped, the geometry it is measured in, the weight
// function, and the rule that moves the threshold. A named method is a row that
// picks one of each; one file registers it, and its controls and URL keys come
// from its own parameter list.
package clip

// Info describes a method: the page builds its controls, help and
// URL keys from it.
type Info struct {
	Name    string  `json:"name"`    // key in a config: "dc-e"
	Title   string  `json:"title"`   // "DC-SGD-E"
	Idea    string  `json:"idea"`    // two sentences
	Formula string  `json:"formula"` // plain text with Unicode
	When    string  `json:"when"`    // when it helps
	Paper   string  `json:"paper"`   // source
	Params  []Param `json:"params"`  // beyond max_grad_norm and noise_multiplier
	Private bool    `json:"private"` // false for the non-private baseline
}

// Param is a number that a method takes.
type Param struct {
	Name    string  `json:"name"` // key in a config: "r"
	Label   string  `json:"label"`
	Help    string  `json:"help"` // one sentence
	Default float64 `json:"default"`
	Min     float64 `json:"min"` // inclusive
	Max     float64 `json:"max"` // inclusive
	Integer bool    `json:"integer,omitempty"`
	Log     bool    `json:"log,omitempty"` // sensible steps are factors
}
