package model

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"

	"clipscope/core/nn"
	"clipscope/core/run"
)

// outline is a file of a model with such layers for rows of a shape, with parameters of
// a seed.
func outline(in nn.Shape, outputs int, seed uint64, layers ...string) *File {
	spec, err := nn.Read(in, layers, outputs, nn.SoftmaxCE)
	if err != nil {
		panic(err)
	}
	f := &File{
		Format: Format, Version: Version, Program: "Clipscope 0.0.1+test", Guarantee: "(1, 1e-5)-DP", Statement: "Nobody is told apart.\n",
		Epsilon: 1, Delta: 1e-5, Accountant: "pld", Steps: 7,
		Apply: &run.Application{Task: "classification", Outputs: outputs, Features: in.Len(), Scaling: run.AppliedScaling{Kind: "none"}},
	}
	for _, l := range spec.Layers {
		a := run.AppliedLayer{Text: l.Text, Shape: []int{l.Out.Channels}, Parameters: l.Parameters}
		if l.Out.IsPicture() {
			a.Shape = []int{l.Out.Height, l.Out.Width, l.Out.Channels}
		}
		for _, t := range l.Tensors {
			a.Tensors = append(a.Tensors, run.AppliedTensor{Name: t.Name, Shape: t.Shape})
		}
		f.Apply.Layers = append(f.Apply.Layers, a)
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	for range spec.Params() {
		f.Parameters = append(f.Parameters, float32(rng.NormFloat64()))
	}
	if in.IsPicture() {
		f.Apply.Shape, f.Apply.ChannelsLast = []int{in.Channels, in.Height, in.Width}, in.Channels > 1
		f.Apply.Scaling = run.AppliedScaling{Kind: "declared", Lo: []float64{0}, Hi: []float64{255}}
	}
	return f
}

// examples are files with everything that a file can have.
func examples() map[string]*File {
	table := outline(nn.Shape{Channels: 11}, 3, 1, "dense:5", "tanh", "bias", "dense")
	fill := 4.5
	table.Apply.Classes = []string{"=1+1", "ja", "n\nein"}
	table.Apply.Columns = []run.AppliedColumn{
		{Name: "size", Kind: "numeric", First: 0, IfMissing: &fill, Indicator: 9},
		{Name: "label", Kind: "numeric", First: 10, Decimal: ",", Thousands: "."}, // as an output is called
		{Name: "day", Kind: "numeric", First: 1, Date: "dmy"},
		{Name: "colour", Kind: "categorical", First: 2, Categories: []string{"red", "(missing)", "blue"}},
		{Name: "", Kind: "categorical", First: 5, Categories: []string{"bucket 1", "bucket 2", "bucket 3", "(missing)"}, Buckets: 3},
		{Name: "one", Kind: "categorical", First: -1},
		{Name: "class", Kind: "label", First: -1, Categories: []string{"=1+1", "ja", "n\nein"}},
		{Name: "note", Kind: "ignored", First: -1},
	}
	table.Apply.Scaling = run.AppliedScaling{Kind: "private", Lo: make([]float64, 11), Hi: make([]float64, 11)}
	for i := range 11 {
		table.Apply.Scaling.Hi[i] = float64(i + 1)
	}

	colours := outline(nn.Shape{Height: 12, Width: 10, Channels: 3}, 4, 2,
		"conv:8:3:s2:p1", "groupnorm:4", "relu", "skip:6:s2", "wsconv:6:3:s2:p1", "add", "skip", "tanh", "bias", "add", "maxpool:2:s1", "flatten", "dense:5", "dense")
	grey := outline(nn.Shape{Height: 6, Width: 6, Channels: 1}, 2, 3, "avgpool:2", "conv:3:2", "globalpool", "dense")
	grey.Apply.Shape = []int{6, 6}
	grey.Apply.Task = "multi-label"
	grey.Apply.Classes = []string{"cat", "dog"}

	directions := outline(nn.Shape{Channels: 2}, 1, 4, "dense")
	directions.Apply.Task, directions.Apply.Features = "regression", 3
	directions.Apply.PCA = &run.AppliedPCA{Components: 2, Directions: make([]byte, 24)}
	directions.Apply.MaxNorm = 0.5
	directions.Parameters[1] = float32(math.NaN())

	short := outline(nn.Shape{Channels: 3}, 1, 5, "dense")
	short.Apply.Task, short.Apply.Scaling.Kind, short.Apply.MaxNorm = "regression", "row", 0.5
	return map[string]*File{"table": table, "colours": colours, "grey": grey, "directions": directions, "short": short}
}

// leftOut are files that cannot be applied.
func leftOut() map[string]*File {
	measured := examples()["directions"]
	measured.Apply.PCA.Directions, measured.Apply.PCA.LeftOut = nil, "The directions were measured."
	scaled := examples()["grey"]
	scaled.Apply.Scaling = run.AppliedScaling{Kind: "measured", LeftOut: "The means were measured."}
	return map[string]*File{"directions": measured, "scaling": scaled}
}

// same is a file as two can be compared, NaN and all.
func same(f *File) string {
	b, err := json.Marshal(struct {
		*File
		Parameters string
	}{f, base64.StdEncoding.EncodeToString(run.FloatBytes(f.Parameters))})
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}
