package links

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// Words are made of syllables of one consonant and one vowel, and no two of those are
// alike to the ear: what is misheard, a p for a b or an e for an i, is read as what was
// meant.
const (
	consonants = "bfklnrst"
	vowels     = "aiou"

	heard = "pvwgcqmzdey" // for which is read, letter by letter,
	meant = "bffkkknstii"

	words     = 3
	syllables = 3 // of a word
)

// bits is the entropy of an id: 45. One that is guessed is there in one case of 350 million
// where 100,000 links are kept (2⁴⁵ is 3.5·10¹³).
const bits = words * syllables * 5

// id is the try-th name of what is kept: the same content has the same names.
func id(content string, try byte) string {
	sum := sha256.Sum256(append([]byte{try}, content...))
	n := binary.BigEndian.Uint64(sum[:])
	var s strings.Builder
	for i := range words * syllables {
		if i > 0 && i%syllables == 0 {
			s.WriteByte('-')
		}
		s.WriteByte(consonants[n%8])
		s.WriteByte(vowels[n/8%4])
		n /= 32
	}
	return s.String()
}

// parse reads an id as people write down what they heard: in capitals, with other signs
// between the words or none, with letters that sound alike. False for what is none.
func parse(text string) (id string, ok bool) {
	const longest = 40 // bytes that are looked at
	if len(text) > longest {
		return "", false
	}
	var s strings.Builder
	n := 0
	for _, r := range text {
		if strings.ContainsRune("-_ +.", r) {
			continue
		}
		if 'A' <= r && r <= 'Z' { // and none of another alphabet, as the sign of Kelvin
			r += 'a' - 'A'
		}
		if i := strings.IndexRune(heard, r); i >= 0 {
			r = rune(meant[i])
		}
		letters := consonants
		if n%2 == 1 {
			letters = vowels
		}
		if n == 2*words*syllables || !strings.ContainsRune(letters, r) {
			return "", false
		}
		if n > 0 && n%(2*syllables) == 0 {
			s.WriteByte('-')
		}
		s.WriteRune(r)
		n++
	}
	return s.String(), n == 2*words*syllables
}
