package ui

import (
	"fmt"
	"strconv"

	"clipscope/core/run"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// optimiserCard is the fifth card: how the noisy sum moves the parameters.
type optimiserCard struct {
	app.Compo
	Form *Form
}

func (c *optimiserCard) CompoID() string { return "optimiser-" + strconv.Itoa(c.Form.Epoch) }

func (c *optimiserCard) Render() app.UI {
	f := c.Form
	kind := f.Full.Optimizer
	keys := []string{"optimizer", "learning_rate", "momentum", "beta1", "beta2", "eps", "max_physical_batch_size", "backend", "iterate", "ema_decay"}
	head := card{cardOptimiser, "5", "Optimiser", optimiserLine(f.Full), keys}
	return head.view(f,
		field{key: "optimizer", label: "Optimiser", help: "It sees the noisy sum only, so whatever it does is free."}.choice(f, []option{
			{"sgd", "SGD"}, {"momentum", "SGD with momentum"}, {"adam", "Adam"},
		}),
		field{key: "learning_rate", label: "Learning rate", help: "How far one step goes."}.number(f),
		app.Div().Hidden(kind != "momentum").Body(field{key: "momentum", label: "Momentum", help: "How much of the last direction is kept."}.number(f)),
		app.Div().Class("pair").Hidden(kind != "adam").Body(
			field{key: "beta1", label: "β₁"}.number(f),
			field{key: "beta2", label: "β₂"}.number(f),
		),
		advanced(
			field{key: "iterate", label: "Parameters kept", help: "Which parameters the run ends with; all are free."}.choice(f, []option{
				{"last", "those of the last step"}, {"ema", "their moving average"}, {"random", "those of a random step"},
			}),
			app.Div().Hidden(f.Full.Iterate != "ema").Body(field{key: "ema_decay", label: "Decay of the average", help: "How much of the average each step keeps."}.number(f)),
			app.Div().Hidden(kind != "adam").Body(field{key: "eps", label: "Stabiliser", help: "Added to Adam's denominator."}.number(f)),
			field{key: "max_physical_batch_size", label: "Physical batch size", unit: "rows", help: "How many rows are in memory at once; the result does not depend on it."}.number(f),
			field{key: "backend", label: "Back end", help: "Where the arithmetic is done. What was used stands in the result."}.choice(f, []option{
				{"auto", "the fastest there is"}, {"simd", "WebAssembly SIMD"}, {"purego", "plain Go, the reference"}, {"webgpu", "WebGPU"},
			}),
		),
	)
}

func optimiserLine(c run.Config) string {
	name := map[string]string{"sgd": "SGD", "momentum": "SGD with momentum " + words.Number(c.Momentum, 3), "adam": "Adam"}[c.Optimizer]
	if name == "" {
		name = c.Optimizer
	}
	return fmt.Sprintf("%s, η %s", name, words.Number(c.LearningRate, 3))
}

// cardOf is the card that a field stands on.
func cardOf(key string) string {
	switch key {
	case "model.kind", "model.hidden", "model.activation":
		return cardModel
	case "noise_multiplier", "target_epsilon", "target_delta", "expected_batch_size", "epochs", "steps", "accountant", "noise_mode", "sample_rate", "no_privacy", "plan", "budget":
		return cardPrivacy
	case "optimizer", "learning_rate", "momentum", "beta1", "beta2", "eps", "max_physical_batch_size", "backend", "iterate", "ema_decay":
		return cardOptimiser
	}
	if key == "data" || key == filesSource || len(key) > 3 && (key[:4] == "csv." || key[:4] == "scal" || key[:4] == "pca.") {
		return cardData
	}
	return cardClipping
}
