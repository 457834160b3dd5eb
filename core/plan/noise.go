package plan

import (
	"maps"
	"slices"
	"strings"

	"clipscope/core/privacy"
)

// Noise is a way to draw noise, as far as a plan goes: what it has a proof for, what it adds
// to the price, what memory it takes, and what is said of it. A value never changes. There
// is one file each; package train draws it, where it has a mechanism of the same name.
type Noise interface {
	// Discrete reports whether what is released is a whole number of some unit.
	Discrete() bool
	// settleTerms refuses what there is no proof for, in terms that are settled but for it, and
	// returns the noise that they get.
	settleTerms(t *Terms) (Noise, error)
	// ended returns e with the end of its noise of so many numbers, where it has one.
	ended(e privacy.Event, values int) privacy.Event
	// values returns how many of the n numbers in a step's noise have an end.
	values(n int) int
	// distance returns how far the noise of a step on so many parameters lies from what it is
	// priced with, in total variation.
	distance(parameters int) float64
	// exactly returns the noise whose distance is 0.
	exactly() Noise
	// memory returns what the noise takes beside what every run takes.
	memory() footprint
	// fixedReason returns why noise_multiplier cannot be changed while a run goes on; "" where it can.
	fixedReason() string
	// guarantee returns a sentence of the guarantee on what bits may tell.
	guarantee() string
}

// footprint is memory: copies of the parameters on the backend and on this side, and further
// numbers on the backend. wide says that sums are held in float64 from the start.
type footprint struct {
	copies, ours int
	numbers      int64
	wide         bool
}

// noises are filled by the init functions of the noises' files and only read afterwards.
var noises = map[string]Noise{}

// noiseOf returns the noise of a mode; where there is none of that name, Float, which is
// refused later, with the rest of what a method cannot have.
func noiseOf(mode string) Noise {
	if n, ok := noises[mode]; ok {
		return n
	}
	return Float{}
}

// NoiseModes returns the names of all noises, sorted.
func NoiseModes() []string { return slices.Sorted(maps.Keys(noises)) }

// Discrete reports whether noise_mode names a noise that is discrete.
func Discrete(mode string) bool { return noiseOf(mode).Discrete() }

// chooseMechanism refuses what the noise has no proof for.
func (d *draft) chooseMechanism() (err error) {
	mode := d.terms.Config.NoiseMode
	if _, ok := noises[mode]; !ok {
		return Fault("noise_mode", "there is no noise mode %q; choose %s", mode, strings.Join(NoiseModes(), " or "))
	}
	d.terms.Noise, err = d.terms.Noise.settleTerms(&d.terms)
	return err
}
