package form

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

// Card names the page's card in which a field stands.
type Card string

// The cards, and the foot under them, which is none.
const (
	Data      Card = "data"
	Model     Card = "model"
	Clipping  Card = "clipping"
	Privacy   Card = "privacy"
	Optimiser Card = "optimiser"
	Together  Card = "together"
	Compare   Card = "compare"
	Foot      Card = ""
)

// Kind is the control that a field gets.
type Kind int

// The kinds.
const (
	Text     Kind = iota // a number, or other short text
	Menu                 // one of the options, which unfold
	Segments             // one of the options, which are all in sight
	Tick                 // on or off
	Notice               // no control: the help, as a warning
)

// Option is a choice of a menu.
type Option struct {
	Value, Text string
	Help        string // what it means; the field's own help where it is empty
}

// Field is a field of the configuration as the page shows it, or a choice
// between such fields.
type Field struct {
	Key     string // the JSON name, nested ones with a dot; or a choice's name
	Card    Card
	Kind    Kind
	Label   string
	Unit    string
	Help    string
	Preset  string // the default, where the configuration has none of its own
	Options []Option

	Own      bool     // the card draws it itself
	Advanced bool     // folded away with what most people leave alone
	Pair     bool     // stands beside its neighbour, and comes and goes with it
	Needed   bool     // may not be empty: another field would silently decide
	Resets   []string // the fields that go back to their defaults with a change of it
	Follows  bool     // its default follows from the data and ε, see [run.Facts]

	// When reports whether a configuration, which has its defaults, gives the
	// field a meaning; nil: always.
	When func(*run.Config) bool
	// Now is the option in force of a choice between fields; nil for a field.
	Now func(*run.Config) string
}

// HelpAt returns the help under the field while it has a value.
func (f Field) HelpAt(value string) string {
	for _, o := range f.Options {
		if o.Value == value {
			return cmp.Or(o.Help, f.Help)
		}
	}
	return f.Help
}

// Files is the name that a configuration gives to local files.
const Files = "files"

// The choices between fields, and what concerns the plan as a whole.
const (
	Budget = "budget" // what decides the noise
	Length = "length" // what decides when a run ends
	Plan   = "plan"
)

// BudgetOf names what decides the noise.
func BudgetOf(c *run.Config) string {
	switch {
	case c.NoPrivacy || unbounded(c):
		return "no_privacy"
	case c.NoiseMultiplier != nil:
		return "noise_multiplier"
	default:
		return "target_epsilon"
	}
}

// LengthOf names what decides when a run ends.
func LengthOf(c *run.Config) string {
	if c.Steps > 0 {
		return "steps"
	}
	return "epochs"
}

// is makes a When of one value of a field.
func is(key, value string) func(*run.Config) bool {
	return func(c *run.Config) bool { return Get(c, key) == value }
}

func ends(unit string) func(*run.Config) bool {
	return func(c *run.Config) bool { return LengthOf(c) == unit }
}

func decides(what string) func(*run.Config) bool {
	return func(c *run.Config) bool { return BudgetOf(c) == what }
}

// fields are the rows of the table, in the order in which they stand on the page.
var fields = slices.Concat(dataFields(), modelFields(), clippingFields(), privacyFields(), optimiserFields(), togetherFields(), []Field{
	{Key: "seed", Card: Foot, Own: true, Label: "Seed"},
})

