package nn

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
)

// hub is a checkpoint as Hugging Face's libraries save it, read for these tests.
type hub struct {
	kind                      string // of model
	layers, heads, wide, pads int
	epsilon                   string // of layernorm, as a list of layers writes it
	tensors                   map[string][]float32
	shapes                    map[string][]int
}

// names has the names of a kind of model: of its embeddings, of a block's parts, and of pooler and head.
type names struct {
	embeddings, block                            string
	query, key, value, out, norm, up, down, last string
	pooler, head                                 string
	bend                                         string // what follows the pooler
	wideKey, headsKey, layersKey                 string
	offset                                       func(pad int) int // of the position of the first token
}

var (
	bertNames = names{
		"bert.embeddings.", "bert.encoder.layer.%d.",
		"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm",
		"bert.pooler.dense", "classifier", "tanh", "intermediate_size", "num_attention_heads", "num_hidden_layers", func(int) int { return 0 },
	}
	kindsOfHub = map[string]names{
		"bert": bertNames,
		"roberta": func() names {
			n := bertNames
			n.embeddings, n.block, n.pooler, n.head = "roberta.embeddings.", "roberta.encoder.layer.%d.", "classifier.dense", "classifier.out_proj"
			n.offset = func(pad int) int { return pad + 1 }
			return n
		}(),
		"distilbert": {
			"distilbert.embeddings.", "distilbert.transformer.layer.%d.",
			"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm",
			"pre_classifier", "classifier", "relu", "hidden_dim", "n_heads", "n_layers", func(int) int { return 0 },
		},
	}
)

// readHub reads config.json and model.safetensors.
func readHub(t *testing.T, dir string) *hub {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	kind := c["model_type"].(string)
	n, number := kindsOfHub[kind], func(key string) int { return int(c[key].(float64)) }
	h := &hub{kind: kind, layers: number(n.layersKey), heads: number(n.headsKey), wide: number(n.wideKey), pads: number("pad_token_id"), epsilon: "layernorm:e12", tensors: map[string][]float32{}, shapes: map[string][]int{}}
	if c["layer_norm_eps"] == 1e-5 {
		h.epsilon = "layernorm"
	}
	h.readTensors(t, filepath.Join(dir, "model.safetensors"))
	return h
}

