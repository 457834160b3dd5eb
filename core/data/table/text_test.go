package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
)

func words(text string) (all []string) {
	var memory []rune
	eachWord(text, &memory, func(w []rune) bool { all = append(all, string(w)); return true })
	return all
}

// TestWords: words are runs of letters and digits in lower case, and ideographs by themselves.
func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                           nil,
		" \t\n.,;!?()\x00":           nil,
		"Call me, ISHMAEL; 2x3=6.":   {"call", "me", "ishmael", "2x3", "6"},
		"don't naïve ÀÉÞ × ß":        {"don", "t", "naïve", "àéþ", "ß"},
		"«Łódź» „Čeština“ ŽIŽKA":     {"łódź", "čeština", "žižka"},
		"ΑΘΗΝΑ Москва Ђорђе":         {"αθηνα", "москва", "ђорђе"},
		"日本語とabc。한국 말":               {"日", "本", "語", "と", "abc", "한국", "말"},
		"שלום עולם، مرحبا":           {"שלום", "עולם", "مرحبا"},
		"e\u0301te\u0301":            {"e\u0301te\u0301"},
		"👍🏽 a👩\u200d🚀b":              {"👍🏽", "a👩", "🚀b"},
		"a\xffb \xed\xa0\x80c\ufffd": {"a", "b", "c"},
		"１２ ＡＢ ｡":                    {"１２", "ＡＢ"},
	} {
		if have := words(text); !slices.Equal(have, want) {
			t.Errorf("%q has the words %q, want %q", text, have, want)
		}
	}
}

// TestHashKnownAnswers: FNV-1a has the values of its authors' list, and what spreads it those of MurmurHash3's end.
func TestHashKnownAnswers(t *testing.T) {
	for text, want := range map[string]uint32{"": 0x811c9dc5, "a": 0xe40c292c, "foobar": 0xbf9cf968} {
		if have := hashed(fnvBasis, []byte(text)...); have != want {
			t.Errorf("the hash of %q is %08x, want %08x", text, have, want)
		}
	}
	for h, want := range map[uint32]uint32{0: 0, 1: 0x514e28b7, 0xffffffff: 0x81f16f39} {
		if have := mixed(h); have != want {
			t.Errorf("%08x becomes %08x, want %08x", h, have, want)
		}
	}
}

// TestTextFeatures compares the features of texts with the definition, computed plainly.
func TestTextFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var one hasher // whose memory is used again
	for _, buckets := range []int{1 << 14, 64, 1} {
		for round := range 200 {
			text := drawnText(rng, round)
			have, want := one.add(nil, text, 5, buckets), plainFeatures(text, buckets)
			have = slices.DeleteFunc(have, func(w data.Word) bool { return math.Abs(float64(w.Value)) < 1e-12 }) // what groups leave that cancel
			if len(have) != len(want) {
				t.Fatalf("%q: %d features of %d", text, len(have), len(want))
			}
			last := uint32(4)
			for _, w := range have {
				if off := math.Abs(float64(w.Value) - want[w.Feature-5]); w.Feature <= last || !(off <= 1e-7) {
					t.Fatalf("%q: feature %d behind %d is %v, want %v", text, w.Feature, last, w.Value, want[w.Feature-5])
				}
				last = w.Feature
			}
		}
	}
}

// plainFeatures is the definition: three groups of parts, each of length 1, and then all of them.
func plainFeatures(text string, buckets int) map[uint32]float64 {
	var groups [3][]string
	all := words(text)
	for i, w := range all {
		groups[0] = append(groups[0], "w"+w)
		if i > 0 {
			groups[1] = append(groups[1], "p"+all[i-1]+" "+w)
		}
		r := []rune("<" + w + ">")
		for n := 3; n <= 5; n++ {
			for k := 0; k+n <= len(r); k++ {
				groups[2] = append(groups[2], "c"+string(r[k:k+n]))
			}
		}
	}
	unit := func(m map[uint32]float64) {
		length := 0.0
		for _, v := range m {
			length = math.Hypot(length, v)
		}
		for k, v := range m {
			if m[k] = v / length; v == 0 {
				delete(m, k)
			}
		}
	}
	sum := map[uint32]float64{}
	for _, g := range groups {
		times, own := map[string]int{}, map[uint32]float64{}
		for _, part := range g {
			times[part]++
		}
		for part, n := range times {
			h := mixed(hashed(fnvBasis, []byte(part)...))
			own[h%uint32(buckets)] += (1 + math.Floor(math.Log2(float64(n)))) * (1 - 2*float64(h>>31))
		}
		unit(own)
		for k, v := range own {
			sum[k] += v
		}
	}
	for k, v := range sum { // what differs by rounding alone
		if math.Abs(v) < 1e-12 {
			sum[k] = 0
		}
	}
	unit(sum)
	return sum
}

