package run

import (
	"encoding/binary"
	"math"
)

// Application holds all that applying a model to new rows takes beside the parameters:
// how the cells of a row become features, how those are scaled, which layers they pass
// and what comes out. docs/applying.md says how it is used.
//
// Guarantee: as [Released]. Bounds and directions that were looked for in the rows were
// noised and paid for; what was declared says nothing of the rows; the
// classes count as public, and of the columns what is in [AppliedColumn], and a run's
// statement says so.
type Application struct {
	Task    string   `json:"task"`              // classification, multi-label or regression
	Outputs int      `json:"outputs"`           // numbers that a row comes to
	Classes []string `json:"classes,omitempty"` // of the outputs, in their order

	Features int             `json:"features"`
	Shape    []int           `json:"shape,omitempty"`   // of pictures: 28, 28, or 3, 32, 32 for planes of colour
	Columns  []AppliedColumn `json:"columns,omitempty"` // of tables, in the file's order
	// Transform is how pictures of other sizes were brought to the shape: [TransformFit] and
	// the like. It is empty of models that were not trained on files of pictures, and of
	// those of older versions, whose pictures were stretched.
	Transform string `json:"transform,omitempty"`

	// FeaturesOf is what makes the features of a row, and is not in the model; nil where
	// nothing does.
	FeaturesOf *Backbone `json:"features_of,omitempty"`

	Scaling AppliedScaling `json:"scaling"`
	PCA     *AppliedPCA    `json:"pca,omitempty"`
	// MaxNorm is the length to which rows that are longer are scaled down; 0 for none.
	MaxNorm float64 `json:"max_norm,omitempty"`
	// ChannelsLast says that planes of colour become pictures of one position after
	// the other.
	ChannelsLast bool `json:"channels_last,omitempty"`

	Layers []AppliedLayer `json:"layers"`

	// Table has the columns of the table in which FeaturesOf reads texts, in the file's order: these, the labels', and others, which
	// are ignored. It is nil elsewhere, and of earlier versions, which did not write it.
	Table []AppliedColumn `json:"table,omitempty"`
}

// LeftOut returns the reason why a part of the application is missing; "" where none is.
func (a *Application) LeftOut() string {
	if a.PCA != nil && a.PCA.LeftOut != "" {
		return a.PCA.LeftOut
	}
	return a.Scaling.LeftOut
}

// Unusable returns the reason why the page cannot answer new rows with the model; "" where it can.
func (a *Application) Unusable() string {
	if a.FeaturesOf != nil && a.FeaturesOf.Column == "" {
		return "It was trained on features that a backbone made of pictures or numbers, which this page does not make of new rows. predict.mjs and predict.py, in the zip, answer such features."
	}
	return a.LeftOut()
}

// AppliedColumn is a table's column as features are made of it.
type AppliedColumn struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`  // numeric, categorical, text, letters, words, label or ignored
	First int    `json:"first"` // index of its first feature; -1 for none

	// How numbers are written, where not as 1234.5.
	Decimal   string `json:"decimal,omitempty"`
	Thousands string `json:"thousands,omitempty"`
	Date      string `json:"date,omitempty"` // order of year, month and day: ymd, dmy or mdy

	// Units lists the signs that numbers have, "" being none; nil where signs do not count. See data.Column, also for the
	// three below.
	Units  []string `json:"units,omitempty"`
	Time   string   `json:"time,omitempty"`   // integers that are times: yyyymmdd, s, ms, us or ns
	Offset float64  `json:"offset,omitempty"` // subtracted from the number before it becomes float32
	Clock  int      `json:"clock,omitempty"`  // feature that is the time of day; 0 for none

	Categories []string `json:"categories,omitempty"` // one feature each, in this order; of a label, the classes
	Buckets    int      `json:"buckets,omitempty"`    // categories, or the words of texts, are hashed into so many
	Tokens     int      `json:"tokens,omitempty"`     // places of letters or words in their order, one feature each
	// IfMissing is the number in the place of a missing one; nil where there is none,
	// and rows with a missing number were refused or left out.
	IfMissing *float64 `json:"if_missing,omitempty"`
	Indicator int      `json:"indicator,omitempty"` // feature that is 1 where a number is missing; 0 for none
}

// AppliedScaling is the scaling that brings features to a common size.
type AppliedScaling struct {
	Kind string `json:"kind"` // declared, private, row, measured or none
	// Lo and Hi are the bounds that become 0 and 1, of each feature but those of texts, or one that
	// holds for all; what lies outside is clamped. Nil where no bounds are used.
	Lo []float64 `json:"lo,omitempty"`
	Hi []float64 `json:"hi,omitempty"`
	// LeftOut says why figures that were used are not here.
	LeftOut string `json:"left_out,omitempty"`
}

// AppliedPCA projects rows of unit length.
type AppliedPCA struct {
	Components int `json:"components"`
	// Directions is [features×components], row by row, of little-endian float32; in
	// JSON as base64.
	Directions []byte `json:"directions,omitempty"`
	// LeftOut says why the directions are not here.
	LeftOut string `json:"left_out,omitempty"`
}

// AppliedLayer describes a layer of the model.
type AppliedLayer struct {
	Text       string `json:"layer"`
	Shape      []int  `json:"shape"` // of what it gives: height, width and channels, or one number
	Parameters int    `json:"parameters"`
	// Tensors are what the parameters are, in their order, row-major.
	Tensors []AppliedTensor `json:"tensors,omitempty"`
}

// AppliedTensor is a part of a layer's parameters.
type AppliedTensor struct {
	Name  string `json:"name"` // weight or bias
	Shape []int  `json:"shape"`
}

// FloatBytes are numbers as [AppliedPCA] and files have them: float32, the least
// significant byte first.
func FloatBytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
