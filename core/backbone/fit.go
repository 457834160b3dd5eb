package backbone

import (
	"fmt"
	"math"
	"slices"

	"clipscope/core/data"
	"clipscope/core/run"
)

// fit converts a row into a model's input.
type fit struct {
	name      string // of the input
	bytes     bool   // it takes bytes
	column    string // whose texts it takes; empty: it takes numbers
	second    string // whose texts it takes beside these; empty: none
	fixed     int    // rows that it takes at a time; 0: any number
	shape     []int  // of a row
	last      bool   // channels come last
	normalise string
	resize    string
	from, to  pictureSize // of pictures; a planes of 0: rows of numbers
	mul, add  [3]float32
	wide      []tap // of the result, by column; nil: as it is
	high      []tap
}

// pictureSize is the size of a picture.
type pictureSize struct{ planes, height, width int }

// values returns the number of values that a row has in the model's input.
func (f *fit) values() int {
	n := 1
	for _, d := range f.shape {
		n *= d
	}
	return n
}

// mostSide of a picture that a model may ask for.
const mostSide = 4096

// madeElsewhere is the advice where a model cannot be run here.
const madeElsewhere = "Or have the program that the model comes from make the features, and open them here as .npz: X [rows, features] with y [rows]."

// withTokenizer is the advice where a model takes numbers of tokens.
const withTokenizer = "choose its tokenizer together with it, tokenizer.json or vocab.txt."

// newFit fits rows to the one input of a model.
func newFit(inputs []run.BackboneTensor, meta data.Meta, q run.BackboneRequest) (fit, error) {
	var f fit
	if len(inputs) != 1 {
		fix := "Export the model with one input; what else it needs has to be a constant in it."
		if run.WantsTokens(inputs) {
			fix = "It reads numbers of tokens, as BERT does: " + withTokenizer + " " + madeElsewhere
		}
		return f, refusal("a model with one input, for a row", fmt.Sprintf("%d: %s", len(inputs), listed(inputs)), fix)
	}
	in := inputs[0]
	f.name, f.bytes = in.Name, in.Type == "uint8"
	switch in.Type {
	case "float32", "uint8":
	case "string":
		return f, f.texts(in, meta, q)
	case "int64", "int32":
		return f, refusal("an input of float32, uint8 or string", in.Name+" of "+in.Type, "If these are the numbers of tokens, "+withTokenizer+" "+madeElsewhere)
	default:
		return f, refusal("an input of float32, uint8 or string", in.Name+" of "+in.Type, "Export the model with such an input.")
	}
	if in.Shape == nil || len(in.Shape) != 2 && len(in.Shape) != 4 {
		return f, refusal("an input [n, features], [n, channels, height, width] or [n, height, width, channels]", in.Name+" "+sizes(in.Shape), "Export the model with such an input.")
	}
	for _, d := range in.Shape {
		if d == 0 || d < -1 {
			return f, refusal("an input with sizes of 1 or more", in.Name+" "+sizes(in.Shape), "Export the model again.")
		}
	}
	if err := f.fix(in.Shape[0]); err != nil {
		return f, err
	}
	if len(in.Shape) == 2 {
		if err := f.rows(in, meta); err != nil {
			return f, err
		}
	} else if err := f.pictures(in, meta, q.Resize); err != nil {
		return f, err
	}
	return f, f.scale(meta, q.Normalise)
}

// fix settles how many rows the model takes at a time.
func (f *fit) fix(n int) error {
	if f.fixed = max(n, 0); f.fixed > mostBatch {
		return refusal(fmt.Sprintf("a model for at most %d rows at a time", mostBatch), fmt.Sprint(f.fixed), "Export it for one row, or for any number of them.")
	}
	return nil
}

// mostOfColumn limits the name of a column of texts, in bytes, which goes into
// what is said of the model.
const mostOfColumn = 200

// texts takes the column of texts, one text a row, or the two of them where the model takes two.
func (f *fit) texts(in run.BackboneTensor, meta data.Meta, q run.BackboneRequest) error {
	names := meta.TextNames()
	if f.normalise = "none"; len(names) > 0 {
		f.column = names[0]
	}
	sound := len(in.Shape) == 1 || len(in.Shape) == 2 && (in.Shape[1] == 1 || in.Shape[1] == -1)
	wanted, takes := "one column of texts", 1
	if in.Pairs {
		wanted, takes = "one column of texts, or two", 2
	}
	wanted += ", which the model takes: " + in.Name + " " + sizes(in.Shape)
	switch columns := len(data.TextColumns(meta.Columns)); {
	case !sound || in.Shape[0] == 0 || in.Shape[0] < -1:
		return refusal("an input of one text a row: [n] or [n, 1]", in.Name+" "+sizes(in.Shape), "Export the model with such an input.")
	case columns > takes:
		return refusal(wanted, fmt.Sprint(columns), "Declare the others ignored, or train without a backbone.")
	case columns == 0:
		return refusal(wanted, "none", "Declare the column text: csv.columns, or its kind in the table.")
	case slices.ContainsFunc(names, func(name string) bool { return len(name) > mostOfColumn }):
		return refusal(fmt.Sprintf("names of at most %d bytes for columns of texts", mostOfColumn), "a longer one", "Rename the column.")
	case q.Normalise != "" && q.Normalise != "none":
		return refusal("texts as they are", "normalise "+q.Normalise, "Leave it out: it is for pictures.")
	}
	if f.shape = []int{1}[:len(in.Shape)-1]; len(names) == 2 {
		f.second, f.shape = names[1], []int{2}
	}
	return f.fix(in.Shape[0])
}

