package format

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
)

// MAT is the format of MATLAB's files of version 5 to 7: a header of 128 bytes, then elements, each
// behind its type and its size. Two kinds are read: an array of numbers, and an element packed by zlib;
// all others are passed over. SVHN's pictures have two arrays: X [height × width × planes × rows] of bytes, the first
// index going fastest, and y [rows × 1], in which 10 stands for the digit 0.

// matFormat reads pictures in the form of SVHN.
var matFormat = Format{Name: "mat", Sniff: sniffMAT, Load: loadMAT}

const (
	matHeader = 128
	matMagic  = "MATLAB 5.0 MAT-file"
	matTag    = 8 // bytes of a type and a size
)

// The types of elements, and those classes of arrays that are read.
const (
	matUint8      = 2
	matMatrix     = 14
	matCompressed = 15

	matClassDouble = 6
	matClassUint8  = 9
	matClassUint64 = 15
)

// matBytes holds the bytes of a number by its type.
var matBytes = map[uint32]int64{1: 1, matUint8: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8}

func sniffMAT(_ string, head []byte, _ int64) (bool, error) {
	return len(head) >= matHeader && bytes.HasPrefix(head, []byte(matMagic)), nil
}

// badMAT returns the error of a file that is damaged, or no data set.
func badMAT(f source.File, expected, got string) error {
	return &data.Error{File: f.Name(), Expected: expected, Got: got,
		Fix: "Download the file again, or save X [height × width × planes × rows] of uint8 and y [rows × 1] with -v7."}
}

// matArray is an array of numbers whose values have not been read.
type matArray struct {
	name  string
	class byte
	dims  []int64
	kind  uint32 // type of the values
	size  int64  // bytes of the values
	order binary.ByteOrder
}

// count returns the number of values that the dimensions promise; -1 beyond any file.
func (a *matArray) count() int64 {
	n := int64(1)
	for _, d := range a.dims {
		if d < 0 || d > 0 && n > math.MaxInt64/d {
			return -1
		}
		n *= d
	}
	return n
}

// String returns the name, the shape and the class, such as X (32×32×3×10 of uint8).
func (a *matArray) String() string {
	var dims []string
	for _, d := range a.dims {
		dims = append(dims, strconv.FormatInt(d, 10))
	}
	kind := map[byte]string{matClassDouble: "double", 7: "single", 8: "int8", matClassUint8: "uint8", 10: "int16", 11: "uint16", 12: "int32", 13: "uint32", 14: "int64", matClassUint64: "uint64"}[a.class]
	return fmt.Sprintf("%s (%s of %s)", data.Shorten(a.name), strings.Join(dims, "×"), kind)
}

// matReader reads the elements of one file.
type matReader struct {
	in    *source.Reading
	f     source.File
	order binary.ByteOrder
}

// eachMATArray calls do with each array of numbers in f, and a reader of its values, of which do may
// leave any.
func eachMATArray(in *source.Reading, f source.File, phase string, do func(a *matArray, values io.Reader) error) error {
	s, err := in.Open(f, phase)
	if err != nil {
		return err
	}
	defer s.Close()
	m := &matReader{in: in, f: f, order: binary.LittleEndian}
	var head [matHeader]byte
	if err := fill(s, head[:]); err != nil {
		return ended(err, m.cut())
	}
	if string(head[126:]) == "MI" { // as the number 4D49 is written where the last byte counts least
		m.order = binary.BigEndian
	}
	for {
		if _, err := s.Peek(1); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		kind, size, small, err := m.tag(s)
		if err != nil {
			return err
		}
		if small != nil {
			continue
		}
		if !s.Gzip && size > f.Size() {
			return badMAT(f, fmt.Sprintf("elements within the file's %d bytes", f.Size()), fmt.Sprintf("one of %d", size))
		}
		filling := int64(0) // up to eight bytes, behind all but what is packed
		if kind != matCompressed {
			filling = -size & 7
		}
		element := &io.LimitedReader{R: s, N: size + filling}
		switch kind {
		case matMatrix:
			err = m.matrix(element, size, s.Gzip, do)
		case matCompressed:
			err = m.packed(element, do)
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, element); err != nil {
			return err
		}
		if element.N > filling {
			return m.cut()
		}
	}
}

