package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// sorting prints a hash of lists with many equal keys, of a small and of a large type, after sorting by a function, and of lists of numbers and
// texts after sorting by <, and of lists that were put into and taken out of.
const sorting = `package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

type large struct {
	key  int
	name string
	rest [4]float64
}

func main() {
	h, rng := fnv.New64(), rand.New(rand.NewPCG(1, 2))
	for n := range 600 {
		small, wide := make([][2]int16, n), make([]large, n)
		for i := range n {
			k := rng.IntN(1 + n/(1+n%7))
			if n%5 == 0 {
				k = i % 9 * (n%3 - 1)
			}
			small[i], wide[i] = [2]int16{int16(k), int16(i)}, large{key: k, name: fmt.Sprint(i)}
		}
		stable := slices.Clone(wide)
		slices.SortFunc(small, func(a, b [2]int16) int { return cmp.Compare(a[0], b[0]) })
		slices.SortFunc(wide, func(a, b large) int { return cmp.Compare(b.key, a.key) })
		slices.SortStableFunc(stable, func(a, b large) int { return cmp.Compare(a.key, b.key) })
		fmt.Fprintln(h, small, wide, stable)
		texts, whole, hashes, reals, halves := make([]string, n), make([]int, n), make([]uint32, n), make([]float64, n), make([]float32, n)
		for i, w := range wide {
			k := rng.IntN(1 + n/(1+n%7))
			texts[i], whole[i], hashes[i] = w.name[:1], k-3, uint32(k)*2654435761
			reals[i] = []float64{float64(k), -float64(k), math.NaN(), math.Copysign(0, -1), math.Inf(k)}[k%5]
			halves[i] = float32(reals[i])
		}
		slices.Sort(texts)
		slices.Sort(whole)
		slices.Sort(hashes)
		slices.Sort(reals)
		slices.Sort(halves)
		fmt.Fprintln(h, texts, whole, hashes, reals, halves)
		at, room := rng.IntN(n+1), append(make([]int, 0, n+n%5), whole...)
		put := slices.Insert(room, at, whole[at:min(n, at+n%4)]...)
		own := slices.Insert(put[:n:n], at, put[at:]...) // of itself
		fmt.Fprintln(h, put, own, slices.Insert([]int(nil), 0), slices.Insert([]int(nil), 0, n))
		left := slices.DeleteFunc(put, func(v int) bool { return v%3 == n%4 })
		fmt.Fprintln(h, left, put[len(left):], slices.DeleteFunc([]int(nil), func(int) bool { return true }) == nil)
	}
	fmt.Println(h.Sum64())
}
`

// TestOverlayTreatsListsAsGoDoes runs one program with and without web/overlay.mjs' package slices: both order equal keys alike, and have
// the same lists.
func TestOverlayTreatsListsAsGoDoes(t *testing.T) {
	overlay, err := filepath.Abs("bin/overlay.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(overlay); err != nil {
		t.Skip("the page was not built: make build")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(sorting), 0o600); err != nil {
		t.Fatal(err)
	}
	var said [2]string
	for i, more := range [][]string{nil, {"-overlay", overlay}} {
		cmd := exec.Command("go", append(append([]string{"run"}, more...), file)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		said[i] = string(out)
	}
	if said[0] != said[1] || len(said[0]) < 10 {
		t.Errorf("lists of %q, and with the overlay %q", said[0], said[1])
	}
}
