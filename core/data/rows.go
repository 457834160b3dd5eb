package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// WriteRows writes what tells training sets apart to w, a hash: the task, the
// sizes and the training rows in their order. The test rows do not count, for no
// privacy is spent on them.
//
// Guarantee: none on its own. A hash without a secret salt lets anyone check a
// guess of the whole data set; callers salt it and keep the salt.
func WriteRows(w io.Writer, ds *Dataset) error {
	if _, err := fmt.Fprintf(w, "%s|%d|%d|%d|", ds.Task, ds.Train.N, ds.Features, ds.Outputs); err != nil {
		return err
	}
	if _, err := w.Write(ds.Train.U8); err != nil {
		return err
	}
	if err := writeFloats(w, ds.Train.F32); err != nil {
		return err
	}
	if err := writeTexts(w, ds.Train.Text); err != nil {
		return err
	}
	return writeFloats(w, ds.Train.Y)
}

// writeTexts writes texts behind their lengths; of no texts, nothing.
func writeTexts(w io.Writer, texts []string) error {
	for _, s := range texts {
		if _, err := fmt.Fprintf(w, "%d|%s", len(s), s); err != nil {
			return err
		}
	}
	return nil
}

func writeFloats(w io.Writer, a []float32) error {
	var buf [4096]byte
	for len(a) > 0 {
		n := min(len(a), len(buf)/4)
		for i, v := range a[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(v))
		}
		if _, err := w.Write(buf[:4*n]); err != nil {
			return err
		}
		a = a[n:]
	}
	return nil
}
