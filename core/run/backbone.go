package run

import (
	"fmt"
	"slices"
	"strings"
)

// Backbone says what made a data set's features of its rows: a model that was trained
// elsewhere, and which of its outputs. The zero value is none.
//
// Guarantee: every field is chosen without looking at the rows.
type Backbone struct {
	SHA256 string `json:"sha256"` // of the model's file, in hexadecimal
	Output string `json:"output"` // the tensor that features are made of
	// Column is the name of the column whose texts the model read; empty where it took
	// pictures or numbers. Second is that of the texts beside them, where it read two of each row.
	Column string `json:"column,omitempty"`
	Second string `json:"second_column,omitempty"`
	// Normalise is what became of pixels: 0-1, imagenet or none.
	Normalise string `json:"normalise"`
	// Resize is how pictures came to the model's size: bilinear or nearest; empty where
	// they had it.
	Resize string `json:"resize,omitempty"`
	// Batch is how many rows the model was given at a time. Only with 1 does nothing but
	// a row itself decide its features.
	Batch int `json:"batch"`
	// Tokens is the number of different tokens that features are the numbers of, -1 where a text has ended, as a
	// tokenizer makes them; 0 where they are amounts. With Types, of each of so many there is one of each type.
	Tokens int `json:"tokens,omitempty"`
	Types  int `json:"types,omitempty"`
	// Tokenizer is the SHA-256 of the file of the tokenizer by which a model of tokens read texts; empty where there was none.
	Tokenizer string `json:"tokenizer_sha256,omitempty"`
}

// Kind says in a word what made the features.
func (b *Backbone) Kind() string {
	if b.Tokens > 0 {
		return "tokenizer"
	}
	return "backbone"
}

// Files names the files that make the features.
func (b *Backbone) Files() string {
	const tokenizer = "the tokenizer (tokenizer.json or vocab.txt) with the SHA-256 "
	if b.Tokens > 0 {
		return tokenizer + b.SHA256
	}
	s := "the ONNX file with the SHA-256 " + b.SHA256
	if b.Tokenizer != "" {
		s += " and " + tokenizer + b.Tokenizer
	}
	return s
}

// Identity names the model, its output, and its tokenizer where there is one.
func (b *Backbone) Identity() string {
	s := fmt.Sprintf("SHA-256 %s, output %q", b.SHA256, b.Output)
	if b.Tokenizer != "" {
		s += ", tokenizer SHA-256 " + b.Tokenizer
	}
	return s
}

// KnownTokens returns the number of different tokens that features are the numbers of; 0 where there is no backbone, or
// they are amounts.
func (b *Backbone) KnownTokens() int {
	if b == nil {
		return 0
	}
	return b.Tokens
}

// CheckTypes says why a model whose first layer takes so many tokens, types included, would take a token of one type for
// another, or for none; empty where it does not. One without types may take each of a type for a token of its own.
func (b *Backbone) CheckTypes(tokens, types int) string {
	if b == nil || b.Types == 0 || types == 0 && tokens >= b.Tokens || tokens == b.Tokens && types == b.Types {
		return ""
	}
	return fmt.Sprintf("the rows have %d tokens of %d types, and the model's first layer has others: write embedding:%d:CHANNELS:t%d, or have features made without types", b.Tokens/b.Types, b.Types, b.Tokens/b.Types, b.Types)
}

// IsTokenizer reports whether a file of that name is a transformer's tokenizer, and no model.
func IsTokenizer(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".txt")
}

// WantsTokens reports whether a model with such inputs takes the numbers of tokens, which a tokenizer has to give it.
func WantsTokens(inputs []BackboneTensor) bool {
	return slices.ContainsFunc(inputs, func(t BackboneTensor) bool { return t.Type == "int64" || t.Type == "int32" })
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
	// Tokens and Types are [Backbone.Tokens] and [Backbone.Types] of an output.
	Tokens int `json:"tokens,omitempty"`
	Types  int `json:"types,omitempty"`
	// Pairs says that an input takes a text, or two, of each row.
	Pairs bool `json:"pairs,omitempty"`
}