func dataFields() []Field {
	return on(Data, []Field{
		{Key: "data", Kind: Menu, Own: true, Label: "Data set", Help: "Generated in this tab; nothing is downloaded.", Options: builtins()},
		{Key: "csv.label", Own: true, Label: "Label column", Help: "What the model learns to predict."},
		{Key: "csv.task", Kind: Menu, Own: true, Label: "What the label is", Options: []Option{
			{Text: "detected"}, {Value: "classification", Text: "classes"}, {Value: "regression", Text: "a number (regression)"},
			{"multi-label", "one of several (multi-label)", "A row has several labels, each yes or no. Of a table, the columns of the kind label hold them."}}},
		{Key: "csv.sheet", Own: true, Label: "Sheet", Help: "Of the spreadsheet."},
		{Key: "csv.image.size", Label: "Size of pictures", Help: "Height and width that all are brought to, such as 32 or 24, 32. That of most where it is 64 at most, or else 32. It counts as public."},
		{Key: "csv.image.channels", Kind: Menu, Label: "Channels", Options: []Option{
			{Text: "as the pictures have"}, {Value: "1", Text: "1: grey"}, {Value: "3", Text: "3: colour"}}},
		{Key: "csv.image.transform", Kind: Menu, Label: "Other proportions", Help: "How pictures that are wider or taller come to this size. The model keeps it, and Use does the same.", Options: []Option{
			{"", "fit: whole, with a border", "Proportions are kept. What a picture does not cover is black."},
			{"stretch", "stretch: squashed to the size", "As versions before did. Nothing is cut off; proportions are lost."},
			{"crop", "crop: the middle alone", "Proportions are kept. What is beyond the middle is cut off."}}},
		{Key: "csv.labels", Kind: Menu, Label: "Labels of CIFAR-100", Options: []Option{
			{Text: "fine: 100 classes"}, {Value: "coarse", Text: "coarse: 20 classes"}}},
		{Key: "csv.missing", Kind: Menu, Label: "Missing cells", Help: "What to do with cells that are empty or say so: NA, n/a, NaN, null, ?, k.A. or #NV.", Options: []Option{
			{Text: "refuse the file"}, {Value: "drop", Text: "drop: leave the row out"}, {Value: "zero", Text: "zero: 0, or a category of its own"},
			{Value: "indicator", Text: "indicator: as zero, and a feature that says so"}}},
		{Key: "csv.bad_rows", Kind: Menu, Label: "Rows that cannot be read", Options: []Option{
			{Text: "refuse the file"}, {Value: "skip", Text: "skip and count them"}}},
		{Key: "csv.buckets", Label: "Buckets", Preset: "32", Help: "Into how many features a bucketed column is hashed. No list of its categories is made.", When: func(c *run.Config) bool {
			return slices.Contains(slices.Collect(maps.Values(c.CSV.Columns)), "bucketed")
		}},
		{Key: "csv.max_length", Label: "Letters or words read", Help: "So many of each text, from the first on; 32 letters or 64 words where nothing stands here.", When: func(c *run.Config) bool {
			return c.CSV.MaxLength > 0 || slices.ContainsFunc(slices.Collect(maps.Values(c.CSV.Columns)), func(kind string) bool { return data.ColumnKind(kind).IsSequence() })
		}},
		{Key: "csv.test_share", Advanced: true, Label: "Share held out for testing", Preset: "0.2", Help: "Where no test file is given."},
		{Key: "csv.hold_out", Kind: Menu, Advanced: true, Label: "Held out by", Options: []Option{
			{"", "a shuffle of all rows", "The same for the same files. One row more would change it for others."},
			{"row", "each row alone", "A hash of the row decides, so that no row moves another. A declared number of rows needs that."}}},
		{Key: "csv.delimiter", Kind: Menu, Advanced: true, Label: "Delimiter", Options: []Option{
			{Text: "detected"}, {Value: ",", Text: "comma"}, {Value: ";", Text: "semicolon"}, {Value: "tab", Text: "tab"}, {Value: "|", Text: "bar"}}},
		{Key: "csv.header", Kind: Menu, Advanced: true, Label: "First row", Options: []Option{
			{Text: "detected"}, {Value: "yes", Text: "names of the columns"}, {Value: "no", Text: "a row of data"}}},
		{Key: "csv.encoding", Kind: Menu, Advanced: true, Label: "Encoding", Options: []Option{
			{Text: "detected"}, {Value: "utf-8", Text: "UTF-8"}, {Value: "utf-16", Text: "UTF-16"}, {Value: "windows-1252", Text: "Windows-1252"}}},
		{Key: "csv.decimal", Kind: Menu, Advanced: true, Label: "Decimal mark", Help: "Told from whole columns where it can be.", Options: []Option{
			{Text: "detected"}, {Value: ".", Text: "point"}, {Value: ",", Text: "comma"}}},
		{Key: "csv.thousands", Kind: Menu, Advanced: true, Label: "Mark between thousands", Options: []Option{
			{Text: "detected"}, {Value: ",", Text: "comma"}, {Value: ".", Text: "point"}, {Value: "'", Text: "apostrophe"}, {Value: " ", Text: "space"}, {Value: "none", Text: "none"}}},
		{Key: "csv.date", Kind: Menu, Advanced: true, Label: "Order of dates", Help: "Dates are read as days.", Options: []Option{
			{Text: "detected"}, {Value: "ymd", Text: "year, month, day"}, {Value: "dmy", Text: "day, month, year"}, {Value: "mdy", Text: "month, day, year"}}},
		{Key: "scaling.kind", Kind: Menu, Own: true, Label: "Scaling", Options: []Option{
			{"", "the data’s own default", "Images are divided by 255, which is public; built-in data comes scaled. Free."},
			{"declared", "bounds I declare", "Bounds you know without looking at the rows, such as an age from 0 to 120. Values outside are clamped. Free."},
			{"row", "each row to length 1", "Uses nothing but the row itself. Free."},
			{"private", "private bounds, paid for", "Bounds of each column come from a noisy histogram, which spends the stated share of ε."},
			{"measured", "measured from the data", "Means and deviations are released without noise: the run carries no guarantee."},
			{"none", "none", "Features go in as they are. Free; large ones make gradients long."}}},
		{Key: "scaling.lo", Pair: true, Label: "From", Preset: "0", When: is("scaling.kind", "declared")},
		{Key: "scaling.hi", Pair: true, Label: "To", Preset: "1", When: is("scaling.kind", "declared")},
		{Key: "scaling.share", Follows: true, Label: "Share of ε", Help: "0.1, or as much as the bounds of a small table need, up to 0.3.", When: is("scaling.kind", "private")},
		{Key: "scaling.target", Kind: Menu, Label: "Scaling of the target", Options: []Option{
			{"", "the data’s own default", "A table’s target becomes −1 … 1, by the bounds declared of its column, or private ones. The model answers in the data’s units all the same."},
			{"declared", "bounds declared of its column", "The target becomes −1 … 1, and what lies outside is clamped. The model answers in the data’s units all the same. Free."},
			{"private", "private bounds, paid for", "As those of features, from the same share of ε. The model answers in the data’s units all the same."},
			{"none", "none", "Targets stay as they are. Of large ones gradients are long, and clipping leaves little of them."}}},
		{Key: "augmentation.kind", Kind: Menu, Advanced: true, Label: "Augmentation", Options: []Option{
			{"none", "none", "Images go in as they are."},
			{"crop", "moved", "Each time it is drawn, an image is moved by up to 4 pixels each way. Free."},
			{"flip", "mirrored", "Each time it is drawn, an image is mirrored left to right, or not. Free."},
			{"crop-flip", "moved and mirrored", "Each time it is drawn, an image is moved by up to 4 pixels each way, and mirrored left to right, or not. Free."}}},
		{Key: "augmentation.multiplicity", Advanced: true, Label: "Views of each image", Preset: "1", Help: "So many are drawn at once, and the mean of their gradients is clipped as one: no more ε, but as many times the work.", When: func(c *run.Config) bool {
			return c.Augmentation.Kind != "none"
		}},
		{Key: "pca.components", Advanced: true, Label: "Principal components", Preset: "0", Help: "Rows are brought to unit length and reduced to this many directions before training, privately (DP-PCA); 0 for none."},
		{Key: "pca.share", Advanced: true, Label: "Share of ε for them", Preset: "0.1", When: func(c *run.Config) bool { return c.PCA.Components != 0 }},
	})
}