// readTensors reads the tensors of a safetensors file, which are float32.
func (h *hub) readTensors(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := binary.LittleEndian.Uint64(b)
	var header map[string]struct {
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	raw, body := map[string]json.RawMessage{}, b[8+size:]
	if err := json.Unmarshal(b[8:8+size], &raw); err != nil {
		t.Fatal(err)
	}
	delete(raw, "__metadata__")
	again, _ := json.Marshal(raw)
	if err := json.Unmarshal(again, &header); err != nil {
		t.Fatal(err)
	}
	for name, x := range header {
		h.shapes[name] = x.Shape
		for at := x.Offsets[0]; at < x.Offsets[1]; at += 4 {
			h.tensors[name] = append(h.tensors[name], math.Float32frombits(binary.LittleEndian.Uint32(body[at:])))
		}
	}
}

// drawnHub returns a checkpoint of random numbers with so many tokens.
func drawnHub(kind string, vocabulary int) *hub {
	h := &hub{kind: kind, layers: 2, heads: 2, wide: 12, pads: 1, epsilon: "layernorm:e12", tensors: map[string][]float32{}, shapes: map[string][]int{}}
	n, rng := kindsOfHub[kind], rand.New(rand.NewPCG(11, 12))
	const d, places = 8, 12
	add := func(scale float64, name string, shape ...int) {
		size := 1
		for _, s := range shape {
			size *= s
		}
		v := make([]float32, size)
		for i := range v {
			v[i] = float32(scale * rng.NormFloat64())
		}
		h.tensors[name], h.shapes[name] = v, shape
	}
	linear := func(name string, in, out int) { add(0.4, name+".weight", out, in); add(0.4, name+".bias", out) }
	norm := func(name string) { add(1, name+".weight", d); add(0.4, name+".bias", d) }
	add(0.01, n.embeddings+"word_embeddings.weight", vocabulary, d) // so small that 10⁻⁵ would show
	add(0.01, n.embeddings+"position_embeddings.weight", places, d)
	if kind != "distilbert" {
		add(0.01, n.embeddings+"token_type_embeddings.weight", 2, d)
	}
	norm(n.embeddings + "LayerNorm")
	for i := range h.layers {
		at := fmt.Sprintf(n.block, i)
		for _, name := range []string{n.query, n.key, n.value, n.out} {
			linear(at+name, d, d)
		}
		norm(at + n.norm)
		linear(at+n.up, d, h.wide)
		linear(at+n.down, h.wide, d)
		norm(at + n.last)
	}
	linear(n.pooler, d, d)
	linear(n.head, d, 3)
	return h
}

// list returns the model's layers.
func (h *hub) list() []string {
	n := kindsOfHub[h.kind]
	v := h.shapes[n.embeddings+"word_embeddings.weight"]
	all := []string{fmt.Sprintf("embedding:%d:%d", v[0], v[1]), "position", h.epsilon}
	if kinds := h.shapes[n.embeddings+"token_type_embeddings.weight"]; kinds != nil {
		all[0] += fmt.Sprintf(":t%d", kinds[0])
	}
	for range h.layers {
		all = append(all, "skip", fmt.Sprintf("attention:%d", h.heads), "add", h.epsilon, "skip", fmt.Sprintf("conv1d:%d:1", h.wide), "gelu", fmt.Sprintf("conv1d:%d:1", v[1]), "add", h.epsilon)
	}
	return append(all, "first", fmt.Sprintf("dense:%d", v[1]), n.bend, "dense")
}

// turned returns the weight of a linear map as layers have it, [in×out].
func (h *hub) turned(name string) []float32 {
	w, s := h.tensors[name+".weight"], h.shapes[name+".weight"]
	all := make([]float32, 0, len(w))
	for j := range s[1] {
		for i := range s[0] {
			all = append(all, w[i*s[1]+j])
		}
	}
	return all
}

// parameters returns the layers' parameters, for rows of so many places.
func (h *hub) parameters(places int) []float32 {
	n := kindsOfHub[h.kind]
	linear := func(name string) []float32 { return slices.Concat(h.turned(name), h.tensors[name+".bias"]) }
	norm := func(name string) []float32 { return slices.Concat(h.tensors[name+".weight"], h.tensors[name+".bias"]) }
	d := h.shapes[n.embeddings+"word_embeddings.weight"][1]
	all := slices.Concat(h.tensors[n.embeddings+"word_embeddings.weight"], h.tensors[n.embeddings+"token_type_embeddings.weight"],
		h.tensors[n.embeddings+"position_embeddings.weight"][n.offset(h.pads)*d:][:places*d], norm(n.embeddings+"LayerNorm"))
	for i := range h.layers {
		at := fmt.Sprintf(n.block, i)
		maps := [][]float32{h.turned(at + n.query), h.turned(at + n.key), h.turned(at + n.value)}
		for j := range d {
			for _, m := range maps {
				all = append(all, m[j*d:(j+1)*d]...)
			}
		}
		all = slices.Concat(all, h.tensors[at+n.query+".bias"], h.tensors[at+n.key+".bias"], h.tensors[at+n.value+".bias"],
			linear(at+n.out), norm(at+n.norm), linear(at+n.up), linear(at+n.down), norm(at+n.last))
	}
	return slices.Concat(all, linear(n.pooler), linear(n.head))
}

// hubRow is a text with what is known of it.
type hubRow struct {
	ids    []int
	types  []int // of tokens; nil: all 0
	label  int
	logits []float64
	hidden [][]float64 // [tokens×d], before the first block and after each
	norm   float64     // of the gradient by the last block and what follows; 0 where it is not known
	// squares are those of the lengths of the gradient by each tensor, by the checkpoint's names; nil: not known.
	squares map[string]float64
}

// passed computes the hidden states and logits of a text, or of two, in float64, one number after the other.
func (h *hub) passed(ids, types []int) (r hubRow) {
	n := kindsOfHub[h.kind]
	d := h.shapes[n.embeddings+"word_embeddings.weight"][1]
	at := func(name string, row, i int) float64 { return float64(h.tensors[n.embeddings+name+".weight"][row*d+i]) }
	linear := func(x []float64, name string) []float64 {
		s := h.shapes[name+".weight"]
		y := make([]float64, s[0])
		for i := range y {
			y[i] = float64(h.tensors[name+".bias"][i])
			for j, v := range x {
				y[i] += v * float64(h.tensors[name+".weight"][i*s[1]+j])
			}
		}
		return y
	}
	normal := func(x []float64, name string) []float64 {
		mean, square := 0.0, 0.0
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			square += (v - mean) * (v - mean) / float64(len(x))
		}
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = (v-mean)/math.Sqrt(square+1e-12)*float64(h.tensors[name+".weight"][i]) + float64(h.tensors[name+".bias"][i])
		}
		return y
	}
	added := func(a, b []float64) []float64 {
		y := slices.Clone(a)
		for i, v := range b {
			y[i] += v
		}
		return y
	}
	var x [][]float64
	keep := func() { r.hidden = append(r.hidden, slices.Concat(x...)) }
	for t, id := range ids {
		v := make([]float64, d)
		for i := range v {
			v[i] = at("word_embeddings", id, i) + at("position_embeddings", t+n.offset(h.pads), i)
			if h.kind != "distilbert" {
				v[i] += at("token_type_embeddings", types[t], i)
			}
		}
		x = append(x, normal(v, n.embeddings+"LayerNorm"))
	}
	keep()
	for l := range h.layers {
		block := fmt.Sprintf(n.block, l)
		var q, k, v [][]float64
		for _, row := range x {
			q, k, v = append(q, linear(row, block+n.query)), append(k, linear(row, block+n.key)), append(v, linear(row, block+n.value))
		}
		wide := d / h.heads
		for t := range x {
			seen := make([]float64, d)
			for head := range h.heads {
				shares, all := make([]float64, len(x)), 0.0
				for s := range x {
					dot := 0.0
					for i := head * wide; i < (head+1)*wide; i++ {
						dot += q[t][i] * k[s][i]
					}
					shares[s] = math.Exp(dot / math.Sqrt(float64(wide)))
					all += shares[s]
				}
				for s := range x {
					for i := head * wide; i < (head+1)*wide; i++ {
						seen[i] += shares[s] / all * v[s][i]
					}
				}
			}
			x[t] = normal(added(x[t], linear(seen, block+n.out)), block+n.norm)
		}
		for t := range x {
			up := linear(x[t], block+n.up)
			for i, u := range up {
				up[i] = u * 0.5 * math.Erfc(-u/math.Sqrt2)
			}
			x[t] = normal(added(x[t], linear(up, block+n.down)), block+n.last)
		}
		keep()
	}
	y := linear(x[0], n.pooler)
	for i, v := range y {
		if y[i] = math.Tanh(v); n.bend == "relu" {
			y[i] = max(0, v)
		}
	}
	r.ids, r.types, r.logits = ids, types, linear(y, n.head)
	return r
}

