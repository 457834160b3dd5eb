package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/nn"
	"clipscope/core/run"
)

// Names of what an ONNX file gives.
const (
	probabilities = "probabilities"
	label         = "label"
	labels        = "labels"
	numbers       = "numbers"
)

// ONNX writes the model for other programs, with all that is done to a row before the
// layers: of a table it takes a tensor [rows×1] for each column, of numbers or texts, and
// of pictures one [rows×planes×height×width]. What it gives are probabilities and the name
// of the class, or for each label whether it is on, or numbers. A row in which a number is
// missing that the model cannot do without has NaN for probabilities and no label. Its
// error says what the format or the file has not.
//
// Guarantee: that of the file; nothing else goes into it.
func (f *File) ONNX(w io.Writer) error {
	if err := f.Check(); err != nil {
		return err
	}
	m, err := f.onnx()
	if err == nil {
		err = m.writeTo(w)
	}
	if err != nil {
		return fmt.Errorf("model: ONNX: %w", err)
	}
	return nil
}

func (f *File) onnx() (*message, error) {
	a := f.Apply
	if why := f.Apply.LeftOut(); why != "" {
		return nil, errors.New(why)
	}
	spec, err := f.spec()
	if err != nil {
		return nil, err
	}
	g := &graph{used: map[string]bool{probabilities: true, label: true, labels: true, numbers: true}}
	c := &chain{graph: g, apply: a, parameters: f.Parameters, channels: a.Features}
	if err := c.features(); err != nil {
		return nil, err
	}
	c.scale()
	c.picture(spec.Input)
	for _, l := range spec.Layers {
		if err := c.layer(l); err != nil {
			return nil, err
		}
	}
	c.outputs()
	props, err := f.properties()
	if err != nil {
		return nil, err
	}
	return g.model("clipscope", "A model that was trained with Clipscope. "+cmp.Or(f.Statement, f.Guarantee), f.Program, props)
}

// properties returns the file's metadata, as ONNX has it: names and texts.
func (f *File) properties() ([][2]string, error) {
	epsilon, err := json.Marshal(f.Epsilon)
	if err != nil {
		return nil, err
	}
	props := [][2]string{
		{"guarantee", f.Guarantee}, {"epsilon", string(epsilon)}, {"delta", strconv.FormatFloat(f.Delta, 'g', -1, 64)},
		{"accountant", f.Accountant}, {"steps", strconv.Itoa(f.Steps)}, {"statement", f.Statement}, {"program", f.Program}, {"task", f.Apply.Task},
	}
	if len(f.Apply.Classes) > 0 {
		classes, err := json.Marshal(f.Apply.Classes)
		if err != nil {
			return nil, err
		}
		props = append(props, [2]string{"classes", string(classes)})
	}
	return props, nil
}

// chain is a row's way through an ONNX graph: the name of the tensor that it has come
// to, and its shape: [rows×channels], or with a height [rows×channels×height×width].
type chain struct {
	*graph
	apply      *run.Application
	parameters []float32 // of the layers to come

	x                       string
	channels, height, width int
	wide                    bool // x is of float64
	sparse                  bool // x is NaN where a number is missing
	around                  []string
	there                   string // whether a row has a token at each of its places
}

// --- from cells to features ---

// features are the columns of a table side by side, or else the one input there is.
func (c *chain) features() error {
	a := c.apply
	switch {
	case a.Columns != nil:
		return c.columns()
	case len(a.Shape) == 2 || len(a.Shape) == 3:
		s := a.Shape
		if len(s) == 2 {
			s = []int{1, s[0], s[1]}
		}
		in := c.input("picture", "Pictures: planes of colour, rows, columns; numbers as in the training files, 0 to 255 for bytes.", floatType, rows, s[0], s[1], s[2])
		c.x = c.op("Reshape", []string{in, c.ints("flat", []int{-1, a.Features}, 2)})
	default:
		c.x = c.input("features", "Features, as the training files have them.", floatType, rows, a.Features)
	}
	return nil
}

// piece is some features of a column.
type piece struct {
	x     string
	width int
}

// columns makes features of a table's cells, in float64: a date less its lower bound may
// be a small difference of large numbers.
func (c *chain) columns() error {
	pieces := map[int]piece{} // by their first feature
	for i, col := range c.apply.Columns {
		name := cmp.Or(strings.TrimSpace(col.Name), "column "+strconv.Itoa(i+1))
		switch {
		case col.Kind == "numeric":
			c.numeric(name, col, pieces)
		case col.Tokens > 0:
			doc := fmt.Sprintf("The %s of the cell in column “%s” in their order, as whole numbers from 0 to %d; -1 where there is none. docs/applying.md has how they are numbered.", col.Kind, col.Name, col.Buckets-1)
			in := c.input(name, doc, floatType, rows, col.Tokens)
			pieces[col.First] = piece{c.op("Cast", []string{in}, attribute{"to", doubleType}), col.Tokens}
		case col.Kind == "text":
			return fmt.Errorf("column %q holds texts, and the format has no operator that hashes their words; predict.mjs and predict.py do, and so does the page", clipped(col.Name))
		case col.Kind == "categorical" && len(col.Categories) > 0:
			pieces[col.First] = piece{c.categorical(name, col), len(col.Categories)}
		}
	}
	var names []string
	for at := 0; at < c.apply.Features; {
		p, ok := pieces[at]
		if !ok {
			return fmt.Errorf("feature %d is of no column", at)
		}
		names, at = append(names, p.x), at+p.width
	}
	c.x, c.wide = c.op("Concat", names, attribute{"axis", 1}), true
	return nil
}