// packed reads the one element in a packed one.
func (m *matReader) packed(r io.Reader, do func(a *matArray, values io.Reader) error) error {
	z, err := zlib.NewReader(r)
	if err != nil {
		return m.damaged(err)
	}
	defer z.Close()
	unpacked := &spending{m, z}
	kind, size, small, err := m.tag(unpacked)
	if err != nil {
		return err
	}
	if small != nil || kind != matMatrix {
		return nil
	}
	array := &io.LimitedReader{R: unpacked, N: size}
	if err := m.matrix(array, size, true, do); err != nil {
		return err
	}
	if array.N >= matTag { // its values were not wanted
		return nil
	}
	_, err = io.Copy(io.Discard, unpacked) // to the checksum
	return err
}

// spending spends what is unpacked, and says what is wrong with it in its owner's terms.
type spending struct {
	m *matReader
	io.Reader
}

func (s *spending) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if spent := s.m.in.Spend(s.m.f.Name(), int64(n)); spent != nil {
		return 0, spent
	}
	if err != nil && err != io.EOF {
		err = s.m.damaged(err)
	}
	return n, err
}

// tag reads the type and the size of an element. small are the bytes of one that has them in the place
// of its size; such an element ends there.
func (m *matReader) tag(r io.Reader) (kind uint32, size int64, small []byte, err error) {
	if err := m.in.Step(matTag); err != nil {
		return 0, 0, nil, err
	}
	var b [matTag]byte
	if err := fill(r, b[:]); err != nil {
		return 0, 0, nil, ended(err, m.cut())
	}
	kind, second := m.order.Uint32(b[:]), m.order.Uint32(b[4:])
	if n := kind >> 16; n > 0 {
		if n > 4 {
			return 0, 0, nil, badMAT(m.f, "small elements of at most 4 bytes", fmt.Sprintf("one of %d", n))
		}
		return kind & 0xffff, int64(n), b[4 : 4+n], nil
	}
	return kind, int64(second), nil, nil
}

// part reads an element of an array that has at most most bytes, with what fills it up to eight.
func (m *matReader) part(r io.Reader, most int64) ([]byte, error) {
	_, size, small, err := m.tag(r)
	if err != nil || small != nil {
		return small, err
	}
	if size > most {
		return nil, badMAT(m.f, fmt.Sprintf("names and dimensions of at most %d bytes", most), fmt.Sprint(size))
	}
	b := make([]byte, (size+7)/8*8)
	if err := fill(r, b); err != nil {
		return nil, ended(err, m.cut())
	}
	return b[:size], nil
}

// matrix reads an array up to its values, which it hands to do; made says that they are not what is
// stored. Arrays of anything but real numbers are passed over.
func (m *matReader) matrix(r io.Reader, size int64, made bool, do func(a *matArray, values io.Reader) error) error {
	const mostDims, mostName = 32 * 4, 256
	if size == 0 {
		return nil
	}
	flags, err := m.part(r, matTag)
	if err != nil {
		return err
	}
	if len(flags) < 4 {
		return badMAT(m.f, "an array with flags", "one without")
	}
	word := m.order.Uint32(flags)
	a := &matArray{class: byte(word), order: m.order}
	const isComplex = 0x0800
	if a.class < matClassDouble || a.class > matClassUint64 || word&isComplex != 0 {
		return nil
	}
	dims, err := m.part(r, mostDims)
	if err != nil {
		return err
	}
	for ; len(dims) >= 4; dims = dims[4:] {
		a.dims = append(a.dims, int64(int32(m.order.Uint32(dims))))
	}
	name, err := m.part(r, mostName)
	if err != nil {
		return err
	}
	a.name = strings.ToValidUTF8(string(name), "�")
	var small []byte
	if a.kind, a.size, small, err = m.tag(r); err != nil {
		return err
	}
	if small != nil {
		r = bytes.NewReader(small)
	}
	have := m.f.Size()
	if made {
		have *= source.MostDeflated
	}
	if n := a.count(); n < 0 || n > have || a.size > have || matBytes[a.kind] > 0 && n*matBytes[a.kind] != a.size {
		return badMAT(m.f, fmt.Sprintf("as many bytes as %s promises, of a file of %d", a, m.f.Size()), fmt.Sprint(a.size))
	}
	return do(a, io.LimitReader(r, a.size))
}

