package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/run"
)

// fillBytes draws so many rows of bytes, of two classes, for each split of ds.
func fillBytes(ds *data.Dataset, rows int, rng *rand.Rand) {
	for _, split := range []*data.Split{&ds.Train, &ds.Test} {
		split.N = rows
		for range rows {
			for range ds.Features {
				split.U8 = append(split.U8, uint8(rng.Uint32()))
			}
			split.Y = append(split.Y, float32(rng.IntN(2)))
		}
	}
}

// TestBytesTrainAsTheNumbersTheyAre trains on bytes, which become features on the backend, and on
// the same rows as numbers, which do so on this side.
func TestBytesTrainAsTheNumbersTheyAre(t *testing.T) {
	const rows, features = 90, 7
	rng := rand.New(rand.NewPCG(3, 4))
	ds := &data.Dataset{Name: "bytes", Task: data.Classification, Features: features, Outputs: 2, Classes: []string{"a", "b"}}
	fillBytes(ds, rows, rng)
	numbers := *ds
	for _, split := range []*data.Split{&numbers.Train, &numbers.Test} {
		for _, b := range split.U8 {
			split.F32 = append(split.F32, float32(b))
		}
		split.U8 = nil
	}
	cfg := run.Config{
		Method: "constant", Model: run.Model{Kind: "mlp", Hidden: []int{5}}, NoiseMultiplier: ptr(1.0), Seed: ptr(uint64(7)), Scaling: run.Scaling{Kind: "none"},
		ExpectedBatchSize: 20, Steps: 12, LearningRate: 0.01, MaxGradNorm: 1, MaxPhysicalBatchSize: 8,
	}
	var params [2][]float32
	var losses [2]run.Number
	for i, ds := range []*data.Dataset{ds, &numbers} {
		r := startOn(t, cfg, ds, deferred.New(purego.New()))
		if have, want := r.feed.bytes != nil, i == 0; have != want {
			t.Fatalf("data set %d: rows of bytes are %v", i, have)
		}
		_, res := finish(t, r)
		losses[i] = res.TestLoss
		params[i] = make([]float32, r.work.model.All().Len())
		if err := compute.Read(context.Background(), r.work.be, params[i], r.work.model.All()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(params[0], params[1]) || losses[0] != losses[1] {
		t.Errorf("bytes train otherwise than the numbers they are: losses %v", losses)
	}
}

// written counts the bytes that are written, and the rows that are picked.
type written struct {
	*roomy
	bytes, picked int64
}

func (w *written) Run(k *compute.Kernel, a compute.Args) {
	if k.Name == "pickRows" {
		w.picked += int64(a.N[0])
	}
	w.roomy.Run(k, a)
}

func (w *written) WriteBytes(dst compute.Buffer, src []byte) {
	w.bytes += int64(len(src))
	w.roomy.WriteBytes(dst, src)
}

func (w *written) Write(dst compute.Buffer, src []float32) {
	w.bytes += int64(4 * len(src))
	w.roomy.Write(dst, src)
}

// TestRowsThatStayTrainAsThoseThatAreSent trains on rows that a backend has memory for, which are written
// once, and on rows that it has none for: the parameters are the same to the bit, a step writes the
// numbers of rows in their place, and the estimate bounds what is taken. Public rows that are mixed in stay with them.
func TestRowsThatStayTrainAsThoseThatAreSent(t *testing.T) {
	const rows = 90
	rng := rand.New(rand.NewPCG(5, 6))
	for i, shape := range [][]int{{3, 5, 7}, {5, 7}, {5, 7}} {
		features := 1
		for _, n := range shape {
			features *= n
		}
		ds := &data.Dataset{Name: "bytes", Task: data.Classification, Shape: shape, Features: features, Outputs: 2, Classes: []string{"a", "b"}}
		fillBytes(ds, rows, rng)
		cfg := run.Config{
			Method: "constant", Model: run.Model{Kind: "layers", Layers: []string{"conv:4:3", "tanh", "flatten", "dense"}}, NoiseMultiplier: ptr(1.0), Seed: ptr(uint64(7)),
			ExpectedBatchSize: 20, Steps: 8, LearningRate: 0.01, Accountant: "rdp",
		}
		var public *model.PublicRows
		if i == 2 {
			public = publicBlobs(&cfg, 0, 20, 0.5)
			made := &data.Dataset{Features: features}
			fillBytes(made, rows, rng)
			public.Split = made.Train
		}
		p := mixing(t, cfg, nil, public, ds)
		terms := p.Terms()
		most := terms.Room(terms.CapacityIn(math.MaxInt64))
		all := most + terms.Resident()
		var want []float32
		var loss run.Number
		var sent []int64 // while the run ran
		for _, room := range []int64{most, all - 1, all} {
			be := &written{roomy: &roomy{counted: newCounted(), room: room}}
			r := starting(t, p, ds, be)
			if r.feed.resident != (room == all) {
				t.Fatalf("of %d bytes for %d, the rows stay: %v", room, all, r.feed.resident)
			}
			before := be.bytes
			_, res := finish(t, r)
			sent = append(sent, be.bytes-before)
			width := int64(features) // bytes that are sent of a row
			if len(shape) == 3 {
				width *= 4
			}
			if saved := be.picked * (width - 4); room == all && (be.picked < rows || sent[0]-sent[2] != saved) {
				t.Errorf("%v: of %d rows the numbers were sent, and %d bytes instead of %d; want %d fewer", shape, be.picked, sent[2], sent[0], saved)
			}
			if be.most > room {
				t.Errorf("%v: %d bytes were reserved and %d are taken", shape, room, be.most)
			}
			if want == nil {
				want, loss = res.Released.Parameters, res.TestLoss
			}
			if !slices.Equal(res.Released.Parameters, want) || res.TestLoss != loss {
				t.Errorf("%v: in %d bytes it trains otherwise", shape, room)
			}
		}
	}
}
