// Package builtin generates data sets from seeds: drawn digits, points in the plane, the papers'
// regressions. [Lookalike] draws rows that are nobody's, of the shape of a described data set.
package builtin

import (
	"math"
	"math/rand/v2"

	"clipscope/core/data"
)

// Info names a data set that seeded code makes.
type Info struct {
	Name    string    `json:"name"` // as run.Config.Data has it
	Title   string    `json:"title"`
	Task    data.Task `json:"task"`
	Summary string    `json:"summary"` // one sentence
}

// All lists the built-in data, the default first.
func All() []Info {
	return []Info{
		{"digits", "Drawn digits", data.Classification, "6,000 + 1,000 digits of 28×28 pixels, drawn by code with random strokes, slant, thickness and noise."},
		{"digits-rare", "Drawn digits, few eights", data.Classification, "6,000 + 2,000 such digits, of which three in a hundred are eights: who pays for clipping?"},
		{"moons", "Two moons", data.Classification, "Two interleaved half circles in the plane, 2,000 + 1,000 points."},
		{"blobs", "Blobs", data.Classification, "Four round clouds in the plane, 2,000 + 1,000 points."},
		{"spirals", "Spirals", data.Classification, "Two spiral arms in the plane, 2,000 + 1,000 points; no straight line parts them."},
		{"sentences", "Drawn sentences", data.Classification, "2,000 + 500 short complaints and thanks, read by letters; both have the same words."},
		{"regression-vc", "Linear regression, 256 features", data.Regression, "10,000 standard normal rows with a linear truth, as in the value-clipping paper, App. C.1."},
		{"regression-ac", "Mean estimation, 10 dimensions", data.Regression, "1,000 points (±1, 0, …, 0) whose mean is sought, as in the AdaCliP paper."},
		{"regression-ac-far", "Mean estimation from afar", data.Regression, "The same 1,000 points moved by 3 in each of the 10 dimensions: training starts at 0, far from their mean."},
	}
}

// Make makes a built-in data set. The same name and seed make the same data.
// The error is a [*data.Error] where the name is none of [All].
//
// Guarantee: the data are public; a run on them protects nobody and shows how
// a run would go.
func Make(name string, seed uint64) (*data.Dataset, error) {
	var ds *data.Dataset
	switch name {
	case "digits":
		ds = Digits(seed, 6000, 1000)
	case "digits-rare":
		ds = RareDigits(seed, 6000, 2000)
	case "moons":
		ds = plane(seed, 2, moon)
	case "blobs":
		ds = plane(seed, 4, blob)
	case "spirals":
		ds = plane(seed, 2, spiral)
	case "sentences":
		ds = Sentences(seed, sentenceTrain, sentenceTest)
	case "regression-vc":
		ds = LinearTruth(seed, 10_000, 1000, 256)
	case "regression-ac":
		ds = MeanEstimation(1000, 10)
	case "regression-ac-far":
		ds = MeanEstimation(1000, 10)
		for i := range ds.Train.Y { // the test rows are the same
			ds.Train.Y[i] += 3
		}
	default:
		var names string
		for _, b := range All() {
			names += " " + b.Name
		}
		return nil, &data.Error{Expected: "data to be one of" + names, Got: data.Quote(name), Fix: "Choose one of these, or give files."}
	}
	ds.Name = name
	return ds, nil
}

// newRand returns the generator of one purpose: streams of different purposes
// do not meet.
func newRand(seed uint64, purpose string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}

const (
	planeTrain = 2000
	planeTest  = 1000
	planeSize  = 3 // points lie in [−3, 3]²
)

// plane draws points of the plane, their classes in turn, from point.
func plane(seed uint64, classes int, point func(*rand.Rand, int) (x, y float64)) *data.Dataset {
	ds := &data.Dataset{Task: data.Classification, Features: 2, Outputs: classes,
		Columns: []data.Column{{Name: "x", Kind: data.Numeric, First: 0}, {Name: "y", Kind: data.Numeric, First: 1}, {Name: "class", Kind: data.Label, First: -1}},
		Bounds:  []data.Bound{{Lo: -planeSize, Hi: planeSize}, {Lo: -planeSize, Hi: planeSize}}}
	for c := range classes {
		ds.Classes = append(ds.Classes, string(rune('A'+c)))
	}
	ds.Columns[2].Categories = ds.Classes
	draw := func(purpose string, n int) data.Split {
		rng := newRand(seed, purpose)
		sp := data.Split{N: n}
		for range n {
			c := rng.IntN(classes)
			x, y := point(rng, c)
			sp.F32 = append(sp.F32, onPlane(x), onPlane(y))
			sp.Y = append(sp.Y, float32(c))
		}
		return sp
	}
	ds.Train, ds.Test = draw("train", planeTrain), draw("test", planeTest)
	return ds
}