// rows takes rows as they are.
func (f *fit) rows(in run.BackboneTensor, meta data.Meta) error {
	width := meta.Dense()
	if width == 0 {
		return refusal(fmt.Sprintf("rows of numbers, which the model takes: %s %s", in.Name, sizes(in.Shape)), "texts alone, in "+data.List(meta.TextNames()), "Choose a model whose input is a string.")
	}
	if d := in.Shape[1]; d > 0 && d != width {
		return refusal(fmt.Sprintf("rows of %d features, which the model takes", d), fmt.Sprintf("%d in the data", width), "Choose the model that goes with this data; of a table, ignore the columns that it does not know.")
	}
	f.shape = []int{width}
	return nil
}

// pictures brings pictures to the size and the channels of the input.
func (f *fit) pictures(in run.BackboneTensor, meta data.Meta, how string) error {
	switch s := meta.Shape; len(s) {
	case 2:
		f.from = pictureSize{1, s[0], s[1]}
	case 3:
		f.from = pictureSize{s[0], s[1], s[2]}
	default:
		return refusal("pictures, which the model takes: "+in.Name+" "+sizes(in.Shape), fmt.Sprintf("rows of %d numbers", meta.Features), "Choose pictures, or a model for rows: [n, features].")
	}
	colours := func(d int) bool { return d == 1 || d == 3 }
	c, h, w := in.Shape[1], in.Shape[2], in.Shape[3]
	if !colours(c) && colours(in.Shape[3]) {
		f.last = true
		h, w, c = in.Shape[1], in.Shape[2], in.Shape[3]
	}
	if c < 0 {
		c = f.from.planes
	}
	if !colours(c) || !colours(f.from.planes) {
		return refusal("pictures of 1 or 3 channels", fmt.Sprintf("%d in the data, and %s in the model", f.from.planes, sizes(in.Shape)), "Choose the model that goes with this data.")
	}
	if h < 0 {
		h = f.from.height
	}
	if w < 0 {
		w = f.from.width
	}
	if h > mostSide || w > mostSide {
		return refusal(fmt.Sprintf("pictures of at most %d by %d", mostSide, mostSide), sizes(in.Shape), "Choose a model for smaller pictures.")
	}
	f.to = pictureSize{c, h, w}
	f.shape = []int{c, h, w}
	if f.last {
		f.shape = []int{h, w, c}
	}
	if h == f.from.height && w == f.from.width {
		return nil
	}
	if how == "" {
		how = "bilinear"
	}
	if how != "bilinear" && how != "nearest" {
		return refusal("resize: bilinear or nearest", how, "Leave it out for bilinear.")
	}
	f.resize = how
	f.wide, f.high = taps(f.from.width, w, how), taps(f.from.height, h, how)
	return nil
}

// The means and deviations of ImageNet's pixels by channel, at 0 … 1, which most
// published models were trained with.
var (
	imagenetMean      = [3]float64{0.485, 0.456, 0.406}
	imagenetDeviation = [3]float64{0.229, 0.224, 0.225}
)

// scale settles what is done to values: v·mul + add, by channel.
func (f *fit) scale(meta data.Meta, kind string) error {
	picture := f.to.planes > 0
	if kind == "" {
		kind = "none"
		if picture && !f.bytes {
			kind = "0-1"
		}
	}
	lo, hi := 0.0, 255.0
	if meta.FeatureBytes != 1 {
		hi = 1
		if len(meta.Bounds) > 0 {
			lo, hi = meta.Bounds[0].Lo, meta.Bounds[0].Hi
		}
	}
	switch {
	case kind != "0-1" && kind != "imagenet" && kind != "none":
		return refusal("normalise: 0-1, imagenet or none", kind, "Take what the model was trained with.")
	case kind != "none" && f.bytes:
		return refusal("bytes as they are, as the model takes uint8", "normalise "+kind, "Leave it out.")
	case kind != "none" && !picture:
		return refusal("rows as they are", "normalise "+kind, "Leave it out: it is for pictures.")
	}
	f.normalise = kind
	for c := range f.mul {
		mean, deviation := 0.0, 1.0
		if kind == "imagenet" {
			mean, deviation = imagenetMean[c], imagenetDeviation[c]
		}
		mul := 1.0
		if kind != "none" {
			mul = 1 / ((hi - lo) * deviation)
			f.add[c] = float32(-lo*mul - mean/deviation)
		}
		f.mul[c] = float32(mul)
	}
	return nil
}

