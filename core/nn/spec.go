package nn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel/picture"
	"clipscope/core/compute/kernel/sequence"
)

// Shape is the shape of a row between two layers: a picture of Height×Width positions,
// each with so many Channels, one position after the other; or, with a Height of 0,
// Channels numbers that stand nowhere.
type Shape struct{ Height, Width, Channels int }

// Len is the number of values.
func (s Shape) Len() int {
	if !s.IsPicture() {
		return s.Channels
	}
	return s.Height * s.Width * s.Channels
}

// IsPicture reports whether values stand at positions.
func (s Shape) IsPicture() bool { return s.Height > 0 }

func (s Shape) String() string {
	if !s.IsPicture() {
		return strconv.Itoa(s.Channels)
	}
	return fmt.Sprintf("%d×%d×%d", s.Height, s.Width, s.Channels)
}

// Outline describes a layer before it is made.
type Outline struct {
	Text       string // as it was written
	Out        Shape  // of what it gives
	Parameters int
	Tensors    []Tensor // that the parameters are, in their order, those that are not trained among them
	LowRank    []Tensor // that stand behind them where [Spec.WithLowRank] has maps beside the layer's own
	Products   int64    // multiplications that one row takes on its way forwards
	Floats     int64    // of memory for each row of a batch
	Back       int64    // of which for gradients, on a row's way back
	Formed     int64    // of which for the parameters', where that is formed
	Anew       []int    // the parts of Formed that [Spec.FormedAnew] may have not kept
	Frozen     int      // further parameters, that are not trained
	Once       int64    // of memory for all rows together, beside the parameters
}

// Tensor is a part of a layer's parameters, row-major.
type Tensor struct {
	Name  string // weight or bias
	Shape []int
	Still bool // it is not trained
}

// Len is the number of values.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// tensors are a layer's weight, of some shape, and a bias for each of what comes last.
func tensors(shape ...int) []Tensor {
	return []Tensor{{Name: "weight", Shape: shape}, {Name: "bias", Shape: shape[len(shape)-1:]}}
}

// Spec is an architecture that fits together. Make one with [Read].
type Spec struct {
	Input  Shape
	Loss   Loss
	Layers []Outline
	// Dropout is the probability in [0, 1) with which units behind activations are dropped in training.
	Dropout float64
	placed  []placed
	params  int
	frozen  frozen
	anew    int64 // of [Spec.FormedAnew]; 0: gradients are kept
}

// WithDropout returns s with units dropped with probability p in [0, 1) behind every activation, those in
// residual blocks included. Its error says that there is none.
func (s Spec) WithDropout(p float64) (Spec, error) {
	if !(p >= 0 && p < 1) {
		return s, fmt.Errorf("nn: dropout of %v is not in 0 … 1, 1 excluded", p)
	}
	if s.Dropout = p; p == 0 {
		return s, nil
	}
	s.Layers = slices.Clone(s.Layers)
	behind := 0
	for i, l := range s.Layers {
		if _, ok := functions[l.Text]; ok && i >= s.frozen.layers {
			s.Layers[i].Floats += int64(l.Out.Len())
			behind++
		}
	}
	if behind == 0 {
		return s, errors.New("nn: the model has no activation (relu, tanh or gelu) behind which units could be dropped")
	}
	return s, nil
}

// Params is the number of parameters d that are trained.
func (s Spec) Params() int { return s.params }

// Groups returns the number of layers that have parameters: what per-layer clipping clips apart. Those in a
// residual block count one by one; the maps of an attention or an LSTM are one layer.
func (s Spec) Groups() int {
	n := 0
	for _, l := range s.Layers {
		if l.Parameters > 0 {
			n++
		}
	}
	return n
}

// groupsOf returns the number of the layer that each of a model's sites is in, among those of Groups.
func (s Spec) groupsOf(sites []Site) []int {
	var all []int
	group := 0
	for _, l := range s.Layers {
		if l.Parameters == 0 {
			continue
		}
		for left := l.Parameters; left > 0; {
			for _, p := range sites[len(all)].Params() {
				left -= p.Len()
			}
			all = append(all, group)
		}
		group++
	}
	return all
}

// Outputs returns the number of outputs of a row.
func (s Spec) Outputs() int { return s.Layers[len(s.Layers)-1].Out.Len() }

// Vocabulary returns the number of different tokens that the first layer takes a row's numbers
// for, which no scaling may change; 0 where it takes none.
func (s Spec) Vocabulary() int {
	if t, ok := s.placed[0].layerSpec.(tokenSpec); ok {
		return t.vocabulary()
	}
	return 0
}

// Types returns the number of types that these tokens have; 0 where they have none.
func (s Spec) Types() int {
	if e, ok := s.placed[0].layerSpec.(embeddingSpec); ok {
		return e.types
	}
	return 0
}

