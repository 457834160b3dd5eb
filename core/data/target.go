package data

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// TargetScale brings targets that are numbers to [−1, 1]. The gradient of a squared loss is as long as the
// error of the answer, so that with targets in thousands only directions would be learned. It is not changed once made; nil leaves targets as they are.
//
// Guarantee: it maps each target by itself, so it costs nothing beyond what its bounds do.
type TargetScale struct {
	bounds    []Bound
	mid, half []float64
}

// mostTarget is the largest magnitude of a target's bounds. Parameters, which are float32, have to
// become as large.
const mostTarget = 1e30

// leastRange is the least distance between a target's bounds: half of it is not 0.
const leastRange = 1 / mostTarget

// NewTargetScale maps the bounds of each target to −1 and 1, and clamps what lies outside.
func NewTargetScale(bounds []Bound) (*TargetScale, error) {
	if len(bounds) == 0 {
		return nil, errors.New("data: scaling: no bounds of targets")
	}
	s := &TargetScale{bounds: slices.Clone(bounds)}
	for i, b := range bounds {
		if !(b.Hi-b.Lo >= leastRange) || !(math.Abs(b.Lo) <= mostTarget) || !(math.Abs(b.Hi) <= mostTarget) {
			return nil, fmt.Errorf("data: scaling: bounds of target %d: want lo < hi within ±%g and at least %g apart, have %v and %v", i+1, mostTarget, leastRange, b.Lo, b.Hi)
		}
		s.mid, s.half = append(s.mid, (b.Lo+b.Hi)/2), append(s.half, (b.Hi-b.Lo)/2)
	}
	return s, nil
}

// Bounds returns the values that become −1 and 1, of each target; nil of a nil scale. They are not to be
// changed.
func (s *TargetScale) Bounds() []Bound {
	if s == nil {
		return nil
	}
	return s.bounds
}

// Scale scales the targets of rows, [rows×targets], where they stand.
func (s *TargetScale) Scale(y []float32) {
	if s == nil {
		return
	}
	for i, v := range y {
		j := i % len(s.mid)
		y[i] = float32(min(max((float64(v)-s.mid[j])/s.half[j], -1), 1))
	}
}

// Unscale converts a model's outputs, [rows×targets], to the targets' units, in place.
func (s *TargetScale) Unscale(z []float32) {
	if s == nil {
		return
	}
	for i, v := range z {
		j := i % len(s.mid)
		z[i] = float32(float64(v)*s.half[j] + s.mid[j])
	}
}

// Unfold is the inverse of Fold, but for rounding.
func (s *TargetScale) Unfold(weight, bias []float32) {
	if s == nil {
		return
	}
	for i, w := range weight {
		weight[i] = float32(float64(w) / s.half[i%len(s.half)])
	}
	for i, b := range bias {
		j := i % len(s.mid)
		bias[i] = float32((float64(b) - s.mid[j]) / s.half[j])
	}
}

// Fold applies Unscale to the parameters of the model's last layer, a dense one of weight
// [inputs×targets] and bias [targets], in place: its outputs are then in the targets' units.
func (s *TargetScale) Fold(weight, bias []float32) {
	if s == nil {
		return
	}
	for i, w := range weight {
		weight[i] = float32(float64(w) * s.half[i%len(s.half)])
	}
	s.Unscale(bias)
}
