package data

import (
	"cmp"
	"context"
	"fmt"
	"hash"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
)

// Parts writes to h, one after the other, what a ledger recognises the people of files
// by: each picture of a folder or of an archive, and each row of a table by its cells.
// It calls add after each, and resets h before each. A picture that its folder's name
// holds for testing is written only if tested is set. Files of other kinds (IDX, CIFAR,
// NumPy, pictures within Parquet) have no parts: their rows are those of the Dataset,
// see [EachRow].
//
// The cells are written before any choice of columns, so a table without some of its
// rows, saved with another delimiter or with another label has the same parts. One with
// a column more or less has others.
//
// Guarantee: none on its own; h is to be salted, as for [WriteRows].
func (how Loader) Parts(ctx context.Context, files []File, opt run.CSV, tested bool, h hash.Hash, add func()) error {
	l := newLoader(ctx, opt)
	l.parquet = how.Parquet
	defer l.close()
	var of kinds
	var parts []File
	files = Gather(files)
	l.allow(files...)
	for _, f := range files {
		found, err := l.sniff(f, of.add)
		if err != nil {
			return err
		}
		parts = append(parts, found...)
	}
	switch of.kind {
	case formatPictures:
		return l.pictureParts(parts, tested, h, add)
	case formatCSV, formatXLSX, formatParquet:
		for _, f := range parts {
			if err := l.tableParts(f, of.kind, h, add); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loader) pictureParts(files []File, tested bool, h hash.Hash, add func()) error {
	all, _, err := l.listPictures(files, nil)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.role == roleTest && !tested {
			continue
		}
		h.Reset()
		if err := l.content(h, p); err != nil {
			return err
		}
		add()
	}
	return nil
}

// content writes a file to h as it is stored.
func (l *loader) content(h hash.Hash, f File) error {
	if err := l.ended(); err != nil {
		return fmt.Errorf("data: parts: %w", err)
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("data: parts: %w", err)
	}
	defer r.Close()
	io.WriteString(h, "picture|")
	if _, err := io.Copy(h, r); err != nil {
		return fmt.Errorf("data: parts: %w", err)
	}
	return nil
}

// tableParts writes the rows of a table. A row that cannot be read has no part.
func (l *loader) tableParts(f File, kind format, h hash.Hash, add func()) error {
	switch kind {
	case formatXLSX:
		s, err := l.openSheet(f.(*archive))
		if err != nil {
			return err
		}
		f = s
	case formatParquet:
		if l.parquet == nil {
			return nil
		}
		c, err := l.parquet(l.ctx, f, l.opt)
		if err != nil || c.Pictures() {
			return err
		}
		f = columnsFile{f, c}
	}
	ch, err := choices(l.opt, l.limits)
	if err != nil {
		return err
	}
	t, err := l.openTable(f, phaseScan, ch, nil)
	if err != nil {
		return err
	}
	defer t.src.Close()
	t.bad = &badRows{}
	t.width = cmp.Or(t.width, t.dialect.width)
	var row []byte
	for {
		cells, _, err := t.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		row = append(row[:0], "cells|"...)
		some := false
		for _, c := range cells {
			some = some || c != ""
			row = strconv.AppendInt(row, int64(len(c)), 10)
			row = append(append(row, '|'), c...)
		}
		if !some {
			continue
		}
		h.Reset()
		h.Write(row)
		add()
	}
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
		if c.Kind == Numeric || c.Kind == Categorical {
			fmt.Fprintf(&head, "%d|%s", len(c.Name), c.Name)
		}
	}
	width := ds.TargetWidth()
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
			if err := writeFloats(h, of.F32[i*ds.Features:(i+1)*ds.Features]); err != nil {
				return err
			}
		}
		if of.Text != nil {
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

// warnAlike warns of files to train on that have the same content under two names. Each is
// read once, and only where another has its size.
func (l *loader) warnAlike(train []File) error {
	sizes := map[int64]int{}
	for _, f := range train {
		sizes[f.Size()]++
	}
	seed, first := maphash.MakeSeed(), map[content]File{}
	for _, f := range train {
		if sizes[f.Size()] < 2 {
			continue
		}
		has, ok, err := l.contentOf(f, seed)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if g, seen := first[has]; !seen {
			first[has] = f
		} else if g.Name() != f.Name() { // of the latter split has warned
			l.warnTwice(g.Name(), f.Name())
		}
	}
	return nil
}

func (l *loader) warnTwice(one, other string) {
	l.warn("%s and %s are the same: each row of theirs counts twice, and more can be learnt of it than ε says. Leave one out.", shorten(one), shorten(other))
}

// content tells what files hold apart.
type content struct {
	size   int64
	packed bool
	sum    uint64
}

// contentOf returns a hash of f's content. Of an entry of an archive it is the checksum, as unpacking costs.
// ok is false of what is compared as it is read.
func (l *loader) contentOf(f File, seed maphash.Seed) (c content, ok bool, err error) {
	switch f := f.(type) {
	case *entry:
		return content{f.Size(), true, uint64(f.zip.CRC32)}, true, l.step(mostNamed)
	case *archive, *folder:
		return content{}, false, nil
	}
	s, err := l.open(f, phaseSniff)
	if err != nil {
		return content{}, false, err
	}
	defer s.Close()
	var h maphash.Hash
	h.SetSeed(seed)
	_, err = io.Copy(&h, s)
	return content{f.Size(), false, h.Sum64()}, true, err
}
