package table

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
)

// sequences returns a schema of a column of letters and one of words.
func sequences(letters, words int) *schema {
	s := &schema{columns: []data.Column{{Name: "l", Kind: data.Letters}, {Name: "w", Kind: data.Words}}}
	s.placeSequence(0, letters)
	s.placeSequence(1, words)
	return s
}

// TestTokensAreInOrder: letters below U+0080 are their own numbers, others and words are hashes; what there is no room for is
// left out, and -1 stands behind the last.
func TestTokensAreInOrder(t *testing.T) {
	s := sequences(6, 4)
	word := func(w string) float32 {
		return float32(mixed(hashed(hashed(fnvBasis, 'w'), []byte(w)...)) % wordTokens)
	}
	letter := func(l string) float32 {
		return float32(128 + mixed(hashed(hashed(fnvBasis, 'l'), []byte(l)...))%128)
	}
	for text, want := range map[string][2][]float32{
		"":               {{-1, -1, -1, -1, -1, -1}, {-1, -1, -1, -1}},
		"NA":             {{-1, -1, -1, -1, -1, -1}, {-1, -1, -1, -1}},
		"Ab c":           {{'a', 'b', ' ', 'c', -1, -1}, {word("ab"), word("c"), -1, -1}},
		"ÉÜ":             {{letter("é"), letter("ü"), -1, -1, -1, -1}, {word("éü"), -1, -1, -1}},
		"a b a, not e f": {{'a', ' ', 'b', ' ', 'a', ','}, {word("a"), word("b"), word("a"), word("not")}},
		"日本":             {{letter("日"), letter("本"), -1, -1, -1, -1}, {word("日"), word("本"), -1, -1}},
		"\xff":           {{letter("\ufffd"), -1, -1, -1, -1, -1}, {-1, -1, -1, -1}},
	} {
		x := make([]float32, s.features)
		for i := range s.columns {
			s.tokens(x, i, text)
			col := s.columns[i]
			if have := x[col.First : col.First+col.Tokens]; !slices.Equal(have, want[i]) {
				t.Errorf("%q, %s: %v, want %v", text, col.Kind, have, want[i])
			}
		}
	}
}

// TestTokensOfAnyText are numbers of tokens, and then -1; and those of a text alone.
func TestTokensOfAnyText(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := sequences(0, 0)
	used, fresh := make([]float32, s.features), make([]float32, s.features)
	for round := range 300 {
		text := drawnText(rng, round)
		for i, col := range s.columns {
			n := s.tokens(used, i, text)
			if n2 := sequences(0, 0).tokens(fresh, i, text); n2 != n || !slices.Equal(used[col.First:col.First+col.Tokens], fresh[col.First:col.First+col.Tokens]) {
				t.Fatalf("%q: what came before it changes its tokens", text)
			}
			for k, v := range used[col.First : col.First+col.Tokens] {
				if there := k < n; there != (v >= 0) || v >= float32(col.Buckets) || v != float32(int(v)) {
					t.Fatalf("%q, %s: place %d of %d has %v", text, col.Kind, k, n, v)
				}
			}
		}
	}
}

// TestEncoderOfSequences refuses columns of tokens that no table could have.
func TestEncoderOfSequences(t *testing.T) {
	label := data.Column{Name: "y", Kind: data.Label, First: -1, Categories: []string{"a", "b"}}
	good := data.Column{Name: "t", Kind: data.Words, Buckets: wordTokens, Tokens: 8}
	for says, c := range map[string]data.Column{
		"":                                            good,
		"8 places of 100 tokens are no sequence":      {Name: "t", Kind: data.Words, Buckets: 100, Tokens: 8},
		"0 places of 256 tokens are no sequence":      {Name: "t", Kind: data.Letters, Buckets: letterTokens},
		"99999 places of 256 tokens":                  {Name: "t", Kind: data.Letters, Buckets: letterTokens, Tokens: 99999},
		"features 2 to 9 are not among the 8":         {Name: "t", Kind: data.Words, First: 1, Buckets: wordTokens, Tokens: 8},
		"8 places of 4096 tokens are no sequence":     {Name: "t", Kind: data.Words, Buckets: wordTokens, Tokens: 8, Categories: []string{"a"}},
		"8 places of 4096 tokens are no sequence of ": {Name: "t", Kind: data.Letters, Buckets: wordTokens, Tokens: 8},
	} {
		_, err := NewEncoder(data.Classification, []data.Column{c, label}, label.Categories, 8)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v", says, err)
		}
	}
}
