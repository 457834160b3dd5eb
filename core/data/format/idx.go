package format

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// IDX is the format of the MNIST files: two zero bytes, a type, the number of
// dimensions, each dimension as a big-endian 32-bit number, then the values.
// Only unsigned bytes are read.

const idxUbyte = 0x08

// idxFormat reads the files of MNIST and its kin.
var idxFormat = Format{Name: "idx", Sniff: sniffIDX, Load: loadIDX}

// sniffIDX refuses a file that only its name says is of the format.
func sniffIDX(name string, head []byte, _ int64) (bool, error) {
	if looksIDX(head) {
		return true, nil
	}
	if lower := strings.ToLower(name); strings.Contains(lower, "idx") || strings.Contains(lower, "ubyte") {
		return false, badMagic(name, head)
	}
	return false, nil
}

// idxTypes names IDX's value types.
var idxTypes = map[byte]string{
	idxUbyte: "unsigned bytes", 0x09: "signed bytes", 0x0b: "16-bit integers",
	0x0c: "32-bit integers", 0x0d: "32-bit floats", 0x0e: "64-bit floats",
}

func looksIDX(head []byte) bool {
	if len(head) < 4 || head[0] != 0 || head[1] != 0 || head[3] < 1 || head[3] > 8 {
		return false
	}
	return idxTypes[head[2]] != ""
}

func badMagic(name string, head []byte) error {
	return &data.Error{File: name,
		Expected: "an IDX file, whose first bytes are 00 00 08 01 (labels) or 00 00 08 03 (images)",
		Got:      fmt.Sprintf("% x", head[:min(4, len(head))]),
		Fix:      "Check that this is the original file; download or extract it again."}
}

// idxHeader is the header of an IDX file.
type idxHeader struct {
	dims []int // the first counts the rows
	size int64 // bytes of the header
}

func (h idxHeader) labels() bool { return len(h.dims) == 1 }

// row returns the number of values of a row.
func (h idxHeader) row() int {
	n := 1
	for _, d := range h.dims[1:] {
		n *= d
	}
	return n
}

// readIDXHeader reads the header and checks it against limits and, for a plain
// file, against the file's size.
func readIDXHeader(s *source.Stream, lim source.Limits) (idxHeader, error) {
	name := s.File.Name()
	var magic [4]byte
	if n, err := io.ReadFull(s, magic[:]); err != nil {
		if !atEnd(err) {
			return idxHeader{}, err
		}
		return idxHeader{}, badMagic(name, magic[:n])
	}
	if !looksIDX(magic[:]) {
		return idxHeader{}, badMagic(name, magic[:])
	}
	if magic[2] != idxUbyte {
		return idxHeader{}, &data.Error{File: name, Byte: 2, Expected: "IDX values that are unsigned bytes (type 08)",
			Got: fmt.Sprintf("%s (type %02x)", idxTypes[magic[2]], magic[2]), Fix: "Convert the values to unsigned bytes."}
	}
	h := idxHeader{dims: make([]int, magic[3]), size: 4 + 4*int64(magic[3])}
	total := int64(1)
	for i := range h.dims {
		var b [4]byte
		if n, err := io.ReadFull(s, b[:]); err != nil {
			if !atEnd(err) {
				return idxHeader{}, err
			}
			return idxHeader{}, &data.Error{File: name, Byte: int64(4 + 4*i + n),
				Expected: fmt.Sprintf("a header of %d bytes", h.size), Got: "the end of the file",
				Fix: "Download or copy the file again: it is cut short."}
		}
		d := int64(binary.BigEndian.Uint32(b[:]))
		h.dims[i] = int(d)
		what := ""
		switch {
		case d == 0 && i == 0:
			what = "no rows"
		case d == 0:
			what = "a dimension of 0"
		case i > 0 && int64(h.row1(i)) > int64(lim.Features):
			what = fmt.Sprintf("%d values a row, over the limit of %d", h.row1(i), lim.Features)
		case total*d > lim.Bytes:
			what = fmt.Sprintf("%d MB of values, over the limit of %d MB", total*d>>20, lim.Bytes>>20)
		}
		if what != "" {
			return idxHeader{}, &data.Error{File: name, Byte: int64(4 + 4*i), Expected: "a plausible IDX header", Got: what,
				Fix: "Check that this is the original file; it may be damaged, or use a smaller part of it."}
		}
		total *= d
	}
	return h, h.plausible(s, total)
}