func builtins() []Option {
	var options []Option
	for _, b := range builtin.All() {
		options = append(options, Option{Value: b.Name, Text: b.Title})
	}
	return options
}

func modelFields() []Field {
	mlp := is("model.kind", "mlp")
	lowRank := func(c *run.Config) bool { _, ok := c.Start.LowRank(); return ok }
	kinds := []Option{
		{"softmax", "softmax regression", "One layer; the loss is cross-entropy. The fewest parameters, so the least noise."},
		{"linear", "linear regression", "One layer; the loss is the squared error. Of several labels a row it is a logistic regression for each."},
		{"mlp", "multi-layer network", "Layers in a row. Each parameter adds noise of its own to the sum."},
	}
	for _, n := range run.Networks() {
		kinds = append(kinds, Option{n.Kind, n.Title, n.About})
	}
	kinds = append(kinds, Option{"layers", "layers I list", "Each layer’s output goes into the next."})
	return on(Model, []Field{
		{Key: "model.kind", Follows: true, Kind: Menu, Label: "Kind", Options: kinds},
		{Key: "model.layers", Label: "Layers", When: is("model.kind", "layers"),
			Help: "For example conv:16:8:s2:p3 (16 channels, a kernel of 8×8, stride 2, padding 3), wsconv with standardised weights, maxpool:2:s1, avgpool:2, globalpool, groupnorm:8, layernorm, relu, tanh, gelu, bias, flatten, dense:32; embedding:27:8 first where a row is tokens, of which there are 27, then conv1d:32:3 along them, or lstm:32 with 32 cells, or position and attention:2 with two heads, and mean over them, or the first or last of them; skip … add around a residual block, skip:64:s2 with a convolution on what goes around. The last dense has as many outputs as the data."},
		{Key: "model.hidden", Follows: true, Label: "Hidden layers", Preset: "128", Help: "Widths from the first to the last, for example 128, 64.", When: mlp},
		{Key: "model.activation", Kind: Menu, Label: "Activation", Help: "What stands between two layers.", When: mlp, Options: []Option{
			{Value: "relu", Text: "ReLU"}, {Value: "tanh", Text: "tanh"}}},
		{Key: "start.sha256", Own: true, Label: "Start from"},
		{Key: "start.public", Own: true, Kind: Tick, Label: "This ε leaves out what it was trained on", Help: "Its weights count as public: this run’s ε promises nothing to the rows that left them. Were they these rows, and its run private, the ε of both add up: the statement says to how much."},
		{Key: "start.trainable", Own: true, Label: "Trained part", Preset: "all", Help: "all; head, the layer that answers; last:1, the head and the block before it, last:2 …; biases, and the head; or lora:8, the head and maps of rank 8 beside those of attentions. All else stays as it is, and gets no noise."},
		{Key: "start.lora_alpha", Own: true, Label: "LoRA’s α", Preset: "0", Help: "Over the rank, what the maps’ products are multiplied with. 0 for twice the rank.", When: lowRank},
		{Key: "start.lora_targets", Own: true, Label: "Beside which maps", Preset: "query,value", Help: "Some of query, key, value and dense.", When: lowRank},
		{Key: "start.freeze_a", Own: true, Kind: Tick, Label: "Train the second halves alone", Help: "The first halves, A, stay as they were drawn (FFA-LoRA).", When: lowRank},
		{Key: "public_rows.sha256", Own: true, Label: "Public rows"},
		{Key: "public_rows.batch_size", Own: true, Label: "Public rows a step", Help: "Each step draws so many of them."},
		{Key: "public_rows.weight", Own: true, Label: "Their weight w", Help: "A step takes (1 − w) times the noisy gradient of your rows and w times the mean gradient of the public ones."},
		{Key: "public_rows.public", Own: true, Kind: Tick, Label: "These rows are public", Help: "ε promises nothing to them. The statement says so, and names the file."},
		{Key: "model.dropout", Advanced: true, Label: "Dropout", Preset: "0", Help: "The probability with which a step drops each unit behind an activation (relu, tanh, gelu), each row by itself. It costs nothing, and the trained model has all units.", When: func(c *run.Config) bool {
			return c.Model.Dropout != 0 || c.Model.Kind != "softmax" && c.Model.Kind != "linear" // which have no activation
		}},
	})
}

