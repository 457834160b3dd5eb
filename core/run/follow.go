package run

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Facts are the public properties of a data set that decide how a run on it is best set
// up. The zero value says that nothing is known.
//
// Guarantee: nothing here is counted in the rows but their number, which is public
// as the sampling rate shows it. How many rows each class has is not among them.
type Facts struct {
	Rows       int  // to train on
	Features   int  // of a row
	Numbers    int  // of the features: those that are numbers, which are brought to 0 … 1
	Categories int  // columns of categories, each of which sets one feature to 1
	Texts      int  // columns of texts, the features of each of which have length 1
	Hashed     int  // of the features: those of texts
	Tokens     int  // that the features are, of so many different ones; 0 where they are none
	Outputs    int  // classes, labels or numbers
	Numeric    bool // the targets are numbers
	Labels     bool // the targets are several labels, each yes or no
	Declared   bool // bounds of the targets are
	Table      bool // features are made of columns
	Picture    bool // features are pixels
	Backbone   bool // features are what a model made of rows
}

// The rule by which what nobody set follows from N, d, ε and δ. The constants were
// measured on drawn and on published tables; core/RATIONALE.md has the grid.
const (
	// followSteps are enough for Adam to go as far as regression on features of
	// 0 … 1 has to. More would cost time alone: while σ is large, noise in the sum
	// of all steps does not depend on their number.
	followSteps = 300
	// followPart of the rows is a batch, and at most followBatch rows: beyond, σ/B
	// hardly falls, and time grows.
	followPart  = 4
	followBatch = 1024
	// A hidden layer is worth its noise where a row has so few features that
	// straight lines through them are too little, and the signal is so strong.
	fewFeatures  = 8
	enoughSignal = 30
	followWidth  = 32
	// tokenRate is Adam's for rows of tokens, measured on drawn names, mails and reviews at ε = 2 to 8.
	tokenRate = 0.03
	// networkRate is Adam's for other networks on few rows, measured on 240 to 4,000 drawn digits at ε = 2 and 8.
	networkRate = 0.01
	// followText was measured on drawn mails, at ε = 2 to 8.
	followText = 1024
	// Of scaled targets, whose errors are smaller than a class's, the best step of Adam
	// is so much shorter: measured on drawn tables of 1 to 120 columns.
	numberCaution = 5
	// The bounds of Adam's step, before any caution.
	leastRate, mostRate = 0.001, 0.2
	// followCaution is the caution of dc-e on tables: in all of followSteps noise alone moves C
	// with probability 1 % or so.
	followCaution = 4
)

// layers is the list that a person who lists layers begins with.
func (f Facts) layers() []string {
	switch {
	case f.Tokens > 0:
		return f.tokenLayers()
	case f.Features > 0 && !f.Picture: // nothing lies beside anything
		return Model{Kind: "mlp", Hidden: []int{followWidth}, Activation: "tanh"}.List()
	}
	return Model{Kind: "cnn-opacus"}.List()
}

// signal is κ = εN/(√(2·ln(1.25/δ))·√d): the length of what a run can sum up, N
// gradients of length C, over that of the noise on d parameters which (ε, δ) asks
// of the Gaussian mechanism in the classic bound (Dwork & Roth 2014, Theorem A.1).
// Subsampling and composition leave it nearly as it is. A noise multiplier σ
// stands for ε = q·√(2T·ln(1.25/δ))/σ. It is +Inf without noise, and 1 for a budget
// that is none, which the plan refuses.
func (c Config) signal(f Facts, parameters int) float64 {
	n, d := float64(f.Rows), math.Sqrt(float64(parameters))
	var k float64
	switch {
	case c.NoPrivacy || c.Method == "none":
		return math.Inf(1)
	case c.NoiseMultiplier != nil:
		steps := float64(c.Steps)
		if steps == 0 {
			steps = c.Epochs * n / c.ExpectedBatchSize
		}
		k = c.ExpectedBatchSize * math.Sqrt(steps) / (*c.NoiseMultiplier * d)
	default:
		k = *c.TargetEpsilon * n / (math.Sqrt(2*math.Log(1.25/c.TargetDelta)) * d)
	}
	if !(k > 0) {
		return 1
	}
	return k
}