// row1 returns the number of values of a row, by the dimensions up to i alone.
func (h idxHeader) row1(i int) int { return idxHeader{dims: h.dims[:i+1]}.row() }

// plausible compares the promised number of values with what the file can hold.
func (h idxHeader) plausible(s *source.Stream, total int64) error {
	have := s.File.Size()
	if s.Gzip {
		if total+h.size > have*source.MostDeflated {
			return h.lengthError(s, total, fmt.Sprintf("a gzip file of %d bytes, too small to hold them", have), 0)
		}
		return nil
	}
	switch want := total + h.size; {
	case have < want:
		return h.lengthError(s, total, fmt.Sprintf("%d: the file ends early", have), have)
	case have > want:
		return h.lengthError(s, total, fmt.Sprintf("%d: %d bytes too many", have, have-want), want)
	}
	return nil
}

func (h idxHeader) lengthError(s *source.Stream, total int64, got string, at int64) error {
	what := "labels"
	if !h.labels() {
		what = fmt.Sprintf("images of %d pixels", h.row())
	}
	return &data.Error{File: s.File.Name(), Byte: at,
		Expected: fmt.Sprintf("%d bytes, as the header says (%d %s)", h.size+total, h.dims[0], what), Got: got,
		Fix: "Download or copy the file again: it is damaged, or is not what its header says."}
}

// readIDXValues reads the values that h promises. Its error says if they are cut short, or more follows.
func readIDXValues(s *source.Stream, h idxHeader) ([]uint8, error) {
	total := int64(h.dims[0]) * int64(h.row())
	values := make([]uint8, total)
	if n, err := io.ReadFull(s, values); err != nil {
		if !atEnd(err) {
			return nil, err
		}
		at := h.size + int64(n)
		return nil, h.lengthError(s, total, fmt.Sprintf("%d: the file ends early", at), at)
	}
	if _, err := s.ReadByte(); err == nil {
		return nil, h.lengthError(s, total, "more: bytes are left over", h.size+total)
	} else if !atEnd(err) {
		return nil, err
	}
	return values, nil
}

