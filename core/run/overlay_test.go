package run

import (
	"reflect"
	"testing"
)

func TestWithReplacesWhatItIsGiven(t *testing.T) {
	sigma, epsilon, seed := 2.0, 0.5, uint64(1<<53-1)
	base := Config{Data: "digits", Method: "psac", Params: map[string]float64{"r": 0.2}, NoiseMultiplier: &sigma, MaxGradNorm: 3, Epochs: 4, Seed: &seed,
		Model: Model{Kind: "mlp", Hidden: []int{8}}}
	for _, c := range []struct {
		set  map[string]any
		want func(*Config)
	}{
		{nil, func(*Config) {}},
		{map[string]any{"target_epsilon": 0.5}, func(c *Config) { c.NoiseMultiplier, c.TargetEpsilon = nil, &epsilon }},
		{map[string]any{"target_epsilon": 0.5, "noise_multiplier": nil}, func(c *Config) { c.NoiseMultiplier, c.TargetEpsilon = nil, &epsilon }},
		{map[string]any{"steps": 7.0}, func(c *Config) { c.Epochs, c.Steps = 0, 7 }},
		{map[string]any{"model": map[string]any{"kind": "softmax"}}, func(c *Config) { c.Model = Model{Kind: "softmax"} }},
		{map[string]any{"r": 0.3, "max_grad_norm": 10.0}, func(c *Config) { c.Params, c.MaxGradNorm = map[string]float64{"r": 0.3}, 10 }},
		{map[string]any{"r": nil, "method": nil}, func(c *Config) { c.Params, c.Method = nil, "" }},
	} {
		want := base
		c.want(&want)
		got, err := base.With(c.set)
		if len(got.Params) == 0 {
			got.Params = nil
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %+v, %v", c.set, got, err)
		}
	}
	if *base.NoiseMultiplier != 2 || base.Params["r"] != 0.2 || base.Epochs != 4 {
		t.Error("the configuration before was changed")
	}
	for _, set := range []map[string]any{{"max_grad_norm": "much"}, {"nothing_such": true}, {"model": 3}, {"epochs": func() {}}} {
		if _, err := base.With(set); err == nil {
			t.Errorf("%v is set", set)
		}
	}
}