func (m *matReader) cut() error {
	return badMAT(m.f, "a whole MATLAB file", "one that ends early")
}

func (m *matReader) damaged(err error) error {
	var own *data.Error
	switch {
	case errors.As(err, &own) || m.in.Ended() != nil:
		return err
	case atEnd(err):
		return m.cut()
	}
	return badMAT(m.f, "sound data packed by zlib", "damage")
}

// matPair holds the pictures and the labels of one file.
type matPair struct {
	f    source.File
	x, y *matArray
}

// rows returns the number of pictures.
func (p *matPair) rows() int64 { return p.x.dims[3] }

// values returns the number of values of a picture.
func (p *matPair) values() int64 { return p.x.dims[0] * p.x.dims[1] * p.x.dims[2] }

func loadMAT(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
	if _, err := table.Choose(in.Options, in.Limits); err != nil {
		return nil, err
	}
	pairs, err := scanMAT(in, train, nil)
	if err != nil {
		return nil, err
	}
	first := pairs[0]
	height, width, planes := int(first.x.dims[0]), int(first.x.dims[1]), int(first.x.dims[2])
	ds := &data.Dataset{Task: data.Classification, Features: int(first.values()), Shape: []int{planes, height, width}}
	if planes == 1 {
		ds.Shape = []int{height, width}
	}
	ds.Bounds = data.ByteBounds(ds.Features)
	var labels []float32
	if ds.Train, labels, err = readMAT(in, pairs); err != nil {
		return nil, err
	}
	classes := slices.Compact(slices.Sorted(slices.Values(labels)))
	if len(classes) > in.Limits.Classes {
		return nil, badMAT(first.f, fmt.Sprintf("at most %d classes", in.Limits.Classes), fmt.Sprint(len(classes)))
	}
	const digits = 10
	if classes[0] == 1 && classes[len(classes)-1] == digits {
		in.Warn("%s: label %d is read as the digit 0.", data.Shorten(first.f.Name()), digits)
		classes = append([]float32{digits}, classes[:len(classes)-1]...)
	}
	for i, c := range classes {
		name := strconv.Itoa(int(c))
		if i == 0 && c == digits {
			name = "0"
		}
		ds.Classes = append(ds.Classes, name)
	}
	if ds.Outputs = len(classes); ds.Outputs == 1 {
		return nil, data.OneClass(first.f.Name(), ds.Classes[0])
	}
	if ds.Train.Y, err = matTargets(first.f, classes, labels); err != nil || len(test) == 0 {
		return ds, err
	}
	if pairs, err = scanMAT(in, test, first); err != nil {
		return nil, err
	}
	if ds.Test, labels, err = readMAT(in, pairs); err != nil {
		return nil, err
	}
	ds.Test.Y, err = matTargets(pairs[0].f, classes, labels)
	return ds, err
}

// matTargets returns the places of labels among classes.
func matTargets(f source.File, classes, labels []float32) ([]float32, error) {
	index := make(map[float32]float32, len(classes))
	for i, c := range classes {
		index[c] = float32(i)
	}
	y := make([]float32, len(labels))
	for i, v := range labels {
		k, ok := index[v]
		if !ok {
			return nil, &data.Error{File: f.Name(), Row: i + 1, Expected: "one of the labels to train on", Got: fmt.Sprint(v), Fix: "Choose test pictures of the same classes."}
		}
		y[i] = k
	}
	return y, nil
}

