package data

import "testing"

// TestSeveralTextsDoNotMoveARow: whether a row is held out follows from its words alone where several columns are texts, as it
// did before their texts were kept, so that the same rows are held out of data that a ledger knows. A single text counts.
func TestSeveralTextsDoNotMoveARow(t *testing.T) {
	of := func(texts ...string) uint64 {
		ds := &Dataset{Task: Classification, Features: 9, Outputs: 2, Columns: []Column{{Name: "n"}, {Name: "a", Kind: Text, Buckets: 8}}}
		ds.Train = Split{N: 1, F32: []float32{3}, Words: [][]Word{{{Feature: 2, Value: 1}}}, Text: texts, Y: []float32{1}}
		return ds.hash(0)
	}
	if of("a", "b") != of() || of("a", "b") != of("b", "c") {
		t.Error("texts of two columns change where a row goes")
	}
	if of("a") == of() || of("a") == of("b") {
		t.Error("a single text does not count")
	}
}
