package format

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// NPY is the format of one NumPy array: a magic string, a version, the length of a
// header, the header, which is a Python dictionary as text, and the values.

const npyMagic = "\x93NUMPY"

// npyType is the type of an array's values.
type npyType struct {
	name  string // as NumPy says it: float32
	kind  byte   // b, i, u, f, or U and S for text
	bytes int    // of one value
	order binary.ByteOrder
}

// text reports whether the values are text.
func (t npyType) text() bool { return t.kind == 'U' || t.kind == 'S' }

// whole reports whether the values are whole numbers.
func (t npyType) whole() bool { return t.kind == 'b' || t.kind == 'i' || t.kind == 'u' }

// npyHeader is the header of an array.
type npyHeader struct {
	npyType
	fortran bool  // the first index goes fastest
	shape   []int // the first counts the rows
	size    int64 // bytes of the header
}

func (h npyHeader) row() int {
	n := 1
	for _, d := range h.shape[1:] {
		n *= d
	}
	return n
}

// String returns the shape and the type, such as 60000×28×28 of uint8.
func (h npyHeader) String() string {
	var dims []string
	for _, d := range h.shape {
		dims = append(dims, strconv.Itoa(d))
	}
	return strings.Join(dims, "×") + " of " + h.name
}

// readNPYHeader reads the header and checks it against limits and against the file's size.
func readNPYHeader(s *source.Stream, lim source.Limits) (npyHeader, error) {
	const most = 64 << 10 // bytes of a header; NumPy itself refuses more than 10,000
	name := s.File.Name()
	bad := func(got string) error {
		return &data.Error{File: name, Expected: "a NumPy array (NPY)", Got: got, Fix: "Save the array again with numpy.save or numpy.savez, or download it again."}
	}
	fixed := make([]byte, len(npyMagic)+2+2)
	if err := fill(s, fixed); err != nil {
		return npyHeader{}, ended(err, bad("a file that ends within its header"))
	}
	if string(fixed[:len(npyMagic)]) != npyMagic {
		return npyHeader{}, bad("other bytes at the beginning")
	}
	length := int(binary.LittleEndian.Uint16(fixed[8:]))
	if fixed[6] > 1 { // version 2 and 3 have a longer length
		more := make([]byte, 2)
		if err := fill(s, more); err != nil {
			return npyHeader{}, ended(err, bad("a file that ends within its header"))
		}
		length |= int(binary.LittleEndian.Uint16(more)) << 16
		fixed = append(fixed, more...)
	}
	if length > most {
		return npyHeader{}, bad(fmt.Sprintf("a header of %d bytes", length))
	}
	text := make([]byte, length)
	if err := fill(s, text); err != nil {
		return npyHeader{}, ended(err, bad("a file that ends within its header"))
	}
	h, fault := parseNPYHeader(string(text))
	if fault != "" {
		return npyHeader{}, bad(fault)
	}
	h.size = int64(len(fixed) + length)
	return h, h.plausible(s, lim)
}

// fill reads all of b.
func fill(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	return err
}

// ended returns then where err says that the file has come to its end, and err otherwise.
func ended(err, then error) error {
	if atEnd(err) {
		return then
	}
	return err
}

// parseNPYHeader reads the dictionary. fault says what is wrong with it.
func parseNPYHeader(text string) (h npyHeader, fault string) {
	descr, ok := npyValue(text, "descr")
	if !ok {
		return h, "a header without a type"
	}
	if strings.HasPrefix(descr, "[") {
		return h, "a structured array, of several types"
	}
	quoted := descr[:1]
	name, _, ok := strings.Cut(descr[1:], quoted)
	if !ok || quoted != "'" && quoted != `"` {
		return h, "a header whose type is not text"
	}
	if h.npyType, fault = parseNPYType(name); fault != "" {
		return h, fault
	}
	order, ok := npyValue(text, "fortran_order")
	if !ok {
		return h, "a header that does not say the order of values"
	}
	h.fortran = strings.HasPrefix(order, "True")
	shape, ok := npyValue(text, "shape")
	list, _, closed := strings.Cut(strings.TrimPrefix(shape, "("), ")")
	if !ok || !closed || !strings.HasPrefix(shape, "(") {
		return h, "a header without a shape"
	}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSuffix(strings.TrimSpace(part), "L"); part == "" { // (3,) and, of Python 2, (3L,)
			continue
		}
		d, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return h, "a shape of " + data.Quote(list)
		}
		h.shape = append(h.shape, int(d))
	}
	const mostDims = 32 // NumPy's own limit was that
	if len(h.shape) == 0 || len(h.shape) > mostDims {
		return h, fmt.Sprintf("an array of %d dimensions", len(h.shape))
	}
	return h, ""
}