// scanMAT finds the pictures and labels of files, which all have the shape of the first, or of like
// where that is not nil, and claims the memory of their rows.
func scanMAT(in *source.Reading, files []source.File, like *matPair) ([]*matPair, error) {
	var pairs []*matPair
	for _, f := range files {
		p := &matPair{f: f}
		var have []string
		err := eachMATArray(in, f, source.PhaseScan, func(a *matArray, _ io.Reader) error {
			switch {
			case strings.EqualFold(a.name, "x"):
				p.x = a
			case strings.EqualFold(a.name, "y"):
				p.y = a
			}
			if len(have) < 10 {
				have = append(have, a.String())
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if err := p.check(in.Limits, have); err != nil {
			return nil, err
		}
		if like == nil {
			like = p
		}
		if !slices.Equal(p.x.dims[:3], like.x.dims[:3]) {
			return nil, badMAT(f, "pictures like those of "+like.x.String(), p.x.String())
		}
		if err := in.Claim(f.Name(), p.rows(), p.values(), p.values()+source.RowOverhead); err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// check refuses a file without pictures and as many labels. have are its arrays.
func (p *matPair) check(lim source.Limits, have []string) error {
	const want = "arrays X [height × width × 1 or 3 planes × rows] of uint8 and y [rows × 1]"
	switch x, y := p.x, p.y; {
	case x == nil || y == nil || x.class != matClassUint8 || x.kind != matUint8 || len(x.dims) != 4 || x.dims[2] != 1 && x.dims[2] != 3 || matBytes[y.kind] == 0:
		return badMAT(p.f, want, cmp.Or(data.List(have), "none"))
	case x.count() == 0:
		return badMAT(p.f, "rows of data", x.String())
	case p.values() > int64(lim.Features):
		return badMAT(p.f, fmt.Sprintf("pictures of at most %d values", lim.Features), x.String())
	case y.count() != p.rows():
		return badMAT(p.f, fmt.Sprintf("%d labels, one for each picture", p.rows()), fmt.Sprint(y.count()))
	}
	return nil
}

// readMAT joins the rows of files, whose targets are left out, and their labels as they are written.
func readMAT(in *source.Reading, pairs []*matPair) (sp data.Split, labels []float32, err error) {
	values := int(pairs[0].values())
	for _, p := range pairs {
		sp.N += int(p.rows())
	}
	sp.U8, labels = make([]uint8, sp.N*values), make([]float32, sp.N)
	at := 0
	for _, p := range pairs {
		n, found := int(p.rows()), 0
		err := eachMATArray(in, p.f, source.PhaseRead, func(a *matArray, r io.Reader) error {
			switch {
			case a.name == p.x.name && slices.Equal(a.dims, p.x.dims) && a.kind == p.x.kind:
				found |= 1
				return p.pictures(sp.U8[at*values:(at+n)*values], r)
			case a.name == p.y.name && slices.Equal(a.dims, p.y.dims) && a.kind == p.y.kind:
				found |= 2
				return p.labels(labels[at:at+n], r)
			}
			return nil
		})
		if err == nil && found != 3 {
			err = source.Changed(p.f.Name())
		}
		if err != nil {
			return sp, nil, err
		}
		at += n
	}
	return sp, labels, nil
}

// pictures reads the pictures of a file into dst, each one plane after the other and row by row.
func (p *matPair) pictures(dst []uint8, r io.Reader) error {
	height, width, planes := int(p.x.dims[0]), int(p.x.dims[1]), int(p.x.dims[2])
	buf := make([]byte, height*width*planes)
	for ; len(dst) > 0; dst = dst[len(buf):] {
		if err := fill(r, buf); err != nil {
			return ended(err, badMAT(p.f, "the values of "+p.x.String(), "fewer"))
		}
		for plane := range planes {
			from, to := buf[plane*height*width:][:height*width], dst[plane*height*width:][:height*width]
			for column := range width {
				for row := range height {
					to[row*width+column] = from[column*height+row]
				}
			}
		}
	}
	return nil
}

// labels reads the labels of a file, which are whole numbers.
func (p *matPair) labels(dst []float32, r io.Reader) error {
	y := p.y
	buf := make([]byte, matBytes[y.kind])
	for i := range dst {
		if err := fill(r, buf); err != nil {
			return ended(err, badMAT(p.f, "the values of "+y.String(), "fewer"))
		}
		v := y.number(buf)
		if v != math.Trunc(v) || v < 0 || v >= table.MostExact {
			return &data.Error{File: p.f.Name(), Row: i + 1, Expected: fmt.Sprintf("a label that is a whole number from 0 to %d", table.MostExact-1), Got: fmt.Sprint(v),
				Fix: "Number the classes from 0 or 1."}
		}
		dst[i] = float32(v)
	}
	return nil
}

// number reads one value.
func (a *matArray) number(b []byte) float64 {
	t := npyType{kind: 'i', bytes: len(b), order: a.order}
	switch a.kind {
	case 7, 9:
		t.kind = 'f'
	case matUint8, 4, 6:
		t.kind = 'u'
	}
	return t.number(b)
}
