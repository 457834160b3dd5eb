package data

import (
	"fmt"
	"io"
)

// The binary version of CIFAR-10: records of one label byte and 3,072 pixel
// bytes, one colour plane of 32×32 after the other.
const (
	cifarPixels  = 3 * 32 * 32
	cifarRecord  = 1 + cifarPixels
	cifarClasses = 10
)

func cifarNames() []string {
	return []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}
}

// looksCIFAR reports whether each record that begins in head begins with a label.
func looksCIFAR(head []byte) bool {
	if len(head) < cifarRecord {
		return false
	}
	for at := 0; at < len(head); at += cifarRecord {
		if head[at] >= cifarClasses {
			return false
		}
	}
	return true
}

func (l *loader) loadCIFAR(train, test []File) (*Dataset, error) {
	ds := &Dataset{Task: Classification, Features: cifarPixels, Shape: []int{3, 32, 32},
		Outputs: cifarClasses, Classes: cifarNames(), Bounds: byteBounds(cifarPixels)}
	var err error
	if ds.Train, err = l.readCIFAR(train); err != nil {
		return nil, err
	}
	if first := ds.Train.Y[0]; allEqual(ds.Train.Y) {
		return nil, oneClass(train[0].Name(), ds.Classes[int(first)])
	}
	if len(test) > 0 {
		ds.Test, err = l.readCIFAR(test)
	}
	return ds, err
}

func allEqual(y []float32) bool {
	for _, v := range y {
		if v != y[0] {
			return false
		}
	}
	return true
}

// readCIFAR joins the records of files.
func (l *loader) readCIFAR(files []File) (Split, error) {
	var sp Split
	for _, f := range files {
		if err := l.appendCIFAR(&sp, f); err != nil {
			return Split{}, err
		}
	}
	sp.N = len(sp.Y)
	return sp, nil
}

func (l *loader) appendCIFAR(sp *Split, f File) error {
	s, err := openSource(l.ctx, f, phaseRead, l.progress)
	if err != nil {
		return err
	}
	defer s.Close()
	if !s.gzip { // the size is known, so that nothing is copied while growing
		n := min(f.Size()/cifarRecord, l.limits.bytes/cifarPixels)
		sp.U8 = grow(sp.U8, int(n)*cifarPixels)
	}
	var rec [cifarRecord]byte
	for row := int64(0); ; row++ {
		n, err := io.ReadFull(s, rec[:])
		at := row * cifarRecord
		switch {
		case err == io.EOF && row > 0:
			return nil
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return &Error{File: f.Name(), Byte: at + int64(n),
				Expected: fmt.Sprintf("CIFAR-10 records of %d bytes", cifarRecord),
				Got:      fmt.Sprintf("the end of the file %d bytes into record %d", n, row+1),
				Fix:      "Download or copy the file again: it is cut short, or not CIFAR-10's binary version."}
		case err != nil:
			return err
		case rec[0] >= cifarClasses:
			return &Error{File: f.Name(), Row: int(row) + 1, Byte: at, Expected: "a label from 0 to 9",
				Got: fmt.Sprintf("label %d, which is out of range", rec[0]),
				Fix: "Check that this is CIFAR-10's binary version (CIFAR-100 has another form)."}
		case int64(len(sp.U8)+cifarPixels) > l.limits.bytes:
			return &Error{File: f.Name(), Row: int(row) + 1, Got: fmt.Sprintf("the data set is larger than %d MB", l.limits.bytes>>20),
				Fix: "Choose fewer files."}
		}
		sp.U8 = append(sp.U8, rec[1:]...)
		sp.Y = append(sp.Y, float32(rec[0]))
	}
}

// grow makes room for n more elements without the spare room append adds.
func grow(a []uint8, n int) []uint8 {
	if cap(a)-len(a) >= n {
		return a
	}
	b := make([]uint8, len(a), len(a)+n)
	copy(b, a)
	return b
}