// FormedAnew returns s with the gradients of large convolutions not kept: for each question that is
// asked about them they are formed for some examples at a time, which take no more than so many values,
// or one example. The memory of an example is then that of what goes through the layers, and
// its gradient is computed twice.
//
// Guarantee: what is measured is what is added, to the bit ([Site]).
func (s Spec) FormedAnew(values int64) Spec {
	s.anew = max(values, 1)
	return s
}

// AnewOf returns the sizes of a layer's gradients that are not kept.
func (s Spec) AnewOf(l *Outline) (sizes []int) {
	for _, d := range l.Anew {
		if formsAnew(s.anew, d) {
			sizes = append(sizes, d)
		}
	}
	return sizes
}

// Together returns the least number of examples whose gradients by a layer are formed at a time.
func (s Spec) Together() int {
	least := math.MaxInt
	for _, l := range s.Layers {
		for _, d := range s.AnewOf(&l) {
			least = min(least, together(s.anew, d))
		}
	}
	return least
}

// Anew is the memory for gradients that are not kept, of up to so many examples, in values.
func (s Spec) Anew(capacity int) (most int) {
	for _, l := range s.Layers {
		for _, d := range s.AnewOf(&l) {
			most = max(most, d*min(capacity, together(s.anew, d)))
		}
	}
	return most
}

// Floats is the memory that a model takes for each example of a batch, in values, beside Anew.
// Of more views than one all gradients are formed, and one layer's of a view at a time.
func (s Spec) Floats(views int) int64 {
	n, once, all := int64(0), int64(0), 0
	for _, l := range s.Layers {
		kept := s.keptOf(&l)
		n, once, all = n+l.Floats-l.Formed, once+l.Formed-int64(l.Parameters-kept), all+kept
	}
	if views == 1 {
		return n + once
	}
	return int64(views)*n + int64(all) + int64(s.mostKept())
}

// keptOf returns the number of values of a layer's gradient that are kept, where it is formed, and mostKept that of the
// layer that has most.
func (s Spec) keptOf(l *Outline) int {
	n := l.Parameters
	for _, d := range s.AnewOf(l) {
		n -= d
	}
	return n
}

func (s Spec) mostKept() (most int) {
	for _, l := range s.Layers {
		most = max(most, s.keptOf(&l))
	}
	return most
}

// CheckLipschitz refuses, by its number and name, a layer through which value clipping
// knows no bound.
func (s Spec) CheckLipschitz() error {
	if s.frozen.params > 0 {
		return errors.New("nn: of layers that are not trained there is no bound")
	}
	bends := 0
	for i, p := range s.placed {
		if !p.layerSpec.lipschitz() {
			return fmt.Errorf("nn: layer %d, %s, has no Lipschitz bound", i+1, s.Layers[i].Text)
		}
		if _, ok := p.layerSpec.(activationSpec); ok {
			bends++
		}
	}
	if bends > maxBends {
		return fmt.Errorf("nn: %d activations are more than the %d whose roundings are covered", bends, maxBends)
	}
	return nil
}

// Limits of a list of layers.
const (
	maxLayers = 1 << 10
	maxNumber = 1 << 16 // in a layer's text
	maxValues = 1 << 26 // of what a layer gives for one row
	maxParams = 1 << 27 // what a browser tab can hold
	// maxBends is the number of activations whose roundings value clipping covers
	// ([lipschitz.Gain]).
	maxBends = 64
)

// layerSpec is a layer as it is written in a list: it describes and makes the layer, whatever its
// input.
type layerSpec interface {
	// outline is all but Text; its error says what does not fit.
	outline(in Shape) (Outline, error)
	// layer makes it; with wantDx it will be asked for the gradient by its input.
	layer(b *builder, in Shape, wantDx bool) Layer
	// lipschitz reports that the layer is a [Lipschitz] one.
	lipschitz() bool
}

// tokenSpec is a layer that takes the numbers of the data for tokens. It stands first, and no
// scaling changes its rows.
type tokenSpec interface {
	layerSpec
	// vocabulary returns the number of tokens: they are 0 and those after it.
	vocabulary() int
}

// placed is a part with the input that it stands at.
type placed struct {
	layerSpec
	in Shape
}

// builder makes layers.
type builder struct {
	be       compute.Backend
	from     *arena // parameters that are trained
	still    *arena // and those that are not
	how      training
	low      LowRank
	capacity int // examples
	most     int // views of each
	views    *views
	anew     *anew
	tokens   *tokens
	dropping *dropping
}

// tokens holds the tokens of the last pass, of so many, which stand at so many places of each row.
type tokens struct {
	x            compute.Buffer // [rows×places]; not owned
	many, places int
}

// views holds the number of views of each example in the last pass, and a buffer for the
// gradients of one of them.
type views struct {
	count int
	spare scratch
}

