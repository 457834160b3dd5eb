package script

import (
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/form"
)

func ptr[T any](v T) *T { return &v }

// TestJavaScriptHasTheConfiguration, with the words of the API, and no more.
func TestJavaScriptHasTheConfiguration(t *testing.T) {
	text := JavaScript(run.Config{Data: form.Files, Method: "psac", Params: map[string]float64{"r": 0.2}, TargetEpsilon: ptr(2.0), CSV: run.CSV{Label: `a "b": c`}})
	for _, want := range []string{"// file is a File", "clipscope.train({\n", "\n  method: \"psac\"", "\n  r: 0.2", "target_epsilon: 2", "label: \"a \\\"b\\\": c\"", "}, { train: [file] });", "await run.done"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if text = JavaScript(run.Config{Data: "moons"}); !strings.HasPrefix(text, "const run = await clipscope.train({\n  data: \"moons\"\n});\n") {
		t.Errorf("of built-in data:\n%s", text)
	}
}

// TestJavaScriptNamesTheStart, whose name may be anybody's, and on which no line may end.
func TestJavaScriptNamesTheStart(t *testing.T) {
	start := run.Start{File: "a.zip\nalert(1)\u2028", SHA256: strings.Repeat("a", 64), Public: true}
	for want, c := range map[string]run.Config{
		"}, undefined, { start: saved });":         {Data: "moons", Start: start},
		"}, { train: [file] }, { start: saved });": {Data: form.Files, Start: start},
	} {
		text := JavaScript(c)
		if !strings.Contains(text, want) || !strings.Contains(text, "start: {\n    public: true\n  }") || !strings.Contains(text, `"a.zip\nalert(1)\u2028"`) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestJavaScriptNamesThePublicRows beside the start.
func TestJavaScriptNamesThePublicRows(t *testing.T) {
	hash := strings.Repeat("a", 64)
	text := JavaScript(run.Config{Data: "moons", Start: run.Start{File: "m.zip", SHA256: hash}, PublicRows: run.PublicRows{File: "o.csv\n1", SHA256: hash, Weight: 0.2, Public: true}})
	for _, want := range []string{"}, undefined, { start: saved, publicRows: open });", "// open is a File: the public rows that the run mixes in, \"o.csv\\n1\".\n", "public_rows: {\n    weight: 0.2,\n    public: true\n  }"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// planned is a run of pictures of one plane of colour.
func planned() (run.Config, run.Facts, *run.PlanInfo) {
	c := run.Config{Method: "constant", MaxGradNorm: 0.5, ExpectedBatchSize: 256, Optimizer: "momentum", LearningRate: 0.05, Momentum: 0.9, Nesterov: true}
	p := &run.PlanInfo{NoiseMultiplier: 1.25, Steps: 40, Epsilon: 2, Delta: 1e-5, Accountant: "pld", Layers: []run.Layer{
		{Text: "conv:16:8:s2:p3", Shape: []int{14, 14, 16}, Parameters: 16 * 65}, {Text: "groupnorm:4", Shape: []int{14, 14, 16}, Parameters: 32}, {Text: "relu", Shape: []int{14, 14, 16}},
		{Text: "maxpool:2:s1", Shape: []int{13, 13, 16}}, {Text: "dense:32", Shape: []int{32}, Parameters: 32 * (13*13*16 + 1)}, {Text: "tanh", Shape: []int{32}}, {Text: "dense", Shape: []int{10}, Parameters: 330},
	}}
	return c, run.Facts{Rows: 60000, Outputs: 10, Picture: true}, p
}

func TestOpacusHasTheSameRun(t *testing.T) {
	c, f, p := planned()
	text, err := Opacus(c, f, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"torch.nn.Conv2d(1, 16, 8, stride=2, padding=3),", "torch.nn.GroupNorm(4, 16),", "torch.nn.ReLU(),", "torch.nn.MaxPool2d(2, stride=1),\n    torch.nn.Flatten(),\n    torch.nn.Linear(2704, 32),\n    torch.nn.Tanh(),\n    torch.nn.Linear(32, 10),",
		"torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)", "batch_size=256", `accountant="prv"`, "noise_multiplier=1.25, max_grad_norm=0.5,", "CrossEntropyLoss()", "while steps < 40:", "delta=1e-05",
		"the 60000 training rows", "compare the ε that it prints with 2.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestDropoutIsBehindEveryActivation, and nowhere else.
func TestDropoutIsBehindEveryActivation(t *testing.T) {
	c, f, p := planned()
	c.Model.Dropout = 0.25
	for name, write := range map[string]func(run.Config, run.Facts, *run.PlanInfo) (string, error){"Opacus": Opacus, "fastDP": FastDP} {
		text, err := write(c, f, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"torch.nn.ReLU(),\n    torch.nn.Dropout(0.25),\n    torch.nn.MaxPool2d", "torch.nn.Tanh(),\n    torch.nn.Dropout(0.25),\n    torch.nn.Linear"} {
			if !strings.Contains(text, want) || strings.Count(text, "Dropout") != 2 {
				t.Errorf("%s: no %q in:\n%s", name, want, text)
			}
		}
	}
}

// TestWhatOpacusHasNotIsSaid, not left out.
func TestWhatOpacusHasNotIsSaid(t *testing.T) {
	for want, edit := range map[string]func(*run.Config, *run.PlanInfo){
		"Opacus has no dc-e":                     func(c *run.Config, _ *run.PlanInfo) { c.Method = "dc-e" },
		"each tensor by itself":                  func(c *run.Config, _ *run.PlanInfo) { c.Method = "per-layer" },
		"constant clipping with psac, dc-e":      func(c *run.Config, _ *run.PlanInfo) { c.Weight, c.Threshold = "psac", "dc-e" },
		"starts from random weights":             func(c *run.Config, _ *run.PlanInfo) { c.Start.SHA256 = "c0ffee" },
		"no parties that share noise":            func(c *run.Config, _ *run.PlanInfo) { c.Together.Parties = 3 },
		"no discrete noise":                      func(c *run.Config, _ *run.PlanInfo) { c.NoiseMode = "secure" },
		"without noise":                          func(_ *run.Config, p *run.PlanInfo) { p.NoiseMultiplier = 0 },
		"does not tune":                          func(c *run.Config, _ *run.PlanInfo) { c.Tuning.Runs = 8 },
		"no learning-rate schedule":              func(c *run.Config, _ *run.PlanInfo) { c.LearningRateSchedule = "cosine" },
		"no decoupled weight decay for SGD":      func(c *run.Config, _ *run.PlanInfo) { c.WeightDecay = 0.1 },
		"PyTorch has no adam-bc":                 func(c *run.Config, _ *run.PlanInfo) { c.Optimizer = "adam-bc" },
		"this script has no layer embedding":     func(_ *run.Config, p *run.PlanInfo) { p.Layers[0].Text = "embedding:256:16" },
		"this script mixes nothing into targets": func(c *run.Config, _ *run.PlanInfo) { c.LabelSmoothing = 0.1 },
		"this script has no augmentation":        func(c *run.Config, _ *run.PlanInfo) { c.Augmentation.Kind = "flip" },
		"weighs no classes":                      func(c *run.Config, _ *run.PlanInfo) { c.ClassWeights = map[string]float64{"a": 2} },
		"has no early stopping":                  func(c *run.Config, _ *run.PlanInfo) { c.EarlyStopping.Monitor = "noisy_grad_norm" },
		"ends with the last step":                func(c *run.Config, _ *run.PlanInfo) { c.Iterate = "ema" },
	} {
		c, f, p := planned()
		edit(&c, p)
		if text, err := Opacus(c, f, p); err == nil || !strings.Contains(err.Error(), want) || text != "" {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// TestFastDPHasTheSameRun, layer by layer and at one length too.
func TestFastDPHasTheSameRun(t *testing.T) {
	c, f, p := planned()
	for want, edit := range map[string]func(*run.Config){
		`clipping_fn="Abadi", clipping_style="all-layer", max_grad_norm=0.5, numerical_stability_constant=1e-06,`:    func(*run.Config) {},
		`clipping_fn="Abadi", clipping_style="layer-wise", max_grad_norm=0.5, numerical_stability_constant=1e-06,`:   func(c *run.Config) { c.Method = "per-layer" },
		`clipping_fn="automatic", clipping_style="all-layer", max_grad_norm=0.5, numerical_stability_constant=0.01,`: func(c *run.Config) { c.Method = "auto-s" },
		`clipping_fn="automatic", clipping_style="layer-wise", max_grad_norm=0.5, numerical_stability_constant=0.002,`: func(c *run.Config) {
			c.Weight, c.Grouping, c.Params = "auto-s", "per-layer", map[string]float64{"r": 0.002}
		},
	} {
		c := c
		edit(&c)
		text, err := FastDP(c, f, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			want, "the 60000 training rows", "torch.nn.Conv2d(1, 16, 8, stride=2, padding=3),", "model, batch_size=256, sample_size=60000, num_steps=40,", `noise_multiplier=1.25, target_delta=1e-05, accounting_mode="glw"`,
			"engine.attach(optimizer)", "range(40)", "CrossEntropyLoss()", "compare the ε that it prints with 2.",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in:\n%s", want, text)
			}
		}
	}
	for want, edit := range map[string]func(*run.Config, *run.PlanInfo){
		"fastDP has no dc-e":     func(c *run.Config, _ *run.PlanInfo) { c.Method = "dc-e" },
		"as quantile does":       func(c *run.Config, _ *run.PlanInfo) { c.Threshold = "quantile" },
		"as those of psac":       func(c *run.Config, _ *run.PlanInfo) { c.Weight = "psac" },
		"takes no empty batch":   func(c *run.Config, _ *run.PlanInfo) { c.ExpectedBatchSize = 4 },
		"no parties":             func(c *run.Config, _ *run.PlanInfo) { c.Together.Parties = 3 },
		"fastDP does not tune":   func(c *run.Config, _ *run.PlanInfo) { c.Tuning.Runs = 8 },
		"no layer embedding":     func(_ *run.Config, p *run.PlanInfo) { p.Layers[0].Text = "embedding:256:16" },
		"PyTorch has no adam-bc": func(c *run.Config, _ *run.PlanInfo) { c.Optimizer = "adam-bc" },
		"needs no fastDP":        func(_ *run.Config, p *run.PlanInfo) { p.NoiseMultiplier = 0 },
	} {
		c, f, p := planned()
		edit(&c, p)
		if text, err := FastDP(c, f, p); err == nil || !strings.Contains(err.Error(), want) || text != "" {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
