package input

import (
	"slices"
	"testing"
)

// TestChannelsLastReordersPlanes: what stood in planes stands position by position.
func TestChannelsLastReordersPlanes(t *testing.T) {
	x := []float32{1, 2, 3, 4, 10, 20, 30, 40, 5, 6, 7, 8, 50, 60, 70, 80}
	channelsLast(make([]float32, 8), x, 2)
	if want := []float32{1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60, 7, 70, 8, 80}; !slices.Equal(x, want) {
		t.Errorf("%v, want %v", x, want)
	}
}