// rows is memory for every view of a batch, examples for every example.
func (b *builder) rows(width int) compute.Buffer { return b.be.New(b.capacity * b.most * width) }

func (b *builder) examples(width int) compute.Buffer { return b.be.New(b.capacity * width) }

// back is rows for gradients on their way back.
func (b *builder) back(width int) compute.Buffer {
	if b.how == still {
		return compute.Buffer{}
	}
	return b.rows(width)
}

// form is the notation of a layer: its name, numbers, and letters with numbers.
type form struct {
	usage       string
	least, most int    // numbers
	letters     string // what may follow
	largest     int    // number; 0: maxNumber
	read        func(a arguments) layerSpec
}

// arguments of a layer: numbers in their order, and by letter, with 0 where there
// is none.
type arguments struct {
	numbers []int
	letter  map[byte]int
}

// option is the number after a letter, or another where there is none.
func (a arguments) option(letter byte, other int) int {
	if n, ok := a.letter[letter]; ok {
		return n
	}
	return other
}

// forms are the layers by name. Those of a residual block, skip and add, are read
// by [reader.readResidual].
var forms = map[string]form{
	"dense": denseForm, "relu": activationForm("relu"), "gelu": activationForm("gelu"), "tanh": activationForm("tanh"), "flatten": flattenForm,
	"conv": convForm, "wsconv": wsconvForm, "maxpool": poolForm("maxpool", picture.Max), "avgpool": poolForm("avgpool", picture.Mean), "globalpool": globalForm,
	"groupnorm": groupNormForm, "layernorm": layerNormForm, "bias": biasForm, "skip": skipForm, "add": {usage: "add"},
	"embedding": embeddingForm, "position": positionForm, "conv1d": conv1dForm, "attention": attentionForm,
	"lstm": lstmForm, "mean": meanForm("mean", sequence.All), "first": meanForm("first", sequence.First), "last": meanForm("last", sequence.Last),
}

// Read makes a list of layers an architecture for rows of a shape. A dense layer
// without a number has as many outputs as the whole. Its error names the first layer
// that cannot be read or does not fit, by its place in the list and its text. Capitals
// are as small letters.
func Read(in Shape, layers []string, outputs int, loss Loss) (Spec, error) {
	s := Spec{Input: in, Loss: loss}
	if len(layers) == 0 {
		return s, errors.New("nn: a model needs at least one layer")
	}
	if len(layers) > maxLayers {
		return s, fmt.Errorf("nn: %d layers are more than %d", len(layers), maxLayers)
	}
	r := &reader{outputs: outputs, spec: &s}
	for _, text := range layers {
		r.layers = append(r.layers, strings.ToLower(strings.TrimSpace(text)))
	}
	parts, out, err := r.readChain(in, false)
	if err != nil {
		return s, err
	}
	s.placed = parts
	if out.IsPicture() && out.Height*out.Width > 1 || out.Len() != outputs {
		return s, fmt.Errorf("nn: the last layer, %s, gives %v, but the data needs %d outputs: end with dense, which takes their number from the data", layers[len(layers)-1], out, outputs)
	}
	if len(parts) == 1 { // right for a convex model, fatal for a deep one
		if d, ok := parts[0].layerSpec.(denseSpec); ok {
			d.zero = true
			parts[0].layerSpec = d
		}
	}
	return s, nil
}

// reader reads a list.
type reader struct {
	layers  []string
	outputs int
	spec    *Spec
	tokens  bool // the first place of a layer's output is that of a row's first token, and so on
}

// next is the number of the layer that is read, from 1.
func (r *reader) next() int { return len(r.spec.Layers) + 1 }

// readChain reads layers to the end of the list, or inside a block to its add.
func (r *reader) readChain(in Shape, inside bool) (parts []placed, out Shape, err error) {
	for len(r.spec.Layers) < len(r.layers) {
		text := r.layers[len(r.spec.Layers)]
		name, p, err := r.readLayer(text)
		switch {
		case err != nil:
			return nil, in, fmt.Errorf("nn: layer %d: %w", r.next(), err)
		case name == "add" && inside:
			return parts, in, nil
		case name == "add":
			return nil, in, fmt.Errorf("nn: layer %d, add: no skip stands before it", r.next())
		case name == "skip":
			p, err = r.readResidual(p.(skipSpec), in)
		default:
			err = r.place(p, in)
		}
		if err != nil {
			return nil, in, err
		}
		parts = append(parts, placed{p, in})
		in = r.spec.Layers[len(r.spec.Layers)-1].Out
	}
	if inside {
		return nil, in, fmt.Errorf("nn: after layer %d a skip still waits for its add", len(r.layers))
	}
	return parts, in, nil
}