func (c *chain) numeric(name string, col run.AppliedColumn, pieces map[int]piece) {
	doc := "The number in column “" + col.Name + "”"
	switch {
	case col.Date != "" || col.Time != "":
		doc = "The date in column “" + col.Name + "”, as days since 1970 began, a time of day being a part of one"
	case slices.ContainsFunc(col.Units, func(u string) bool { return u != "" }):
		doc += fmt.Sprintf(", without its unit (%s); of 12%% it is 0.12", strings.TrimPrefix(strings.Join(col.Units, " "), " "))
	}
	doc += "; NaN where it is missing"
	if col.IfMissing == nil {
		doc += ", for which the model has no answer"
	}
	x := ""
	if wide := col.Offset != 0 || col.Clock > 0; wide { // less than the last digits of float32 counts
		x = c.input(name, doc+".", doubleType, rows, 1)
	} else {
		x = c.op("Cast", []string{c.input(name, doc+".", floatType, rows, 1)}, attribute{"to", doubleType})
	}
	near := x
	if col.Offset != 0 {
		near = c.op("Sub", []string{x, c.doubles("offset", []float64{col.Offset}, 1)})
		near = c.op("Cast", []string{c.op("Cast", []string{near}, attribute{"to", floatType})}, attribute{"to", doubleType})
	}
	clock := ""
	if col.Clock > 0 {
		clock = c.op("Sub", []string{x, c.op("Floor", []string{x})})
	}
	if col.IfMissing == nil {
		c.sparse = true
		pieces[col.First] = piece{near, 1}
		if clock != "" {
			pieces[col.Clock] = piece{clock, 1}
		}
		return
	}
	gone := c.op("IsNaN", []string{x})
	near = c.op("Where", []string{gone, c.doubles("if_missing", []float64{*col.IfMissing - col.Offset}, 1), near})
	pieces[col.First] = piece{near, 1}
	if clock != "" {
		pieces[col.Clock] = piece{c.op("Where", []string{gone, c.doubles("midnight", []float64{0}, 1), clock}), 1}
	}
	if col.Indicator > 0 {
		pieces[col.Indicator] = piece{c.op("Cast", []string{gone}, attribute{"to", doubleType}), 1}
	}
}

// categorical is 1 at a category's place.
func (c *chain) categorical(name string, col run.AppliedColumn) string {
	missing := slices.Index(col.Categories, "(missing)")
	var place string
	if col.Buckets > 0 {
		// No operator hashes texts.
		doc := fmt.Sprintf("The bucket of the cell in column “%s”, from 0: FNV-1a of 32 bits of its UTF-8 bytes, modulo %d; ", col.Name, col.Buckets)
		if missing < 0 {
			missing = -1
			doc += "-1 where it is missing."
		} else {
			doc += strconv.Itoa(missing) + " where it is missing."
		}
		place = c.input(name, doc, intType, rows, 1)
	} else {
		in := c.input(name, "The cell in column “"+col.Name+"”, without space around it: one of its categories, or another text.", stringType, rows, 1)
		keys, places := categoriesByText(col.Categories, missing)
		place = c.opOf(mlDomain, "LabelEncoder", []string{in}, c.name("place"),
			attribute{"keys_strings", keys}, attribute{"values_int64s", places}, attribute{"default_int64", -1})
	}
	all := make([]int, len(col.Categories))
	for k := range all {
		all[k] = k
	}
	is := c.op("Equal", []string{place, c.ints("categories", all, 1, len(all))})
	return c.op("Cast", []string{is}, attribute{"to", doubleType})
}

// categoriesByText are the texts that stand for a category, each with its place: where
// there is a category for missing cells, also the usual ways to write that.
func categoriesByText(categories []string, missing int) (texts []string, places []int) {
	known := map[string]bool{}
	add := func(text string, place int) {
		if !known[text] {
			known[text] = true
			texts, places = append(texts, text), append(places, place)
		}
	}
	if missing >= 0 {
		for _, s := range absent {
			for _, s := range []string{s, strings.ToUpper(s), strings.ToLower(s)} {
				add(s, missing)
			}
		}
	}
	for k, s := range categories {
		add(s, k)
	}
	return texts, places
}

