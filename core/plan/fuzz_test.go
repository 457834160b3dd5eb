package plan

import (
	"errors"
	"math"
	"slices"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/run"
)

// FuzzPlan holds that every configuration is planned or refused at a field, and
// that what a plan derives from it is bounded, whatever it is derived from.
func FuzzPlan(f *testing.F) {
	for _, hash := range []string{
		"", "noise_multiplier=0.001", "noise_multiplier=1e-300&method=quantile", "target_delta=5e-324&steps=100000000", "expected_batch_size=5e-324",
		"expected_batch_size=1e-9&epochs=1000000", "target_epsilon=5e-324&accountant=rdp", "target_epsilon=1e300&method=dc-e", "noise_multiplier=1e300",
		"model.kind=mlp&model.hidden=65536,1100&optimizer=adam", "model.kind=mlp&model.hidden=65536&max_physical_batch_size=65536&expected_batch_size=4000",
		"scaling.kind=private&scaling.share=1e-300", "pca.components=2&pca.share=0.999999", "method=psac&r=1e-300", "noise_mode=secure&noise_multiplier=4096", "max_grad_norm=5e-324",
	} {
		f.Add(hash, uint16(4000), uint8(0), uint8(0))
	}
	for _, hash := range []string{
		"", "model.kind=cnn-opacus", "model.kind=resnet18&expected_batch_size=4000", "model.layers=conv:16:8:s2:p3,relu,flatten,dense&augmentation.kind=crop-flip&augmentation.multiplicity=8",
		"augmentation.kind=flip&augmentation.multiplicity=65536", "model.layers=conv:64:3,groupnorm:8,skip:128:s2,wsconv:128:3:s2:p1,add,globalpool,dense&max_physical_batch_size=65536", "pca.components=7", "method=value&model.kind=cnn-tb-mnist",
	} {
		f.Add(hash, uint16(4000), uint8(1), uint8(28))
		f.Add(hash, uint16(50000), uint8(3), uint8(32))
	}
	f.Fuzz(func(t *testing.T, hash string, rows uint16, planes, side uint8) {
		m := data.Meta{Name: "m", Task: data.Classification, Features: 2, Outputs: 2, TrainRows: int(rows), FeatureBytes: 4,
			Columns: []data.Column{{Name: "a", Kind: data.Numeric}, {Name: "b", Kind: data.Numeric, First: 1}, {Name: "c", Kind: data.Label}}}
		if planes > 0 && side > 0 { // pictures of bytes, whose bounds are public
			m.Columns, m.FeatureBytes, m.Shape = nil, 1, []int{int(planes), int(side), int(side)}
			if planes == 1 {
				m.Shape = m.Shape[1:]
			}
			m.Features = int(planes) * int(side) * int(side)
			m.Bounds = slices.Repeat([]data.Bound{{Lo: 0, Hi: 255}}, m.Features)
		}
		c := run.ParseHash(hash)
		if c.NoiseMultiplier == nil && c.TargetEpsilon == nil {
			c.NoiseMultiplier = ptr(1.0) // found sooner than what meets ε = 1
		}
		c = c.WithDefaults()
		c.Accountant = "rdp" // for speed; what PLD takes package privacy tests
		p := &draft{terms: Terms{Config: c, Meta: m, Noise: noiseOf(c.NoiseMode)}}
		if err := p.choose(); err != nil {
			var fault *run.ConfigError
			if !errors.As(err, &fault) || fault.Field == "" {
				t.Fatalf("%q, %d rows: %v", hash, rows, err)
			}
			return
		}
		within := func(what string, v, lo, hi float64) {
			if !(v >= lo && v <= hi) {
				t.Errorf("%q, %d rows: %s = %v is not in %v … %v", hash, rows, what, v, lo, hi)
			}
		}
		backend, host := p.terms.Memory(p.terms.Capacity)
		within("steps", float64(p.terms.Steps), 1, MaxSteps)
		within("sample_rate", p.terms.SampleRate, 1e-3/math.MaxUint16, 1)
		within("bytes of a program", float64(max(backend, host)), 1, MostMemory)
		within("C", p.terms.first.Rule.C(), clip.MinThreshold, 2*clip.MaxThreshold)
		if p.terms.NoiseMultiplier > 0 {
			within("noise", p.terms.NoiseMultiplier, minNoise, maxNoise)
			within("gradient noise", p.terms.GradNoise, minNoise, maxNoise)
		}
	})
}
