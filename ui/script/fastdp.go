package script

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"clipscope/core/run"
)

// FastDP is a program in Python for fastDP 2.0, as [Opacus] is one for that. fastDP also brings gradients to one length
// (auto-s) and clips layer by layer.
func FastDP(full run.Config, facts run.Facts, p *run.PlanInfo) (string, error) {
	err := lacks("fastDP", full, p)
	clipping := ""
	if err == nil {
		clipping, err = fastClipping(full)
	}
	// Poisson sampling leaves a batch empty with probability (1 − q)ⁿ < e^−B.
	if err == nil && float64(p.Steps)*math.Exp(-full.ExpectedBatchSize) > 1e-6 {
		err = errors.New("fastDP takes no empty batch, and with so small ones there may be some")
	}
	if err != nil {
		return "", err
	}
	t, err := translate(full, facts, p)
	if err != nil {
		return "", err
	}
	batch := int(math.Round(full.ExpectedBatchSize))
	return fmt.Sprintf(`# For fastDP 2.0, which Clipscope does not run: compare the ε that it prints with %s.
# fastDP draws other noise, and has an accountant of its own. It leaves it to the program to draw batches: here each
# row is in each of them by itself. Features are to be as Clipscope makes them: scaled as its model file says.
import torch
from fastDP import PrivacyEngine

%s
engine = PrivacyEngine(
    model, batch_size=%d, sample_size=%d, num_steps=%d,
    noise_multiplier=%s, target_delta=%s, accounting_mode=%q,
    %s,
)
engine.attach(optimizer)
loss = %s
for step in range(%d):
    rows = torch.nonzero(torch.rand(len(data)) < engine.sample_rate).flatten().tolist()
    x, y = torch.utils.data.default_collate([data[i] for i in rows])
    loss(model(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
print(engine.get_privacy_spent())
`, number(float64(p.Epsilon)), t.setUp, batch, facts.Rows, p.Steps, number(p.NoiseMultiplier), number(p.Delta), fastAccountant(p.Accountant),
		clipping, t.loss, p.Steps), nil
}

func fastAccountant(name string) string {
	if name == "rdp" {
		return "rdp"
	}
	return "glw" // of Gopi, Lee and Wutschitz, which composes privacy losses numerically
}

// fastClipping returns the arguments that are about clipping.
func fastClipping(c run.Config) (string, error) {
	const constant, normalized = `"Abadi"`, `"automatic"`
	weight, style := constant, `"all-layer"`
	if c.Method == "auto-s" {
		weight = normalized
	}
	switch {
	case !slices.Contains([]string{"constant", "per-layer", "auto-s"}, c.Method):
		return "", fmt.Errorf("fastDP has no %s", c.Method)
	case c.Threshold != "":
		return "", fmt.Errorf("fastDP moves no threshold as %s does", c.Threshold)
	case c.Weight == "auto-s":
		weight = normalized
	case c.Weight != "":
		return "", fmt.Errorf("fastDP has no weights as those of %s", c.Weight)
	}
	if c.Grouping == "per-layer" || c.Method == "per-layer" && c.Grouping == "" {
		style = `"layer-wise"`
	}
	// What fastDP adds to each norm, and takes for 10⁻⁶ where it clips.
	least := 1e-6
	if weight == normalized {
		if least = 0.01; c.Params["r"] > 0 {
			least = c.Params["r"]
		}
	}
	return fmt.Sprintf("clipping_fn=%s, clipping_style=%s, max_grad_norm=%s, numerical_stability_constant=%s", weight, style, number(c.MaxGradNorm), number(least)), nil
}
