package table

import (
	"fmt"
	"unicode/utf8"

	"clipscope/core/data"
)

// Sequences are the tokens of a text in their order, from the first on, as many as there is room for. A word is the hash
// that it has among the features of texts; so is a letter, but that those below U+0080 are numbers of their own. As with
// texts no list is made of the rows. docs/applying.md has the steps, which predict.mjs and predict.py take as well.

const (
	letterTokens = 1 << 8
	wordTokens   = 1 << 12

	// The number of places that a sequence has unless csv.max_length says otherwise: nearly all names and most mails are
	// shorter.
	letterPlaces, wordPlaces = 32, 64
	mostPlaces               = 1 << 10

	noToken = -1
)

// placeSequence gives column i, which is a sequence, its features.
func (s *schema) placeSequence(i, places int) {
	col := &s.columns[i]
	col.First, col.Buckets, col.Tokens = s.features, vocabulary(col.Kind), wordPlaces
	if col.Kind == data.Letters {
		col.Tokens = letterPlaces
	}
	if places > 0 {
		col.Tokens = places
	}
	s.features += col.Tokens
}

// vocabulary returns the number of different tokens of a kind of sequence.
func vocabulary(kind data.ColumnKind) int {
	if kind == data.Letters {
		return letterTokens
	}
	return wordTokens
}

// tokens writes the tokens of a cell of column i to its features in x, and returns how many there are, whether or not
// there is room for them. A missing cell has none.
func (s *schema) tokens(x []float32, i int, c string) (n int) {
	col := &s.columns[i]
	x = x[col.First : col.First+col.Tokens]
	for k := range x {
		x[k] = noToken
	}
	if missing(c) {
		return 0
	}
	add := func(token int) {
		if n < len(x) {
			x[n] = float32(token)
		}
		n++
	}
	if col.Kind == data.Words {
		eachWord(c, &s.hasher.lower, func(w []rune) bool {
			h := hashed(fnvBasis, 'w')
			for _, r := range w {
				h = hashedRune(h, r)
			}
			add(int(mixed(h) % uint32(col.Buckets)))
			return true
		})
		return n
	}
	for _, r := range c {
		if r = lower(r); r < utf8.RuneSelf {
			add(int(r))
			continue
		}
		add(utf8.RuneSelf + int(mixed(hashedRune(hashed(fnvBasis, 'l'), r))%(letterTokens-utf8.RuneSelf)))
	}
	return n
}

// hashedRune goes on with a hash.
func hashedRune(h uint32, r rune) uint32 {
	var b [utf8.UTFMax]byte
	return hashed(h, b[:utf8.EncodeRune(b[:], r)]...)
}

// sequenceInWords says how many tokens a cell has, for the preview, which clips what is long.
func (s *schema) sequenceInWords(i int, c string) string {
	col, x := &s.columns[i], make([]float32, s.columns[i].First+s.columns[i].Tokens)
	n, kind := s.tokens(x, i, c), "letter"
	if col.Kind == data.Words {
		kind = "word"
	}
	switch {
	case n == 0:
		return "no " + kind + "s"
	case n > col.Tokens || utf8.RuneCountInString(c) > MostShown:
		return fmt.Sprintf("its first %d %ss in order", min(n, col.Tokens), kind)
	case n == 1:
		return "1 " + kind
	}
	return fmt.Sprintf("%d %ss in order", n, kind)
}

// checkSequence returns the error of a column of a model whose tokens no table could have.
func checkSequence(col *data.Column) error {
	if col.Buckets != vocabulary(col.Kind) || col.Tokens < 1 || col.Tokens > mostPlaces || len(col.Categories) > 0 || col.Fill != nil {
		return fmt.Errorf("%d places of %d tokens are no sequence of %s", col.Tokens, col.Buckets, col.Kind)
	}
	return nil
}