func clippingFields() []Field {
	var methods []Option
	for _, m := range clip.Methods() {
		methods = append(methods, Option{m.Name, m.Title, m.Idea})
	}
	return on(Clipping, []Field{
		{Key: "method", Kind: Menu, Label: "Method", Options: methods},
		{Key: "max_grad_norm", Follows: true, Own: true, Label: "Threshold C", Help: "The most, in L2 norm, that one example may add to the sum."},
		{Key: "weight", Kind: Menu, Advanced: true, Label: "Weight function", Help: "What a gradient's norm is turned into a factor by.", Options: axis(clip.Weights()...)},
		{Key: "threshold", Kind: Menu, Advanced: true, Label: "Threshold rule", Help: "What moves C from step to step.", Options: axis(clip.Rules()...)},
		{Key: "grouping", Kind: Menu, Advanced: true, Label: "Grouping", Help: "What is clipped together. Per layer, the rule quantile has a threshold and a count for each.", Options: axis(string(clip.Flat), string(clip.PerLayer))},
		{Key: "eval_steps", Advanced: true, Label: "Test every", Unit: "steps", Preset: "0", Help: "Up to 1,000 test rows are looked at; for your eyes only. 0 for about twenty times in all."},
		{Key: "diagnostics_every", Advanced: true, Label: "Compare gradients every", Unit: "steps", Preset: "0", Help: "Shows what clipping and noise did to a batch's gradient; for your eyes only. 0 for never. Such a step takes longer."},
	})
}

