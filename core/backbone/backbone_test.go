package backbone

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/run"
)

type tensor = run.BackboneTensor

// fake is a model that is a function of a call's rows.
type fake struct {
	in, out []tensor
	shape   func(n int) []int // of the output
	f       func(x []float32, n int) []float32
	seen    []Values
	late    bool // shape follows from what f has seen
}

func (m *fake) Inputs() []tensor  { return m.in }
func (m *fake) Outputs() []tensor { return m.out }

func (m *fake) Run(_ context.Context, input string, x Values, output string) (Values, error) {
	if input != m.in[0].Name || !slices.ContainsFunc(m.out, func(t tensor) bool { return t.Name == output }) {
		return Values{}, errors.New("there is no such tensor")
	}
	m.seen = append(m.seen, x)
	size := 1
	for _, d := range x.Shape {
		size *= d
	}
	v := x.F32
	for _, s := range x.Text {
		v = append(v, float32(len(s)))
	}
	for _, b := range x.U8 {
		v = append(v, float32(b))
	}
	if len(v) != size*x.Calls {
		return Values{}, errors.New("the values are not of the shape")
	}
	n := x.Shape[0]
	y := Values{Calls: x.Calls, Shape: m.shape(n)}
	for k := range x.Calls {
		y.F32 = append(y.F32, m.f(v[k*size:(k+1)*size], n)...)
	}
	if m.late {
		y.Shape = m.shape(n)
	}
	return y, nil
}

// sums gives the sum of a row, its first and its last value.
func sums(x []float32, n int) []float32 {
	var out []float32
	for i := range n {
		row := x[i*len(x)/n : (i+1)*len(x)/n]
		var sum float32
		for _, v := range row {
			sum += v
		}
		out = append(out, sum, row[0], row[len(row)-1])
	}
	return out
}

func ones(name, kind string, shape ...int) []tensor {
	return []tensor{{Name: name, Type: kind, Shape: shape}}
}

func model(in []tensor) *fake {
	return &fake{in: in, out: ones("y", "float32", -1, 3), shape: func(n int) []int { return []int{n, 3} }, f: sums}
}

var (
	tableMeta   = data.Meta{Features: 4, FeatureBytes: 4}
	textMeta    = data.Meta{Features: 64, FeatureBytes: 4, Columns: []data.Column{{Name: "review", Kind: data.Text, Buckets: 64}}}
	colourMeta  = data.Meta{Features: 3 * 4 * 4, Shape: []int{3, 4, 4}, FeatureBytes: 1, Bounds: []data.Bound{{Lo: 0, Hi: 255}}}
	greyMeta    = data.Meta{Features: 4 * 4, Shape: []int{4, 4}, FeatureBytes: 1}
	numbersMeta = data.Meta{Features: 4 * 4, Shape: []int{4, 4}, FeatureBytes: 4, Bounds: []data.Bound{{Lo: -1, Hi: 3}}}
)

