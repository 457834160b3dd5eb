package train

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"clipscope/core/plan"
	"clipscope/core/run"
)

// TestRunsOnFeaturesSaySo: what a backbone made is scaled by its length for nothing, the
// statement and the guarantee say what is assumed of it, and the model what it lacks.
func TestRunsOnFeaturesSaySo(t *testing.T) {
	for batch, says := range map[int]string{1: "run for every row alone", 16: "not proven"} {
		ds := small(t)
		ds.Bounds = nil
		ds.Backbone = &run.Backbone{SHA256: "c0ffee", Output: "pool5", Normalise: "imagenet", Batch: batch}
		p, err := plan.New(run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), Steps: 3, Model: run.Model{Kind: "softmax"}}, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		if p.Terms().Config.Scaling.Kind != "row" || p.Terms().Config.MaxGradNorm != 1.4 {
			t.Errorf("scaling %q, C = %v", p.Terms().Config.Scaling.Kind, p.Terms().Config.MaxGradNorm)
		}
		r := started(t, p.Terms().Config, ds)
		res := stated(t, r)
		var s run.Statement
		if err := json.Unmarshal(res.Statement, &s); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{s.Text, res.Guarantee} {
			for _, want := range []string{"c0ffee", `"pool5"`, "assumed not to have been trained on these rows", says} {
				if !strings.Contains(text, want) {
					t.Errorf("batch %d: no %q in %s", batch, want, text)
				}
			}
		}
		if !reflect.DeepEqual(s.Backbone, ds.Backbone) || !reflect.DeepEqual(res.Released.Apply.FeaturesOf, ds.Backbone) {
			t.Errorf("statement %+v, model %+v", s.Backbone, res.Released.Apply.FeaturesOf)
		}
	}
	ds := small(t)
	ds.Backbone = &run.Backbone{SHA256: "c0ffee", Output: "y", Column: "100% sure", Normalise: "none", Batch: 1}
	if res := stated(t, started(t, run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), Steps: 3, Model: run.Model{Kind: "softmax"}}, ds)); !strings.Contains(res.Guarantee, `from the text in its column "100% sure" (SHA-256 c0ffee, output "y")`) {
		t.Errorf("of texts it says %s", res.Guarantee)
	}
	ds = small(t)
	ds.Backbone = &run.Backbone{SHA256: "c0ffee", Output: "y", Column: "mail", Normalise: "none", Batch: 1, Tokenizer: "decaf"}
	if res := stated(t, started(t, run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), Steps: 3, Model: run.Model{Kind: "softmax"}}, ds)); !strings.Contains(res.Guarantee, `output "y"; its texts became tokens by the tokenizer with the SHA-256 decaf, as public). The backbone is public too.`) {
		t.Errorf("of tokens it says %s", res.Guarantee)
	}
	r := started(t, base("constant"), small(t))
	if res := stated(t, r); strings.Contains(res.Guarantee, "backbone") || res.Released.Apply.FeaturesOf != nil {
		t.Error("a run on rows speaks of a backbone")
	}
}
