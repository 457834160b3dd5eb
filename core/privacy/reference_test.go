package privacy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// reference is the part of the optional file reference/accounting.json, beside
// this repository, that tests use: what public implementations answer.
type reference struct {
	Cases []struct {
		ID              int
		NoiseMultiplier float64 `json:"noise_multiplier"`
		SampleRate      float64 `json:"sample_rate"`
		Steps           int
		Delta           float64
		RDPGoogle       answer `json:"rdp_google"`
		RDPOpacus       answer `json:"rdp_opacus"`
		Pessimistic     answer `json:"pld_pessimistic"`
		Fine            answer `json:"pld_pessimistic_fine"`
		Optimistic      answer `json:"pld_optimistic"`
		ExactGaussian   answer `json:"exact_gaussian"`
		ExactSingle     answer `json:"exact_single_step"`
	}
	Calibration []struct {
		TargetEpsilon float64 `json:"target_epsilon"`
		Delta         float64
		SampleRate    float64 `json:"sample_rate"`
		Steps         int
		SigmaRDP      float64 `json:"sigma_rdp"`
		SigmaPLD      float64 `json:"sigma_pld"`
	}
	PerStep []struct {
		SampleRate      float64 `json:"sample_rate"`
		NoiseMultiplier float64 `json:"noise_multiplier"`
		Orders          []float64
		Exact           []*json.Number `json:"rdp_exact_integer_orders_60_digits"`
		Quadrature      []*json.Number `json:"rdp_mpmath_quadrature"`
		Opacus          []any          `json:"rdp_opacus"`
	} `json:"rdp_per_step"`
}

// answer holds an ε, or nil where the implementation gave none.
type answer struct{ Epsilon *float64 }

func (a *answer) UnmarshalJSON(b []byte) error {
	var v struct{ Epsilon any }
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	if f, ok := v.Epsilon.(float64); ok {
		a.Epsilon = &f
	}
	return nil
}

func referenceFile() string {
	root := os.Getenv("CLIPSCOPE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	return filepath.Join(root, "reference", "accounting.json")
}

// loadReference returns nil, and logs it, where the folder is not there: every
// test that uses it has values of its own as well.
func loadReference(t *testing.T) *reference {
	t.Helper()
	name := referenceFile()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Logf("without %s: only the values in this file are tested", name)
		return nil
	}
	t.Logf("with %s", name)
	var r reference
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// A known is one row of golden values: what peers' code answers.
type known struct {
	q, sigma        float64
	steps           int
	delta           float64
	rdp             float64 // the lower of Opacus's and dp_accounting's
	prvLow, prvHigh float64 // PRV's bracket
	pld             float64 // dp_accounting's upper bound
	gdp             float64 // approximation
}

var knowns = []known{
	{0.04, 1.5, 2250, 1e-5, 7.329111, 6.75843, 6.77913, 6.768787, 6.601567},
	{256. / 60000, 1.1, 14062, 1e-5, 2.596556, 2.37146, 2.39174, 2.381686, 2.324269},
	{256. / 60000, 1.3, 3515, 1e-5, 0.954430, 0.85436, 0.87448, 0.864459, 0.834382},
	{256. / 60000, 0.7, 10546, 1e-5, 6.318101, 5.62906, 5.64977, 5.639447, 5.065910},
	{64. / 60000, 1.0, 9380, 1e-5, 0.803562, 0.48359, 0.50367, 0.493826, 0.474022},
	{1, 10, 100, 1e-5, 4.728507, 4.36695, 4.38741, 4.377179, 4.389878},
	{1e-4, 0.6, 10000, 1e-6, 2.077386, 0.52259, 0.54287, 0.532810, 0.144431},
	{0.01, 0.3, 100, 1e-5, 32.061557, 26.8223, 26.8465, 26.834715, 443.94},
	{0.2, 1.0, 10, 1e-5, 5.753689, 4.97383, 4.99460, 4.984213, 3.527803},
	{0.2, 1.0, 500, 1e-5, 40.941587, 38.1588, 38.1817, 38.170248, 41.44},
	{0.001, 0.8, 100000, 1e-6, 3.187804, 2.90434, 2.92462, 2.915137, 2.827564},
}

func (k known) event() Event {
	return SelfComposed{PoissonSampled{k.q, Gaussian{k.sigma}}, k.steps}
}
