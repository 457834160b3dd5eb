package table

import (
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"clipscope/core/data"
)

// Features of texts are hashes: of words, of pairs of neighbours, and of characters 3 to 5 within a word. No list of
// words is made of the rows, so nothing of them is public but that the column holds texts. docs/applying.md has the
// steps; predict.mjs and predict.py take the same ones, in the same order and without logarithms, so that all three come to
// the same bits.

const (
	// textBuckets is the number of features of a column of texts; mostHashed limits those of all of them together.
	textBuckets = 1 << 14
	mostHashed  = 3 << 14

	leastGram, mostGram = 3, 5 // characters, with the marks at both ends of a word

	// A column whose texts have so many words on average, of which this many of a text are counted, is one of texts.
	wordsOfText, mostCounted = 3, 16
)

// bucketsOf returns the number of features that each of so many columns of texts has, a power of two.
func bucketsOf(columns int) int {
	n := textBuckets
	for columns*n > mostHashed {
		n /= 2
	}
	return n
}

// hasher makes the features of texts. The zero value is ready.
//
// Guarantee: the features of a text depend on that text alone.
type hasher struct {
	lower        []rune               // the word in lower case
	word, before []byte               // it, between its marks, and the one before it, without
	hashes       [textGroups][]uint32 // of the text's parts, the same part as often as it comes
	sums         []int32              // of a group, by bucket; 0 between groups
	values       []float64            // of all groups, by bucket; 0 between texts
	touched, all []uint32             // buckets: of a group, and of all
}

// The groups of a text's parts, each of which counts as much as the others.
const (
	ofWords = iota
	ofPairs
	ofGrams
	textGroups
)

// add appends the features of a text to row: one for each of the buckets that its parts come to, from first on. The part
// with the hash h adds ±(1 + ⌊log₂ of how often it comes⌋) to bucket h mod buckets, with the sign of the topmost bit. What
// comes of each group is divided by its length, and the sum of all groups again. A text without words has no features.
func (t *hasher) add(row []data.Word, text string, first, buckets int) []data.Word {
	if len(t.sums) < buckets {
		t.sums, t.values = make([]int32, buckets), make([]float64, buckets)
	}
	for g := range t.hashes {
		t.hashes[g] = t.hashes[g][:0]
	}
	t.before, t.all = t.before[:0], t.all[:0]
	eachWord(text, &t.lower, t.addWord)
	for g := range t.hashes {
		t.addGroup(t.hashes[g], uint32(buckets))
	}
	slices.Sort(t.all)
	t.all = slices.Compact(t.all)
	square := 0.0
	for _, b := range t.all {
		square += float64(t.values[b] * t.values[b]) // rounded before it is added, on all machines
	}
	length := math.Sqrt(square)
	for _, b := range t.all {
		if v := t.values[b]; v != 0 {
			row = append(row, data.Word{Feature: uint32(first) + b, Value: float32(v / length)})
		}
		t.values[b] = 0
	}
	return row
}

// addGroup adds a group of parts, of length 1, to the values. It sorts the hashes.
func (t *hasher) addGroup(hashes []uint32, buckets uint32) {
	slices.Sort(hashes)
	t.touched = t.touched[:0]
	for from, at := 0, 0; from < len(hashes); from = at {
		h := hashes[from]
		for at = from; at < len(hashes) && hashes[at] == h; at++ {
		}
		v := int32(bits.Len(uint(at - from)))
		if h>>31 != 0 {
			v = -v
		}
		t.touched = append(t.touched, h%buckets)
		t.sums[h%buckets] += v
	}
	slices.Sort(t.touched)
	t.touched = slices.Compact(t.touched)
	square := int64(0)
	for _, b := range t.touched {
		square += int64(t.sums[b]) * int64(t.sums[b])
	}
	length := math.Sqrt(float64(square))
	for _, b := range t.touched {
		if t.sums[b] != 0 {
			t.values[b] += float64(t.sums[b]) / length
			t.all = append(t.all, b)
		}
		t.sums[b] = 0
	}
}

// The marks at the ends of a word, which no word has.
const (
	wordBegins = '<'
	wordEnds   = '>'
)

