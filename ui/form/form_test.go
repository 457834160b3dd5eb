package form

import (
	"math"
	"reflect"
	"testing"

	"clipscope/core/run"
)

// keys are all fields that a control stands for.
var keys = map[string]string{
	"data": "moons", "method": "psac", "weight": "auto-s", "threshold": "dc-e", "grouping": "per-layer", "accountant": "pld",
	"optimizer": "adam", "backend": "simd", "model.kind": "mlp", "model.activation": "tanh", "model.hidden": "128, 64",
	"scaling.kind": "declared", "scaling.lo": "-1", "scaling.hi": "255", "scaling.share": "0.2",
	"csv.delimiter": ";", "csv.header": "yes", "csv.label": "class", "csv.task": "regression", "csv.missing": "drop", "csv.test_share": "0.1",
	"csv.columns.a b": "ignored", "max_grad_norm": "0.5", "target_delta": "1e-6", "expected_batch_size": "600", "epochs": "2.5", "steps": "1000",
	"learning_rate": "0.001", "momentum": "0.9", "beta1": "0.8", "beta2": "0.99", "eps": "1e-9", "noise_mode": "secure", "iterate": "ema", "ema_decay": "0.9", "pca.components": "5", "pca.share": "0.2", "diagnostics_every": "10", "noise_multiplier": "0", "target_epsilon": "3",
	"max_physical_batch_size": "64", "seed": "42", "r": "0.1", "blind": "true",
}

func TestSetThenGet(t *testing.T) {
	for key, text := range keys {
		var c run.Config
		if err := Set(&c, key, text); err != nil {
			t.Errorf("%s = %q: %v", key, text, err)
			continue
		}
		if reflect.DeepEqual(c, run.Config{}) {
			t.Errorf("%s = %q changed nothing", key, text)
		}
		if got := Get(&c, key); got != text {
			t.Errorf("%s = %q came back as %q", key, text, got)
		}
		if err := Set(&c, key, ""); err != nil || Get(&c, key) != "" {
			t.Errorf("%s cannot be emptied: %q, %v", key, Get(&c, key), err)
		}
	}
}

func TestAnErrorChangesNothing(t *testing.T) {
	for _, c := range []struct{ key, text string }{
		{"max_grad_norm", "one"}, {"max_grad_norm", "NaN"}, {"target_epsilon", "inf"}, {"steps", "1.5"}, {"steps", "1e300"},
		{"model.hidden", "128, x"}, {"model.hidden", "0"}, {"seed", "-1"}, {"seed", "9007199254740993"}, {"r", "a"}, {"epochs", "1,000"}, {"blind", "perhaps"},
	} {
		cfg := run.Config{MaxGradNorm: 2, Steps: 7, Params: map[string]float64{"r": 0.5}, Model: run.Model{Hidden: []int{3}}}
		before := cfg
		if err := Set(&cfg, c.key, c.text); err == nil {
			t.Errorf("%s = %q was taken", c.key, c.text)
		}
		if !reflect.DeepEqual(cfg, before) {
			t.Errorf("%s = %q left %+v", c.key, c.text, cfg)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]float64{
		"0.1": 0.1, "0,1": 0.1, "−2": -2, "1e-5": 1e-5, "1e−5": 1e-5, "1 000": 1000, "12,34": 12.34, "0,125": 0.125,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1,000", "12,345,678", "-1,000", "Inf", "NaN", "0x", "1e999"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// Sets must not reach into a configuration that was handed out before.
func TestSetCopiesMaps(t *testing.T) {
	a := run.Config{Params: map[string]float64{"r": 1}, CSV: run.CSV{Columns: map[string]string{"a": "numeric"}}}
	b := a
	for key, text := range map[string]string{"r": "2", "csv.columns.a": "ignored"} {
		if err := Set(&b, key, text); err != nil {
			t.Fatal(err)
		}
	}
	KeepParams(&b, nil)
	if a.Params["r"] != 1 || a.CSV.Columns["a"] != "numeric" {
		t.Errorf("the earlier configuration became %+v", a)
	}
	if len(b.Params) != 0 {
		t.Errorf("parameters left: %v", b.Params)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0.1", "1e-5", "1,000", "−3", "", "∞", "0x1p-2", "1_000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := Parse(s)
		if err != nil {
			return
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%q was read as %v", s, v)
		}
		if back, err := Parse(Format(v)); err != nil || back != v {
			t.Fatalf("%v is written as %q, which is read as %v, %v", v, Format(v), back, err)
		}
	})
}
