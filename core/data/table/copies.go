package table

import (
	"math"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

const (
	// nearly is the share of rows, or of the variance, that follows from a column which nearly equals the
	// label. Real features of the data sets that people train on explain less.
	nearly = 0.995
	// leastCopied is the number of rows below which that may be chance.
	leastCopied = 20
	// otherValues is the number of values by which a copy may have more than there are classes: of missing cells, say.
	otherValues = 2
)

// tellCopies warns of columns from which nearly the whole label follows: most are the label in other words,
// and are not known when a model is asked.
func tellCopies(in *source.Reading, ds *data.Dataset, label string) {
	if ds.Task == data.MultiLabel {
		tellLabelCopies(in, ds)
		return
	}
	if ds.Train.N < leastCopied {
		return
	}
	for i := range ds.Columns {
		col := &ds.Columns[i]
		share, base := 0.0, 0.0
		switch {
		case col.First < 0 || col.Buckets > 0:
			continue
		case ds.Task == data.Classification:
			share, base = purity(ds, col)
		case col.Kind == data.Numeric:
			share = correlation(ds, col.First)
		}
		if share >= nearly && base < 2*nearly-1 {
			in.Doubt("%s nearly equals the label %s: %.1f %% of it follows from this column. Declare it ignored, unless it is known before the label is.", data.Shorten(col.Name), data.Shorten(label), 100*share)
		}
	}
}

// purity returns the share of rows whose class is the most frequent one of those with the same value of the
// column, and that of the most frequent class of all; 0 where the column has more values than a copy has.
func purity(ds *data.Dataset, col *data.Column) (share, base float64) {
	counts, all := map[float32][]int{}, make([]int, len(ds.Classes))
	for r := range ds.Train.N {
		x := ds.Train.F32[r*ds.Features:]
		v := x[col.First]
		if col.Kind == data.Categorical {
			v = -1
			for k := range col.Categories {
				if x[col.First+k] != 0 {
					v = float32(k)
				}
			}
		}
		of := counts[v]
		if of == nil {
			if len(counts) == len(ds.Classes)+otherValues {
				return 0, 0
			}
			of = make([]int, len(ds.Classes))
			counts[v] = of
		}
		y := int(ds.Train.Y[r])
		of[y]++
		all[y]++
	}
	sum := 0
	for _, of := range counts {
		sum += most(of)
	}
	return float64(sum) / float64(ds.Train.N), float64(most(all)) / float64(ds.Train.N)
}

func most(counts []int) (n int) {
	for _, c := range counts {
		n = max(n, c)
	}
	return n
}

// correlation returns the square of Pearson's coefficient of a feature and the target; 0 where one of them
// is constant.
func correlation(ds *data.Dataset, feature int) float64 {
	n := float64(ds.Train.N)
	var mx, my float64
	for r := range ds.Train.N {
		mx += float64(ds.Train.F32[r*ds.Features+feature]) / n
		my += float64(ds.Train.Y[r]) / n
	}
	var xx, xy, yy float64
	for r := range ds.Train.N {
		x, y := float64(ds.Train.F32[r*ds.Features+feature])-mx, float64(ds.Train.Y[r])-my
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
	}
	if r := xy * xy / (xx * yy); r <= 1+1e-9 {
		return math.Min(r, 1)
	}
	return 0 // also of NaN
}

// tellAlike warns of texts of a list that differ in no more than case, spaces or how accents are stored.
func tellAlike(in *source.Reading, column string, names []string) {
	seen := map[string]string{}
	for _, name := range names {
		key := strings.Join(strings.Fields(strings.ToLower(source.Composed(name))), " ")
		if other, ok := seen[key]; ok {
			in.Doubt("%s: %s and %s are told apart. Write them alike if they are one.", data.Shorten(column), data.Quote(other), data.Quote(name))
			continue
		}
		seen[key] = name
	}
}