// addWord adds the parts of a word.
func (t *hasher) addWord(w []rune) bool {
	t.word = append(t.word[:0], wordBegins)
	for _, r := range w {
		t.word = utf8.AppendRune(t.word, r)
	}
	t.word = append(t.word, wordEnds)
	bare := t.word[1 : len(t.word)-1]
	t.hashes[ofWords] = append(t.hashes[ofWords], mixed(hashed(hashed(fnvBasis, 'w'), bare...)))
	if len(t.before) > 0 {
		pair := hashed(hashed(hashed(fnvBasis, 'p'), t.before...), ' ')
		t.hashes[ofPairs] = append(t.hashes[ofPairs], mixed(hashed(pair, bare...)))
	}
	for from := 0; from < len(t.word); {
		h, at := hashed(fnvBasis, 'c'), from
		for n := 1; n <= mostGram && at < len(t.word); n++ {
			_, size := utf8.DecodeRune(t.word[at:])
			h = hashed(h, t.word[at:at+size]...)
			at += size
			if n >= leastGram {
				t.hashes[ofGrams] = append(t.hashes[ofGrams], mixed(h))
			}
		}
		_, size := utf8.DecodeRune(t.word[from:])
		from += size
	}
	t.before = append(t.before[:0], bare...)
	return true
}

const fnvBasis = 2166136261

// hashed goes on with a hash (FNV-1a).
func hashed(h uint32, b ...byte) uint32 {
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

// mixed spreads a hash over all of its bits (the end of MurmurHash3).
func mixed(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// wordy reports whether texts, and one more where it is not empty, have several words each on average. Those that begin
// with a digit do not count, as in times and addresses.
func wordy(texts map[string]int32, more string) bool {
	var memory []rune
	words, n := 0, len(texts)
	count := func(text string) {
		all := 0
		eachWord(text, &memory, func(w []rune) bool {
			if w[0] > '9' {
				words++
			}
			all++
			return all < mostCounted
		})
	}
	for text := range texts {
		count(text)
	}
	if more != "" {
		count(more)
		n++
	}
	return n > 0 && words >= wordsOfText*n
}

// eachWord calls f with the words of a text in lower case, until f returns false: runs of letters and digits, and each
// ideograph or kana by itself, as there are no spaces between these. Bytes that are no UTF-8 are part of no word. word is
// memory for the words.
func eachWord(text string, word *[]rune, f func(word []rune) bool) {
	*word = (*word)[:0]
	end := func() bool {
		going := len(*word) == 0 || f(*word)
		*word = (*word)[:0]
		return going
	}
	for _, r := range text {
		r = lower(r)
		switch {
		case !inWord(r):
			if !end() {
				return
			}
		case alone(r):
			if !end() {
				return
			}
			if *word = append(*word, r); !end() {
				return
			}
		default:
			*word = append(*word, r)
		}
	}
	end()
}

// lower returns the small letter of a capital of Latin, Greek or Cyrillic; others as they are. It is no more than
// these ranges, since the tables of Go, JavaScript and Python are of different versions of Unicode.
func lower(r rune) rune {
	switch {
	case r < 'A':
	case r <= 'Z', 'À' <= r && r <= 'Þ' && r != '×', 'Α' <= r && r <= 'Ω', 'А' <= r && r <= 'Я':
		return r + 32
	case 'Ѐ' <= r && r <= 'Џ':
		return r + 80
	case 0x100 <= r && r <= 0x137, 0x14a <= r && r <= 0x177:
		return r | 1
	case 0x139 <= r && r <= 0x148, 0x179 <= r && r <= 0x17e:
		return r + r&1
	}
	return r
}

// noWord lists ranges of characters above U+00AA that are no part of words: punctuation, spaces, and U+FFFD.
var noWord = [...][2]rune{
	{0xab, 0xb4}, {0xb6, 0xb9}, {0xbb, 0xbf}, {0xd7, 0xd7}, {0xf7, 0xf7}, {0x37e, 0x37e}, {0x387, 0x387}, {0x55a, 0x55f}, {0x589, 0x58a}, {0x5be, 0x5be},
	{0x60c, 0x60d}, {0x61b, 0x61f}, {0x66a, 0x66d}, {0x6d4, 0x6d4}, {0x964, 0x965}, {0x1680, 0x1680}, {0x2000, 0x206f},
	{0x2e00, 0x2e7f}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0x3030, 0x3030}, {0x30fb, 0x30fb}, {0xd800, 0xdfff}, {0xfe00, 0xfe6f}, {0xfeff, 0xff0f},
	{0xff1a, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff65}, {0xffe0, 0xffff},
}

func inWord(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return true
	case r < 0xaa:
		return false
	}
	for _, n := range noWord {
		if r <= n[1] {
			return r < n[0]
		}
	}
	return true
}

// alone reports whether a character is a word by itself: an ideograph or kana.
func alone(r rune) bool {
	return 0x3040 <= r && r <= 0x30ff || 0x3400 <= r && r <= 0x4dbf || 0x4e00 <= r && r <= 0x9fff || 0xf900 <= r && r <= 0xfaff || 0x20000 <= r && r <= 0x3ffff
}