func TestModelsThatDoNotFitAreRefused(t *testing.T) {
	two := append(ones("a", "float32", -1, 4), ones("b", "float32", -1, 4)...)
	for name, c := range map[string]struct {
		in, out []tensor
		shape   []int // of the output, with -1 for n
		meta    data.Meta
		q       run.BackboneRequest
		says    string
	}{
		"two inputs":         {in: two, meta: tableMeta, says: "one input"},
		"BERT":               {in: append(ones("input_ids", "int64", -1, -1), ones("attention_mask", "int64", -1, -1)...), meta: textMeta, says: "open them here as .npz"},
		"tokens alone":       {in: ones("input_ids", "int64", -1, -1), meta: textMeta, says: "open them here as .npz"},
		"no input":           {in: []tensor{}, meta: tableMeta, says: "one input"},
		"several texts":      {in: ones("x", "string", -1, 4), meta: textMeta, says: "one text a row"},
		"no text":            {in: ones("x", "string", 0), meta: textMeta, says: "one text a row"},
		"texts of no shape":  {in: ones("x", "string"), meta: textMeta, says: "one text a row"},
		"texts of numbers":   {in: ones("x", "string", -1), meta: tableMeta, says: "Declare the column text"},
		"texts in a picture": {in: ones("x", "string", -1, 1), meta: colourMeta, says: "Declare the column text"},
		"a long name":        {in: ones("x", "string", -1), meta: data.Meta{Columns: []data.Column{{Name: strings.Repeat("x", 201), Kind: data.Text}}}, says: "Rename"},
		"three texts":        {in: []tensor{{Name: "x", Type: "string", Shape: []int{-1}, Pairs: true}}, meta: data.Meta{Columns: []data.Column{{Name: "a", Kind: data.Text}, {Name: "b", Kind: data.Text}, {Name: "c", Kind: data.Text}}}, says: "one column of texts, or two"},
		"columns of texts":   {in: ones("x", "string", -1), meta: data.Meta{Columns: []data.Column{{Name: "a", Kind: data.Text}, {Name: "b", Kind: data.Text}}}, says: "Declare the others ignored"},
		"many texts at once": {in: ones("x", "string", 257), meta: textMeta, says: "at most 256 rows"},
		"normalised texts":   {in: ones("x", "string", -1), meta: textMeta, q: run.BackboneRequest{Normalise: "0-1"}, says: "texts as they are"},
		"tokens":             {in: ones("input_ids", "int64", -1, -1), meta: textMeta, says: "input_ids of int64. If these are the numbers of tokens"},
		"numbers of texts":   {in: ones("x", "float32", -1, -1), meta: textMeta, says: "texts alone, in review"},
		"no tensor":          {in: ones("x", "no tensor"), meta: tableMeta, says: "float32, uint8 or string"},
		"half":               {in: ones("x", "float16", -1, 4), meta: tableMeta, says: "float32, uint8 or string"},
		"no shape":           {in: ones("x", "float32"), meta: tableMeta, says: "an input [n, features]"},
		"a sequence":         {in: ones("x", "float32", -1, 4, 4), meta: tableMeta, says: "an input [n, features]"},
		"a size of 0":        {in: ones("x", "float32", -1, 0), meta: tableMeta, says: "sizes of 1"},
		"other features":     {in: ones("x", "float32", -1, 5), meta: tableMeta, says: "rows of 5 features"},
		"pictures of rows":   {in: ones("x", "float32", -1, 3, 4, 4), meta: tableMeta, says: "pictures"},
		"two channels":       {in: ones("x", "float32", -1, 2, 4, 4), meta: colourMeta, says: "1 or 3 channels"},
		"huge pictures":      {in: ones("x", "float32", -1, 3, 1<<30, 1<<30), meta: colourMeta, says: "at most 4096"},
		"large pictures":     {in: ones("x", "float32", -1, 3, 4096, 4096), meta: colourMeta, says: "at most 16777216"},
		"a huge batch":       {in: ones("x", "float32", 1<<30, 4), meta: tableMeta, says: "at most 256 rows"},
		"a batch that is no": {in: ones("x", "float32", -1, 4), meta: tableMeta, q: run.BackboneRequest{Batch: 257}, says: "1 to 256"},
		"less than none":     {in: ones("x", "float32", -1, 4), meta: tableMeta, q: run.BackboneRequest{Batch: -1}, says: "1 to 256"},
		"another batch":      {in: ones("x", "float32", 4, 4), meta: tableMeta, q: run.BackboneRequest{Batch: 3}, says: "a batch of 4"},
		"no output":          {in: ones("x", "float32", -1, 4), out: []tensor{}, meta: tableMeta, says: "it has none"},
		"which output":       {in: ones("x", "float32", -1, 4), out: two, meta: tableMeta, says: "a [n, 4], b [n, 4]"},
		"no such output":     {in: ones("x", "float32", -1, 4), meta: tableMeta, q: run.BackboneRequest{Output: "z"}, says: "y [n, 3]"},
		"classes":            {in: ones("x", "float32", -1, 4), out: ones("y", "int64", -1), meta: tableMeta, says: "float32"},
		"one number":         {in: ones("x", "float32", -1, 4), shape: []int{-1}, meta: tableMeta, says: "an output for each"},
		"five sizes":         {in: ones("x", "float32", -1, 4), shape: []int{-1, 1, 1, 1, 3}, meta: tableMeta, says: "an output for each"},
		"all rows in one":    {in: ones("x", "float32", -1, 4), shape: []int{3, 1}, meta: tableMeta, says: "an output for each"},
		"a shape that lies":  {in: ones("x", "float32", -1, 4), shape: []int{-1, 7}, meta: tableMeta, says: "an output for each"},
		"normalised rows":    {in: ones("x", "float32", -1, 4), meta: tableMeta, q: run.BackboneRequest{Normalise: "imagenet"}, says: "as they are"},
		"normalised bytes":   {in: ones("x", "uint8", -1, 3, 4, 4), meta: colourMeta, q: run.BackboneRequest{Normalise: "0-1"}, says: "uint8"},
		"another norm":       {in: ones("x", "float32", -1, 3, 4, 4), meta: colourMeta, q: run.BackboneRequest{Normalise: "zscore"}, says: "imagenet"},
		"another way":        {in: ones("x", "float32", -1, 3, 8, 8), meta: colourMeta, q: run.BackboneRequest{Resize: "lanczos"}, says: "nearest"},
	} {
		m := model(c.in)
		if c.out != nil {
			m.out = c.out
		}
		if c.shape != nil {
			m.shape = func(n int) []int {
				s := slices.Clone(c.shape)
				if s[0] < 0 {
					s[0] = n
				}
				return s
			}
		}
		_, err := New(t.Context(), m, c.meta, c.q)
		var e *data.Error
		if !errors.As(err, &e) || e.Fix == "" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestModelsThatMixRowsAreRefused: so is what is random, what remembers, and in
// batches what mixes rows.
func TestModelsThatMixRowsAreRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	calls := 0
	mixing := func(x []float32, n int) []float32 {
		out := sums(x, n)
		var mean float32
		for i := range n {
			mean += out[3*i] / float32(n)
		}
		for i := range n {
			out[3*i] -= mean / 2
		}
		return out
	}
	for name, c := range map[string]struct {
		f       func([]float32, int) []float32
		batch   int
		refused bool
	}{
		"apart":             {sums, 1, false},
		"apart, in batches": {sums, 8, false},
		"random": {func(x []float32, n int) []float32 {
			out := sums(x, n)
			out[0] += float32(rng.NormFloat64())
			return out
		}, 1, true},
		"remembers": {func(x []float32, n int) []float32 {
			calls++
			out := sums(x, n)
			out[1] += float32(calls)
			return out
		}, 1, true},
		"mixes, alone":      {mixing, 1, false},
		"mixes, in batches": {mixing, 8, true},
	} {
		m := model(ones("x", "float32", -1, 4))
		m.f = c.f
		if _, err := New(t.Context(), m, tableMeta, run.BackboneRequest{Batch: c.batch}); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// quantised gives means, first and last values of numbers of 8 bits between the least and
// the greatest of the call, as models compute that are quantised while they run.
func quantised(x []float32, n int) []float32 {
	step := float64(max(slices.Max(x), 0)-min(slices.Min(x), 0)) / 255
	q := make([]float32, len(x))
	for i, v := range x {
		q[i] = float32(math.Round(float64(v)/step) * step)
	}
	out := sums(q, n)
	for i := range n {
		out[3*i] /= float32(len(x) / n)
	}
	return out
}

// TestModelsQuantisedByTheBatchAreRefused: a model that takes its scale from all rows of a batch is
// refused, however many values a row has that may hold both ends of it.
func TestModelsQuantisedByTheBatchAreRefused(t *testing.T) {
	for _, side := range []int{4, 28, 64} {
		for _, bytes := range []int{1, 4} {
			for _, batch := range []int{1, 2, 5, 16} {
				meta := data.Meta{Features: side * side, Shape: []int{side, side}, FeatureBytes: bytes, Bounds: []data.Bound{{Lo: 0, Hi: 255}}}
				m := model(ones("x", "float32", -1, 1, side, side))
				m.f = quantised
				if _, err := New(t.Context(), m, meta, run.BackboneRequest{Batch: batch}); (err != nil) != (batch > 1) {
					t.Errorf("%d×%d of %d bytes, batches of %d: %v", side, side, bytes, batch, err)
				}
			}
		}
	}
}

// TestEachRowIsAlone: with a batch of 1 a call holds one row, and copies of it where the
// model wants more; whatever the batch, features are those of the row.
func TestEachRowIsAlone(t *testing.T) {
	for _, fixed := range []int{-1, 1, 5} {
		for _, batch := range []int{1, 5} {
			if fixed == 1 && batch != 1 {
				continue
			}
			m := model(ones("x", "float32", fixed, 4))
			x, err := New(t.Context(), m, tableMeta, run.BackboneRequest{Batch: batch})
			if err != nil {
				t.Fatal(err)
			}
			if x.Width() != 3 || x.Made() != (run.Backbone{Output: "y", Normalise: "none", Batch: batch}) {
				t.Errorf("%+v", x.Made())
			}
			rows := drawn(rand.New(rand.NewPCG(3, 4)), tableMeta, 23)
			dst := make([]float32, 3*rows.N)
			m.seen = nil
			if err := x.Extract(t.Context(), rows, dst); err != nil {
				t.Fatal(err)
			}
			for i := range rows.N {
				if want := sums(rows.F32[4*i:4*i+4], 1); !reflect.DeepEqual(dst[3*i:3*i+3], want) {
					t.Fatalf("model of %d, batch of %d, row %d: %v, want %v", fixed, batch, i, dst[3*i:3*i+3], want)
				}
			}
			if batch > 1 {
				continue
			}
			row := 0
			for _, v := range m.seen {
				for k := range v.Calls {
					call := v.F32[k*4*v.Shape[0]:][:4*v.Shape[0]]
					for i := range v.Shape[0] {
						if !reflect.DeepEqual(call[4*i:4*i+4], rows.F32[4*row:4*row+4]) {
							t.Fatalf("a call for row %d has something else", row)
						}
					}
					row++
				}
			}
			if row != rows.N {
				t.Errorf("%d calls for %d rows", row, rows.N)
			}
		}
	}
}

// TestAModelGetsOneTextACall: a model gets one text a call, or copies of it, in the shape that it
// declares, and what it gives of them may have as many parts as a text.
func TestAModelGetsOneTextACall(t *testing.T) {
	texts := []string{"good", "", "rather bad", "日本"}
	for _, shape := range [][]int{{1}, {-1}, {3}, {1, 1}, {-1, 1}, {-1, -1}, {3, 1}} {
		m := model(ones("text", "string", shape...))
		x, err := New(t.Context(), m, textMeta, run.BackboneRequest{})
		if err != nil {
			t.Errorf("%v: %v", shape, err)
			continue
		}
		if want := (run.Backbone{Output: "y", Column: "review", Normalise: "none", Batch: 1}); x.Made() != want {
			t.Errorf("%+v", x.Made())
		}
		m.seen = nil
		dst := make([]float32, 3*len(texts))
		if err := x.Extract(t.Context(), data.Split{N: len(texts), F32: []float32{}, Text: texts}, dst); err != nil {
			t.Fatal(err)
		}
		n := max(shape[0], 1)
		for i, s := range texts {
			v := m.seen[i]
			if len(m.seen) != len(texts) || v.Calls != 1 || len(v.Shape) != len(shape) || v.Shape[0] != n || !slices.Equal(v.Text, slices.Repeat([]string{s}, n)) {
				t.Fatalf("%v: for %q it got %+v", shape, s, v)
			}
			if dst[3*i] != float32(len(s)) {
				t.Errorf("%v: features of %q are %v", shape, s, dst[3*i:3*i+3])
			}
		}
	}
	// Parts: as many as there are bytes, each of which gives 1 and 2.
	m := model(ones("text", "string", -1))
	m.out[0].Shape = []int{-1, -1, 2}
	parts := 0
	m.f = func(x []float32, _ int) []float32 {
		parts = int(x[0])
		return slices.Repeat([]float32{1, 2}, parts)
	}
	m.shape = func(n int) []int { return []int{n, parts, 2} }
	m.late = true
	x, err := New(t.Context(), m, textMeta, run.BackboneRequest{})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, 2*len(texts))
	if err := x.Extract(t.Context(), data.Split{N: len(texts), Text: texts}, dst); err != nil || !slices.Equal(dst, []float32{1, 2, 0, 0, 1, 2, 1, 2}) {
		t.Errorf("%v, %v", dst, err)
	}
}

// TestAModelGetsBothTextsOfARow: one that takes two texts gets both columns', and one alone where there is one.
func TestAModelGetsBothTextsOfARow(t *testing.T) {
	in := []tensor{{Name: "text", Type: "string", Shape: []int{-1}, Pairs: true}}
	two := data.Meta{Features: 64, FeatureBytes: 4, Columns: []data.Column{{Name: "question", Kind: data.Text, Buckets: 32}, {Name: "answer", Kind: data.Text, Buckets: 32}}}
	texts := []string{"is it?", "yes", "", "never", "why", ""}
	for _, c := range []struct {
		meta   data.Meta
		shape  []int
		second string
	}{{two, []int{1, 2}, "answer"}, {textMeta, []int{1}, ""}} {
		m := model(in)
		m.out[0].Types, m.out[0].Tokens = 2, 10
		x, err := New(t.Context(), m, c.meta, run.BackboneRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if made := x.Made(); made.Second != c.second || made.Types != 2 || made.Tokens != 10 {
			t.Errorf("%+v", made)
		}
		m.seen = nil
		each := len(c.meta.Columns)
		n := len(texts) / each
		if err := x.Extract(t.Context(), data.Split{N: n, F32: []float32{}, Text: texts}, make([]float32, 3*n)); err != nil {
			t.Fatal(err)
		}
		for i, v := range m.seen {
			if !slices.Equal(v.Shape, c.shape) || !slices.Equal(v.Text, texts[i*each:(i+1)*each]) {
				t.Errorf("of row %d it got %+v", i, v)
			}
		}
	}
}

// given is what a model got of one row.
func given(t *testing.T, in []tensor, meta data.Meta, q run.BackboneRequest, row data.Split) Values {
	t.Helper()
	m := model(in)
	x, err := New(t.Context(), m, meta, q)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Extract(t.Context(), row, make([]float32, 3)); err != nil {
		t.Fatal(err)
	}
	return m.seen[len(m.seen)-1]
}

func TestPixelsArriveInTheDeclaredLayout(t *testing.T) {
	row := drawn(rand.New(rand.NewPCG(3, 4)), colourMeta, 1)
	at := func(c, p int) float64 { return float64(row.U8[c*16+p]) }
	near := func(name string, got float32, want float64) {
		if math.Abs(float64(got)-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	planes := ones("x", "float32", -1, 3, 4, 4)
	v := given(t, planes, colourMeta, run.BackboneRequest{}, row)
	near("0-1", v.F32[16+5], at(1, 5)/255)
	v = given(t, planes, colourMeta, run.BackboneRequest{Normalise: "imagenet"}, row)
	near("imagenet", v.F32[2*16+7], (at(2, 7)/255-0.406)/0.225)
	v = given(t, planes, colourMeta, run.BackboneRequest{Normalise: "none"}, row)
	near("none", v.F32[3], at(0, 3))
	v = given(t, ones("x", "float32", -1, 4, 4, 3), colourMeta, run.BackboneRequest{}, row)
	if !reflect.DeepEqual(v.Shape, []int{1, 4, 4, 3}) {
		t.Errorf("channels last: %v", v.Shape)
	}
	near("channels last", v.F32[5*3+1], at(1, 5)/255)
	v = given(t, ones("x", "uint8", 1, 3, 4, 4), colourMeta, run.BackboneRequest{}, row)
	if !reflect.DeepEqual(v.U8, row.U8) {
		t.Errorf("bytes: %v, not %v", v.U8, row.U8)
	}
	v = given(t, ones("x", "float32", -1, 1, -1, -1), colourMeta, run.BackboneRequest{}, row)
	near("grey", v.F32[9], (0.299*at(0, 9)+0.587*at(1, 9)+0.114*at(2, 9))/255)

	row = drawn(rand.New(rand.NewPCG(3, 4)), greyMeta, 1)
	v = given(t, planes, greyMeta, run.BackboneRequest{}, row)
	near("in colours", v.F32[2*16+4], float64(row.U8[4])/255)
	row = drawn(rand.New(rand.NewPCG(3, 4)), numbersMeta, 1)
	v = given(t, ones("x", "float32", -1, 1, 4, 4), numbersMeta, run.BackboneRequest{}, row)
	near("numbers within bounds", v.F32[6], (float64(row.F32[6])+1)/4)
}

func TestResizingWeightsAddUpToOne(t *testing.T) {
	row := drawn(rand.New(rand.NewPCG(3, 4)), greyMeta, 1)
	nearest := given(t, ones("x", "float32", -1, 1, 8, 2), greyMeta, run.BackboneRequest{Normalise: "none", Resize: "nearest"}, row)
	for y := range 8 {
		for x := range 2 {
			if got, want := nearest.F32[y*2+x], float32(row.U8[y/2*4+2*x+1]); got != want {
				t.Errorf("nearest (%d, %d): %v, want %v", x, y, got, want)
			}
		}
	}
	// Four pixels between two, and the mean of a smaller one's place.
	if w := taps(2, 4, "bilinear"); !reflect.DeepEqual(w[1], tap{0, []float32{0.75, 0.25}}) || !reflect.DeepEqual(w[0], tap{0, []float32{1}}) && len(w[0].weights) != 2 {
		t.Errorf("%v", w)
	}
	for _, c := range [][2]int{{1, 1}, {1, 7}, {7, 1}, {4, 224}, {224, 4}, {28, 32}, {5, 3}, {1000, 1}} {
		for _, how := range []string{"bilinear", "nearest"} {
			for i, w := range taps(c[0], c[1], how) {
				var sum float64
				for _, v := range w.weights {
					if sum += float64(v); v < 0 {
						t.Fatalf("%v %s: a weight below 0", c, how)
					}
				}
				if math.Abs(sum-1) > 1e-6 || w.first < 0 || w.first+len(w.weights) > c[0] {
					t.Fatalf("%v %s, position %d: %v", c, how, i, w)
				}
			}
		}
	}
}

func TestPoolingTakesTheMeanOfPositions(t *testing.T) {
	v := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	for name, c := range map[string]struct {
		shape []int
		last  bool
		want  []float32
	}{
		"features":      {[]int{1, 12}, false, v},
		"planes":        {[]int{1, 3, 2, 2}, false, []float32{2.5, 6.5, 10.5}},
		"positions":     {[]int{1, 2, 2, 3}, true, []float32{5.5, 6.5, 7.5}},
		"parts":         {[]int{1, 4, 3}, false, []float32{5.5, 6.5, 7.5}},
		"two rows":      {[]int{2, 3, 2, 1}, false, []float32{1.5, 3.5, 5.5, 7.5, 9.5, 11.5}},
		"one position":  {[]int{1, 12, 1, 1}, false, v},
		"one, the last": {[]int{2, 1, 1, 6}, true, v},
	} {
		got, err := pooled(Values{Calls: 1, Shape: c.shape, F32: v}, c.shape[0], c.last)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// FuzzNew: whatever a file declares, and gives, it is refused in words or makes features.
func FuzzNew(f *testing.F) {
	f.Add("float32", "float32", []byte{255, 4}, []byte{255, 3}, 1)
	f.Add("uint8", "float32", []byte{1, 3, 4, 4}, []byte{1, 3, 1, 1}, 4)
	f.Add("float32", "float32", []byte("00"), []byte{255, 255, 3}, 1)
	f.Add("float32", "int64", []byte{0, 0, 0, 0}, []byte{}, -3)
	f.Add("string", "float32", []byte{255, 1}, []byte{3}, 2)
	f.Add("string", "float32", []byte{1}, []byte{0, 9}, 1)
	f.Fuzz(func(t *testing.T, in, out string, takes, gives []byte, batch int) {
		declared := func(b []byte) []int {
			var s []int
			for _, d := range b[:min(len(b), 6)] {
				s = append(s, int(int8(d)))
			}
			return s
		}
		m := model(ones("x", in, declared(takes)...))
		m.out[0].Type = out
		m.shape = func(n int) []int { return append([]int{n}, declared(gives)...) }
		for _, meta := range []data.Meta{tableMeta, colourMeta, numbersMeta, textMeta} {
			x, err := New(t.Context(), m, meta, run.BackboneRequest{Batch: batch})
			if err != nil {
				if e := (*data.Error)(nil); !errors.As(err, &e) {
					t.Fatal(err)
				}
				continue
			}
			rows := drawn(rand.New(rand.NewPCG(3, 4)), meta, 3)
			if err := x.Extract(t.Context(), rows, make([]float32, 3*x.Width())); err != nil {
				t.Fatal(err)
			}
		}
	})
}
