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

// inputs is the number of features that the model sees.
func (p *Plan) inputs() int {
	if k := p.cfg.PCA.Components; k > 0 {
		return k
	}
	return p.meta.Features
}

// pcaShare of ε goes into directions unless the user says otherwise.
const pcaShare = 0.1

// choosePCA charges for DP-PCA. The directions are released when the run
// starts, not before: planning must be free.
func (p *Plan) choosePCA() (err error) {
	c := &p.cfg.PCA
	if c.Components == 0 {
		return nil
	}
	// The eigenvectors of a larger covariance take longer than most training.
	const most = 2048
	if c.Components < 0 || c.Components > p.meta.Features || p.meta.Features > most {
		return fault("pca.components", "%d components of %d features: take 1 … %d, and no more than %d features", c.Components, p.meta.Features, p.meta.Features, most)
	}
	if c.Share == 0 {
		c.Share = pcaShare
	}
	p.pcaNoise, err = p.charge("pca.share", c.Share, p.meta.Features*(p.meta.Features+1)/2)
	return err
}

// openPCA releases the directions.
//
// Guarantee: one Gaussian release with the noise multiplier that choosePCA
// charged. A row x of unit length, or of zeros, adds xxᵀ to the second-moment
// matrix. What is released is its upper triangle with the elements off the
// diagonal times √2, so that the L2 norm of what a row adds equals the Frobenius
// norm ‖xxᵀ‖ = ‖x‖² ≤ 1; each element gets independent noise of that multiplier,
// and everything after is post-processing (Dwork et al. 2014, "Analyze Gauss";
// theirs, and Abadi's, give every element the same noise, which is a little more
// off the diagonal). Rounding, of rows to unit length and of their sum, is
// covered as [Run.rounded] has it, with the rows in random order.
func (r *Run) openPCA(ctx context.Context) error {
	if r.cfg.PCA.Components == 0 {
		return nil
	}
	f, k := r.ds.Features, r.cfg.PCA.Components
	rows := r.be.New(r.capacity() * f)
	moment, err := r.secondMoment(ctx, rows, r.capacity())
	if err != nil {
		return err
	}
	v, err := r.directions(moment, f, k)
	if err != nil {
		return err
	}
	r.pca = input.NewProjection(r.be, rows, v, f)
	return nil
}

// openKeptPCA has the directions of another life of the run; without them it works them
// out anew.
func (r *Run) openKeptPCA(directions []float32) func(context.Context) error {
	if directions == nil {
		return r.openPCA
	}
	return func(context.Context) error {
		f := r.ds.Features
		r.pca = input.NewProjection(r.be, r.be.New(r.capacity()*f), directions, f)
		return nil
	}
}

// secondMoment sums xxᵀ over the training rows.
func (r *Run) secondMoment(ctx context.Context, rows compute.Buffer, capacity int) ([]float64, error) {
	f, n := r.ds.Features, r.ds.Train.N
	sum := r.be.NewSums(f * f)
	defer r.be.FreeSums(sum)
	x := make([]float32, capacity*f)
	order := rand.New(r.stream(privacy.OneOff, 2)).Perm(n)
	for lo := 0; lo < n; lo += capacity {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("train: PCA: %w", err)
		}
		idx := order[lo:min(n, lo+capacity)]
		part := x[:len(idx)*f]
		r.scale.Rows(part, &r.ds.Train, idx)
		data.UnitRows(part, f)
		r.be.Write(rows, part)
		kernel.AddOuter(r.be, len(idx), f, f, kernel.Plain(), rows, rows, sum)
	}
	m := make([]float64, f*f)
	if err := kernel.ReadSums(ctx, r.be, m, sum); err != nil {
		return nil, fmt.Errorf("train: PCA: %w", err)
	}
	return m, nil
}

// directions adds the noise to moment and returns the k leading eigenvectors as
// columns [f×k]. It overwrites moment.
func (r *Run) directions(moment []float64, f, k int) ([]float32, error) {
	z, err := r.normals(privacy.OneOff, 1, f*(f+1)/2)
	if err != nil {
		return nil, err
	}
	n := r.mostRows()
	kept := 0x1p-48 * float64(n) // of sums as they are read: see kernel.SplitDigits
	std := r.pcaNoise * (1 + rowSlack + sumSlack(n, r.capacity()) + 2*kept)
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
