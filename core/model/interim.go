package model

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"clipscope/core/nn"
	"clipscope/core/run"
)

// Read reads a file, JSON or safetensors.
func Read(b []byte) (*File, error) {
	f := &File{}
	var err error
	if len(b) > 0 && b[0] == '{' {
		err = f.fromJSON(b)
	} else {
		err = f.fromTensors(b)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return f, f.Check()
}

func (f *File) fromJSON(b []byte) error {
	var wide struct {
		*File
		Parameters []run.Number `json:"parameters"`
	}
	wide.File = f
	if err := json.Unmarshal(b, &wide); err != nil {
		return err
	}
	f.Parameters = make([]float32, len(wide.Parameters))
	for i, x := range wide.Parameters {
		f.Parameters[i] = float32(x)
	}
	return nil
}

func (f *File) fromTensors(b []byte) error {
	if len(b) < 8 || binary.LittleEndian.Uint64(b) > uint64(len(b)-8) {
		return errors.New("no model")
	}
	n := int(binary.LittleEndian.Uint64(b))
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &all); err != nil {
		return err
	}
	var m map[string]string
	if err := json.Unmarshal(all["__metadata__"], &m); err != nil {
		return err
	}
	f.Format, f.Program, f.Guarantee, f.Statement, f.Accountant = m["format"], m["program"], m["guarantee"], m["statement"], m["accountant"]
	f.Version, _ = strconv.Atoi(m["version"])
	for name, to := range map[string]any{"config": &f.Config, "epsilon": &f.Epsilon, "delta": &f.Delta, "steps": &f.Steps, "apply": &f.Apply} {
		if err := json.Unmarshal([]byte(m[name]), to); err != nil {
			return err
		}
	}
	rest := b[8+n:]
	f.Parameters = make([]float32, len(rest)/4)
	for i := range f.Parameters {
		f.Parameters[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[4*i:]))
	}
	return nil
}

// Check refuses a model that does not fit together.
func (f *File) Check() error {
	a := f.Apply
	if a == nil {
		return errors.New("model: nothing says how to apply it")
	}
	s := nn.Shape{Channels: a.Features}
	p := a.Shape
	if len(p) == 2 {
		p = []int{1, p[0], p[1]}
	}
	if len(p) != 0 && (len(p) != 3 || slices.Min(p) < 1 || p[0]*p[1]*p[2] != a.Features) {
		return errors.New("model: shape")
	}
	if len(p) == 3 && (a.ChannelsLast || p[0] == 1) {
		s = nn.Shape{Height: p[1], Width: p[2], Channels: p[0]}
	}
	if a.PCA != nil {
		s = nn.Shape{Channels: a.PCA.Components}
		if a.PCA.LeftOut == "" && len(a.PCA.Directions) != 4*a.PCA.Components*a.Features {
			return errors.New("model: directions")
		}
	}
	var list []string
	sum := 0
	for _, l := range a.Layers {
		list = append(list, l.Text)
	}
	spec, err := nn.Read(s, list, a.Outputs, nn.SoftmaxCE)
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	for i, l := range spec.Layers {
		if a.Layers[i].Parameters != l.Parameters || len(a.Layers[i].Shape) == 0 {
			return errors.New("model: layers")
		}
		sum += l.Parameters
	}
	if sum != len(f.Parameters) || len(a.Scaling.Lo) != len(a.Scaling.Hi) || len(a.Scaling.Lo) > 1 && len(a.Scaling.Lo) != a.Features {
		return errors.New("model: numbers")
	}
	return nil
}
