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

// readCIFAR joins the records of files. They are counted first, as what a
// compressed file holds cannot be told from its size.
func (l *loader) readCIFAR(files []File) (Split, error) {
	rows := make([]int64, len(files))
	total := int64(0)
	for i, f := range files {
		var err error
		if rows[i], err = l.countCIFAR(f); err != nil {
			return Split{}, err
		}
		total += rows[i]
	}
	sp := Split{N: int(total), U8: make([]uint8, total*cifarPixels), Y: make([]float32, total)}
	at := int64(0)
	for i, f := range files {
		n, err := l.eachCIFAR(f, phaseRead, func(rec []byte) error {
			if at == total {
				return changed(f.Name())
			}
			sp.Y[at] = float32(rec[0])
			copy(sp.U8[at*cifarPixels:], rec[1:])
			at++
			return nil
		})
		if err != nil {
			return Split{}, err
		}
		if n != rows[i] {
			return Split{}, changed(f.Name())
		}
	}
	return sp, nil
}

// countCIFAR counts the records of f and claims the memory for them.
func (l *loader) countCIFAR(f File) (int64, error) {
	const bytes = cifarPixels + rowOverhead
	s, err := l.open(f, phaseSniff)
	if err != nil {
		return 0, err
	}
	s.Close()
	if !s.gzip {
		n := f.Size() / cifarRecord
		return n, l.claim(f.Name(), n, cifarPixels, bytes)
	}
	rows := int64(0)
	_, err = l.eachCIFAR(f, phaseScan, func([]byte) error {
		rows++
		return l.room(f.Name(), rows, cifarPixels, bytes)
	})
	if err != nil {
		return 0, err
	}
	return rows, l.claim(f.Name(), rows, cifarPixels, bytes)
}

// eachCIFAR calls do with each record of f and returns how many there are.
func (l *loader) eachCIFAR(f File, phase string, do func(rec []byte) error) (row int64, err error) {
	s, err := l.open(f, phase)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var rec [cifarRecord]byte
	for ; ; row++ {
		n, err := io.ReadFull(s, rec[:])
		at := row * cifarRecord
		switch {
		case err == io.EOF && row > 0:
			return row, nil
		case atEnd(err):
			return row, &Error{File: f.Name(), Byte: at + int64(n),
				Expected: fmt.Sprintf("CIFAR-10 records of %d bytes", cifarRecord),
				Got:      fmt.Sprintf("the end of the file %d bytes into record %d", n, row+1),
				Fix:      "Download or copy the file again: it is cut short, or not CIFAR-10's binary version."}
		case err != nil:
			return row, err
		case rec[0] >= cifarClasses:
			return row, &Error{File: f.Name(), Row: int(row) + 1, Byte: at, Expected: "a label from 0 to 9",
				Got: fmt.Sprintf("label %d, which is out of range", rec[0]),
				Fix: "Check that this is CIFAR-10's binary version (CIFAR-100 has another form)."}
		}
		if err := do(rec[:]); err != nil {
			return row, err
		}
	}
}
