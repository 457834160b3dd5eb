package run

import (
	"cmp"
	"fmt"
)

// Place names the hardware that computes a run.
type Place struct {
	Backend string `json:"backend"`
	Threads int    `json:"threads"`
	Device  string `json:"device,omitempty"` // a GPU's name
	// Programs is the number of a GPU's programs that were compiled for it, and CompileSeconds
	// the time that it took.
	Programs       int    `json:"programs,omitempty"`
	CompileSeconds Number `json:"compile_seconds,omitempty"`
	// Why says how that was chosen, where there was a choice.
	Why string `json:"why,omitempty"`
	// Trying says that this is being found out, Compiling that a GPU's programs are.
	Trying    bool `json:"trying,omitempty"`
	Compiling bool `json:"compiling,omitempty"`
	// Instead is the back end that the run was to have, and has not.
	Instead string `json:"instead,omitempty"`
}

// backends are their names in words.
var backends = map[string]string{"simd": "SIMD", "webgpu": "WebGPU", "purego": "plain Go"}

// String is the place in words, without the reason.
func (p Place) String() string {
	s := cmp.Or(backends[p.Backend], p.Backend)
	if p.Device != "" {
		s += " on " + p.Device
	}
	if p.Instead != "" {
		s += " in the place of " + cmp.Or(backends[p.Instead], p.Instead)
	}
	if p.Threads > 1 {
		s += fmt.Sprintf(", %d threads", p.Threads)
	}
	return s
}