// TestCheckpointsOfTransformers: BERT, DistilBERT and RoBERTa as lists of layers have the hidden states and the outputs of
// the libraries they come from, whatever the other rows and their padding, and each text's gradient by the last block has
// its length. Of random checkpoints it is those of plain loops in float64; of the ones in shared/reference, where they are
// present, those that transformers and torch computed.
func TestCheckpointsOfTransformers(t *testing.T) {
	for kind := range kindsOfHub {
		h := drawnHub(kind, 20)
		rng := rand.New(rand.NewPCG(13, 14))
		var rows []hubRow
		for n := range 8 {
			ids, types := make([]int, n+1), make([]int, n+1)
			for i := range ids {
				if ids[i] = rng.IntN(20); kind != "distilbert" && i > n/2 {
					types[i] = 1
				}
			}
			rows = append(rows, h.passed(ids, types))
		}
		holdHub(t, h, rows, nil)
	}
	expected := readExpected(t)
	if expected == nil {
		t.Log("shared/reference is not present: random checkpoints alone")
		return
	}
	for kind := range kindsOfHub {
		h := readHub(t, filepath.Join(reference, kind))
		var rows []hubRow
		m := expected[kind]
		for _, r := range m.Rows {
			row := hubRow{ids: r.IDs, types: r.Types, label: r.Label, logits: doubles(t, r.Logits), norm: r.Norms["last_block"], squares: r.Square}
			for _, x := range r.Hidden {
				row.hidden = append(row.hidden, doubles(t, x))
			}
			rows = append(rows, row)
		}
		sum := map[string][]float64{}
		for name, x := range m.Sum {
			sum[name] = doubles(t, x)
		}
		holdHub(t, h, rows, sum)
	}
}

