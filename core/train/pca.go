package train

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/privacy"
)

// projection maps rows of unit length onto the leading directions of their
// covariance.
type projection struct {
	features, components int
	rows, v              compute.Buffer // [capacity×features], [features×components]
}

// inputs is the number of features that the model sees.
func (p *Plan) inputs() int {
	if k := p.cfg.PCA.Components; k > 0 {
		return k
	}
	return p.ds.Features
}

// choosePCA charges for DP-PCA. The directions are released when the run
// starts, not before: planning must be free.
func (p *Plan) choosePCA() (err error) {
	c := &p.cfg.PCA
	if c.Components == 0 {
		return nil
	}
	// The eigenvectors of a larger covariance take longer than most training.
	const most = 2048
	if c.Components < 0 || c.Components > p.ds.Features || p.ds.Features > most {
		return fault("pca.components", "%d components of %d features: take 1 … %d, and no more than %d features", c.Components, p.ds.Features, p.ds.Features, most)
	}
	if c.Share == 0 {
		c.Share = defaultShare
	}
	p.pcaNoise, err = p.charge("pca.share", c.Share)
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
// covered as [Plan.sensitivity] has it, with the rows in random order.
func (p *Plan) openPCA(ctx context.Context, capacity int) error {
	if p.cfg.PCA.Components == 0 {
		return nil
	}
	f, k := p.ds.Features, p.cfg.PCA.Components
	pr := &projection{features: f, components: k, rows: p.be.New(capacity * f), v: p.be.New(f * k)}
	moment, err := p.secondMoment(ctx, pr.rows, capacity)
	if err != nil {
		return err
	}
	v, err := p.directions(moment, f, k)
	if err != nil {
		return err
	}
	p.be.Write(pr.v, v)
	p.pca = pr
	return nil
}

// secondMoment sums xxᵀ over the training rows.
func (p *Plan) secondMoment(ctx context.Context, rows compute.Buffer, capacity int) ([]float64, error) {
	f, n := p.ds.Features, p.ds.Train.N
	sum := p.be.NewSums(f * f)
	defer p.be.FreeSums(sum)
	x := make([]float32, capacity*f)
	order := rand.New(p.stream(privacy.OneOff, 2)).Perm(n)
	for lo := 0; lo < n; lo += capacity {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("train: PCA: %w", err)
		}
		idx := order[lo:min(n, lo+capacity)]
		part := x[:len(idx)*f]
		p.scale.Rows(part, &p.ds.Train, idx)
		unitRows(part, f)
		p.be.Write(rows, part)
		kernel.AddOuter(p.be, len(idx), f, f, kernel.Plain(), rows, rows, sum)
	}
	m := make([]float64, f*f)
	if err := kernel.ReadSums(ctx, p.be, m, sum); err != nil {
		return nil, fmt.Errorf("train: PCA: %w", err)
	}
	return m, nil
}

// directions adds the noise and returns the k leading eigenvectors as columns
// [f×k].
func (p *Plan) directions(moment []float64, f, k int) ([]float32, error) {
	z, err := p.normals(privacy.OneOff, 1, f*(f+1)/2)
	if err != nil {
		return nil, err
	}
	std := p.pcaNoise * (1 + rowSlack + sumSlack(p.ds.Train.N, p.capacity()))
	sym := mat.NewSymDense(f, nil)
	at := 0
	for i := range f {
		for j := i; j < f; j++ {
			noise := std * z[at]
			if i != j {
				noise *= 0.7071067811865476 // released times √2, read back by 1/√2
			}
			sym.SetSym(i, j, moment[i*f+j]+noise)
			at++
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, true) {
		return nil, fmt.Errorf("train: PCA: the eigenvectors of the covariance did not converge; take fewer features or no PCA")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	v := make([]float32, f*k)
	for i := range f {
		for j := range k { // eigenvalues ascend
			v[i*k+j] = float32(vectors.At(i, f-1-j))
		}
	}
	return v, nil
}

// unitRows divides each row of x [n×f] by its norm; zero rows stay.
func unitRows(x []float32, f int) {
	for ; len(x) > 0; x = x[f:] {
		if norm := rowNorm(x[:f]); norm > 0 {
			scaleRow(x[:f], 1/norm)
		}
	}
}
