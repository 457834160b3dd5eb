package data

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// HoldOut moves share of the training rows to Test, that share of each class where some are
// rare. The shuffle's seed is fixed so that the same files give the same split.
// Both parts stay in the memory they are in.
func (d *Dataset) HoldOut(share float64) {
	n := d.Train.N
	d.HeldOut = Shuffled // also where there are too few rows: with one more it could be otherwise
	k := min(int(float64(n)*share), n-1)
	if k <= 0 {
		return
	}
	perm := make([]int32, n)
	for i := range perm {
		perm[i] = int32(i)
	}
	rng := rand.New(rand.NewPCG(0x686f6c64, 0x6f7574))
	rng.Shuffle(n, func(i, j int) { perm[i], perm[j] = perm[j], perm[i] })
	of := d.quotas(share, k)
	byClass := of != nil
	if byClass {
		perm = slices.DeleteFunc(perm, func(row int32) bool {
			y := int(d.Train.Y[row])
			of[y]--
			return of[y] < 0
		})
	} else {
		perm = perm[:k]
	}
	if len(perm) == 0 {
		return
	}
	d.ByClass = byClass
	slices.Sort(perm)
	d.moveToTest(perm)
}

// HoldOutByRow moves to Test the training rows whose hash, a number between 0 and 1, is below
// share. Rows that are the same go to the same part.
//
// Guarantee: where a row goes depends on what it holds alone: one row more is one row
// more in either Train or Test, and moves no other.
func (d *Dataset) HoldOutByRow(share float64) {
	var taken []int32
	for i := range d.Train.N {
		if float64(d.hash(i))*0x1p-64 < share {
			taken = append(taken, int32(i))
		}
	}
	if len(taken) == 0 {
		return
	}
	d.HeldOut = ByRow
	d.moveToTest(taken)
}

// hash mixes the features, the text and the targets of a training row: FNV-1a, and the end
// of SplitMix64 so that its leading digits are as good as its last.
func (d *Dataset) hash(row int) uint64 {
	h := uint64(0xcbf29ce484222325)
	add := func(v uint64) { h = (h ^ v) * 0x100000001b3 }
	values := func(v []float32) {
		for _, x := range v {
			add(uint64(math.Float32bits(x + 0))) // −0 as 0
		}
	}
	f, w := d.Dense(), d.TargetWidth()
	if d.Train.U8 != nil {
		for _, b := range d.Train.U8[row*f:][:f] {
			add(uint64(b))
		}
	} else {
		values(d.Train.F32[row*f:][:f])
	}
	if d.Train.Words != nil {
		for _, word := range d.Train.Words[row] {
			add(uint64(word.Feature))
			add(uint64(math.Float32bits(word.Value)))
		}
	}
	if texts := d.Train.onlyText(); texts != nil {
		for _, b := range []byte(texts[row]) {
			add(uint64(b))
		}
	}
	values(d.Train.Y[row*w:][:w])
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// moveToTest makes Test of the training rows listed in perm, which ascends.
func (d *Dataset) moveToTest(perm []int32) {
	dense, texts := d.Dense(), d.Train.texts()
	d.Test.N, d.Train.N = len(perm), d.Train.N-len(perm)
	d.Train.U8, d.Test.U8 = cut(d.Train.U8, dense, perm)
	d.Train.F32, d.Test.F32 = cut(d.Train.F32, dense, perm)
	d.Train.Words, d.Test.Words = cut(d.Train.Words, 1, perm)
	d.Train.Text, d.Test.Text = cut(d.Train.Text, texts, perm)
	d.Train.Y, d.Test.Y = cut(d.Train.Y, d.TargetWidth(), perm)
}

// fewHeldOut is the expected number of test rows of a class from which on chance alone chooses them. With
// five expected, chance leaves a class without any in fewer than 1 in 100 splits (e⁻⁵).
const fewHeldOut = 5

// quotas returns the number of rows that each class gives to the k held-out ones: its share, rounded
// so that they add up, by the largest remainders and then by the classes' order; a class
// keeps a row to train on. They are nil where every class has rows enough for chance.
func (d *Dataset) quotas(share float64, k int) []int {
	if d.Task != Classification {
		return nil
	}
	rows := make([]int, len(d.Classes))
	for _, y := range d.Train.Y {
		rows[int(y)]++
	}
	few := func(n int) bool { return n > 0 && float64(n)*share < fewHeldOut }
	if !slices.ContainsFunc(rows, few) {
		return nil
	}
	of := make([]int, len(rows))
	var order []int // of those that may give one more
	for c, n := range rows {
		of[c] = int(float64(n) * share)
		k -= of[c]
		if of[c]+1 < n {
			order = append(order, c)
		}
	}
	left := func(c int) float64 { return float64(rows[c])*share - float64(of[c]) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(left(b), left(a)) })
	for _, c := range order[:min(max(k, 0), len(order))] { // rounded products may differ by one
		of[c]++
	}
	return of
}

// cut moves the rows of a listed in idx (ascending) to its end, where they keep
// their order, by exchanging them with the rows there.
func cut[T any](a []T, width int, idx []int32) (rest, taken []T) {
	if a == nil {
		return nil, nil
	}
	to := len(a)
	for _, from := range slices.Backward(idx) {
		to -= width
		for j, at := 0, int(from)*width; j < width; j++ {
			a[to+j], a[at+j] = a[at+j], a[to+j]
		}
	}
	return a[:to:to], a[to:]
}

// HeldOut names the way in which test rows were chosen from the rows of the same files.
type HeldOut int

const (
	NotHeldOut HeldOut = iota // none were to be, or they are of files of their own
	Shuffled                  // by a fixed shuffle: one row more changes it for others
	ByRow                     // by each row alone
)
