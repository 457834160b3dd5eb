package chacha

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// anyTable is a table of no distribution in particular.
func anyTable() []float32 {
	rng := rand.New(rand.NewPCG(3, 4))
	table := make([]float32, TableLen)
	for column := range TableColumns {
		var digits [TableDigits]uint32
		for i := range digits {
			digits[i] = uint32(rng.IntN(1 << 24))
		}
		first := uint32(rng.IntN(1<<16 + 1))
		SetColumn(table, column, rng.IntN(TableColumns), first, digits)
		alias, f, d := Column(table, column)
		if f != first || d != digits || alias >= TableColumns {
			panic("a column is not read as it was written")
		}
	}
	return table
}

func discrete(t testing.TB, key [8]uint32, nonce [3]uint32, table []float32, multipliers []float64, n int) []float64 {
	t.Helper()
	z := make([]float64, n)
	if err := Discrete(&key, &nonce, table, multipliers, z); err != nil {
		t.Fatal(err)
	}
	return z
}

// The package comment, read literally: element i, sample j, and of the digits' order
// no more than the first 16.
func TestDiscreteIsTheDocumentedSequence(t *testing.T) {
	table, multipliers := anyTable(), []float64{1, 10, -7}
	z := discrete(t, testKey, testNonce, table, multipliers, 200)
	for i, got := range z {
		want := 0.0
		for j, m := range multipliers {
			g, p := uint32(i/64*3+j), i%64
			var words [16]uint32
			Block(&testKey, 4*g+uint32(p%4), &testNonce, &words)
			w := words[p/4]
			x := float64(w / (1 << 18))
			alias, first, _ := Column(table, int(x))
			if w%(1<<17)/2 >= first { // equal digits: 2⁻¹⁶, and not with this key
				x = float64(alias)
			}
			if w/(1<<17)%2 == 1 {
				x = -x
			}
			want += m * x
		}
		if got != want {
			t.Fatalf("element %d is %v, want %v", i, got, want)
		}
	}
	for n := range z {
		if got := discrete(t, testKey, testNonce, table, multipliers, n); !slices.Equal(got, z[:n]) {
			t.Fatalf("the first %d are not a prefix", n)
		}
	}
}

// TestDiscreteReadsOnAtTies makes the table fit a word, so that its threshold's further digits
// decide: by each of them in turn, and by none.
func TestDiscreteReadsOnAtTies(t *testing.T) {
	const at = 70 // of the second chunk: sample 0 is the sixth of group 2
	var words, more [16]uint32
	Block(&testKey, 4*2+2, &testNonce, &words)
	nonce := testNonce
	nonce[0] ^= 1 << 31
	Block(&testKey, 64*2+6, &nonce, &more)
	w := words[1]
	column, first := int(w>>18), w>>1&(1<<16-1)
	var digits [TableDigits]uint32
	for i := range digits {
		digits[i] = more[i] >> 8
	}
	table := anyTable()
	alias := (column + 1) % TableColumns
	draw := func(first uint32, digits [TableDigits]uint32) float64 {
		SetColumn(table, column, alias, first, digits)
		return math.Abs(discrete(t, testKey, testNonce, table, []float64{1, 0}, at+1)[at])
	}
	if got := draw(first, digits); got != float64(alias) {
		t.Errorf("with all digits equal the sample is %v: not below the threshold, so the alias %d", got, alias)
	}
	if got := draw(first+1, digits); got != float64(column) {
		t.Errorf("below the first digits the sample is %v, want %d", got, column)
	}
	if got := draw(first-1, digits); got != float64(alias) {
		t.Errorf("above the first digits the sample is %v, want %d", got, alias)
	}
	for i := range digits {
		up, down := digits, digits
		up[i]++
		down[i]--
		for j := i + 1; j < len(digits); j++ { // what comes after decides nothing
			up[j], down[j] = 0, 1<<24-1
		}
		if got := draw(first, up); got != float64(column) {
			t.Errorf("digit %d below: the sample is %v, want %d", i, got, column)
		}
		if got := draw(first, down); got != float64(alias) {
			t.Errorf("digit %d above: the sample is %v, want %d", i, got, alias)
		}
	}
}

func TestDiscreteRefusesWrongSizes(t *testing.T) {
	table, z := anyTable(), []float64{1}
	for name, err := range map[string]error{
		"no samples":    Discrete(&testKey, &testNonce, table, nil, z),
		"six samples":   Discrete(&testKey, &testNonce, table, make([]float64, 6), z),
		"a short table": Discrete(&testKey, &testNonce, table[:TableLen-1], []float64{1}, z),
	} {
		if err == nil || z[0] != 1 {
			t.Errorf("%s: error %v, and %v", name, err, z)
		}
	}
	if z := discrete(t, testKey, testNonce, table, []float64{1}, 0); len(z) != 0 {
		t.Error("no numbers are some")
	}
}

// All words that decide whether columns are kept, and signs, are used, and each key
// and nonce has a sequence of its own.
func TestDiscreteKeysAndNoncesDiffer(t *testing.T) {
	table := anyTable()
	seen := map[[4]float64]bool{}
	for i := range 11 {
		for bit := range 32 {
			key, nonce := flipped(i, bit)
			z := [4]float64(discrete(t, key, nonce, table, []float64{1}, 4))
			if seen[z] {
				t.Errorf("word %d, bit %d gives the sequence of another", i, bit)
			}
			seen[z] = true
		}
	}
}