// inputs returns the number of values of a row that the first layer sees, of which the features of a text count as
// followText: a row of length 1 is moved by as much noise however many it has.
func (c Config) inputs(f Facts) int {
	if c.PCA.Components > 0 {
		return c.PCA.Components
	}
	return f.Features - f.Hashed + min(f.Hashed, followText*f.Texts)
}

// dense reports whether the model has the dense layers for which the whole rule was measured. For layers that are
// listed, and networks by name, followNetwork has some of it.
func (c Config) dense() bool {
	switch c.Model.Kind {
	case "", "softmax", "linear", "mlp":
		return len(c.Model.Layers) == 0
	}
	return false
}

// follow fills in what follows from the data and the budget. Budget and δ are set.
func (c *Config) follow(f Facts) {
	if f.Rows <= 0 || f.Features <= 0 || f.Outputs <= 0 {
		return
	}
	if c.Threshold == "dc-e" || c.Method == "dc-e" && c.Threshold == "" {
		c.followRule(f)
	}
	part := math.Ceil(float64(f.Rows) / followPart)
	if f.Tokens > 0 {
		c.followTokens(f, part)
		return
	}
	if !c.dense() {
		c.followNetwork(f, part)
		return
	}
	def(&c.ExpectedBatchSize, math.Min(followBatch, part))
	c.followLength(f)
	d := c.followModel(f)
	if f.Picture || f.Numeric {
		// Pixels are mostly far below 1, and targets of any size make gradients of any.
		def(&c.MaxGradNorm, 1)
	} else {
		def(&c.MaxGradNorm, c.firstNorm(f))
	}
	caution := 1.0
	if f.Numeric {
		if t := c.Scaling.TargetOf(f); t != "declared" && t != "private" {
			// How far the steps have to go depends on the targets' size, which nobody has
			// said: the constants stay, under which 300 steps go further than five epochs.
			return
		}
		caution = numberCaution
	}
	c.followAdam(rate(c.signal(f, d), c.inputs(f), caution))
}

// followTokens fills in what is the same for all rows of tokens: the steps of tables, and a network that sees pairs of
// neighbours.
func (c *Config) followTokens(f Facts, part float64) {
	switch {
	case c.Model.ReadsTokens():
		c.Model = Model{Kind: "layers", Layers: c.Model.ofTokens(f.Tokens), Dropout: c.Model.Dropout}
	case c.Model.Kind != "" || len(c.Model.Layers) > 0:
	case len(c.Model.Hidden) > 0 || c.Model.Activation != "":
		c.Model.Kind = "mlp" // which the plan refuses
	default:
		c.Model = Model{Kind: "layers", Layers: f.tokenLayers(), Dropout: c.Model.Dropout}
	}
	def(&c.ExpectedBatchSize, math.Min(followBatch, part))
	c.followLength(f)
	rate := tokenRate
	if slices.ContainsFunc(c.Model.Layers, func(l string) bool { return strings.HasPrefix(l, "attention") }) {
		rate = networkRate
	}
	c.followAdam(rate)
}

// followNetwork fills in what networks have that are listed or named. On few rows the constants are a handful of steps,
// which leave such a network where it began: then it has the steps of tables, and Adam.
func (c *Config) followNetwork(f Facts, part float64) {
	def(&c.ExpectedBatchSize, math.Min(DefaultBatch, part))
	if f.Numeric || followSteps*c.ExpectedBatchSize <= DefaultEpochs*float64(f.Rows) {
		return
	}
	c.followLength(f)
	c.followAdam(networkRate)
}

// followLength fills in followSteps, in whole epochs.
func (c *Config) followLength(f Facts) {
	if c.Steps == 0 && c.Epochs == 0 {
		c.Epochs = max(1, math.Round(followSteps*c.ExpectedBatchSize/float64(f.Rows)))
	}
}

