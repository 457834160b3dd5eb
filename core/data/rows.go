package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strings"
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
	if err := errors.Join(writeWords(w, ds.Train.Words), writeTexts(w, ds.Train.onlyText())); err != nil {
		return err
	}
	return writeFloats(w, ds.Train.Y)
}

// writeWords writes the features of texts behind their number in each row; of no texts, nothing.
func writeWords(w io.Writer, rows [][]Word) error {
	var buf []byte
	for _, words := range rows {
		buf = binary.LittleEndian.AppendUint32(buf[:0], uint32(len(words)))
		for _, f := range words {
			buf = binary.LittleEndian.AppendUint32(buf, f.Feature)
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(f.Value))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// texts is the number of texts that a row has for a backbone; of no rows 0.
func (s *Split) texts() int { return len(s.Text) / max(s.N, 1) }

// onlyText is the text of each row where one column is text. Several are told by their words, as they were before their texts
// were kept: the ledgers of data that was opened then have to know it.
func (s *Split) onlyText() []string {
	if s.texts() == 1 {
		return s.Text
	}
	return nil
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

// EachRow writes the rows of a split of ds to h, one after the other, as training sees
// them: the columns' names, the features and the target. It calls add after each, and
// resets h before each. A picture of one colour is left out: it is nobody's, and many data
// sets have one.
//
// Guarantee: none on its own; h is to be salted, as for [WriteRows].
func EachRow(ds *Dataset, of *Split, h hash.Hash, add func()) error {
	var head strings.Builder
	fmt.Fprintf(&head, "row|%s|%d|", ds.Task, ds.Features)
	for _, c := range ds.Columns {
		if c.Makes() {
			fmt.Fprintf(&head, "%d|%s", len(c.Name), c.Name)
		}
	}
	width, dense := ds.TargetWidth(), ds.Dense()
	for i := range of.N {
		if of.U8 != nil && ds.Features > 1 && blank(of.U8[i*ds.Features:(i+1)*ds.Features]) {
			continue
		}
		h.Reset()
		io.WriteString(h, head.String())
		if of.U8 != nil {
			h.Write(of.U8[i*ds.Features : (i+1)*ds.Features])
		}
		if of.F32 != nil {
			if err := writeFloats(h, of.F32[i*dense:(i+1)*dense]); err != nil {
				return err
			}
		}
		if of.Words != nil {
			if err := writeWords(h, of.Words[i:i+1]); err != nil {
				return err
			}
		}
		if of.onlyText() != nil {
			if err := writeTexts(h, of.Text[i:i+1]); err != nil {
				return err
			}
		}
		y := of.Y[i*width : (i+1)*width]
		if k := int(y[0]); ds.Task == Classification && k < len(ds.Classes) { // its number may be another where a class is gone
			io.WriteString(h, ds.Classes[k])
		} else if err := writeFloats(h, y); err != nil {
			return err
		}
		add()
	}
	return nil
}

func blank(pixels []uint8) bool {
	return !slices.ContainsFunc(pixels, func(v uint8) bool { return v != pixels[0] })
}