// reference has checkpoints, and what transformers, PEFT and torch computed of texts.
const reference = "../../../shared/reference/transformers"

// expectedModel holds the known results of a checkpoint's texts.
type expectedModel struct {
	Rows []struct {
		IDs    []int              `json:"ids"`
		Types  []int              `json:"type_ids"`
		Label  int                `json:"label"`
		Logits string             `json:"logits"`
		Hidden []string           `json:"hidden"`
		Norms  map[string]float64 `json:"norms"`
		Square map[string]float64 `json:"sq_norms"`
	} `json:"rows"`
	Sum map[string]string `json:"clipped_sum_last_block_C0.5"`
}

// readExpected returns what is known of each checkpoint; nil where there is no reference.
func readExpected(t *testing.T) map[string]expectedModel {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(reference, "expected.json"))
	if err != nil {
		return nil
	}
	var all struct {
		Models map[string]expectedModel `json:"models"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all.Models
}

func doubles(t *testing.T, text string) []float64 {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float64, len(b)/8)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v
}

// holdHub holds what is known of rows against what layers compute of them, all in one batch. sum is that of the rows'
// gradients by the last block and what follows, each of length 1/2 at most, by the checkpoint's names; nil: not known.
func holdHub(t *testing.T, h *hub, rows []hubRow, sum map[string][]float64) {
	t.Helper()
	const tol = 1e-5
	places := 0
	for _, r := range rows {
		places = max(places, len(r.ids))
	}
	x, labels := make([]float32, 0, len(rows)*places), make([]float32, len(rows))
	for i, r := range rows {
		labels[i] = float32(r.label)
		for t := range places {
			id := -1
			if t < len(r.ids) {
				if id = r.ids[t]; r.types != nil && h.kind != "distilbert" {
					id += r.types[t] * h.shapes[kindsOfHub[h.kind].embeddings+"word_embeddings.weight"][0]
				}
			}
			x = append(x, float32(id))
		}
	}
	list, parameters, in := h.list(), h.parameters(places), Shape{Channels: places}
	whole := must(Read(in, list, len(rows[0].logits), SoftmaxCE))
	for name, open := range computetest.Backends(t) {
		be := open()
		for k := range h.layers + 1 {
			cut := append(slices.Clone(list[:3+10*k]), "flatten")
			d := len(rows[0].hidden[0]) / len(rows[0].ids)
			spec := must(Read(in, cut, places*d, Squared))
			m := New(be, spec, len(rows), 1)
			be.Write(m.All(), parameters[:spec.Params()])
			got := read(t, be, m.Forward(buffer(be, x), len(rows), 1), len(rows)*places*d)
			for i, r := range rows {
				near(t, fmt.Sprintf("%s, %s: hidden state %d of row %d", name, h.kind, k, i), got[i*places*d:][:len(r.ids)*d], r.hidden[k], tol)
			}
		}
		for _, part := range []string{"all", "biases"} {
			if rows[0].squares == nil {
				break
			}
			spec := must(whole.Trainable(part))
			m := New(be, spec, len(rows), 1)
			m.Start(parameters, nil)
			of := trainedOf(spec, h.tensorsOf(places))
			holdSquares(t, fmt.Sprintf("%s, %s, %s", name, h.kind, part), be, m, batch{x, labels}, rows, of)
		}
		spec := must(whole.Trainable("last:1"))
		m := New(be, spec, len(rows), 1)
		be.Write(m.Still(), parameters[:spec.Frozen()])
		be.Write(m.All(), parameters[spec.Frozen():])
		pass(be, m, batch{x, labels}, len(rows))
		logits, k := read(t, be, m.Predictions(), len(rows)*spec.Outputs()), spec.Outputs()
		bounds := be.New(len(rows))
		m.Norms([]compute.Buffer{bounds})
		norms := read(t, be, bounds, len(rows))
		factors := make([]float32, len(rows))
		for i, r := range rows {
			near(t, fmt.Sprintf("%s, %s: outputs of row %d", name, h.kind, i), logits[i*k:(i+1)*k], r.logits, tol)
			if r.norm > 0 && math.Abs(float64(norms[i])-r.norm) > tol*r.norm {
				t.Errorf("%s, %s: the gradient of row %d by the last block has length %v, want %v", name, h.kind, i, norms[i], r.norm)
			}
			factors[i] = float32(min(1, 0.5/float64(norms[i])))
		}
		if sum != nil {
			dst := sums(be, m)
			m.Add(dst, []compute.Buffer{buffer(be, factors)}, kernel.Plain())
			got, want := flat(t, be, dst), h.lastBlock(sum)
			near(t, fmt.Sprintf("%s, %s: the clipped sum", name, h.kind), got, want, tol)
		}
		be.Close()
	}
}

// tensorsOf returns the name of the checkpoint's tensor that each of the layers' parameters is of.
func (h *hub) tensorsOf(places int) (all []string) {
	numbered := *h
	numbered.tensors = map[string][]float32{}
	names := slices.Sorted(maps.Keys(h.tensors))
	for i, name := range names {
		numbered.tensors[name] = slices.Repeat([]float32{float32(i)}, len(h.tensors[name]))
	}
	for _, i := range numbered.parameters(places) {
		all = append(all, names[int(i)])
	}
	return all
}

// trainedOf returns what all is for the parameters that are trained, of what it is for those of the layers as they are listed.
func trainedOf(spec Spec, all []string) (of []string) {
	for _, l := range spec.Layers {
		for _, t := range l.Tensors {
			if !t.Still {
				of = append(of, all[:t.Len()]...)
			}
			all = all[t.Len():]
		}
	}
	return of
}

// holdSquares holds each row's gradient by the parameters that are trained, which are of tensors, against the squared lengths
// that are known of it, by names; those of tensors that are not among them are not trained.
func holdSquares(t *testing.T, what string, be compute.Backend, m *Model, b batch, rows []hubRow, of []string) {
	t.Helper()
	const tol = 1e-5
	for i, r := range rows {
		got, total := map[string]float64{}, 0.0
		for j, g := range gradients(t, be, m, b.row(i, len(rows)), 1, nil) {
			got[of[j]] += float64(g) * float64(g)
			total += float64(g) * float64(g)
		}
		for name, g := range got {
			want, ok := r.squares[name]
			if !ok {
				t.Fatalf("%s: of %s nothing is known", what, name)
			}
			// What cancels, as the gradient by a key's bias does, is rounding of the rest.
			if math.Abs(g-want) > tol*want+1e-12*total {
				t.Errorf("%s: the squared length of row %d's gradient by %s is %v, want %v", what, i, name, g, want)
			}
		}
	}
}

// TestAdapterOfPEFT: maps of low rank beside those of a BERT have its outputs and each text's gradient by each tensor as PEFT and
// torch computed them, where shared/reference is present. Without it [TestPartsOfLayersHaveTheirGradients] holds.
func TestAdapterOfPEFT(t *testing.T) {
	expected := readExpected(t)
	if expected == nil {
		t.Skip("shared/reference is not present")
	}
	h, adapter := readHub(t, filepath.Join(reference, "bert")), &hub{tensors: map[string][]float32{}, shapes: map[string][]int{}}
	adapter.readTensors(t, filepath.Join(reference, "bert-lora", "adapter_model.safetensors"))
	const places = 64
	known := expected["bert"].Rows
	var rows []hubRow
	var x, labels []float32
	vocabulary := h.shapes["bert.embeddings.word_embeddings.weight"][0]
	for i, r := range expected["bert-lora"].Rows {
		of := known[i]
		rows = append(rows, hubRow{logits: doubles(t, r.Logits), squares: r.Square})
		labels = append(labels, float32(of.Label))
		for j := range places {
			if j < len(of.IDs) {
				x = append(x, float32(of.IDs[j]+of.Types[j]*vocabulary))
			} else {
				x = append(x, -1)
			}
		}
	}
	spec := must(must(Read(Shape{Channels: places}, h.list(), 3, SoftmaxCE)).WithLowRank(LowRank{Rank: 4, Alpha: 8, Targets: []string{"query", "value"}}))
	const base = "base_model.model."
	var trained []float32
	var of []string
	take := func(name string) {
		v := adapter.tensors[name]
		if matrix, ok := strings.CutSuffix(name, ".weight"); ok {
			v = adapter.turned(matrix)
		}
		trained = append(trained, v...)
		name = strings.NewReplacer("lora_A.weight", "lora_A.default.weight", "lora_B.weight", "lora_B.default.weight", "classifier.", "classifier.modules_to_save.default.").Replace(name)
		of = append(of, slices.Repeat([]string{name}, len(v))...)
	}
	for l := range h.layers {
		for _, target := range []string{"query", "value"} {
			take(fmt.Sprintf("%sbert.encoder.layer.%d.attention.self.%s.lora_A.weight", base, l, target))
			take(fmt.Sprintf("%sbert.encoder.layer.%d.attention.self.%s.lora_B.weight", base, l, target))
		}
	}
	take(base + "classifier.weight")
	take(base + "classifier.bias")
	for name, open := range computetest.Backends(t) {
		be := open()
		m := New(be, spec, len(rows), 1)
		m.Start(h.parameters(places), rand.New(rand.NewPCG(1, 2)))
		be.Write(m.All(), trained)
		pass(be, m, batch{x, labels}, len(rows))
		logits := read(t, be, m.Predictions(), len(rows)*3)
		for i, r := range rows {
			near(t, fmt.Sprintf("%s: outputs of row %d", name, i), logits[3*i:3*i+3], r.logits, 1e-5)
		}
		holdSquares(t, name+", lora", be, m, batch{x, labels}, rows, of)
		be.Close()
	}
}

// lastBlock returns numbers by the checkpoint's names in the order of the last block's parameters and those that follow.
func (h *hub) lastBlock(by map[string][]float64) []float64 {
	last := *h
	last.tensors = map[string][]float32{}
	for name, v := range by { // to float32 and back: the order is what is wanted
		for _, u := range v {
			last.tensors[name] = append(last.tensors[name], float32(u))
		}
	}
	for name, v := range h.tensors {
		if last.tensors[name] == nil {
			last.tensors[name] = make([]float32, len(v))
		}
	}
	all := last.parameters(1)
	spec := must(must(Read(Shape{Channels: 1}, h.list(), len(by[kindsOfHub[h.kind].head+".bias"]), SoftmaxCE)).Trainable("last:1"))
	out := make([]float64, 0, spec.Params())
	for _, v := range all[spec.Frozen():] {
		out = append(out, float64(v))
	}
	return out
}

// near holds that numbers differ from those wanted by no more than tol times the largest.
func near(t *testing.T, name string, got []float32, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", name, len(got), len(want))
		return
	}
	largest := 1.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-v) <= tol*largest) {
			t.Errorf("%s: number %d is %v, want %v", name, i, got[i], v)
			return
		}
	}
}