// npyValue returns the value of a key of the header.
func npyValue(text, key string) (string, bool) {
	for _, q := range []string{"'", `"`} {
		if _, after, ok := strings.Cut(text, q+key+q); ok {
			after, ok = strings.CutPrefix(strings.TrimSpace(after), ":")
			after = strings.TrimSpace(after)
			return after, ok && after != ""
		}
	}
	return "", false
}

// parseNPYType reads a type such as <f4; fault says why one is not read.
func parseNPYType(s string) (t npyType, fault string) {
	t.order = binary.LittleEndian
	rest := strings.TrimLeft(s, "<>=|")
	if strings.HasPrefix(s, ">") {
		t.order = binary.BigEndian
	}
	if rest == "" {
		return t, "a type of " + data.Quote(s)
	}
	t.kind = rest[0]
	size, err := strconv.ParseUint(rest[1:], 10, 16)
	t.bytes = int(size)
	known := map[byte]string{'b': "1", 'i': "1 2 4 8", 'u': "1 2 4 8", 'f': "2 4 8"}
	switch {
	case t.kind == 'O':
		return t, "an array of Python objects, which is a pickle; unpacking one may run a program, so none is"
	case err == nil && t.text():
		if t.kind == 'U' {
			t.bytes *= 4
		}
		if t.bytes == 0 || t.bytes > 4000 {
			return t, fmt.Sprintf("texts of %d bytes each", t.bytes)
		}
		t.name = "text"
	case err != nil || known[t.kind] == "" || !strings.Contains(known[t.kind], rest[1:]) || len(rest) != 2:
		return t, "values of type " + data.Quote(s)
	default:
		t.name = map[byte]string{'b': "bool", 'i': "int", 'u': "uint", 'f': "float"}[t.kind]
		if t.kind != 'b' {
			t.name += strconv.Itoa(8 * t.bytes)
		}
	}
	return t, ""
}

// plausible compares what the header promises with limits and with what the file can hold.
func (h npyHeader) plausible(s *source.Stream, lim source.Limits) error {
	total := int64(1)
	for i, d := range h.shape {
		what := ""
		switch {
		case d == 0 && i == 0:
			what = "no rows"
		case d == 0:
			what = "a dimension of 0"
		case total*int64(d) > lim.Bytes:
			what = fmt.Sprintf("%d MB of values, over the limit of %d MB", total*int64(d)>>20, lim.Bytes>>20)
		}
		if total *= int64(d); what == "" && total/int64(h.shape[0]) > int64(lim.Features) {
			what = fmt.Sprintf("%d values a row, over the limit of %d", total/int64(h.shape[0]), lim.Features)
		}
		if what != "" {
			return &data.Error{File: s.File.Name(), Expected: "an array of rows", Got: fmt.Sprintf("%s (%s)", what, h),
				Fix: "Save fewer or smaller rows, or check that this is the original file."}
		}
	}
	want, have := total*int64(h.bytes)+h.size, s.File.Size()
	if !s.Gzip && want == have || s.Gzip && want <= have*source.MostDeflated {
		return nil
	}
	return h.lengthError(s, fmt.Sprintf("a file of %d", have))
}

