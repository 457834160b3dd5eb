package form

import (
	"maps"
	"testing"

	"clipscope/core/run"
)

// TestNumbersByNameAreReadBack, whatever the names are.
func TestNumbersByNameAreReadBack(t *testing.T) {
	for _, want := range []map[string]float64{
		{"spam": 5}, {"ham": 1, "spam": 5.5}, {"a b": 1e-3}, {"x: y; z": 2, `"`: 3, `\`: 1e6, " ": 4, "": 5, "ü": 0.25},
	} {
		var c run.Config
		text := Get(&run.Config{ClassWeights: want}, "class_weights")
		if err := Set(&c, "class_weights", text); err != nil || !maps.Equal(c.ClassWeights, want) {
			t.Errorf("%v is written %q and read %v, %v", want, text, c.ClassWeights, err)
		}
	}
	for text, want := range map[string]map[string]float64{"": nil, " spam:5 ;": {"spam": 5}, "no: 0,5; yes: 2": {"no": 0.5, "yes": 2}} {
		var c run.Config
		if err := Set(&c, "class_weights", text); err != nil || !maps.Equal(c.ClassWeights, want) {
			t.Errorf("%q is read %v, %v", text, c.ClassWeights, err)
		}
	}
	for _, bad := range []string{"spam", "spam 5", "spam: x", ": 5", "a: 1; a: 2", `"a: 1`, ";", "a: 1,b: 2"} {
		c := run.Config{ClassWeights: map[string]float64{"a": 1}}
		if err := Set(&c, "class_weights", bad); err == nil || c.ClassWeights["a"] != 1 {
			t.Errorf("%q is read %v", bad, c.ClassWeights)
		}
	}
}
