package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"clipscope/core/data"
	"clipscope/core/data/table"
	"clipscope/core/input"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// What a model may have at most, of things that a file can say without holding them.
const (
	mostFeatures = 1 << 20
	mostOutputs  = 1 << 16
	mostRow      = 1 << 27 // values that one row takes on its way through the layers: 512 MB
	mostProducts = 1 << 37 // multiplications that it takes: some ten seconds in a browser
	mostSaid     = 1 << 18 // bytes of its promise in words, which pages show and search
)

// Check refuses a file that is of no model which could be built, with what is wrong and
// where. A model of which something was left out passes, and cannot be opened.
func (f *File) Check() error {
	switch {
	case f.Format != "" && f.Format != Format:
		return fmt.Errorf("model: format: %q is not %q", clipped(f.Format), Format)
	case f.Version > Version:
		return fmt.Errorf("model: version %d is of a newer program than this, which reads up to %d: reload the page", f.Version, Version)
	case f.Version < 0:
		return fmt.Errorf("model: there is no version %d", f.Version)
	case f.Apply == nil && len(f.Parameters) == 0:
		return errors.New("model: the file has no parameters: a run’s JSON and a statement have none. Open the model that was saved beside them")
	case f.Apply == nil:
		return errors.New("model: the file has parameters, and not what it takes to apply them: it was saved by an earlier version. Train it again, from the configuration of its run, and save that")
	case f.Steps < 0 || !(f.Delta >= 0 && f.Delta <= 1) || f.Epsilon < 0:
		return fmt.Errorf("model: ε = %v and δ = %v after %d steps are no promise", float64(f.Epsilon), f.Delta, f.Steps)
	case len(f.Guarantee) > mostSaid || len(f.Statement) > mostSaid:
		return fmt.Errorf("model: the guarantee has %d bytes and the statement %d, over the limit of %d each", len(f.Guarantee), len(f.Statement), mostSaid)
	}
	if err := checkTask(f.Apply); err != nil {
		return err
	}
	if _, _, err := encoderOf(f.Apply); err != nil {
		return fmt.Errorf("model: columns: %w", err)
	}
	if err := checkScaling(f.Apply); err != nil {
		return err
	}
	if err := checkPCA(f.Apply); err != nil {
		return err
	}
	s, err := f.spec()
	if err != nil {
		return err
	}
	return checkTokens(f.Apply, s)
}

// checkTokens refuses a model of tokens that no run makes: of rows that are changed on the way to it, of tokens
// that it does not know, or that it would take for amounts.
func checkTokens(a *run.Application, s nn.Spec) error {
	had, known := data.Vocabulary(columns(a)), s.Vocabulary()
	had = max(had, a.FeaturesOf.KnownTokens())
	types := a.FeaturesOf.CheckTypes(known, s.Types())
	switch {
	case types != "":
		return errors.New("model: layers: " + types)
	case had > known:
		return fmt.Errorf("model: layers: the rows have %d tokens, of which %s knows %d", had, clipped(s.Layers[0].Text), known)
	case known > 0 && (a.Scaling.Kind != "none" || a.MaxNorm > 0 || a.PCA != nil):
		return fmt.Errorf("model: scaling: %s takes the numbers of rows for tokens, which nothing may change", clipped(s.Layers[0].Text))
	}
	return nil
}

func checkTask(a *run.Application) error {
	switch data.Task(a.Task) {
	case data.Classification, data.MultiLabel:
		if n := len(a.Classes); n != 0 && n != a.Outputs {
			return fmt.Errorf("model: %d classes, and %d outputs", n, a.Outputs)
		}
	case data.Regression:
		if len(a.Classes) > 0 {
			return errors.New("model: a regression has no classes")
		}
	default:
		return fmt.Errorf("model: task: there is no %q", clipped(a.Task))
	}
	if a.Outputs < 1 || a.Outputs > mostOutputs {
		return fmt.Errorf("model: %d outputs are not in 1 … %d", a.Outputs, mostOutputs)
	}
	if a.Features < 1 || a.Features > mostFeatures {
		return fmt.Errorf("model: %d features are not in 1 … %d", a.Features, mostFeatures)
	}
	seen := map[string]bool{}
	for _, c := range a.Classes {
		if seen[c] {
			return fmt.Errorf("model: the class %q comes twice", clipped(c))
		}
		seen[c] = true
	}
	if err := checkBackbone(a); err != nil {
		return err
	}
	return checkShape(a)
}

// mostOfBackbone limits the text that names the backbone and its output, in bytes.
const mostOfBackbone = 1000

