package train

import (
	"context"
	"errors"
	"fmt"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/plan"
	"clipscope/core/privacy"
)

// mechanism is a way in which the gradients of a step are measured, bounded, summed and
// noised. There is one file for each, which registers its kind.
type mechanism interface {
	// begin takes up the threshold of a step, before its rows are weighed.
	begin()
	// norms writes upper bounds on the norms that factors are made from, of n rows,
	// to dst: all parameters in one or each group in its own.
	norms(n int, dst []compute.Buffer)
	// limits bounds the factors of a step, in each group.
	limits() []kernel.Limit
	// addGradients adds the weighed gradients of n rows to a part. keep is 0 for examples
	// that are refused and 1 for the others; all factors of the former are 0.
	addGradients(p Part, n int, factors []compute.Buffer, keep compute.Buffer)
	// ahead draws the noise of a step to come where nothing more has to be known for
	// it: threads that have nothing to do meanwhile draw it while rows are fetched. What
	// fails here fails again in release.
	ahead(step int)
	// release adds the step's noise to a part's sums and leaves the outcome in the
	// gradient: once for each step, whatever parts were added.
	release(ctx context.Context, p Part, step int) error
	// unnoised leaves a part's sums without noise in the gradient, in the coordinates in
	// which sensitivity bounds a row: only of rows that are made up.
	unnoised(p Part)
	// mean turns the released mean, in the coordinates it was noised in, into a
	// gradient, and learns from it.
	mean()
	// state returns what steps change of it, on the backend, and restored says that it has
	// been written anew.
	state() []compute.Buffer
	restored()
	// sensitivity returns the most, in L2 norm, that one row moves the computed sum.
	sensitivity() float64
	// spread returns the expected squared norm of the noise on the sum, of deviation 1
	// in the coordinates that are clipped.
	spread(context.Context) (float64, error)
	// unit returns what the sum is in multiples of; 1 for plain numbers.
	unit() float64
	// narrowest returns a lower bound on the deviation of a parameter's noise where it is std
	// in the coordinates that are clipped.
	narrowest(std float64) float64
	// likeliest returns an upper bound on the probability of a single value of noise of
	// deviation std; 0 where a value is a point of a continuum.
	likeliest(std float64) float64
}

// kind is a sort of mechanism: what runs it is for, and how their noise is drawn.
type kind struct {
	name string
	// fits reports whether runs with such a clipper and such noise have it. One kind fits.
	fits func(*clip.Clipper, plan.Noise) bool
	// counts draws n numbers of deviation std > 0 for a release of counts, multiples of unit.
	counts func(key privacy.Key, purpose privacy.Purpose, step int, std, unit float64, n int) ([]float64, error)
	// weights is how many further sums its parts have.
	weights int
	// plain says that noise is normal, and of one deviation in all coordinates of a parameter.
	plain bool
	// whole says that what is released has the threshold rule's statistic, with its noise.
	whole bool
	open  func(*workspace) mechanism
}

// kinds are filled by the init functions of the mechanisms' files and only read afterwards.
var kinds []*kind

func register(k kind) { kinds = append(kinds, &k) }

// kindOf returns the kind of a run's mechanism.
func kindOf(c *clip.Clipper, n plan.Noise) (*kind, error) {
	for _, k := range kinds {
		if k.fits(c, n) {
			return k, nil
		}
	}
	return nil, errors.New("train: there is no mechanism for such clipping and such noise")
}

// scaled draws normals of a deviation.
func scaled(key privacy.Key, purpose privacy.Purpose, step int, std, _ float64, n int) ([]float64, error) {
	z, err := key.Normals(purpose, step, n)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	for i := range z {
		z[i] *= std
	}
	return z, nil
}
