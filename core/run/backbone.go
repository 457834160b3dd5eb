package run

import "strings"

// Backbone says what made a data set's features of its rows: a model that was trained
// elsewhere, and which of its outputs. The zero value is none.
//
// Guarantee: every field is chosen without looking at the rows.
type Backbone struct {
	SHA256 string `json:"sha256"` // of the model's file, in hexadecimal
	Output string `json:"output"` // the tensor that features are made of
	// Column is the name of the column whose texts the model read; empty where it took
	// pictures or numbers.
	Column string `json:"column,omitempty"`
	// Normalise is what became of pixels: 0-1, imagenet or none.
	Normalise string `json:"normalise"`
	// Resize is how pictures came to the model's size: bilinear or nearest; empty where
	// they had it.
	Resize string `json:"resize,omitempty"`
	// Batch is how many rows the model was given at a time. Only with 1 does nothing but
	// a row itself decide its features.
	Batch int `json:"batch"`
	// Tokens is the number of different tokens that features are the numbers of, -1 where a text has ended, as a
	// tokenizer makes them; 0 where they are amounts.
	Tokens int `json:"tokens,omitempty"`
}

// Kind says in a word what made the features.
func (b *Backbone) Kind() string {
	if b.Tokens > 0 {
		return "tokenizer"
	}
	return "backbone"
}

// IsTokenizer reports whether a file of that name is a transformer's tokenizer, and no model.
func IsTokenizer(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".txt")
}

// BackboneRequest has the features of the open data made by the model in the file beside
// it.
type BackboneRequest struct {
	Output    string `json:"output,omitempty"`    // needed where the model has several
	Normalise string `json:"normalise,omitempty"` // 0-1 for pictures, else none
	Resize    string `json:"resize,omitempty"`    // bilinear
	Batch     int    `json:"batch,omitempty"`     // 1
	// Salt is the ledger's, in hexadecimal: it has to know the rows as they are before.
	// Empty for data that it does not know.
	Salt string `json:"salt,omitempty"`
}

// BackboneInfo describes a model without any data.
type BackboneInfo struct {
	SHA256  string           `json:"sha256"`
	Bytes   int64            `json:"bytes"`
	Inputs  []BackboneTensor `json:"inputs"`
	Outputs []BackboneTensor `json:"outputs"`
	Memory  int64            `json:"memory_bytes"` // that what runs it holds
}

// BackboneTensor is an input or an output of a model.
type BackboneTensor struct {
	Name string `json:"name"`
	Type string `json:"type"` // float32, uint8 …; "no tensor" for what is none
	// Shape has -1 for a size that is open. It is empty where the model does not tell.
	Shape []int `json:"shape"`
	// Tokens is how many there are of what an output has the numbers of; 0: it has amounts.
	Tokens int `json:"tokens,omitempty"`
}
