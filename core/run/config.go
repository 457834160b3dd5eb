// Package run defines the plain types that cross the border between page and worker. The
// [Config] goes in, the [Event] stream comes out and the [Result] ends it; every request
// and reply is here as well. Package worker says which message holds which of them; files,
// built-in data and methods describe themselves in the types of packages data and clip.
// One JSON schema serves the page's controls, presets, the share URL, the report and the
// scripting API.
package run

import (
	"encoding/json"
	"errors"
	"strings"
)

// ProtocolVersion changes whenever a message between page and worker changes
// its meaning. Both sides carry it and refuse to talk across versions: after an
// update an old page can meet a new worker.
const ProtocolVersion = 10

// Config is everything that decides a run except the data's rows. Its zero
// fields mean "the default"; [Config.WithDefaults] fills them in. Names and
// meanings are the field's own.
type Config struct {
	// Data names built-in data (digits, digits-rare, moons, blobs, spirals, sentences, regression-vc,
	// regression-ac, regression-ac-far), or is "files" when files take its place.
	Data    string  `json:"data,omitempty"`
	CSV     CSV     `json:"csv,omitzero"`
	Scaling Scaling `json:"scaling,omitzero"`
	PCA     PCA     `json:"pca,omitzero"`
	// Augmentation changes images at random whenever they are drawn.
	Augmentation Augmentation `json:"augmentation,omitzero"`
	Model        Model        `json:"model,omitzero"`
	// Start names the weights that the model starts from, in place of random ones.
	Start Start `json:"start,omitzero"`
	// PublicRows names public rows whose gradient is mixed into each step.
	PublicRows PublicRows `json:"public_rows,omitzero"`

	// Method is the registered name of a clipping method. Its own parameters
	// stand beside these fields in JSON and in the URL ("r": 0.1) and are
	// kept in Params; the method's declaration says which exist.
	Method string             `json:"method,omitempty"`
	Params map[string]float64 `json:"-"`
	// Weight, Threshold and Grouping replace one axis of the method, so that
	// combinations no paper names can be run ("psac" weights, "dc-e" rule).
	Weight    string `json:"weight,omitempty"`
	Threshold string `json:"threshold,omitempty"`
	Grouping  string `json:"grouping,omitempty"`

	// MaxGradNorm is the clipping threshold C, or C₀ where a rule adapts it.
	MaxGradNorm float64 `json:"max_grad_norm,omitempty"`

	// Exactly one of NoiseMultiplier and TargetEpsilon decides the noise. A
	// NoiseMultiplier of 0 is refused unless NoPrivacy says it is meant.
	NoiseMultiplier *float64 `json:"noise_multiplier,omitempty"`
	TargetEpsilon   *float64 `json:"target_epsilon,omitempty"`
	TargetDelta     float64  `json:"target_delta,omitempty"`
	NoPrivacy       bool     `json:"no_privacy,omitempty"`
	Accountant      string   `json:"accountant,omitempty"` // pld or rdp
	// NoiseMode is float (default), or secure: gradients on an integer grid with
	// discrete Gaussian noise, a little slower, without the holes of floating point.
	NoiseMode string `json:"noise_mode,omitempty"`

	// NumExamples declares how many rows there are to train on. Sample rate, steps, noise and
	// divisor follow from it and not from the rows, so the guarantee covers their number:
	// the relation is [AddOrRemove]. 0: the rows are counted, the number is public, and the
	// relation is [ZeroOut].
	NumExamples int `json:"num_examples,omitempty"`

	ExpectedBatchSize    float64 `json:"expected_batch_size,omitempty"`
	MaxPhysicalBatchSize int     `json:"max_physical_batch_size,omitempty"`
	// One of Epochs and Steps; an epoch is N/expected_batch_size steps, N being
	// NumExamples where that is given.
	Epochs float64 `json:"epochs,omitempty"`
	Steps  int     `json:"steps,omitempty"`

	// EarlyStopping ends the run once a released value has come to rest.
	EarlyStopping EarlyStopping `json:"early_stopping,omitzero"`

	Optimizer    string  `json:"optimizer,omitempty"` // sgd, momentum, adam, adam-bc
	LearningRate float64 `json:"learning_rate,omitempty"`
	// LearningRateSchedule is constant (default), linear, cosine or step: how the rate falls over the
	// steps that follow the WarmupSteps, in which it rises. WeightDecay times the rate is how much
	// shorter each step makes the parameters first. All follow from the step's number alone.
	LearningRateSchedule string  `json:"learning_rate_schedule,omitempty"`
	WarmupSteps          int     `json:"warmup_steps,omitempty"`
	WeightDecay          float64 `json:"weight_decay,omitempty"`

	// LabelSmoothing mixes so much of the uniform distribution into the targets of classes and labels
	// (Szegedy et al. 2016), each row by itself; losses and scores stay those of the labels.
	LabelSmoothing float64 `json:"label_smoothing,omitempty"`

	// ClassWeights multiply the loss of each row by its class's weight, by name and 1 by default, before
	// its gradient is clipped. They are declared, and count as public: whoever takes them from how
	// many rows a class has tells that number.
	ClassWeights map[string]float64 `json:"class_weights,omitempty"`

	Momentum float64 `json:"momentum,omitempty"`
	// Nesterov has momentum look ahead: the step is along g + μ·v, as PyTorch has it, where v is
	// the momentum that g is in already.
	Nesterov bool    `json:"nesterov,omitempty"`
	Beta1    float64 `json:"beta1,omitempty"`
	Beta2    float64 `json:"beta2,omitempty"`
	Eps      float64 `json:"eps,omitempty"`

	// Tuning tries several rates and thresholds within the ε of the run.
	Tuning Tuning `json:"tuning,omitzero"`

	// Together has several parties train, with secure noise.
	Together Together `json:"together,omitzero"`

	// Iterate says which parameters a run ends with: last (default), random
	// (a uniformly random step's, as the theory of VC has it) or ema (their
	// exponential average, with EMADecay). All are post-processing and free.
	Iterate  string  `json:"iterate,omitempty"`
	EMADecay float64 `json:"ema_decay,omitempty"`
	// EvalSteps has the run test itself on test rows after every so many steps; 0 for about twenty times in all.
	EvalSteps int `json:"eval_steps,omitempty"`
	// DiagnosticsEvery asks for [GradientDiag] every so many steps; 0 for never.
	DiagnosticsEvery int `json:"diagnostics_every,omitempty"`
	// Blind hides every diagnostic until the run has ended, so that nothing but
	// released values can decide when to stop it.
	Blind bool `json:"blind,omitempty"`

	// Seed fixes every random choice. Such a run is for teaching: its noise
	// can be recomputed, so it carries no guarantee.
	Seed *uint64 `json:"seed,omitempty"`
	// Backend is auto, simd, purego or webgpu.
	Backend string `json:"backend,omitempty"`
	// Threads is how many threads share the work of each step: at most [MostThreads],
	// or 0 for one on each core, fewer while other runs go on. It decides nothing but
	// the time that a run takes.
	Threads int `json:"threads,omitempty"`
	// Note is what its owner wants to remember of a run. Nothing reads it; it goes
	// where the configuration goes.
	Note string `json:"note,omitempty"`
}

