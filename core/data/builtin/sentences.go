package builtin

import (
	"math/rand/v2"

	"clipscope/core/data"
)

const (
	sentenceTrain = 2000
	sentenceTest  = 500
	// sentencePlaces is the number of places of a row; the longest sentence has 28 letters. sentenceLetters is the vocabulary of a
	// column of letters (core/data/table).
	sentencePlaces, sentenceLetters = 32, 256
)

var (
	sentenceOf   = []string{"parcel", "dinner", "doctor", "ticket", "hotel", "lesson", "driver"}
	sentenceGood = []string{"fine", "good", "kind", "fast", "warm"}
	sentenceBad  = []string{"late", "dull", "rude", "cold", "lost"}
)

// Sentences draws complaints and thanks in turn, as rows of letters. Both kinds use the same words: "parcel was not late but good" is
// thanks.
func Sentences(seed uint64, train, test int) *data.Dataset {
	kinds := []string{"complaint", "thanks"}
	ds := &data.Dataset{
		Task: data.Classification, Features: sentencePlaces, Outputs: len(kinds), Classes: kinds,
		Columns: []data.Column{{Name: "text", Kind: data.Letters, First: 0, Buckets: sentenceLetters, Tokens: sentencePlaces}, {Name: "kind", Kind: data.Label, First: -1, Categories: kinds}},
	}
	draw := func(purpose string, n int) data.Split {
		rng := newRand(seed, purpose)
		sp := data.Split{N: n, F32: make([]float32, n*sentencePlaces)}
		for i := range n {
			row := sp.F32[i*sentencePlaces:][:sentencePlaces]
			for k := range row {
				row[k] = -1 // no letter
			}
			for k, b := range []byte(sentence(rng, i%2)) {
				row[k] = float32(b)
			}
			sp.Y = append(sp.Y, float32(i%2))
		}
		return sp
	}
	ds.Train, ds.Test = draw("sentences", train), draw("sentences, test", test)
	return ds
}

// sentence draws a sentence of a kind: 0 a complaint, 1 thanks.
func sentence(rng *rand.Rand, kind int) string {
	pick := func(of []string) string { return of[rng.IntN(len(of))] }
	is, other := pick(sentenceBad), pick(sentenceGood)
	if kind == 1 {
		is, other = other, is
	}
	said := pick(sentenceOf) + " was "
	switch rng.IntN(3) {
	case 0:
		return said + is
	case 1:
		return said + is + ", not " + other
	}
	return said + "not " + other + " but " + is
}
