package train

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
	"clipscope/core/input"
	"clipscope/core/privacy"
)

// openPCA releases the directions.
//
// Guarantee: one Gaussian release with the noise multiplier that the plan
// charged. A row x of unit length, or of zeros, adds xxᵀ to the second-moment
// matrix. What is released is its upper triangle with the elements off the
// diagonal times √2, so that the L2 norm of what a row adds equals the Frobenius
// norm ‖xxᵀ‖ = ‖x‖² ≤ 1; each element gets independent noise of that multiplier,
// and everything after is post-processing (Dwork et al. 2014, "Analyze Gauss";
// theirs, and Abadi's, give every element the same noise, which is a little more
// off the diagonal). Rounding, of rows to unit length and of their sum, is
// covered as [rounded] has it, with the rows in random order.
func (d *feed) openPCA(ctx context.Context) error {
	if d.terms.Config.PCA.Components == 0 {
		return nil
	}
	f, k := d.ds.Features, d.terms.Config.PCA.Components
	rows := d.be.New(d.capacity * f)
	moment, err := d.secondMoment(ctx, rows, d.capacity)
	if err != nil {
		return err
	}
	v, err := d.directions(moment, f, k)
	if err != nil {
		return err
	}
	d.pca = input.NewProjection(d.be, rows, v, f)
	return nil
}

// reopenPCA takes the directions of another life of the run; without them it works them out
// anew.
func (f *feed) reopenPCA(ctx context.Context, directions []float32) error {
	if directions == nil {
		return f.openPCA(ctx)
	}
	n := f.ds.Features
	f.pca = input.NewProjection(f.be, f.be.New(f.capacity*n), directions, n)
	return nil
}

// secondMoment sums xxᵀ over the training rows.
func (d *feed) secondMoment(ctx context.Context, rows compute.Buffer, capacity int) ([]float64, error) {
	f, n := d.ds.Features, d.ds.Train.N
	sum := d.be.NewSums(f * f)
	defer d.be.FreeSums(sum)
	x := make([]float32, capacity*f)
	order := rand.New(d.stream(privacy.OneOff, 2)).Perm(n)
	for lo := 0; lo < n; lo += capacity {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("train: PCA: %w", err)
		}
		idx := order[lo:min(n, lo+capacity)]
		part := x[:len(idx)*f]
		d.scale.Rows(part, &d.ds.Train, idx)
		data.UnitRows(part, f)
		d.be.Write(rows, part)
		kernel.AddOuter(d.be, len(idx), f, f, kernel.Plain(), rows, rows, sum)
	}
	m := make([]float64, f*f)
	if err := kernel.ReadSums(ctx, d.be, m, sum); err != nil {
		return nil, fmt.Errorf("train: PCA: %w", err)
	}
	return m, nil
}

// directions adds the noise to moment and returns the k leading eigenvectors as
// columns [f×k]. It overwrites moment.
func (d *feed) directions(moment []float64, f, k int) ([]float32, error) {
	z, err := d.key.Normals(privacy.OneOff, 1, f*(f+1)/2)
	if err != nil {
		return nil, err
	}
	n := d.workspace.rows
	kept := 0x1p-48 * float64(n) // of sums as they are read: see kernel.SplitDigits
	std := d.terms.PCANoise * (1 + rowSlack + sumSlack(n, d.capacity, compute.BlockRows) + 2*kept)
	at := 0
	for i := range f {
		for j := i; j < f; j++ {
			noise := std * z[at]
			if i != j {
				noise *= 0.7071067811865476 // released times √2, read back by 1/√2
			}
			moment[i*f+j] += noise
			at++
		}
	}
	var eigen gonum.Implementation
	values, size := make([]float64, f), make([]float64, 1)
	eigen.Dsyev(lapack.EVCompute, blas.Upper, f, moment, f, values, size, -1) // asks how much room it wants
	work := make([]float64, int(size[0]))
	if !eigen.Dsyev(lapack.EVCompute, blas.Upper, f, moment, f, values, work, len(work)) {
		return nil, fmt.Errorf("train: PCA: the eigenvectors of the covariance did not converge; take fewer features or no PCA")
	}
	v := make([]float32, f*k)
	for i := range f {
		for j := range k { // eigenvalues ascend
			v[i*k+j] = float32(moment[i*f+f-1-j])
		}
	}
	return v, nil
}