// axis is the options of one axis of a method.
func axis(names ...string) []Option {
	options := []Option{{Text: "the method’s own"}}
	for _, n := range names {
		options = append(options, Option{Value: n, Text: n})
	}
	return options
}

func privacyFields() []Field {
	return on(Privacy, []Field{
		{Key: Plan, Own: true},
		{Key: Budget, Kind: Segments, Label: "Decide by", Now: BudgetOf, Options: []Option{
			{Value: "target_epsilon", Text: "ε"}, {Value: "noise_multiplier", Text: "noise σ"}, {Value: "no_privacy", Text: "no noise"}}},
		{Key: "noise_multiplier", Needed: true, Label: "Noise multiplier σ", Help: "The noise's standard deviation is σ·C on the sum.", When: decides("noise_multiplier"), Resets: []string{"target_epsilon"}},
		{Key: "target_epsilon", Needed: true, Label: "Privacy budget ε", Help: "Smaller is more private: one row makes any outcome at most e^ε times as likely, but for a probability of δ.", When: decides("target_epsilon"), Resets: []string{"noise_multiplier"}},
		{Key: "no_privacy", Kind: Notice, Help: "Nothing is protected: ε is ∞. For comparison only.", When: decides("no_privacy")},
		{Key: "target_delta", Label: "Failure probability δ", Help: "Well below 1 over the number of rows."},
		{Key: "expected_batch_size", Follows: true, Label: "Expected batch size", Unit: "rows", Help: "Each row enters a batch by its own coin toss; this many do on average."},
		{Key: Length, Kind: Segments, Label: "Length in", Now: LengthOf, Options: []Option{{Value: "epochs", Text: "epochs"}, {Value: "steps", Text: "steps"}}},
		{Key: "epochs", Follows: true, Label: "Epochs", Help: "One epoch is as many steps as it takes to draw each row once on average.", When: ends("epochs"), Resets: []string{"steps"}},
		{Key: "steps", Needed: true, Label: "Steps", Help: "An empty batch takes a step too.", When: ends("steps"), Resets: []string{"epochs"}},
		{Key: "early_stopping.monitor", Kind: Menu, Advanced: true, Label: "Stop early", Help: "Once a value that the run releases has come to rest. You pay for all planned steps.", Options: []Option{
			{"", "no: all steps", "The run takes all of its steps, unless you stop it."},
			{Value: "noisy_grad_norm", Text: "by the noisy gradient norm"},
			{Value: "noisy_clip_fraction", Text: "by the noisy clipped share"},
			{Value: "max_grad_norm", Text: "by the threshold C"}}},
		{Key: "early_stopping.patience", Advanced: true, Label: "Patience", Unit: "steps", Help: "Means of so many steps are compared.", When: stopping},
		{Key: "early_stopping.min_delta", Advanced: true, Label: "Least change", Help: "0.02: the run ends where the mean changes by less than 2 %.", When: stopping},
		{Key: "noise_mode", Kind: Segments, Label: "Noise as", Options: []Option{
			{"float", "float", "Fast. Floating-point numbers leave holes: an attacker who sees the exact bits of a release may learn more than ε states."},
			{"secure", "secure integers", "Gradients on a grid of integers, discrete Gaussian noise: no such holes. A little slower."}}},
		{Key: "blind", Kind: Tick, Label: "Hide diagnostics until the end", Help: "You pay for all planned steps, even if you stop early. Stopping because of an amber chart is not covered, so hide them if you might."},
		{Key: "num_examples", Advanced: true, Label: "Declared number of rows",
			Help: "Rows to train on, as you state it without counting. Rate, steps and noise follow from it, so the guarantee covers how many rows there are: adding or removing one (add-or-remove). Left out, the number is public, and a row is protected against being replaced by an empty one (zero-out)."},
		{Key: "accountant", Kind: Menu, Advanced: true, Label: "Accountant", Help: "How ε is proven from the steps; both are upper bounds.", Options: []Option{{Value: "rdp", Text: "RDP"}, {Value: "pld", Text: "PLD"}}},
	})
}

