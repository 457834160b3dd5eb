package table

import (
	"cmp"
	"math"
	"slices"
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
	// mostCompared limits the cells that are compared with labels, in all columns; one that is looked up counts as lookUp.
	mostCompared, lookUp = 1 << 27, 4
)

// comparison counts the cells that may still be compared with labels. Beyond these, nothing is told.
type comparison struct {
	*source.Reading
	left   int64
	counts []int32 // of the rows, for each value of a column and each class; zeros between columns
}

// spend takes n cells of those, and looks now and then whether the reading has ended. ok is false where none is left.
func (c *comparison) spend(n int) (ok bool, err error) {
	c.left -= int64(n)
	return c.left >= 0, c.Step(int64(n))
}

// tellCopies warns of columns from which nearly the whole label follows: most are the label in other words,
// and are not known when a model is asked. The error is the reading's.
func tellCopies(in *source.Reading, ds *data.Dataset, label string) error {
	c := &comparison{Reading: in, left: mostCompared}
	if ds.Task == data.MultiLabel {
		return c.tellLabels(ds)
	}
	return c.tell(ds, label)
}

// tell warns of columns from which nearly the whole of the one label follows.
func (c *comparison) tell(ds *data.Dataset, label string) error {
	if ds.Train.N < leastCopied {
		return nil
	}
	for i := range ds.Columns {
		col := &ds.Columns[i]
		share, base := 0.0, 0.0
		var err error
		switch {
		case col.First < 0 || col.Buckets > 0:
			continue
		case ds.Task == data.Classification:
			share, base, err = c.purity(ds, col)
		case col.Kind == data.Numeric:
			share, err = c.correlation(ds, col.First)
		}
		if err != nil {
			return err
		}
		if share >= nearly && base < 2*nearly-1 {
			c.Doubt("%s nearly equals the label %s: %.1f %% of it follows from this column. Declare it ignored, unless it is known before the label is.", data.Shorten(col.Name), data.Shorten(label), 100*share)
		}
	}
	return nil
}

// purity returns the share of rows whose class is the most frequent one of those with the same value of the
// column, and that of the most frequent class of all; 0 where the column has more values than a copy has.
func (c *comparison) purity(ds *data.Dataset, col *data.Column) (share, base float64, err error) {
	classes, values := len(ds.Classes), map[float32]int{}
	if c.counts == nil {
		c.counts = make([]int32, classes*(classes+otherValues))
	}
	var seen []int // the counts that are not 0
	defer func() {
		for _, i := range seen {
			c.counts[i] = 0
		}
	}()
	dense := ds.Dense()
	for r := range ds.Train.N {
		if ok, err := c.spend(lookUp + len(col.Categories)); !ok || err != nil {
			return 0, 0, err
		}
		x := ds.Train.F32[r*dense:]
		v := x[col.First]
		if col.Kind == data.Categorical {
			v = float32(slices.IndexFunc(x[col.First:][:len(col.Categories)], func(x float32) bool { return x != 0 }))
		}
		k, known := values[v]
		if !known {
			if k = len(values); k == classes+otherValues {
				return 0, 0, nil
			}
			values[v] = k
		}
		i := k*classes + int(ds.Train.Y[r])
		if c.counts[i]++; c.counts[i] == 1 {
			seen = append(seen, i)
		}
	}
	most, all := make([]int32, len(values)), make([]int32, classes)
	for _, i := range seen {
		most[i/classes] = max(most[i/classes], c.counts[i])
		all[i%classes] += c.counts[i]
	}
	sum := 0
	for _, n := range most {
		sum += int(n)
	}
	return float64(sum) / float64(ds.Train.N), float64(slices.Max(all)) / float64(ds.Train.N), nil
}

// correlation returns the square of Pearson's coefficient of a feature and the target; 0 where one of them
// is constant.
func (c *comparison) correlation(ds *data.Dataset, feature int) (float64, error) {
	n, dense := float64(ds.Train.N), ds.Dense()
	var mx, my float64
	for r := range ds.Train.N {
		if ok, err := c.spend(1); !ok || err != nil {
			return 0, err
		}
		mx += float64(ds.Train.F32[r*dense+feature]) / n
		my += float64(ds.Train.Y[r]) / n
	}
	var xx, xy, yy float64
	for r := range ds.Train.N {
		x, y := float64(ds.Train.F32[r*dense+feature])-mx, float64(ds.Train.Y[r])-my
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
	}
	if r := xy * xy / (xx * yy); r <= 1+1e-9 {
		return math.Min(r, 1), nil
	}
	return 0, nil // also of NaN
}

// truths maps words for yes and for no, in lower case, to one of each.
var truths = func() map[string]string {
	all := map[string]string{}
	for _, word := range strings.Fields("1 true t yes y ja j wahr oui vrai si sí sì sim verdadero vero") {
		all[word] = "yes"
	}
	for _, word := range strings.Fields("0 false f no n nein falsch non faux não nao falso") {
		all[word] = "no"
	}
	return all
}()

// alike replaces letters and marks that look like others, or like none.
var alike = strings.NewReplacer("ß", "ss", "‐", "-", "‑", "-", "–", "-", "—", "-", "−", "-", "’", "'", "‘", "'", "´", "'", "`", "'",
	"\u00ad", "", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "")

// tellAlike warns of texts of a list that differ in no more than case, spaces, dashes, how accents are stored or a fraction of zeros, and of
// words such as 1, TRUE and yes that mean one thing.
func tellAlike(in *source.Reading, column string, names []string) {
	keys, others := make([]string, len(names)), 0
	for k, name := range names {
		keys[k] = strings.TrimSuffix(strings.Join(strings.Fields(alike.Replace(strings.ToLower(source.Composed(name)))), " "), ".")
		if whole, zeros, found := strings.Cut(keys[k], "."); found && zeros != "" && strings.Trim(zeros, "0") == "" && strings.Trim(whole, "0123456789") == "" {
			keys[k] = whole
		}
		if truths[keys[k]] == "" {
			others++
		}
	}
	seen := map[string]string{}
	for k, name := range names {
		key := keys[k]
		if others <= otherValues { // such as "unknown"; more are no column of yes and no
			key = cmp.Or(truths[key], key)
		}
		if other, ok := seen[key]; ok {
			in.Doubt("%s: %s and %s are told apart. Write them alike if they are one.", data.Shorten(column), data.Quote(other), data.Quote(name))
			continue
		}
		seen[key] = name
	}
}
