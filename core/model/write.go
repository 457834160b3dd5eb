package model

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"clipscope/core/nn"
	"clipscope/core/run"
)

// JSON writes the file as JSON. Parameters have as many digits as a float32 takes. A file
// that does not pass [File.Check] is written in no form.
func (f *File) JSON(w io.Writer) error {
	if err := f.Check(); err != nil {
		return err
	}
	head := *f
	head.Format, head.Version, head.Parameters = Format, Version, []float32{}
	b, err := json.Marshal(&head)
	if err != nil {
		return fmt.Errorf("model: JSON: %w", err)
	}
	const end = "]}" // of the parameters, which stand last
	out := bufio.NewWriterSize(w, 1<<16)
	out.Write(b[:len(b)-len(end)])
	var digits [32]byte
	for i, x := range f.Parameters {
		if i > 0 {
			out.WriteByte(',')
		}
		if v := float64(x); math.IsNaN(v) || math.IsInf(v, 0) {
			b, _ := run.Number(v).MarshalJSON()
			out.Write(b)
			continue
		}
		out.Write(strconv.AppendFloat(digits[:0], float64(x), 'g', -1, 32))
	}
	out.WriteString(end)
	if err := out.Flush(); err != nil { // and whatever failed before
		return fmt.Errorf("model: JSON: %w", err)
	}
	return nil
}

// tensorInfo is a tensor's entry in a safetensors header.
type tensorInfo struct {
	Type  string `json:"dtype"`
	Shape []int  `json:"shape"`
	Range [2]int `json:"data_offsets"`
}

// Safetensors writes the file in that format: the length of a header in eight bytes, the
// header as JSON, filled up with spaces to a multiple of eight, and the parameters in
// float32, little-endian. Tensors are named layers.N.weight and layers.N.bias; all else is
// in the header's metadata, whose values are texts.
func (f *File) Safetensors(w io.Writer) error {
	if err := f.Check(); err != nil {
		return err
	}
	header, err := f.header()
	if err != nil {
		return fmt.Errorf("model: safetensors: %w", err)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	out.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header))))
	out.Write(header)
	var b [4]byte
	for _, x := range f.Parameters {
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(x))
		out.Write(b[:])
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("model: safetensors: %w", err)
	}
	return nil
}

func (f *File) header() ([]byte, error) {
	all := map[string]any{}
	at := 0
	add := func(name string, shape []int, n int) {
		all[name] = tensorInfo{"F32", shape, [2]int{at, at + 4*n}}
		at += 4 * n
	}
	for i, l := range f.Apply.Layers {
		for _, t := range l.Tensors {
			add(tensorName(i, t.Name), t.Shape, nn.Tensor{Shape: t.Shape}.Len())
		}
	}
	if at == 0 { // of a file that an earlier version wrote
		add(unnamed, []int{len(f.Parameters)}, len(f.Parameters))
	}
	if at != 4*len(f.Parameters) {
		return nil, fmt.Errorf("the tensors of its layers take %d bytes, and its parameters %d", at, 4*len(f.Parameters))
	}
	meta := map[string]string{
		"format": Format, "version": strconv.Itoa(Version), "program": f.Program,
		"guarantee": f.Guarantee, "statement": f.Statement, "accountant": f.Accountant,
	}
	said := map[string]any{"config": f.Config, "epsilon": f.Epsilon, "delta": f.Delta, "steps": f.Steps, "apply": f.Apply}
	if f.Events != nil {
		said["planned_steps"], said["events"] = f.Planned, f.Events
	}
	for name, v := range said {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		meta[name] = string(b)
	}
	all["__metadata__"] = meta
	b, err := json.Marshal(all)
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	return b, err
}
