package purego_test

import (
	"context"
	"math"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/adaclip"
	"clipscope/core/compute/purego"
)

func TestBackendPassesTheSuite(t *testing.T) {
	computetest.RunAll(t, func() compute.Backend { return purego.New() })
}

func TestWrongCallsPanic(t *testing.T) {
	b := purego.New()
	x := b.New(6)
	for name, f := range map[string]func(){
		"a size beyond the buffer":  func() { kernel.Fill(b, 7, 0, x) },
		"a negative size":           func() { kernel.Fill(b, -1, 0, x) },
		"two negative sizes":        func() { kernel.AddRow(b, -2, -3, x, x) },
		"a matrix beyond":           func() { kernel.RowNorms(b, 2, 4, x, x) },
		"a write beyond":            func() { b.Write(x, make([]float32, 7)) },
		"a buffer of another kind":  func() { kernel.Fill(b, 0, 0, compute.Buffer{Memory: foreign{}}) },
		"a buffer that was freed":   func() { y := b.New(3); b.Free(y); kernel.Fill(b, 1, 0, y) },
		"sums beyond":               func() { adaclip.Centre(b, 6, x, x, b.NewSums(4)) },
		"a total of nothing":        func() { adaclip.Total(b, 6, 1, x, x, b.NewSums(0)) },
		"a gemm beyond its operand": func() { kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, 2, 2, 4, x, x, 0, b.New(4)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("was accepted")
				}
			}()
			f()
		})
	}
}

type foreign struct{}

func TestALabelThatIsNoClassLosesNaN(t *testing.T) {
	b := purego.New()
	labels := []float32{-1, 2, 0.5, float32(math.NaN()), float32(math.Inf(1)), 1e30, 1}
	m := len(labels)
	z, l, loss, dz := b.New(2*m), b.New(m), b.New(m), b.New(2*m)
	b.Write(l, labels)
	kernel.Loss(b, kernel.SoftmaxCE, m, 2, z, l, loss, dz)
	got := make([]float32, m)
	if err := compute.Read(context.Background(), b, got, loss); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if isNaN := v != v; isNaN != (i < m-1) {
			t.Errorf("label %v: loss %v", labels[i], v)
		}
	}
}