func togetherFields() []Field {
	several := func(c *run.Config) bool { return c.Together.Parties > 0 }
	return on(Together, []Field{
		{Key: "together.parties", Label: "Parties", Preset: "1", Help: "How many train one model, each in a tab of its own."},
		{Key: "together.tolerance", Advanced: true, Label: "Tolerance", Preset: "0", When: several,
			Help: "So many parties may be silent in a step, or tell others their noise, and ε stays as it is. The others draw more noise for it."},
		{Key: "together.quorum", Advanced: true, Label: "Quorum", When: several,
			Help: "A step is taken with so many parties at least. A party knows its own noise, so by default it is one more than are needed."},
	})
}

func optimiserFields() []Field {
	adam := func(c *run.Config) bool { return c.Optimizer == "adam" || c.Optimizer == "adam-bc" }
	return on(Optimiser, []Field{
		{Key: "optimizer", Follows: true, Kind: Menu, Label: "Optimiser", Help: "It sees the noisy sum only, so whatever it does is free.", Resets: []string{"learning_rate", "momentum", "nesterov", "beta1", "beta2", "eps"}, Options: []Option{
			{Value: "sgd", Text: "SGD"}, {Value: "momentum", Text: "SGD with momentum"}, {Value: "adam", Text: "Adam"},
			{"adam-bc", "Adam, noise taken out", "Adam divides by the gradient’s size, most of which is noise. The noise’s variance is known, so here it is subtracted first (DP-AdamBC): steps get longer, and a smaller rate may fit."}}},
		{Key: "learning_rate", Follows: true, Label: "Learning rate", Help: "How far one step goes."},
		{Key: "tuning.runs", Kind: Menu, Label: "Choose for me", Help: "Rate and threshold as they are set.", Options: []Option{
			{Text: "no: one run, as it is set"}, tries("3"), tries("5"), tries("10")}},
		{Key: "tuning.learning_rate", Advanced: true, Label: "Rates to try", Help: "For example 0.05; 0.2. Where neither these nor thresholds are listed: a third, one and three times the rate above.", When: tuning},
		{Key: "tuning.max_grad_norm", Advanced: true, Label: "Thresholds to try", Help: "For example 0.5; 2. Where nothing is listed, and the method keeps its threshold: a quarter and one times that in the clipping card.", When: tuning},
		{Key: "tuning.scored_by", Kind: Menu, Advanced: true, Label: "Compare runs by", When: tuning, Options: []Option{
			{"", "what suits the classes", "The log loss if one class has more than 80 % of the rows, or else the correct test rows. With a declared number of rows classes are not counted, and it is the correct rows."},
			{run.ByAccuracy, "correct test rows", "Good for classes of about one size. A class that is rare hardly counts."},
			{run.ByLogLoss, "log loss", "How sure a run is of each test row’s class; a row counts ln 100 at most. Good where one class has most of the rows."}}},
		{Key: "tuning.rehearse", Kind: Tick, Advanced: true, Label: "Rehearse on made-up rows", Help: "All are tried on rows of the same shape that are nobody’s, which is free but takes time, and the better half on yours.", When: tuning},
		{Key: "learning_rate_schedule", Kind: Menu, Advanced: true, Label: "Course of the rate", Help: "How the learning rate moves over the run’s steps. It follows from their number alone, and is free.", Options: []Option{
			{Text: "constant"}, {Value: "linear", Text: "linear: falls towards 0"}, {Value: "cosine", Text: "cosine: falls slowly at both ends"}, {Value: "step", Text: "step: a tenth after half, a hundredth after three quarters"}}},
		{Key: "warmup_steps", Advanced: true, Label: "Warm-up", Unit: "steps", Preset: "0", Help: "In so many steps the rate rises to its full size."},
		{Key: "weight_decay", Advanced: true, Label: "Weight decay", Preset: "0", Help: "Times the rate, by how much each step first shortens the parameters. With Adam this is AdamW."},
		{Key: "label_smoothing", Advanced: true, Label: "Label smoothing", Preset: "0", Help: "This share of each row’s target is spread evenly over all classes, so that no row asks for certainty. It costs nothing."},
		{Key: "class_weights", Advanced: true, Label: "Weights of classes", Help: "For example ham: 1; spam: 5. Each row’s loss is multiplied by its class’s weight before its gradient is clipped. They count as public: do not take them from counts of rows."},
		{Key: "momentum", Label: "Momentum", Help: "How much of the last direction is kept.", When: is("optimizer", "momentum")},
		{Key: "nesterov", Kind: Tick, Advanced: true, Label: "Nesterov", Help: "Momentum looks ahead: each step goes along the new gradient once more.", When: is("optimizer", "momentum")},
		{Key: "beta1", Pair: true, Label: "β₁", When: adam},
		{Key: "beta2", Pair: true, Label: "β₂", When: adam},
		{Key: "iterate", Kind: Menu, Advanced: true, Label: "Parameters kept", Help: "Which parameters the run ends with; all are free.", Options: []Option{
			{Value: "last", Text: "those of the last step"}, {Value: "ema", Text: "their moving average"}, {Value: "random", Text: "those of a random step"}}},
		{Key: "ema_decay", Advanced: true, Label: "Decay of the average", Help: "How much of the average each step keeps.", When: is("iterate", "ema")},
		{Key: "eps", Advanced: true, Label: "Stabiliser", Help: "Added to Adam's denominator.", When: adam},
		{Key: "max_physical_batch_size", Advanced: true, Label: "Physical batch size", Unit: "rows", Help: "At most so many rows are in memory at once; on a GPU, where this stays as it is, as many as fit. The result does not depend on it."},
		{Key: "backend", Kind: Menu, Advanced: true, Label: "Back end", Help: "Where the arithmetic is done. For a run of ten seconds or more the fastest is found by a trial on made-up rows; the run bar says which it is.", Options: []Option{
			{Value: "auto", Text: "the fastest there is"}, {Value: "simd", Text: "WebAssembly SIMD"}, {Value: "purego", Text: "plain Go, the reference"}, {Value: "webgpu", Text: "WebGPU"}}},
		{Key: "threads", Kind: Menu, Advanced: true, Label: "Threads", Help: "How many share the work of each step. The result does not depend on it, and says how many there were.", Options: []Option{
			{Text: "one on each core"}, {Value: "1", Text: "1"}, {Value: "2", Text: "2"}, {Value: "3", Text: "3"}, {Value: "4", Text: "4"}, {Value: "6", Text: "6"}, {Value: "8", Text: "8"}}},
		{Key: "note", Advanced: true, Label: "Note", Help: "For yourself. It stands in the address and in exported configurations."},
	})
}

