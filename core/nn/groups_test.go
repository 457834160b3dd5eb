package nn

import (
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
)

// TestGroupsAreLayers: what per-layer clipping clips apart are the layers that have parameters, those in a residual block
// one by one, and the two maps of an attention or an LSTM together.
func TestGroupsAreLayers(t *testing.T) {
	for _, tt := range []struct {
		in     Shape
		layers string
		want   []int // the layer of each site
	}{
		{Shape{Channels: 4}, "dense:3 tanh dense", []int{0, 1}},
		{Shape{6, 6, 1}, "conv:4:3 groupnorm:2 skip:6:s2 relu conv:6:3:s2:p1 relu conv:6:3:p1 add globalpool dense", []int{0, 1, 2, 3, 4, 5}},
		{Shape{6, 6, 1}, "conv:4:3 skip relu conv:4:3:p1 add flatten dense", []int{0, 1, 2}},
		{Shape{Channels: 7}, "embedding:9:4 position skip layernorm attention:2 add lstm:3 last dense", []int{0, 1, 2, 3, 3, 4, 4, 5}},
	} {
		spec := must(Read(tt.in, strings.Fields(tt.layers), 2, SoftmaxCE))
		m := New(purego.New(), spec, 2, 1)
		if !slices.Equal(m.groups, tt.want) {
			t.Errorf("%s: the sites are of layers %v, want %v", tt.layers, m.groups, tt.want)
		}
		if n := spec.Groups(); n != tt.want[len(tt.want)-1]+1 {
			t.Errorf("%s: %d groups", tt.layers, n)
		}
	}
}