func checkBackbone(a *run.Application) error {
	b := a.FeaturesOf
	switch {
	case a.Table != nil && (b == nil || b.Column == ""):
		return errors.New("model: table: of a model that reads no texts through another")
	case b == nil:
		return nil
	case a.Columns != nil || a.Shape != nil:
		return errors.New("model: features_of: a backbone's features are no table and no pictures")
	case !run.IsSHA256(b.SHA256):
		return fmt.Errorf("model: features_of: %q is no SHA-256", clipped(b.SHA256))
	case b.Tokenizer != "" && !run.IsSHA256(b.Tokenizer):
		return fmt.Errorf("model: features_of: tokenizer_sha256: %q is no SHA-256", clipped(b.Tokenizer))
	case b.Batch < 1 || b.Tokens < 0 || b.Types < 0 || b.Types > 0 && b.Tokens%b.Types != 0 || len(b.Output)+len(b.Column)+len(b.Second)+len(b.Normalise)+len(b.Resize) > mostOfBackbone:
		return errors.New("model: features_of: it does not say how features are made")
	}
	return nil
}

// backboneInWords says what makes a row's features.
func backboneInWords(b *run.Backbone) string {
	s := fmt.Sprintf("the output %q of the model whose file has the SHA-256 %s", b.Output, b.SHA256)
	if b.Tokenizer != "" {
		s += ", with the tokenizer whose file has the SHA-256 " + b.Tokenizer + ","
	}
	if b.Column != "" {
		s += fmt.Sprintf(" for the text in the column %q", clipped(b.Column))
	}
	if b.Second != "" {
		s += fmt.Sprintf(" and the one in %q", clipped(b.Second))
	}
	return s
}

func checkShape(a *run.Application) error {
	if a.Transform != "" && (a.Shape == nil || !run.IsTransform(a.Transform)) {
		return fmt.Errorf("model: transform: %q is none of pictures", clipped(a.Transform))
	}
	if a.Shape == nil {
		return nil
	}
	n := 1
	for _, d := range a.Shape {
		if d < 1 || d > a.Features/n {
			return fmt.Errorf("model: shape %v is not of %d features", a.Shape, a.Features)
		}
		n *= d
	}
	if n != a.Features || a.Columns != nil {
		return fmt.Errorf("model: shape %v is not of %d features, or of a table", a.Shape, a.Features)
	}
	return nil
}

// encoderOf returns the encoder of a table's cells, nil where the model has no table, and the places of the texts as [tableOf] has them.
func encoderOf(a *run.Application) (e *table.Encoder, texts []int, err error) {
	columns, texts, err := tableOf(a)
	if err != nil || columns == nil {
		return nil, nil, err
	}
	features := a.Features
	if texts != nil {
		features = len(texts)
	}
	e, err = table.NewEncoder(data.Task(a.Task), listed(columns), a.Classes, features)
	return e, texts, err
}

// tableOf returns the columns of a model's table; nil where it has none. texts are the places of those whose texts another model makes features
// of, nil where none does; each of these stands for one feature here, as its text is passed on as it is.
func tableOf(a *run.Application) (columns []run.AppliedColumn, texts []int, err error) {
	b := a.FeaturesOf
	if b == nil || b.Column == "" {
		return a.Columns, nil, nil
	}
	columns = slices.Clone(a.Table)
	for i, name := range []string{b.Column, b.Second} {
		if name == "" {
			continue
		}
		k := slices.IndexFunc(columns, func(c run.AppliedColumn) bool { return c.Name == name })
		if k < 0 && a.Table == nil { // of an earlier version
			k, columns = i, append(columns, run.AppliedColumn{Name: name, Kind: string(data.Text)})
		}
		if k < 0 || columns[k].Kind != string(data.Text) || slices.Contains(texts, k) {
			return nil, nil, fmt.Errorf("table: no column of texts is called %q", clipped(name))
		}
		columns[k].First, columns[k].Buckets, texts = i, 1, append(texts, k)
	}
	for k, c := range columns {
		if !slices.Contains(texts, k) && c.Kind != string(data.Label) && c.Kind != string(data.Ignored) {
			return nil, nil, fmt.Errorf("table: the column %q is none of texts that are read, nor of labels, and not ignored", clipped(c.Name))
		}
	}
	return columns, texts, nil
}

// columns returns the columns of a table as package data has them.
func columns(a *run.Application) []data.Column { return listed(a.Columns) }

func listed(columns []run.AppliedColumn) []data.Column {
	var all []data.Column
	for _, c := range columns {
		all = append(all, data.Column{
			Name: c.Name, Kind: data.ColumnKind(c.Kind), First: c.First, Decimal: c.Decimal, Thousands: c.Thousands, Date: c.Date,
			Units: c.Units, Time: c.Time, Offset: c.Offset, Clock: c.Clock,
			Categories: c.Categories, Buckets: c.Buckets, Tokens: c.Tokens, Fill: c.IfMissing, Indicator: c.Indicator,
		})
	}
	return all
}

// bounded reports whether a kind of scaling has bounds.
func bounded(kind string) bool { return kind == "declared" || kind == "private" }