// tap is a position of the result as a sum: neighbours from first on, with
// weights.
type tap struct {
	first   int
	weights []float32
}

// taps returns the taps along one side of a picture. Bilinear, a result that is smaller is made
// of all that lies in its place: a triangle, as wide as two of its pixels.
func taps(from, to int, how string) []tap {
	out := make([]tap, to)
	scale := float64(from) / float64(to)
	reach := max(scale, 1)
	for i := range out {
		middle := (float64(i)+0.5)*scale - 0.5
		if how == "nearest" {
			out[i] = tap{min(int(math.Floor((float64(i)+0.5)*scale)), from-1), []float32{1}}
			continue
		}
		first := max(int(math.Ceil(middle-reach)), 0)
		last := min(int(math.Floor(middle+reach)), from-1)
		sum := 0.0
		weights := make([]float64, 0, last-first+1)
		for j := first; j <= last; j++ {
			w := max(1-math.Abs(float64(j)-middle)/reach, 0)
			weights = append(weights, w)
			sum += w
		}
		out[i].first = first
		for _, w := range weights {
			out[i].weights = append(out[i].weights, float32(w/sum))
		}
	}
	return out
}

// input is n rows from row at as the model takes them, in calls of batch rows; up to
// given a call's rows are followed by copies of its last.
func (f *fit) input(rows data.Split, at, n, batch, given int) Values {
	size, features := f.values(), max(len(rows.U8), len(rows.F32))/rows.N
	out := Values{Calls: n / batch, Shape: append([]int{given}, f.shape...)}
	if f.column != "" {
		for i := range out.Calls * given {
			row := at + i/given*batch + min(i%given, batch-1)
			out.Text = append(out.Text, rows.Text[row*size:][:size]...)
		}
		return out
	}
	v := make([]float32, out.Calls*given*size)
	raw := make([]float32, features)
	for i := range out.Calls * given {
		to := v[i*size : (i+1)*size]
		if i%given >= batch {
			copy(to, v[(i-1)*size:])
			continue
		}
		row := at + i/given*batch + i%given
		for j := range raw {
			if k := row*features + j; rows.U8 != nil {
				raw[j] = float32(rows.U8[k])
			} else {
				raw[j] = rows.F32[k]
			}
		}
		f.row(to, raw)
	}
	if !f.bytes {
		out.F32 = v
		return out
	}
	out.U8 = make([]uint8, len(v))
	for i, x := range v {
		out.U8[i] = uint8(min(max(math.Round(float64(x)), 0), 255))
	}
	return out
}

// row writes one row.
func (f *fit) row(dst, raw []float32) {
	if f.to.planes == 0 {
		copy(dst, raw)
		return
	}
	planes := make([][]float32, f.from.planes)
	size := f.from.height * f.from.width
	for c := range planes {
		planes[c] = f.resized(raw[c*size : (c+1)*size])
	}
	switch {
	case len(planes) == 1 && f.to.planes == 3:
		planes = slices.Repeat(planes, 3)
	case len(planes) == 3 && f.to.planes == 1:
		planes = [][]float32{grey(planes)}
	}
	area := f.to.height * f.to.width
	for c, plane := range planes {
		for p, v := range plane {
			v = v*f.mul[c] + f.add[c]
			if f.last {
				dst[p*len(planes)+c] = v
			} else {
				dst[c*area+p] = v
			}
		}
	}
}

// grey returns the brightness of colours (ITU-R BT.601).
func grey(rgb [][]float32) []float32 {
	out := make([]float32, len(rgb[0]))
	for i := range out {
		out[i] = 0.299*rgb[0][i] + 0.587*rgb[1][i] + 0.114*rgb[2][i]
	}
	return out
}

// resized is a plane in the model's size, first each line and then each column.
func (f *fit) resized(plane []float32) []float32 {
	if f.wide == nil {
		return plane
	}
	lines := make([]float32, f.from.height*f.to.width)
	for y := range f.from.height {
		line := plane[y*f.from.width : (y+1)*f.from.width]
		for x, t := range f.wide {
			var sum float32
			for k, w := range t.weights {
				sum += w * line[t.first+k]
			}
			lines[y*f.to.width+x] = sum
		}
	}
	out := make([]float32, f.to.height*f.to.width)
	for y, t := range f.high {
		for k, w := range t.weights {
			from := lines[(t.first+k)*f.to.width:]
			for x := range f.to.width {
				out[y*f.to.width+x] += w * from[x]
			}
		}
	}
	return out
}
