package run

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestImageKeepsItsTransform reads how pictures are brought to a size beside either form of the size.
func TestImageKeepsItsTransform(t *testing.T) {
	for text, want := range map[string]Image{
		`{"size":8,"channels":1,"transform":"crop"}`: {Size: []int{8}, Channels: 1, Transform: TransformCrop},
		`{"size":[8,9],"transform":"stretch"}`:       {Size: []int{8, 9}, Transform: TransformStretch},
		`{"transform":"fit"}`:                        {Transform: TransformFit},
	} {
		var got Image
		if err := json.Unmarshal([]byte(text), &got); err != nil || !slices.Equal(got.Size, want.Size) || got.Channels != want.Channels || got.Transform != want.Transform {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
}
