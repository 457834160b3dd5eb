package computetest

import (
	"math"

	"clipscope/core/chacha"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

func init() { parts = append(parts, suitePart{"Discrete", "discrete", checkDiscrete}) }

// checkDiscrete wants every number to the bit where the unit is a power of two: with one
// sample and with five, in groups and in their remainders, on sums of one block and on wide
// ones, and where only the further digits of a threshold decide.
func checkDiscrete(c *check) {
	multipliers := []float64{1, 44, 1310, 56251, 4999999}
	d := discreteCheck{check: c, table: c.magnitudes()}
	key := compute.NoiseKey{Key: [8]uint32{1, 2, 3, 4, 5, 6, 7, 8}, Nonce: [3]uint32{9, 10, 11}}
	d.open()
	for n := range 68 {
		d.draw(n, 0x1p-18, multipliers[:1+n%chacha.MostJoined], key, n%2 == 0)
	}
	for _, n := range []int{127, 128, 129, 255, 256, 257, 1000} {
		for k := 1; k <= chacha.MostJoined; k++ {
			d.draw(n, 8, multipliers[:k], key, k%2 == 0)
			d.draw(n, 3.81e-6/3, multipliers[:k], key, k%2 == 1)
		}
	}
	for _, second := range []float64{65536, 65537} { // within 32 bits, and beyond
		d.draw(200, 1, []float64{65536, second}, key, false)
	}
	d.draw(70, 1, multipliers[:2], compute.NoiseKey{Key: [8]uint32{1 << 31, 0, math.MaxUint32}, Nonce: [3]uint32{1 << 31}}, false)
	d.close()
	d.ties(multipliers[:3])
}

// discreteCheck holds a table on the backend.
type discreteCheck struct {
	*check
	table []float32
	buf   compute.Buffer
}

func (d *discreteCheck) open() {
	d.buf = d.b.New(len(d.table))
	d.b.Write(d.buf, d.table)
}

func (d *discreteCheck) close() {
	for i, v := range get32(d.check, &arg{buf: d.buf, data: d.table}) {
		if math.Float32bits(v) != math.Float32bits(d.table[i]) {
			d.errorf("Discrete wrote to its table, at %d", i)
			break
		}
	}
	d.b.Free(d.buf)
}

// always holds the first digits of a threshold that always keeps its column.
const always = 1 << 16

// magnitudes returns a table of an arbitrary distribution: random thresholds and aliases, some
// columns always kept, some never.
func (c *check) magnitudes() []float32 {
	table := make([]float32, chacha.TableLen)
	for column := range chacha.TableColumns {
		var digits [chacha.TableDigits]uint32
		for i := range digits {
			digits[i] = uint32(c.rng.IntN(1 << 24))
		}
		first := uint32(c.rng.IntN(always))
		if column%16 < 2 {
			first, digits = uint32(column%16)*always, [chacha.TableDigits]uint32{}
		}
		chacha.SetColumn(table, column, c.rng.IntN(chacha.TableColumns), first, digits)
	}
	return table
}

// draw adds noise to n sums: those of one block, or wide ones with more digits than
// float32 has.
func (d *discreteCheck) draw(n int, unit float64, multipliers []float64, key compute.NoiseKey, wide bool) {
	c := d.check
	whole, exact := make([]float32, n), make([]float64, n)
	for i := range whole {
		whole[i] = float32(c.rng.IntN(1<<25) - 1<<24)
		if i%40 == 39 {
			whole[i] = edges[c.rng.IntN(3)]
		}
		exact[i] = float64(whole[i])
	}
	var src *wideArg
	if wide {
		src = c.sums(whole)
		more := c.arg("more", c.normals(n))
		for i := range more.data {
			more.data[i] = float32(math.Trunc(float64(more.data[i]) * 1000))
			exact[i] += 0x1p25 * float64(more.data[i])
		}
		c.b.Write(more.buf, more.data)
		kernel.AddScaled(c.b, n, 0x1p25, more.buf, src.sums)
	} else {
		src = &wideArg{c.b.NewSums(n + pad), whole}
		one, x := c.arg("one", []float32{1}), c.arg("x", whole)
		kernel.AddOuter(c.b, 1, 1, n, kernel.Plain(), one.buf, x.buf, src.sums)
	}
	dst := c.arg("dst", c.normals(n))
	kernel.Discrete(c.b, n, unit, multipliers, d.buf, key, src.sums, dst.buf)
	z := make([]float64, n)
	if err := chacha.Discrete(&key.Key, &key.Nonce, d.table, multipliers, z); err != nil {
		c.errorf("%v", err)
	}
	dst.want = each(n, func(i int) value { return scaled((exact[i]+z[i])*unit, unit) })
	c.verifySums(src, each(n, func(i int) value { return value{v: exact[i], tol: 0x1p-48 * math.Abs(exact[i])} }), "Discrete(%d, %v)", n, multipliers)
}

// scaled returns x rounded to float32. Where the unit is no power of two, any direction is right,
// as a product may have been rounded before.
func scaled(x, unit float64) value {
	v := exactly(float32(x))
	if part, _ := math.Frexp(unit); part != 0.5 {
		v.tol = 0x1p-23 * math.Abs(x)
	}
	return v
}

// ties returns draws that only the further digits of a threshold decide: each of the digits, either
// way, and none of them.
func (d *discreteCheck) ties(multipliers []float64) {
	key, column, fraction, digits := tie(len(multipliers))
	d.open()
	for i := range chacha.TableDigits + 1 {
		for _, change := range []int{-1, 1} {
			planted := digits
			if i < len(planted) {
				planted[i] = uint32(min(max(int(planted[i])+change, 0), 1<<24-1))
			}
			chacha.SetColumn(d.table, column, (column+1000)%chacha.TableColumns, fraction, planted)
			d.b.Write(d.buf, d.table)
			d.draw(64, 1, multipliers, key, false)
		}
	}
	d.close()
}

// tie returns a key and, for one of its first 64 numbers, the column of a sample and the threshold
// at which no digit decides. Any sample will do, as the table is made to fit.
func tie(k int) (key compute.NoiseKey, column int, first uint32, digits [chacha.TableDigits]uint32) {
	const word, lane = 5, 2
	group := uint32(k - 1)
	key = compute.NoiseKey{Key: [8]uint32{7}, Nonce: [3]uint32{uint32(k)}}
	other := [3]uint32{uint32(k) | 1<<31}
	var words, more [16]uint32
	chacha.Block(&key.Key, 4*group+lane, &key.Nonce, &words)
	chacha.Block(&key.Key, 64*group+4*word+lane, &other, &more)
	for i := range digits {
		digits[i] = more[i] >> 8
	}
	return key, int(words[word] >> 18), words[word] >> 1 & (always - 1), digits
}
