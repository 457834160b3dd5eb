package form

import (
	"maps"
	"slices"

	"clipscope/core/clip"
	"clipscope/core/run"
)

// Declared are the parameters that the configuration's method takes.
func Declared(c *run.Config) []clip.Param {
	full := c.WithDefaults()
	params, err := clip.Declared(clip.Choice{Method: full.Method, Weight: full.Weight, Threshold: full.Threshold, Grouping: full.Grouping})
	if err != nil {
		return nil
	}
	return params
}

// Takes reports whether a key is a field, or a parameter that the method takes.
func Takes(c *run.Config, key string) bool {
	return row(key) >= 0 || slices.ContainsFunc(Declared(c), func(p clip.Param) bool { return p.Name == key })
}

// Understood leaves out of a configuration that came from elsewhere what the page
// has no such choice for, and parameters that the method does not take, and
// returns their names.
func Understood(c *run.Config) (dropped []string) {
	for _, f := range fields {
		if v := Get(c, f.Key); v == "" || len(f.Options) == 0 || f.Now != nil || Reads(f.Key) || f.Key == "data" && v == Files {
			continue
		} else if !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == v }) && Set(c, f.Key, "") == nil {
			dropped = append(dropped, f.Key)
		}
	}
	given := slices.Sorted(maps.Keys(c.Params))
	KeepParams(c)
	for _, name := range given {
		if _, ok := c.Params[name]; !ok {
			dropped = append(dropped, name)
		}
	}
	return dropped
}

// KeepParams drops the parameters that the method does not take.
func KeepParams(c *run.Config) {
	var kept map[string]float64
	for _, p := range Declared(c) {
		if v, ok := c.Params[p.Name]; ok {
			if kept == nil {
				kept = map[string]float64{}
			}
			kept[p.Name] = v
		}
	}
	c.Params = kept
}

// unbounded reports whether the method bounds no gradient, so that there is no
// threshold and no noise.
func unbounded(c *run.Config) bool {
	cl, err := clip.New(clip.Choice{Method: c.Method}, clip.Env{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 1, ExpectedBatchSize: 1, Dim: 1})
	return err == nil && cl.NonPrivate
}

// Rule is the threshold rule of a configuration, which has its defaults, to be
// asked what it is; nil where the configuration makes none.
func Rule(c *run.Config) clip.Rule {
	cl, err := clip.New(clip.Choice{Method: c.Method, Threshold: c.Threshold},
		clip.Env{MaxGradNorm: c.MaxGradNorm, NoiseMultiplier: 1, Steps: 10, ExpectedBatchSize: c.ExpectedBatchSize, Dim: 1, Params: clip.Params(c.Params)})
	if err != nil {
		return nil
	}
	return cl.Rule
}
