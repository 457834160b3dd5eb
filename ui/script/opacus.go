package script

import (
	"errors"
	"fmt"

	"clipscope/core/run"
)

// Opacus is a program in Python for Opacus 1.5, of a run that was planned; full has all defaults filled in. Its
// error says what Opacus, or this translation, has not.
func Opacus(full run.Config, facts run.Facts, p *run.PlanInfo) (string, error) {
	err := lacks("Opacus", full, p)
	if err == nil {
		err = opacusClips(full)
	}
	if err != nil {
		return "", err
	}
	t, err := translate(full, facts, p)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`# For Opacus 1.5, which Clipscope does not run: compare the ε that it prints with %s.
# Opacus draws other noise, divides by the expected number of rows cut to a whole number, and has an
# accountant of its own. Features are to be as Clipscope makes them: scaled as its model file says.
import torch
from opacus import PrivacyEngine

%s
loader = torch.utils.data.DataLoader(data, batch_size=%s)
engine = PrivacyEngine(accountant=%q)
model, optimizer, loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=loader, poisson_sampling=True,
    noise_multiplier=%s, max_grad_norm=%s,
)
loss = %s
steps = 0
while steps < %d:
    for x, y in loader:
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()
        steps += 1
        if steps == %d:
            break
print(engine.get_epsilon(delta=%s))
`, number(float64(p.Epsilon)), t.setUp, number(full.ExpectedBatchSize), opacusAccountant(p.Accountant),
		number(p.NoiseMultiplier), number(full.MaxGradNorm), t.loss, p.Steps, p.Steps, number(p.Delta)), nil
}

func opacusAccountant(name string) string {
	if name == "rdp" {
		return "rdp"
	}
	return "prv" // which computes the privacy loss distribution, too
}

// opacusClips returns why Opacus does not clip as a configuration has it.
func opacusClips(c run.Config) error {
	switch with := replaced(c); {
	case with != "":
		return fmt.Errorf("Opacus has no %s clipping with %s", c.Method, with)
	case c.Method == "per-layer":
		return errors.New("Opacus clips each tensor by itself, and not each layer")
	case c.Method != "constant":
		return fmt.Errorf("Opacus has no %s", c.Method)
	}
	return nil
}