func onPlane(v float64) float32 { return float32(min(max(v, -planeSize), planeSize)) }

// moon draws a point about a half circle of radius 1.4, the second turned and moved into the first.
func moon(rng *rand.Rand, c int) (x, y float64) {
	const noise = 0.18
	sin, cos := math.Sincos(math.Pi * rng.Float64())
	x, y = 1.4*cos-0.7, 1.4*sin-0.35
	if c == 1 {
		x, y = -x, -y
	}
	return x + noise*rng.NormFloat64(), y + noise*rng.NormFloat64()
}

// blob draws a point of a normal cloud about a corner of a square.
func blob(rng *rand.Rand, c int) (x, y float64) {
	const noise = 0.6
	corner := [4][2]float64{{1.4, 1.1}, {-1.2, 1.4}, {-1.4, -1.1}, {1.2, -1.4}}[c]
	return corner[0] + noise*rng.NormFloat64(), corner[1] + noise*rng.NormFloat64()
}

// spiral draws a point about an arm of one and a quarter turns.
func spiral(rng *rand.Rand, c int) (x, y float64) {
	const noise = 0.08
	t := math.Sqrt(rng.Float64()) // so that points lie evenly along the arm
	sin, cos := math.Sincos(2.5*math.Pi*t + math.Pi*float64(c))
	r := 0.15 + 2.5*t
	return r*cos + noise*rng.NormFloat64(), r*sin + noise*rng.NormFloat64()
}

// LinearTruth draws the synthetic regression of the value-clipping paper, App.
// C.1: features from the standard normal distribution (10,000 rows of 256 in
// the paper) and y = ⟨w, x⟩ for a ground-truth w.
//
// The paper says no more, and adds its standard Gaussian noise to the gradient,
// where a data set cannot put it. Ours are: w uniform on the unit sphere, so
// that y has deviation 1; label noise of deviation 0.1, which keeps the best
// loss above 0; and a test set from the same truth.
func LinearTruth(seed uint64, n, test, features int) *data.Dataset {
	const noise = 0.1
	ds := &data.Dataset{Name: "regression-vc", Task: data.Regression, Features: features, Outputs: 1}
	w := make([]float64, features)
	rng, norm := newRand(seed, "truth"), 0.0
	for i := range w {
		w[i] = rng.NormFloat64()
		norm += w[i] * w[i]
	}
	norm = math.Sqrt(norm)
	draw := func(purpose string, n int) data.Split {
		rng := newRand(seed, purpose)
		sp := data.Split{N: n, F32: make([]float32, n*features), Y: make([]float32, n)}
		for i := range n {
			y := 0.0
			for j := range features {
				x := rng.NormFloat64()
				sp.F32[i*features+j] = float32(x)
				y += w[j] / norm * x
			}
			sp.Y[i] = float32(y + noise*rng.NormFloat64())
		}
		return sp
	}
	ds.Train, ds.Test = draw("train", n), draw("test", test)
	return ds
}

// MeanEstimation returns the synthetic regression of the AdaCliP paper (§4.3, and
// its experiments): n points (±1, 0, …, 0) of d dimensions, the first half +1
// (the paper: n = 1000), and θ minimises the sum of squared distances. As a
// linear model it has one feature, always 0, and d outputs, so that the bias is
// θ and its best value is 0. The test rows are the training rows, for the
// paper's error is that sum of squares itself. Nothing is random.
func MeanEstimation(n, d int) *data.Dataset {
	ds := &data.Dataset{Name: "regression-ac", Task: data.Regression, Features: 1, Outputs: d, Bounds: []data.Bound{{Lo: 0, Hi: 1}}}
	ds.Train = data.Split{N: n, F32: make([]float32, n), Y: make([]float32, n*d)}
	for i := range n {
		ds.Train.Y[i*d] = 1
		if i >= n/2 {
			ds.Train.Y[i*d] = -1
		}
	}
	ds.Test = ds.Train
	return ds
}