// drawnText draws a text of words, marks and characters of all kinds, some of which come often.
func drawnText(rng *rand.Rand, round int) string {
	pieces := strings.Split("a|the|THE|von|Übel|naïve|e\u0301|日本|語|한국어|שלום|مرحبا|Москва|👍🏽|👩\u200d🚀|\x00|\xff|\ufffd|$5.00|2024|x@y.example|https://a.b/c?d=e|…|—| |\n|'|.|Ⅷ|ﬁ|İ|ı|ſ|ǅ", "|")
	var b strings.Builder
	for range rng.IntN(round + 1) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
		if rng.IntN(3) > 0 {
			b.WriteByte(' ')
		}
		if rng.IntN(20) == 0 {
			b.WriteRune(rune(rng.IntN(0x2fa20)))
		}
	}
	return b.String()
}

// FuzzText: the features of a text are of length 1, or it has no words; they ascend, and do not depend on the texts before.
func FuzzText(f *testing.F) {
	for i := range 20 {
		f.Add(drawnText(rand.New(rand.NewPCG(3, uint64(i))), 10*i), uint8(i))
	}
	var used hasher
	f.Fuzz(func(t *testing.T, text string, power uint8) {
		buckets := 1 << (power % 15)
		have, fresh := used.add(nil, text, 3, buckets), (&hasher{}).add(nil, text, 3, buckets)
		if !slices.Equal(have, fresh) {
			t.Fatalf("%v and then %v", fresh, have)
		}
		square, last := 0.0, uint32(2)
		for _, w := range have {
			if w.Feature <= last || int(w.Feature) >= 3+buckets {
				t.Fatalf("feature %d behind %d of %d", w.Feature, last, buckets)
			}
			square, last = square+float64(w.Value)*float64(w.Value), w.Feature
		}
		if len(have) > 0 && math.Abs(square-1) > 1e-5 || len(have) == 0 && len(words(text)) > 0 && buckets > 1<<10 {
			t.Fatalf("%q has length² %v", text, square)
		}
	})
}

// TestTextsAreTold: sentences are texts; names, codes, addresses and times are not.
func TestTextsAreTold(t *testing.T) {
	for kind, draw := range map[string]func(i int) string{
		"sentences": func(i int) string { return fmt.Sprintf("thank you for order %d, it is on its way", i) },
		"japanese":  func(i int) string { return fmt.Sprintf("%d番の注文をありがとう", i) },
		"names":     func(i int) string { return fmt.Sprintf("anna%d berg%d", i, i) },
		"times":     func(i int) string { return fmt.Sprintf("Mon 12 Jan %d 10:20:%d 2019", i, i) },
		"addresses": func(i int) string { return fmt.Sprintf("10.0.0.%d", i) },
		"codes":     func(i int) string { return fmt.Sprintf("x-%d-%d-%d", i, i, i) },
	} {
		texts := map[string]int32{}
		for i := range 100 {
			texts[draw(i)] = 1
		}
		if have, want := wordy(texts, ""), kind == "sentences" || kind == "japanese"; have != want {
			t.Errorf("%s are texts: %v", kind, have)
		}
	}
	if !wordy(nil, strings.Repeat("a long mail ", 200)) {
		t.Error("a long mail is no text")
	}
}

// TestEncoderOfTexts refuses columns of texts that no table could have.
func TestEncoderOfTexts(t *testing.T) {
	label := data.Column{Name: "y", Kind: data.Label, First: -1, Categories: []string{"a", "b"}}
	for says, c := range map[string]struct {
		columns  []data.Column
		features int
	}{
		"":                       {[]data.Column{{Name: "t", Kind: data.Text, First: 1, Buckets: 8}, {Name: "n", Kind: data.Numeric}, label}, 9},
		"no power of two":        {[]data.Column{{Name: "t", Kind: data.Text, Buckets: 9}, label}, 9},
		"come behind all others": {[]data.Column{{Name: "t", Kind: data.Text, Buckets: 8}, {Name: "n", Kind: data.Numeric, First: 8}, label}, 9},
		"is of another column":   {[]data.Column{{Name: "t", Kind: data.Text, First: 8, Buckets: 8}, {Name: "u", Kind: data.Text, First: 8, Buckets: 8}, label}, 16},
		"are not among":          {[]data.Column{{Name: "t", Kind: data.Text, Buckets: 1 << 30}, label}, 8},
	} {
		_, err := NewEncoder(data.Classification, c.columns, label.Categories, c.features)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v", says, err)
		}
	}
}
