package model

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/nn"
)

// tensorsOf writes a safetensors file of float32 whose numbers are 1, 2, 3 … in the order of the tensors.
func tensorsOf(t *testing.T, texts map[string]string, tensors ...nn.Tensor) []byte {
	t.Helper()
	header, body := map[string]any{}, []byte{}
	if texts != nil {
		header["__metadata__"] = texts
	}
	for _, x := range tensors {
		from := len(body)
		for range x.Len() {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(float32(len(body)/4+1)))
		}
		header[x.Name] = map[string]any{"dtype": "F32", "shape": x.Shape, "data_offsets": []int{from, len(body)}}
	}
	b, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b, body)
}

// TestOtherProgramsListLayers: in the metadata of a file; what is none is left out.
func TestOtherProgramsListLayers(t *testing.T) {
	weight := nn.Tensor{Name: "layers.0.weight", Shape: []int{2, 3}}
	for layers, want := range map[string][]string{"embedding:2:3 mean  dense": {"embedding:2:3", "mean", "dense"}, "": nil, " ": nil} {
		w, err := ReadWeights("a.safetensors", tensorsOf(t, map[string]string{"layers": layers}, weight))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w.Info.Model.Layers, want) || (w.Info.Model.Kind == "layers") != (want != nil) {
			t.Errorf("%q: a model of %+v", layers, w.Info.Model)
		}
	}
	w, err := ReadWeights("a.safetensors", tensorsOf(t, nil, weight))
	if err != nil || w.Info.Model.Kind != "" {
		t.Errorf("without metadata: %+v, %v", w, err)
	}
}

// TestPositionsOfLongerRows: of vectors for more places than rows have, the first are taken; fewer are refused, and so are
// wider ones, and other tensors that are longer.
func TestPositionsOfLongerRows(t *testing.T) {
	spec, err := nn.Read(nn.Shape{Channels: 3}, []string{"embedding:4:2", "position", "mean", "dense"}, 2, nn.SoftmaxCE)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tokens, places, width int
		says                  string
	}{
		{4, 3, 2, ""},
		{4, 9, 2, ""},
		{4, 2, 2, "it has places for 2 tokens, and rows have 3: have features of at most 2 tokens made"},
		{4, 9, 3, "layers.1.weight has the shape [9 3]"},
		{5, 3, 2, "layers.0.weight has the shape [5 2]"},
	} {
		w, err := ReadWeights("a.safetensors", tensorsOf(t, nil,
			nn.Tensor{Name: "layers.0.weight", Shape: []int{c.tokens, 2}}, nn.Tensor{Name: "layers.1.weight", Shape: []int{c.places, c.width}},
			nn.Tensor{Name: "layers.3.weight", Shape: []int{2, 2}}, nn.Tensor{Name: "layers.3.bias", Shape: []int{2}}))
		if err != nil {
			t.Fatal(err)
		}
		v, headless, err := w.Fit(spec)
		switch {
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%+v: %v, want %q", c, err, c.says)
		case c.says == "" && (err != nil || headless != "" || len(v) != spec.Params() || v[8] != 9 || v[13] != 14 || v[14] != float32(8+2*c.places+1)):
			t.Errorf("%+v: %v, %q, %v", c, v, headless, err)
		}
	}
}

// TestCheckpointsWithoutTheirConfiguration are named as what they are.
func TestCheckpointsWithoutTheirConfiguration(t *testing.T) {
	for name, says := range map[string]string{"bert.embeddings.word_embeddings.weight": "without its config.json", "layers.0.weight": "", "encoder.weight": ""} {
		_, err := ReadWeights("model.safetensors", tensorsOf(t, nil, nn.Tensor{Name: name, Shape: []int{2, 3}}))
		if (err != nil) != (says != "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
}