// place notes the outline of the layer that is read, at its input.
func (r *reader) place(p layerSpec, in Shape) error {
	text := r.layers[len(r.spec.Layers)]
	o, err := p.outline(in)
	switch p.(type) {
	case tokenSpec:
		r.tokens = true
		if r.next() > 1 {
			err = errors.New("it takes the numbers of the data for tokens, so it stands first")
		}
	case meanSpec:
		if !r.tokens {
			err = errors.New("it is of the tokens of a row, of which one vector is left: an embedding stands first, and between them only what keeps their places; of a picture take globalpool")
		}
		r.tokens = false // there is one place left
	case positionSpec, attentionSpec, lstmSpec:
		if !r.tokens || in.Height != r.spec.Input.Len() {
			err = errors.New("it is of the tokens of a row: an embedding stands first, and between them only what keeps all places")
		}
	case conv1dSpec:
		if !in.IsPicture() || in.Width > 1 {
			err = errors.New("it goes along a sequence: an embedding stands first; in pictures take conv")
		}
	default:
		r.tokens = r.tokens && o.Out.Height == in.Height
	}
	if err == nil && (o.Out.Len() > maxValues || o.Floats > 1<<40) {
		err = fmt.Errorf("it gives %v for each row, more than a browser tab can hold", o.Out)
	}
	if err == nil && o.Parameters > maxParams-r.spec.params {
		err = fmt.Errorf("with its %d parameters there are more than a browser tab can hold (%d)", o.Parameters, maxParams)
	}
	if err != nil {
		return fmt.Errorf("nn: layer %d, %s: %w", r.next(), text, err)
	}
	o.Text = text
	r.spec.params += o.Parameters
	r.spec.Layers = append(r.spec.Layers, o)
	return nil
}

// readLayer reads one layer's text, such as conv:16:8:s2:p3.
func (r *reader) readLayer(text string) (name string, p layerSpec, err error) {
	words := strings.Split(text, ":")
	name = words[0]
	f, ok := forms[name]
	if !ok {
		return name, nil, fmt.Errorf("there is no layer %q; choose %s", clipped(name), strings.Join(LayerNames(), ", "))
	}
	a := arguments{letter: map[byte]int{}}
	for _, w := range words[1:] {
		letter := byte(0)
		if w != "" && (w[0] < '0' || w[0] > '9') {
			letter, w = w[0], w[1:]
		}
		n, err := strconv.Atoi(w)
		_, twice := a.letter[letter]
		if err != nil || n < 0 || n > cmp.Or(f.largest, maxNumber) || n == 0 && letter != 'p' || letter != 0 && (twice || strings.IndexByte(f.letters, letter) < 0) {
			return name, nil, fmt.Errorf("%q cannot be read; write %s, with whole numbers from 1 to %d (a padding from 0)", clipped(text), f.usage, cmp.Or(f.largest, maxNumber))
		}
		if letter != 0 {
			a.letter[letter] = n
		} else {
			a.numbers = append(a.numbers, n)
		}
	}
	if name == "dense" && len(words) == 1 {
		a.numbers = []int{r.outputs}
	}
	if n := len(a.numbers); n < f.least || n > f.most {
		return name, nil, fmt.Errorf("%q cannot be read; write %s", clipped(text), f.usage)
	}
	if f.read != nil {
		p = f.read(a)
	}
	return name, p, nil
}

// LayerNames returns the names of all kinds of layers, sorted.
func LayerNames() []string {
	var all []string
	for name := range forms {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// clipped is a text that may have come from a hostile link, for a message.
func clipped(s string) string {
	const long = 40
	if len(s) > long {
		return strings.ToValidUTF8(s[:long], "") + "…"
	}
	return s
}

// errNoPicture returns the error of a layer of pictures that is given a table.
func errNoPicture(in Shape) error {
	return fmt.Errorf("it works on pictures, but gets %d numbers that stand in no picture, as those of a table or after flatten and dense", in.Channels)
}

// build makes layers.
func build(b *builder, parts []placed, wantDx bool) []Layer {
	var all []Layer
	for i, p := range parts {
		all = append(all, p.layer(b, p.in, wantDx || i > 0))
	}
	return all
}

// forward passes rows through layers.
func forward(layers []Layer, x compute.Buffer, n int) compute.Buffer {
	for _, l := range layers {
		x = l.Forward(x, n)
	}
	return x
}

// backward carries a gradient back through layers.
func backward(layers []Layer, dy compute.Buffer, want bool) compute.Buffer {
	for i := len(layers) - 1; i >= 0; i-- {
		dy = layers[i].Backward(dy, want || i > 0)
	}
	return dy
}

func sitesOf(layers []Layer) []Site {
	var all []Site
	for _, l := range layers {
		all = append(all, l.Sites()...)
	}
	return all
}

func initAll(layers []Layer, rng *rand.Rand) {
	for _, l := range layers {
		l.Init(rng)
	}
}