// MostThreads is the greatest number of threads that a run may have.
const MostThreads = 16

// Scaling says how features are brought to a common size before training, and targets
// that are numbers to −1 … 1.
type Scaling struct {
	// Kind is
	//   declared  bounds [Lo, Hi] that the user states without looking at the
	//             data, mapped to [0, 1], values outside clamped (free);
	//             images are 0–255 unless the user says otherwise
	//   row       each row divided by its own L2 norm (free)
	//   private   per-column bounds from a noisy histogram; spends Share of ε
	//   measured  per-column mean and deviation of the training rows: a leak,
	//             so the statement becomes "no guarantee"
	//   none      as the file has them (free)
	Kind string  `json:"kind,omitempty"`
	Lo   float64 `json:"lo,omitempty"`
	Hi   float64 `json:"hi,omitempty"`
	// Share of ε that "private" spends; by default 0.1, or 0.2 or 0.3 where the
	// bounds of a small table need it.
	Share float64 `json:"share,omitempty"`
	// Target is where the bounds of targets that are numbers come from, which become −1
	// and 1; the model that is released answers in the data's units all the same.
	//   declared  from what is declared of the label's column, csv.bounds (free); the
	//             default where something is
	//   private   from a noisy histogram, as those of the features and of their share of
	//             ε; the default of other tables, and of features that a model
	//             made, but with a Kind of none
	//   none      targets stay as they are; the default where the model's last layer is
	//             not dense
	Target string `json:"target,omitempty"`
}

// PCA reduces rows to their leading directions before training, privately:
// rows are brought to unit length and the covariance gets Gaussian noise
// (DP-PCA; Abadi et al. 2016, AC §6).
type PCA struct {
	Components int `json:"components,omitempty"` // 0: no PCA
	// Share of ε that it spends, default 0.1.
	Share float64 `json:"share,omitempty"`
}

// Augmentation changes an image each time it is drawn into a batch. An example may be
// seen in several such views at once: the mean of their gradients is clipped as one,
// so that they cost no more privacy than one (De et al. 2022). Test rows are left as
// they are.
type Augmentation struct {
	// Kind is none (default), crop (moved by up to 4 pixels each way, the rest 0),
	// flip (mirrored left to right, or not) or crop-flip.
	Kind string `json:"kind,omitempty"`
	// Multiplicity is how many views are taken, 1 by default.
	Multiplicity int `json:"multiplicity,omitempty"`
}