// tries is the choice of that many runs on average.
func tries(n string) Option {
	return Option{n, "yes: the best of some " + n + " runs",
		"How many runs there are is drawn at random, " + n + " on average, and what each tries, too. The run with the most correct test rows (counted with a little noise) is released. Where one class has more than 80 % of the rows, the log loss decides instead. All runs together spend the ε of the privacy card, so each gets more noise than a single run would."}
}

func stopping(c *run.Config) bool { return c.EarlyStopping.Monitor != "" }

func tuning(c *run.Config) bool { return c.Tuning.Runs > 0 }

func on(card Card, rows []Field) []Field {
	for i := range rows {
		rows[i].Card = card
	}
	return rows
}

// On are the fields of a card, in their order.
func On(card Card) []Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return f.Card != card })
}

// Settings are the fields that hold a value of the configuration, in the order of the page.
func Settings() []Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return f.Now != nil || f.Key == Plan })
}

// Vary are the fields that runs of one sweep may differ in, as a configuration, which has its defaults, has them, and the
// parameters of its method. Data and how they are read stay, and so do lists.
func Vary(c *run.Config) (list []Field) {
	for _, f := range Settings() {
		group, _, _ := strings.Cut(f.Key, ".")
		if f.Kind == Notice || f.When != nil && !f.When(c) || slices.Contains([]string{"data", "csv", "seed", "note", "blind", "diagnostics_every", "eval_steps", "tuning", "together", "start", "public_rows"}, group) {
			continue
		}
		list = append(list, f)
	}
	for _, p := range Declared(c) {
		list = append(list, Field{Key: p.Name, Card: Clipping, Label: p.Label, Help: p.Help})
	}
	return list
}