// absent lists the texts of a missing cell, as docs/applying.md has them.
var absent = []string{
	"", "?", "NA", "NaN", "-NaN", "N/A", "<NA>", "null", "Null", "n.a.", "k.A.", "K.a.", "k. A.", "K. a.", "k.\u00a0A.", "k.\u202fA.", "#N/A", "#NV",
	"n/d", "N/D", "NaT", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!",
}

// --- from features to the layers ---

// scale adds the preprocessing of features, in the order of docs/applying.md.
func (c *chain) scale() {
	a := c.apply
	if lo, hi := a.Scaling.Lo, a.Scaling.Hi; lo != nil {
		c.bounds(lo, hi)
	}
	if a.Scaling.Kind == "row" || a.PCA != nil {
		length := c.length()
		none := c.op("Equal", []string{length, c.constant(0)})
		c.x = c.op("Div", []string{c.x, c.op("Where", []string{none, c.constant(1), length})})
	}
	if a.MaxNorm > 0 {
		over := c.op("Div", []string{c.length(), c.constant(a.MaxNorm)})
		c.x = c.op("Div", []string{c.x, c.op("Max", []string{over, c.constant(1)})})
	}
	if c.wide {
		c.x, c.wide = c.op("Cast", []string{c.x}, attribute{"to", floatType}), false
	}
	if a.PCA != nil {
		c.x = c.op("MatMul", []string{c.x, c.floats("directions", directions(a.PCA), a.Features, a.PCA.Components)})
		c.channels = a.PCA.Components
	}
}

// bounds become 0 and 1. NaN stays what it is: whether Clip keeps it is not said.
func (c *chain) bounds(lo, hi []float64) {
	size := make([]float64, len(lo))
	for i := range size {
		size[i] = hi[i] - lo[i]
	}
	x := c.op("Div", []string{c.op("Sub", []string{c.x, c.vector("lo", lo)}), c.vector("range", size)})
	within := c.op("Clip", []string{x, c.constant(0), c.constant(1)})
	if c.sparse {
		within = c.op("Where", []string{c.op("IsNaN", []string{x}), x, within})
	}
	c.x = within
}

func (c *chain) length() string {
	return c.op("ReduceL2", []string{c.x}, attribute{"axes", []int{1}}, attribute{"keepdims", 1})
}

// vector and constant are of x's type.
func (c *chain) vector(wish string, v []float64) string {
	if c.wide {
		return c.doubles(wish, v, 1, len(v))
	}
	return c.floats(wish, narrow(v), 1, len(v))
}

func (c *chain) constant(v float64) string {
	if c.wide {
		return c.doubles("constant", []float64{v})
	}
	return c.floats("constant", []float32{float32(v)})
}

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// picture gives features their places, where layers see them there.
func (c *chain) picture(in nn.Shape) {
	if in.IsPicture() {
		c.channels, c.height, c.width = in.Channels, in.Height, in.Width
		c.places()
	}
}

func (c *chain) places() {
	c.x = c.op("Reshape", []string{c.x, c.ints("shape", []int{-1, c.channels, c.height, c.width}, 4)})
}

// --- outputs ---

// outputs adds the outputs that the last layer's numbers stand for.
func (c *chain) outputs() {
	n := c.apply.Outputs
	c.flatten()
	switch c.apply.Task {
	case "regression":
		c.last(numbers, "Identity", []string{c.x})
		c.output(numbers, "What the model takes the values sought for.", floatType, rows, n)
	case "multi-label":
		c.last(probabilities, "Sigmoid", []string{c.x})
		c.last(labels, "Greater", []string{probabilities, c.constant(0.5)})
		c.output(probabilities, "The probability of each label.", floatType, rows, n)
		c.output(labels, "Whether it is on.", boolType, rows, n)
	default:
		c.last(probabilities, "Softmax", []string{c.x}, attribute{"axis", -1})
		c.output(probabilities, "The probability of each class.", floatType, rows, n)
		c.classes()
	}
}

// classes names the most probable class; no name stands where probabilities are NaN.
func (c *chain) classes() {
	n := c.apply.Outputs
	names := make([]string, n+1)
	for k := range n {
		names[k] = strconv.Itoa(k)
		if k < len(c.apply.Classes) {
			names[k] = c.apply.Classes[k]
		}
	}
	// Which of NaNs is the largest is not said.
	sum := c.op("ReduceSum", []string{probabilities, c.ints("axis", []int{1}, 1)}, attribute{"keepdims", 0})
	most := c.op("ArgMax", []string{probabilities}, attribute{"axis", 1}, attribute{"keepdims", 0})
	class := c.op("Where", []string{c.op("IsNaN", []string{sum}), c.ints("none", []int{n}), most})
	c.last(label, "Gather", []string{c.strings("classes", names), class})
	c.output(label, "The most probable class.", stringType, rows)
}
