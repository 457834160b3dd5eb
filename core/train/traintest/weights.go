package traintest

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Safetensors writes tensors of float32 as other programs do, one after the other.
func Safetensors(t testing.TB, metadata map[string]string, tensors ...Tensor) []byte {
	t.Helper()
	header, body := map[string]any{}, []byte{}
	for _, g := range tensors {
		from := len(body)
		for _, v := range g.Values {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(v))
		}
		header[g.Name] = map[string]any{"dtype": "F32", "shape": g.Shape, "data_offsets": []int{from, len(body)}}
	}
	if metadata != nil {
		header["__metadata__"] = metadata
	}
	b, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b, body)
}

// Tensor is a tensor of a file of weights.
type Tensor struct {
	Name   string
	Shape  []int
	Values []float32
}

// Normals draws numbers of which none is 0.
func Normals(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 5))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64()) + 1e-3
	}
	return v
}