// Varied returns c with the text of a field, and with it what depends on the field.
func Varied(c run.Config, f Field, text string) (run.Config, error) {
	if err := Set(&c, f.Key, text); err != nil {
		return c, err
	}
	for _, other := range f.Resets {
		if err := Set(&c, other, ""); err != nil {
			return c, err
		}
	}
	KeepParams(&c)
	return c, nil
}

// Following are the fields that a preset for one data set has and another may want
// otherwise: those whose defaults follow from the data, and what goes with them.
func Following() []string {
	keys := []string{"model.activation", "method", "steps", "momentum"}
	for _, f := range fields {
		if f.Follows {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// Shortest returns c, which has its defaults, without what they come to for these facts anyway.
func Shortest(c run.Config, facts run.Facts) run.Config {
	full := c.WithDefaultsFor(facts)
	keys := slices.Collect(maps.Keys(c.Params))
	for _, f := range fields {
		keys = append(keys, f.Key)
	}
	for _, key := range keys {
		next := c
		if Set(&next, key, "") == nil && reflect.DeepEqual(next.WithDefaultsFor(facts), full) {
			c = next
		}
	}
	return c
}

// Differing are the cards on which two configurations, which have their defaults,
// are not the same; the foot last.
func Differing(a, b *run.Config) []Card {
	var list []Card
	for _, card := range []Card{Data, Model, Clipping, Privacy, Optimiser, Foot} {
		if card == Clipping && !maps.Equal(a.Params, b.Params) || card == Data && reading(a) != reading(b) ||
			slices.ContainsFunc(On(card), func(f Field) bool { return Get(a, f.Key) != Get(b, f.Key) }) {
			list = append(list, card)
		}
	}
	return list
}

// reading is all that a configuration says of how files are read.
func reading(c *run.Config) string {
	hash, err := run.Config{CSV: c.CSV}.Hash()
	if err != nil {
		return err.Error()
	}
	return hash
}

// Reads reports whether a field says how files are read.
func Reads(key string) bool { return strings.HasPrefix(key, "csv.") }

// Find is the field that a name stands for. That of a group, or of something in
// a group that has no control, stands for the group's first; one that is in no
// row is a parameter of the method.
func Find(name string) Field {
	if i := row(name); i >= 0 {
		return fields[i]
	}
	return Field{Key: name, Card: Clipping}
}

// row is the index of a name's row, -1 for a parameter.
func row(name string) int {
	if i := slices.IndexFunc(fields, func(f Field) bool { return f.Key == name }); i >= 0 {
		return i
	}
	group, _, _ := strings.Cut(name, ".")
	return slices.IndexFunc(fields, func(f Field) bool { return strings.HasPrefix(f.Key, group+".") })
}

// Sorted are the keys of m in the order of the page.
func Sorted[V any](m map[string]V) []string {
	place := func(key string) int {
		if i := row(key); i >= 0 {
			return i
		}
		return row("max_grad_norm") // parameters stand under the threshold
	}
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	})
}
