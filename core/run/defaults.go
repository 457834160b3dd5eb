package run

// Default values, where a field's source is not the paper of the chosen method.
const (
	DefaultDelta         = 1e-5 // as Opacus, and the four papers on MNIST
	DefaultEpsilon       = 1.0
	DefaultBatch         = 256 // DC-SGD's
	DefaultEpochs        = 5
	DefaultLearningRate  = 0.5
	DefaultAdamRate      = 1e-3  // Kingma & Ba 2015
	DefaultPhysicalBatch = 512   // bounds memory; a few hundred rows keep the matrix products fast
	DefaultAccountant    = "pld" // the tightest that is proven; rdp is what DC reports
)

// WithDefaults fills in every field that is left at its zero value, for data of
// which nothing is known. It changes nothing that was set, so contradictions stay
// for the plan to refuse.
func (c Config) WithDefaults() Config { return c.WithDefaultsFor(Facts{}) }

// WithDefaultsFor is WithDefaults for a run on data of which so much is known: what
// follows from that and the budget does (see [Facts]), the rest is constant. It drops a list
// of layers that the model's kind does not use.
func (c Config) WithDefaultsFor(f Facts) Config {
	if c.NumExamples > 0 && f.Rows > 0 {
		f.Rows = c.NumExamples
	}
	def(&c.Data, "digits")
	def(&c.Method, "constant")
	if c.NoiseMultiplier == nil && c.TargetEpsilon == nil && c.Method != "none" {
		c.TargetEpsilon = new(float64)
		*c.TargetEpsilon = DefaultEpsilon
	}
	def(&c.TargetDelta, DefaultDelta)
	if len(c.Model.Layers) > 0 {
		def(&c.Model.Kind, "layers")
	}
	c.Model.dropUnused() // before what follows, which would see a list that has no effect
	c.follow(f)
	def(&c.Model.Kind, "softmax")
	switch c.Model.Kind {
	case "layers":
		if len(c.Model.Layers) == 0 {
			c.Model.Layers = f.layers()
		}
	case "mlp":
		// Bounded activations keep gradients, and so clipping, in hand
		// (Papernot et al. 2021): Fashion-MNIST, MLP-128, psac at ε = 3 reaches
		// 82.3 % with tanh and 82.0 % with relu.
		def(&c.Model.Activation, "tanh")
		if len(c.Model.Hidden) == 0 {
			c.Model.Hidden = []int{128}
		}
	}
	def(&c.Augmentation.Kind, "none")
	def(&c.Augmentation.Multiplicity, 1)
	def(&c.MaxGradNorm, 1)
	def(&c.Accountant, DefaultAccountant)
	if c.Together.Parties > 0 {
		def(&c.NoiseMode, "secure")
		def(&c.Together.Quorum, min(c.Together.Needed()+1, c.Together.Parties))
	}
	def(&c.NoiseMode, "float")
	def(&c.ExpectedBatchSize, DefaultBatch)
	def(&c.MaxPhysicalBatchSize, DefaultPhysicalBatch)
	if c.Epochs == 0 && c.Steps == 0 {
		c.Epochs = DefaultEpochs
	}
	if c.EarlyStopping.Monitor != "" {
		def(&c.EarlyStopping.Patience, 50)
		def(&c.EarlyStopping.MinDelta, 0.02)
	}
	if c.PublicRows.SHA256 != "" {
		def(&c.PublicRows.BatchSize, 64)
		def(&c.PublicRows.Weight, 0.5)
	}
	c.optimizerDefaults()
	def(&c.Iterate, "last")
	if c.Iterate == "ema" {
		def(&c.EMADecay, 0.99)
	}
	def(&c.Backend, "auto")
	return c
}

// Optimizers lists the optimisers.
func Optimizers() []string { return []string{"sgd", "momentum", "adam", "adam-bc"} }

func (c *Config) optimizerDefaults() {
	def(&c.Optimizer, "sgd")
	switch c.Optimizer {
	case "momentum":
		def(&c.Momentum, 0.9)
		def(&c.LearningRate, DefaultLearningRate/10)
	case "adam", "adam-bc":
		def(&c.Beta1, 0.9)
		def(&c.Beta2, 0.999)
		def(&c.Eps, 1e-8)
		def(&c.LearningRate, DefaultAdamRate)
	}
	def(&c.LearningRate, DefaultLearningRate)
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