func atEnd(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// idxFile is an IDX file that has been read.
type idxFile struct {
	file   source.File
	header idxHeader
	values []uint8
}

// readPair reads one file of images and one of labels, in whichever order.
func readPair(in *source.Reading, files []source.File) (images, labels idxFile, err error) {
	for _, f := range files {
		r, err := readIDX(in, f)
		if err != nil {
			return images, labels, err
		}
		kind, slot := "image", &images
		if r.header.labels() {
			kind, slot = "label", &labels
		}
		if slot.file != nil {
			return images, labels, &data.Error{File: f.Name(), Expected: "one image file and one label file",
				Got: fmt.Sprintf("a second %s file beside %s", kind, data.Shorten(slot.file.Name())),
				Fix: "Choose the images and the labels of one data set."}
		}
		*slot = r
	}
	return images, labels, checkPair(images, labels)
}

func checkPair(images, labels idxFile) error {
	switch {
	case labels.file == nil:
		return &data.Error{File: images.file.Name(),
			Expected: fmt.Sprintf("an IDX file of %d labels beside it", images.header.dims[0]), Got: "images without labels",
			Fix: "Choose the images and their labels file (…-labels-idx1-ubyte) together."}
	case images.file == nil:
		return &data.Error{File: labels.file.Name(),
			Expected: fmt.Sprintf("an IDX file of %d images beside it", labels.header.dims[0]), Got: "labels without images",
			Fix: "Choose the labels and their images file (…-images-idx3-ubyte) together."}
	case images.header.dims[0] != labels.header.dims[0]:
		return &data.Error{File: labels.file.Name(),
			Expected: fmt.Sprintf("%d labels, one for each image of %s", images.header.dims[0], data.Shorten(images.file.Name())),
			Got:      fmt.Sprintf("%d labels", labels.header.dims[0]),
			Fix:      "Choose the labels that belong to these images."}
	}
	return nil
}

func readIDX(in *source.Reading, f source.File) (idxFile, error) {
	s, err := in.Open(f, source.PhaseRead)
	if err != nil {
		return idxFile{}, err
	}
	defer s.Close()
	h, err := readIDXHeader(s, in.Limits)
	if err != nil {
		return idxFile{}, err
	}
	bytes := int64(h.row())
	if h.labels() {
		bytes += source.RowOverhead
	}
	if err := in.Claim(f.Name(), int64(h.dims[0]), int64(h.row()), bytes); err != nil {
		return idxFile{}, err
	}
	values, err := readIDXValues(s, h)
	return idxFile{f, h, values}, err
}

func loadIDX(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
	images, labels, err := readPair(in, train)
	if err != nil {
		return nil, err
	}
	classes, err := idxClasses(labels)
	if err != nil {
		return nil, err
	}
	ds := &data.Dataset{Task: data.Classification, Features: images.header.row(), Outputs: len(classes)}
	if len(images.header.dims) > 2 {
		ds.Shape = images.header.dims[1:]
	}
	for _, c := range classes {
		ds.Classes = append(ds.Classes, strconv.Itoa(int(c)))
	}
	ds.Bounds = data.ByteBounds(ds.Features)
	if ds.Train, err = idxSplit(images, labels, classes); err != nil {
		return nil, err
	}
	if len(test) == 0 {
		return ds, nil
	}
	testImages, testLabels, err := readPair(in, test)
	if err != nil {
		return nil, err
	}
	if got := testImages.header; got.row() != ds.Features {
		return nil, &data.Error{File: testImages.file.Name(), Byte: 8,
			Expected: fmt.Sprintf("images of %d pixels like those of %s", ds.Features, data.Shorten(images.file.Name())),
			Got:      fmt.Sprintf("images of %d pixels", got.row()), Fix: "Choose test images of the same size."}
	}
	ds.Test, err = idxSplit(testImages, testLabels, classes)
	return ds, err
}

// idxClasses lists the labels that occur, ascending. Numbers above 9 count as
// damage where they leave a gap: no known data set numbers its classes so.
func idxClasses(labels idxFile) ([]uint8, error) {
	var seen [256]bool
	top := 0
	for _, y := range labels.values {
		seen[y] = true
		top = max(top, int(y))
	}
	var classes []uint8
	for c, ok := range seen {
		if !ok {
			continue
		}
		if n := len(classes); top > 9 && n > 0 && c != int(classes[n-1])+1 {
			return nil, labelError(labels, classes, uint8(c))
		}
		classes = append(classes, uint8(c))
	}
	if len(classes) == 1 {
		return nil, data.OneClass(labels.file.Name(), strconv.Itoa(int(classes[0])))
	}
	return classes, nil
}

// labelError returns the error about the first label that equals got.
func labelError(labels idxFile, classes []uint8, got uint8) error {
	for i, y := range labels.values {
		if y == got {
			return &data.Error{File: labels.file.Name(), Row: i + 1, Byte: labels.header.size + int64(i),
				Expected: fmt.Sprintf("a label from %d to %d", classes[0], classes[len(classes)-1]),
				Got:      fmt.Sprintf("label %d, which is out of range", got),
				Fix:      "Correct the label, or number the classes 0, 1, 2 … without gaps."}
		}
	}
	return nil
}

func idxSplit(images, labels idxFile, classes []uint8) (data.Split, error) {
	index := [256]int{}
	for i := range index {
		index[i] = -1
	}
	for i, c := range classes {
		index[c] = i
	}
	y := make([]float32, len(labels.values))
	for i, v := range labels.values {
		if index[v] < 0 {
			return data.Split{}, labelError(labels, classes, v)
		}
		y[i] = float32(index[v])
	}
	return data.Split{N: len(y), U8: images.values, Y: y}, nil
}
