package nn

import (
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/purego"
)

// twoMaps returns a model of two convolutions, of which gradients of 64 and of 128 rows are formed at a time.
func twoMaps() Spec {
	spec := must(Read(Shape{4, 3, 2}, []string{"conv:5:3:p1", "tanh", "wsconv:3:2:s2", "flatten", "dense"}, 3, SoftmaxCE))
	return spec.FormedAnew(64 * 126)
}

// TestGradientsFormedAnewAreTheSameToTheBit: of ten thousand rows (short: a thousand), in batches of every size, each gradient is formed
// to the same bits by every question, which are those of a model that keeps it. Its norm, as the model has
// it, is not below its length, and not far above.
func TestGradientsFormedAnewAreTheSameToTheBit(t *testing.T) {
	const capacity = 200
	rows := 10_000
	if testing.Short() { // as on a GPU that is a program, where ten thousand take minutes
		rows = 1000
	}
	for name, open := range computetest.Backends(t) {
		be := open()
		spec := twoMaps()
		rng := rand.New(rand.NewPCG(40, 3))
		again, kept := newModel(t, be, spec, capacity), newModel(t, be, must(Read(spec.Input, texts(spec), spec.Outputs(), spec.Loss)), capacity)
		for done, n := 0, 0; done < rows; done += n {
			n = 1 + rng.IntN(capacity)
			b := randomBatch(rng, spec, n)
			for i := range b.x { // some rows are huge, and some tiny
				b.x[i] *= float32(math.Pow(10, float64(i/spec.Input.Len()%7-3)))
			}
			pass(be, again, b, n)
			pass(be, kept, b, n)
			for i, s := range again.Sites() {
				site, ok := s.(*formedSite)
				if !ok {
					continue
				}
				if some := together(spec.anew, site.p.Len()); site.anew == nil || some != []int{64, 128}[i] {
					t.Fatalf("%s: site %d has %d rows at a time", name, i, some)
				}
				norms := be.New(n)
				kernel.Fill(be, n, 0, norms)
				site.Norms(norms)
				bounds := fetch(t, be, norms, n)
				one, other, third := formedRows(t, be, site), formedRows(t, be, site), formedRows(t, be, kept.Sites()[i].(*formedSite))
				first, second, want := one(), other(), third()
				for j, v := range first {
					if w := math.Float32bits(v); w != math.Float32bits(second[j]) || w != math.Float32bits(want[j]) {
						t.Fatalf("%s: value %d of %d rows' gradients is %v, then %v, and %v where it is kept", name, j, n, v, second[j], want[j])
					}
				}
				d := site.p.Len()
				for j, u := range bounds() {
					if length := norm(want[j*d : (j+1)*d]); float64(u) < length || float64(u) > length*(1+1e-6)+0x1p-148 {
						t.Fatalf("%s: a row's norm is %v, and its gradient %v long", name, u, length)
					}
				}
				be.Free(norms)
			}
		}
		be.Close()
	}
}

// formedRows has a site's gradients brought over as a question finds them.
func formedRows(t *testing.T, be compute.Backend, s *formedSite) func() []float32 {
	var parts []func() []float32
	s.eachPart(func(_, n int, g compute.Buffer) { parts = append(parts, fetch(t, be, g, n*s.p.Len())) })
	return func() (all []float32) {
		for _, p := range parts {
			all = append(all, p()...)
		}
		return all
	}
}

// TestRowsFormedTogetherShareBlocks: as many rows are formed at a time as there is room for, which is at least one
// and divides the rows of a block of sums, or is a multiple of them: so no piece of sums of a layer lies in two of another.
func TestRowsFormedTogetherShareBlocks(t *testing.T) {
	for d := 1; d < 1<<20; d = d*3/2 + 1 {
		for values := int64(1); values < 1<<36; values *= 3 {
			n := together(values, d)
			if n < 1 || compute.BlockRows%n != 0 && n%compute.BlockRows != 0 {
				t.Fatalf("%d gradients of %d values together in %d", n, d, values)
			}
			if fit := values / int64(d); n > 1 && int64(n) > fit || int64(2*n) <= fit && n < 1<<29 {
				t.Fatalf("%d gradients of %d values together in %d", n, d, values)
			}
		}
	}
}

// TestFormingAnewTakesNoMoreThanItSays: a model takes no more values than its outlines say, whichever question is asked,
// and of one that forms gradients anew few are for these.
func TestFormingAnewTakesNoMoreThanItSays(t *testing.T) {
	for _, spec := range []Spec{twoMaps(), pictures[3].FormedAnew(500), must(Read(Shape{8, 8, 3}, []string{"conv:64:3", "conv:64:3", "globalpool", "dense"}, 10, SoftmaxCE)).FormedAnew(1 << 17)} {
		for _, views := range []int{1, 2} {
			const n = 70
			c := &counting{Backend: purego.New()}
			m := New(c, spec, n, views)
			made := c.values
			b := randomBatch(rand.New(rand.NewPCG(1, 1)), spec, n*views)
			x, targets, losses, norms := c.Backend.New(len(b.x)), c.Backend.New(len(b.targets)), c.Backend.New(n), c.Backend.New(n)
			c.Write(x, b.x)
			c.Write(targets, b.targets)
			m.Forward(x, n, views)
			m.Losses(targets, losses)
			m.Backward()
			m.Norms([]compute.Buffer{norms})
			var dst []compute.Sums
			for _, p := range m.Params() {
				dst = append(dst, c.NewSums(p.Len()))
			}
			m.Add(dst, []compute.Buffer{norms}, kernel.Plain())
			if c.values != made {
				t.Errorf("%s, %d views: %d values are made once the model is there", written(spec), views, c.values-made)
			}
			for _, l := range spec.Layers {
				c.values -= int(l.Once)
			}
			said := int64(n+1)*(spec.Floats(views)+int64(views*(spec.Outputs()+spec.Input.Len()))+12*int64(len(spec.Layers))) + int64(views*spec.Anew(n)+spec.Params())
			if int64(c.values) > said {
				t.Errorf("%s, %d views: %d values, and its outlines say %d", written(spec), views, c.values, said)
			}
			if spec.Anew(n) >= n*spec.Params() {
				t.Errorf("%s: %d values for gradients are as many as all", written(spec), spec.Anew(n))
			}
			c.Close()
		}
	}
}