func (h npyHeader) lengthError(s *source.Stream, got string) error {
	return &data.Error{File: s.File.Name(), Expected: fmt.Sprintf("%d bytes, as the header promises %s", int64(h.shape[0])*int64(h.row())*int64(h.bytes)+h.size, h),
		Got: got, Fix: "Download or save the array again: it is damaged, or cut short."}
}

// number reads one value that is no text.
func (t npyType) number(b []byte) float64 {
	switch t.kind {
	case 'b':
		if b[0] == 0 {
			return 0
		}
		return 1
	case 'f':
		switch t.bytes {
		case 2:
			return half(t.order.Uint16(b))
		case 4:
			return float64(math.Float32frombits(t.order.Uint32(b)))
		}
		return math.Float64frombits(t.order.Uint64(b))
	case 'i':
		switch t.bytes {
		case 1:
			return float64(int8(b[0]))
		case 2:
			return float64(int16(t.order.Uint16(b)))
		case 4:
			return float64(int32(t.order.Uint32(b)))
		}
		return float64(int64(t.order.Uint64(b)))
	case 'u':
		switch t.bytes {
		case 2:
			return float64(t.order.Uint16(b))
		case 4:
			return float64(t.order.Uint32(b))
		case 8:
			return float64(t.order.Uint64(b))
		}
	}
	return float64(b[0])
}

// half converts a floating-point number of 16 bits: a sign, five bits of exponent and ten of fraction.
func half(b uint16) float64 {
	sign, exponent, fraction := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 != 0 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// word reads one value that is text, without the zeros that pad it.
func (t npyType) word(b []byte) string {
	if t.kind == 'S' {
		return strings.ToValidUTF8(strings.TrimRight(string(b), "\x00"), "�")
	}
	var s []byte
	for ; len(b) >= 4; b = b[4:] {
		s = utf8.AppendRune(s, rune(min(t.order.Uint32(b), utf8.MaxRune+1)))
	}
	return strings.TrimRight(string(s), "\x00")
}

// places walks through an array in the order of its file and says where each value
// goes in memory.
type places struct {
	dims, strides, at []int
	place             int
}

// walk begins at the first value. strides say by how much the place grows with each index.
func (h npyHeader) walk(strides []int) *places {
	p := &places{dims: h.shape, strides: strides, at: make([]int, len(h.shape))}
	if h.fortran {
		p.dims, p.strides = reversed(h.shape), reversed(strides)
	}
	return p
}

func reversed(a []int) []int {
	b := make([]int, len(a))
	for i, v := range a {
		b[len(a)-1-i] = v
	}
	return b
}

func (p *places) next() {
	for i := len(p.dims) - 1; i >= 0; i-- {
		p.at[i]++
		p.place += p.strides[i]
		if p.at[i] < p.dims[i] {
			return
		}
		p.place -= p.at[i] * p.strides[i]
		p.at[i] = 0
	}
}

// rowMajor returns the strides of an array whose last index goes fastest.
func rowMajor(shape []int) []int {
	strides, n := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	return strides
}

// eachValue reads the values behind the header, and nothing may follow them. put is
// given the bytes of each and its place.
func (h npyHeader) eachValue(s *source.Stream, strides []int, put func(at int, b []byte) error) error {
	p := h.walk(strides)
	buf := make([]byte, max(1, (32<<10)/h.bytes)*h.bytes)
	for left := int64(h.shape[0]) * int64(h.row()); left > 0; {
		n := min(left, int64(len(buf)/h.bytes))
		part := buf[:n*int64(h.bytes)]
		if err := fill(s, part); err != nil {
			return ended(err, h.lengthError(s, "the end of the file before that"))
		}
		for ; len(part) > 0; part = part[h.bytes:] {
			if err := put(p.place, part[:h.bytes]); err != nil {
				return err
			}
			p.next()
		}
		left -= n
	}
	if _, err := s.ReadByte(); !atEnd(err) {
		if err == nil {
			return h.lengthError(s, "more: bytes are left over")
		}
		return err
	}
	return nil
}