func checkScaling(a *run.Application) error {
	s := &a.Scaling
	if !slices.Contains([]string{"declared", "private", "row", "measured", "none"}, s.Kind) {
		return fmt.Errorf("model: scaling: there is no %q", clipped(s.Kind))
	}
	n := len(s.Lo)
	dense := data.Dense(a.Features, columns(a))
	if n != len(s.Hi) || n != 0 && n != 1 && n != dense {
		return fmt.Errorf("model: scaling: %d lower and %d upper bounds for %d features", n, len(s.Hi), dense)
	}
	if s.LeftOut == "" && dense > 0 && bounded(s.Kind) != (n > 0) || s.Kind == "measured" && s.LeftOut == "" {
		return fmt.Errorf("model: scaling: %d bounds are not what %q has", n, s.Kind)
	}
	for i := range n {
		if lo, hi := s.Lo[i], s.Hi[i]; !(lo < hi) || math.IsInf(hi-lo, 0) {
			return fmt.Errorf("model: scaling: bounds %d: %v and %v are not finite, with lo below hi", i+1, lo, hi)
		}
	}
	if m := a.MaxNorm; !(m >= 0) || math.IsInf(m, 0) {
		return fmt.Errorf("model: max_norm: %v is no length", m)
	}
	return nil
}

func checkPCA(a *run.Application) error {
	p := a.PCA
	if p == nil {
		return nil
	}
	if p.Components < 1 || p.Components > a.Features {
		return fmt.Errorf("model: pca: %d components of %d features", p.Components, a.Features)
	}
	if a.ChannelsLast {
		return errors.New("model: pca: what are components is no picture any more")
	}
	if p.LeftOut != "" {
		return nil
	}
	if want := 4 * int64(a.Features) * int64(p.Components); int64(len(p.Directions)) != want {
		return fmt.Errorf("model: pca: %d bytes of directions, and %d components of %d features take %d", len(p.Directions), p.Components, a.Features, want)
	}
	for i, x := range directions(p) {
		if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
			return fmt.Errorf("model: pca: number %d of the directions is not finite", i+1)
		}
	}
	return nil
}

func directions(p *run.AppliedPCA) []float32 {
	v := make([]float32, len(p.Directions)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(p.Directions[4*i:]))
	}
	return v
}

// shape returns the shape of a row as the layers see it.
func (f *File) shape() (nn.Shape, error) {
	a := f.Apply
	if a.PCA != nil {
		return nn.Shape{Channels: a.PCA.Components}, nil
	}
	s := input.Shape(a.Shape, a.Features)
	if !a.ChannelsLast && s.IsPicture() && s.Channels > 1 {
		return nn.Shape{Channels: a.Features}, nil
	}
	if a.ChannelsLast && !(s.IsPicture() && s.Channels > 1) {
		return s, fmt.Errorf("model: channels_last: a row of shape %v has no planes of colour", a.Shape)
	}
	return s, nil
}

// spec is the architecture, which has to be what the file says of it.
func (f *File) spec() (nn.Spec, error) {
	a := f.Apply
	in, err := f.shape()
	if err != nil {
		return nn.Spec{}, err
	}
	var texts []string
	for _, l := range a.Layers {
		texts = append(texts, l.Text)
	}
	s, err := nn.Read(in, texts, a.Outputs, input.Loss(data.Task(a.Task)))
	if err != nil {
		return s, fmt.Errorf("model: layers: %w", err)
	}
	for i, o := range s.Layers {
		l := &a.Layers[i]
		if l.Parameters != o.Parameters {
			return s, fmt.Errorf("model: layer %d, %s, has %d parameters, and the file says %d", i+1, clipped(l.Text), o.Parameters, l.Parameters)
		}
		if l.Tensors != nil && !slices.EqualFunc(l.Tensors, o.Tensors, func(have run.AppliedTensor, want nn.Tensor) bool {
			return have.Name == want.Name && slices.Equal(have.Shape, want.Shape)
		}) {
			return s, fmt.Errorf("model: layer %d, %s, has other tensors than the file says", i+1, clipped(l.Text))
		}
	}
	if len(f.Parameters) != s.Params() {
		return s, fmt.Errorf("model: %d parameters, and the layers take %d", len(f.Parameters), s.Params())
	}
	if s.Floats(1) > mostRow {
		return s, fmt.Errorf("model: a row takes %d values on its way through the layers, more than a browser tab can hold", s.Floats(1))
	}
	if products(s) > mostProducts {
		return s, fmt.Errorf("model: a row takes more than %d billion multiplications on its way through the layers, which nobody would wait for", mostProducts/1_000_000_000)
	}
	return s, nil
}

// products returns the multiplications that a row takes on its way through the layers; those beyond mostProducts are not all counted.
func products(s nn.Spec) (sum int64) {
	for _, o := range s.Layers { // each of them has no more than 2⁵³
		if sum += o.Products; sum > mostProducts {
			break
		}
	}
	return sum
}
