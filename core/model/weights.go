package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"clipscope/core/nn"
	"clipscope/core/run"
)

// Weights are the tensors of a saved model, by their names, from which a run may start. They never change.
type Weights struct {
	Info run.StartInfo
	// Apply describes what the model takes and gives; nil where the file has tensors alone.
	Apply *run.Application

	tensors map[string]namedTensor // nil where only Info is known
}

// namedTensor is a tensor with its numbers.
type namedTensor struct {
	shape  []int
	values []float32
}

// tensorName returns the name that a tensor of a layer has in safetensors files.
func tensorName(layer int, tensor string) string { return fmt.Sprintf("layers.%d.%s", layer, tensor) }

// ReadWeights reads the weights of a model's file: one that [Read] reads, or a safetensors file of another program, whose
// tensors are float32 and named as [File.Safetensors] names them. A number that is NaN or infinite
// is refused with its tensor's name.
func ReadWeights(name string, b []byte) (*Weights, error) {
	w, err := readWeights(b)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	w.Info.File, w.Info.SHA256 = name, hex.EncodeToString(sum[:])
	for _, name := range slices.Sorted(maps.Keys(w.tensors)) {
		values := w.tensors[name].values
		for i, v := range values {
			if x := float64(v); math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("model: tensor %s: number %d of %d is %v: no run starts from numbers that are not finite", clipped(name), i+1, len(values), x)
			}
		}
		w.Info.Parameters += len(values)
	}
	return w, nil
}

func readWeights(b []byte) (*Weights, error) {
	if len(b) <= MaxBytes && looksTensors(b) {
		header, body, err := tensorHeader(b)
		if err != nil {
			return nil, err
		}
		if !ownMetadata(header[metadata]) {
			return rawWeights(header, body)
		}
	}
	f, err := Read(b)
	if err != nil {
		return nil, err
	}
	return f.weights()
}

// ownMetadata reports whether the metadata of a safetensors file says that Clipscope wrote it.
func ownMetadata(text json.RawMessage) bool {
	var texts struct {
		Format string `json:"format"`
	}
	return json.Unmarshal(text, &texts) == nil && (texts.Format == Format || texts.Format == "clipscope")
}

// layersIn returns the layers in a file's metadata, where its program has listed them.
func layersIn(text json.RawMessage) []string {
	var texts struct {
		Layers string `json:"layers"`
	}
	if json.Unmarshal(text, &texts) != nil {
		return nil
	}
	return strings.Fields(texts.Layers)
}

// rawWeights returns the tensors of another program's file.
func rawWeights(header map[string]json.RawMessage, body []byte) (*Weights, error) {
	tensors, err := readTensors(header, body)
	if err != nil {
		return nil, err
	}
	if len(tensors) == 0 {
		return nil, errors.New("model: the file has no tensors")
	}
	w := &Weights{tensors: map[string]namedTensor{}}
	if layers := layersIn(header[metadata]); len(layers) > 0 {
		w.Info.Model = run.Model{Kind: "layers", Layers: layers}
	}
	for name, t := range tensors {
		shape := make([]int, len(t.Shape))
		for i, d := range t.Shape {
			shape[i] = int(min(d, math.MaxInt32)) // of an empty tensor alone it may be more
		}
		w.tensors[name] = namedTensor{shape, t.appendValues(nil, body)}
	}
	if _, ours := w.tensors[tensorName(0, "weight")]; !ours && slices.ContainsFunc(slices.Collect(maps.Keys(w.tensors)), isTransformer) {
		return nil, errors.New("model: the tensors of a transformer's checkpoint, without its config.json: choose both files together")
	}
	return w, nil
}

// isTransformer reports whether a tensor has the name that checkpoints of BERT and its kin have for their table of tokens.
func isTransformer(name string) bool { return strings.HasSuffix(name, "word_embeddings.weight") }

// weights returns the tensors of a model that has passed [File.Check].
func (f *File) weights() (*Weights, error) {
	spec, err := f.spec()
	if err != nil {
		return nil, err
	}
	w := &Weights{Apply: f.Apply, tensors: map[string]namedTensor{}}
	w.Info.Model = f.Config.Model
	if e := float64(f.Epsilon); f.Guarantee != "" && !strings.HasPrefix(f.Guarantee, run.NoGuarantee) && !math.IsInf(e, 0) && !math.IsNaN(e) {
		w.Info.Private, w.Info.Epsilon, w.Info.Delta, w.Info.Chained = true, f.Epsilon, f.Delta, f.Config.Start.SHA256 != ""
	}
	rest := f.Parameters
	for i, l := range spec.Layers {
		for _, t := range l.Tensors {
			n := t.Len()
			w.tensors[tensorName(i, t.Name)] = namedTensor{t.Shape, rest[:n]}
			rest = rest[n:]
		}
	}
	return w, nil
}

// longer reports whether vectors of positions are there for more places than are wanted.
func longer(have, want []int) bool {
	return len(have) == 2 && len(want) == 2 && have[0] > want[0] && have[1] == want[1]
}

// Fit returns the parameters of a network, one layer after the other, as the weights have them; nil where only
// Info is known. Where the file has no such head ([nn.Spec.Head]) behind others, as one that was trained for other classes, they end
// before it, and headless says what is there. Of positions the first are taken, as many as rows have. Other tensors of other names or shapes than the network's are refused, with
// what was wanted and what is there.
func (w *Weights) Fit(spec nn.Spec) (parameters []float32, headless string, err error) {
	if w.tensors == nil {
		return nil, "", nil
	}
	head, before := spec.Head(), 0
	for _, l := range spec.Layers[:head] {
		before += l.Own()
	}
	all, used := make([]float32, 0, spec.Total()), map[string]bool{}
	for i, l := range spec.Layers {
		for _, want := range l.Tensors {
			name := tensorName(i, want.Name)
			have, ok := w.tensors[name]
			used[name] = true
			switch {
			case ok && (slices.Equal(have.shape, want.Shape) || l.Text == "position" && longer(have.shape, want.Shape)):
				all = append(all, have.values[:want.Len()]...)
				continue
			case ok && l.Text == "position" && len(have.shape) == len(want.Shape) && len(have.shape) > 0 && have.shape[0] < want.Shape[0]:
				err = fmt.Errorf("it has places for %d tokens, and rows have %d: have features of at most %d tokens made", have.shape[0], want.Shape[0], have.shape[0])
			case ok:
				err = fmt.Errorf("the tensor %s has the shape %v, and layer %d (%s) takes %v", name, have.shape, i+1, clipped(l.Text), want.Shape)
			default:
				err = fmt.Errorf("there is no tensor %s of shape %v, which layer %d (%s) takes; there are %s", name, want.Shape, i+1, clipped(l.Text), list(slices.Sorted(maps.Keys(w.tensors))))
			}
			if i < head || before == 0 {
				return nil, "", err
			}
			if headless = cmp.Or(headless, err.Error()); !ok {
				headless = fmt.Sprintf("there is none for layer %d (%s)", i+1, clipped(l.Text))
			}
		}
	}
	if headless != "" {
		all = all[:before]
	}
	for _, name := range slices.Sorted(maps.Keys(w.tensors)) {
		if !used[name] {
			return nil, "", fmt.Errorf("the tensor %s of shape %v is of no layer of this network", clipped(name), w.tensors[name].shape)
		}
	}
	return all, headless, nil
}
