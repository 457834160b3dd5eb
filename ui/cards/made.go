package cards

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/words"
)

// DataLine says in one line what data a configuration, which has its defaults, was
// run on.
func DataLine(cfg *run.Config, r *data.Report) string {
	return dataLine(DataView{Source: cfg.Data, Report: r})
}

// MethodTitle returns a clipping method's title.
func MethodTitle(name string) string { return methodInfo(name).Title }

// Made says what a run was made of, card by card: cfg with its defaults, its plan
// and its data; then whatever else is not as it is by default, under its field's
// name.
func Made(cfg *run.Config, p *run.PlanInfo, r *data.Report) []string {
	length := words.Plural(p.Steps, "step")
	if form.LengthOf(cfg) == "epochs" {
		length = form.Format(cfg.Epochs) + " epochs"
	}
	randomness := "cryptographic randomness (CSPRNG)"
	if cfg.Seed != nil {
		randomness = "seed " + form.Get(cfg, "seed")
	}
	return append([]string{
		DataLine(cfg, r), modelLine(cfg.Model, p), clippingLine(*cfg, methodInfo(cfg.Method)), privacyLine(p, cfg.TargetDelta),
		fmt.Sprintf("batches of %s, %s", form.Format(cfg.ExpectedBatchSize), length), optimiserLine(*cfg), randomness,
	}, others(cfg)...)
}

// told are the fields that stand in the lines of cards.
var told = strings.Fields("data model.kind model.hidden model.activation model.dropout method max_grad_norm noise_multiplier target_epsilon no_privacy " +
	"target_delta expected_batch_size epochs steps optimizer learning_rate learning_rate_schedule weight_decay label_smoothing momentum nesterov")

// others are the fields that no line tells and that are not as they are by default.
func others(cfg *run.Config) (list []string) {
	usual := run.Config{Method: cfg.Method, Optimizer: cfg.Optimizer}.WithDefaults()
	for _, card := range []form.Card{form.Data, form.Model, form.Clipping, form.Privacy, form.Optimiser} {
		for _, f := range form.On(card) {
			v := form.Get(cfg, f.Key)
			switch {
			case v == form.Get(&usual, f.Key) || slices.Contains(told, f.Key):
			case f.Key == "start.sha256":
				list = append(list, fmt.Sprintf("starts from %s (%s)", words.Brief(cfg.Start.File, mostOfName), words.ShortHash(v)))
			default:
				list = append(list, f.Key+" "+v)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.CSV.Bounds)) {
		list = append(list, "csv.bounds."+words.Brief(name, mostOfName)+" "+form.Get(cfg, "csv.bounds."+name))
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Params)) {
		list = append(list, name+" "+form.Format(cfg.Params[name]))
	}
	return list
}