// CSV says how to read files: tables for the most part, whence its name. Zero values
// are detected and shown.
type CSV struct {
	Encoding  string `json:"encoding,omitempty"` // utf-8, utf-16, windows-1252; empty: detected
	Delimiter string `json:"delimiter,omitempty"`
	Header    string `json:"header,omitempty"` // yes, no; empty: detected
	// How numbers are written, where whole columns do not tell: the decimal mark
	// (. or ,), that between thousands (. , ' a space, or none), and the order of
	// dates (ymd, dmy, mdy), which are read as days since 1970 began.
	Decimal   string `json:"decimal,omitempty"`
	Thousands string `json:"thousands,omitempty"`
	Date      string `json:"date,omitempty"`
	Label     string `json:"label,omitempty"` // name or 1-based number of the label column; empty: detected
	Task      string `json:"task,omitempty"`  // classification, regression; empty: detected
	// Missing is what to do with missing cells: error (default), drop (the row),
	// zero (0, or a category of its own), or indicator: as zero, with a feature
	// that is 1 where a number is missing, and in its place the column's Fill, or
	// the middle of its Bounds, or 0.
	Missing string `json:"missing,omitempty"`
	BadRows string `json:"bad_rows,omitempty"` // what to do with rows that cannot be read: error (default), skip
	// Columns overrides the kind of columns by name: numeric, categorical,
	// bucketed (categories hashed into Buckets features, 32 by default, which no
	// row decides), text (words hashed into 2^14 features, of many such columns into
	// fewer; or what a backbone reads), letters or words (the tokens of a text in their
	// order, for models that begin with an embedding), ignored.
	Columns map[string]string `json:"columns,omitempty"`
	Buckets int               `json:"buckets,omitempty"`
	// MaxLength is the number of letters or words of a text that are read, 32 or 64 by default.
	MaxLength int `json:"max_length,omitempty"`
	// Bounds of numeric columns by name, which the user states without looking at
	// the data; scaling clamps what lies outside.
	Bounds map[string]Bounds  `json:"bounds,omitempty"`
	Fill   map[string]float64 `json:"fill,omitempty"`
	// Roles of files by name: train or test. Others are test files where their
	// names say so and no other file is.
	Roles map[string]string `json:"roles,omitempty"`
	// TestShare of the rows is held out where no test file is given (default 0.2).
	TestShare float64 `json:"test_share,omitempty"`
	// HoldOut says how those rows are chosen: shuffle (default), a fixed shuffle of all rows,
	// or row, by each row alone (a hash of what it holds), so that no row moves another.
	HoldOut string `json:"hold_out,omitempty"`
	Sheet   string `json:"sheet,omitempty"`  // of a spreadsheet, by name; empty: the first
	Labels  string `json:"labels,omitempty"` // of CIFAR-100: fine (default) or coarse
	Image   Image  `json:"image,omitzero"`
}

// Image says what pictures of any size, PNG or JPEG, are brought to. Zero values are
// chosen from the first pictures and shown.
type Image struct {
	// Size is [height, width], or one number for both.
	Size     []int `json:"size,omitempty"`
	Channels int   `json:"channels,omitempty"` // 1, grey, or 3, colour
	// Transform says how a picture of other proportions is brought to the size: one of the
	// transforms below; empty: fit.
	Transform string `json:"transform,omitempty"`
}

// The ways to bring a picture to a size of other proportions. Every one takes the picture upright.
const (
	TransformFit     = "fit"     // whole, its proportions kept, a black border beside it
	TransformStretch = "stretch" // whole, without its proportions
	TransformCrop    = "crop"    // its middle, of the size's proportions
)

// IsTransform reports whether s is one of the transforms of pictures.
func IsTransform(s string) bool {
	return s == TransformFit || s == TransformStretch || s == TransformCrop
}

// UnmarshalJSON takes a lone number as well as a list as the size.
func (m *Image) UnmarshalJSON(b []byte) error {
	type list Image
	err := json.Unmarshal(b, (*list)(m))
	if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) && te.Field == "size" && strings.HasPrefix(te.Value, "number") {
		var side struct {
			Size      int    `json:"size"`
			Channels  int    `json:"channels"`
			Transform string `json:"transform"`
		}
		if err := json.Unmarshal(b, &side); err != nil {
			return err
		}
		*m = Image{[]int{side.Size}, side.Channels, side.Transform}
		return nil
	}
	return err
}

// Bounds are public bounds of a column.
type Bounds struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}