// followAdam fills in Adam at a rate, unless another optimiser or rate is set. The steps of adam-bc are
// longer, and a third of the rate is theirs.
func (c *Config) followAdam(rate float64) {
	switch {
	case c.LearningRate != 0:
	case c.Optimizer == "" || c.Optimizer == "adam":
		c.Optimizer, c.LearningRate = "adam", rate
	case c.Optimizer == "adam-bc":
		c.LearningRate = rate / 3
	}
}

// tokenLayers returns the layers of a model for rows of tokens. A single token has no neighbour.
func (f Facts) tokenLayers() []string {
	embedding := fmt.Sprintf("embedding:%d:16", f.Tokens)
	if f.Features == 1 {
		return []string{embedding, "mean", "dense"}
	}
	return []string{embedding, "conv1d:32:2", "tanh", "mean", "dense"}
}

// TargetOf returns the source of the bounds of the data's targets: as Target says, or by default.
func (s Scaling) TargetOf(f Facts) string {
	switch {
	case s.Target != "" || !f.Numeric:
		return s.Target
	case f.Declared:
		return "declared"
	case (f.Table || f.Backbone) && s.Kind != "none":
		return "private"
	}
	return "none"
}

// followModel settles the model's kind and width, and returns how many parameters
// it has.
func (c *Config) followModel(f Facts) int {
	in, out := c.inputs(f), f.Outputs
	wide := func(w int) int { return w*(in+1) + out*(w+1) }
	switch {
	case c.Model.Kind != "":
	case f.Numeric:
		c.Model.Kind = "linear"
	case len(c.Model.Hidden) > 0 || c.Model.Activation != "":
		c.Model.Kind = "mlp"
	case !f.Picture && in <= fewFeatures && c.signal(f, wide(followWidth)) >= enoughSignal:
		c.Model.Kind = "mlp"
	case f.Labels:
		c.Model.Kind = "linear"
	default:
		c.Model.Kind = "softmax"
	}
	if c.Model.Kind != "mlp" {
		return out * (in + 1)
	}
	if len(c.Model.Hidden) == 0 {
		w := 4 * followWidth
		for w > followWidth/2 && (in <= fewFeatures && w > followWidth || c.signal(f, wide(w)) < enoughSignal) {
			w /= 2
		}
		c.Model.Hidden = []int{w}
	}
	d, last := 0, in
	for _, w := range append(append([]int(nil), c.Model.Hidden...), out) {
		d, last = d+w*(last+1), w
	}
	return d
}

// firstNorm is about how long one row's gradient is before anything is learned:
// that of softmax regression is the row, with the 1 of the bias, times what the
// prediction lacks, which is about 1. A number between 0 and 1 adds a third to the
// row's square on average, a category or a text 1. Much less would cut off above all the
// gradients of rows that are predicted badly, such as those of a rare class.
func (c *Config) firstNorm(f Facts) float64 {
	switch {
	case c.PCA.Components > 0 || c.Scaling.Kind == "row" || c.Scaling.Kind == "" && f.Backbone:
		return 1.4 // √2: rows of length 1
	case c.Scaling.Kind != "" && c.Scaling.Kind != "private" && c.Scaling.Kind != "declared" && f.Hashed < f.Features:
		return 1
	}
	return twoDigits(math.Sqrt(1 + float64(f.Numbers)/3 + float64(f.Categories+f.Texts)))
}

// rate is Adam's, which nearly takes steps of the same length whatever C is: as
// long as noise in so many features allows, and a little longer where the signal is
// strong; shorter by caution.
func rate(signal float64, features int, caution float64) float64 {
	return twoDigits(min(max(0.2*math.Sqrt(math.Sqrt(signal)/float64(features)), leastRate), mostRate) / caution)
}

// followRule has dc-e stay where noise alone would move it. Pictures keep the
// paper's form, in which classes are of much the same size.
func (c *Config) followRule(f Facts) {
	if _, set := c.Params["caution"]; set || f.Picture {
		return
	}
	params := map[string]float64{"caution": followCaution}
	for k, v := range c.Params {
		params[k] = v
	}
	c.Params = params
}

// twoDigits rounds to two significant digits, which is what a form shows.
func twoDigits(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return x
	}
	p := math.Pow(10, 1-math.Floor(math.Log10(x)))
	return math.Round(x*p) / p
}
