package script

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
)

// torch is the part of a program that PyTorch has by itself.
type torch struct {
	setUp string // data, model and optimizer
	loss  string
}

// translate returns that part of a run that was planned.
func translate(full run.Config, facts run.Facts, p *run.PlanInfo) (t torch, err error) {
	optimizer, err := torchOptimizer(full)
	if err != nil {
		return t, err
	}
	var modules []string
	for i, l := range p.Layers {
		m, err := torchModule(l)
		if err != nil {
			return t, err
		}
		if strings.HasPrefix(l.Text, "dense") && (i == 0 || len(p.Layers[i-1].Shape) > 1) { // which flattens pictures itself
			modules = append(modules, "    torch.nn.Flatten(),")
		}
		modules = append(modules, "    "+m+",")
		if p := full.Model.Dropout; p > 0 && slices.Contains([]string{"relu", "tanh", "gelu"}, l.Text) {
			modules = append(modules, "    torch.nn.Dropout("+number(p)+"),")
		}
	}
	return torch{fmt.Sprintf(`data = ...  # a torch.utils.data.Dataset of the %d training rows

model = torch.nn.Sequential(
%s
)
optimizer = %s`, facts.Rows, strings.Join(modules, "\n"), optimizer), torchLoss(facts)}, nil
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// replaced lists the axes that a configuration has in place of its method's own.
func replaced(c run.Config) string {
	var with []string
	for _, axis := range []string{c.Weight, c.Threshold, c.Grouping} {
		if axis != "" {
			with = append(with, axis)
		}
	}
	return strings.Join(with, ", ")
}

// lacks returns what of a run neither a library nor its translation has, whatever its clipping.
func lacks(library string, c run.Config, p *run.PlanInfo) error {
	switch {
	case c.Together.Parties > 0:
		return fmt.Errorf("%s has no parties that share noise", library)
	case c.NoiseMode == "secure":
		return fmt.Errorf("%s has no discrete noise on sums of whole numbers: with noise_mode float there is a script", library)
	case p.NoiseMultiplier == 0:
		return fmt.Errorf("a run without noise needs no %s", library)
	case c.Tuning.Runs > 0:
		return fmt.Errorf("%s does not tune within one ε: without tuning there is a script", library)
	case c.Augmentation.Kind != "" && c.Augmentation.Kind != "none" || c.Augmentation.Multiplicity > 1:
		return errors.New("this script has no augmentation")
	case c.LabelSmoothing > 0:
		return errors.New("this script mixes nothing into targets")
	case len(c.ClassWeights) > 0:
		return errors.New("this script weighs no classes: PyTorch divides by the weights of a batch, and Clipscope by the expected number of rows")
	case c.EarlyStopping.Monitor != "":
		return errors.New("this script takes all of its steps, and has no early stopping")
	case c.Start.SHA256 != "":
		return errors.New("this script starts from random weights")
	case c.PublicRows.SHA256 != "":
		return errors.New("this script mixes no public rows in")
	case c.Iterate != "" && c.Iterate != "last":
		return errors.New("this script ends with the last step’s parameters")
	}
	return nil
}

func torchOptimizer(c run.Config) (string, error) {
	if c.LearningRateSchedule != "" && c.LearningRateSchedule != "constant" || c.WarmupSteps > 0 {
		return "", errors.New("this script has no learning-rate schedule")
	}
	rate := "model.parameters(), lr=" + number(c.LearningRate)
	switch c.Optimizer {
	case "sgd":
		if c.WeightDecay > 0 {
			return "", errors.New("this script has no decoupled weight decay for SGD")
		}
		return "torch.optim.SGD(" + rate + ")", nil
	case "momentum":
		if c.WeightDecay > 0 {
			return "", errors.New("this script has no decoupled weight decay for SGD")
		}
		more := ""
		if c.Nesterov {
			more = ", nesterov=True"
		}
		return "torch.optim.SGD(" + rate + ", momentum=" + number(c.Momentum) + more + ")", nil
	case "adam":
		moments := fmt.Sprintf(", betas=(%s, %s), eps=%s", number(c.Beta1), number(c.Beta2), number(c.Eps))
		if c.WeightDecay > 0 {
			return "torch.optim.AdamW(" + rate + moments + ", weight_decay=" + number(c.WeightDecay) + ")", nil
		}
		return "torch.optim.Adam(" + rate + moments + ")", nil
	}
	return "", fmt.Errorf("PyTorch has no %s", c.Optimizer)
}

func torchLoss(f run.Facts) string {
	switch {
	case f.Numeric:
		return "lambda z, y: 0.5 * ((z - y) ** 2).sum(dim=1).mean()"
	case f.Labels:
		return "lambda z, y: torch.nn.functional.binary_cross_entropy_with_logits(z, y, reduction=\"none\").sum(dim=1).mean()"
	}
	return "torch.nn.CrossEntropyLoss()"
}

// torchModule translates a layer, whose inputs follow from its parameters.
func torchModule(l run.Layer) (string, error) {
	w, out := run.ReadLayer(l.Text), l.Shape[len(l.Shape)-1]
	switch w.Name {
	case "dense":
		return fmt.Sprintf("torch.nn.Linear(%d, %d)", l.Parameters/out-1, out), nil
	case "relu":
		return "torch.nn.ReLU()", nil
	case "tanh":
		return "torch.nn.Tanh()", nil
	case "gelu":
		return "torch.nn.GELU()", nil
	case "flatten":
		return "torch.nn.Flatten()", nil
	case "conv":
		size := w.Numbers[1]
		return fmt.Sprintf("torch.nn.Conv2d(%d, %d, %d, stride=%d, padding=%d)", (l.Parameters/out-1)/(size*size), out, size, w.Letter('s', 1), w.Letter('p', 0)), nil
	case "maxpool", "avgpool":
		kind := map[string]string{"maxpool": "MaxPool2d", "avgpool": "AvgPool2d"}[w.Name]
		return fmt.Sprintf("torch.nn.%s(%d, stride=%d)", kind, w.Numbers[0], w.Letter('s', w.Numbers[0])), nil
	case "globalpool":
		return "torch.nn.AdaptiveAvgPool2d(1)", nil
	case "groupnorm":
		return fmt.Sprintf("torch.nn.GroupNorm(%d, %d)", w.Numbers[0], l.Parameters/2), nil
	}
	return "", fmt.Errorf("this script has no layer %s", w.Name)
}
