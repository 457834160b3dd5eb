package datatest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// IDX returns an IDX file of unsigned bytes with these dimensions.
func IDX(values []byte, dims ...int) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, values...)
}

// Images returns two IDX files: n images of h×w pixels, and their labels, 0 … classes−1 in turn.
func Images(n, h, w, classes int) (img, lab []byte) {
	px, y := make([]byte, n*h*w), make([]byte, n)
	for i := range px {
		px[i] = byte(i * 7)
	}
	for i := range y {
		y[i] = byte(i % classes)
	}
	return IDX(px, n, h, w), IDX(y, n)
}

const (
	CIFARPixels  = 3 * 32 * 32
	CIFARRecord  = 1 + CIFARPixels
	cifarClasses = 10
)

// CIFAR returns n records of CIFAR-10, with the labels 0 … 9 in turn.
func CIFAR(n int) []byte {
	b := make([]byte, n*CIFARRecord)
	for i := range n {
		rec := b[i*CIFARRecord : (i+1)*CIFARRecord]
		for j := range rec {
			rec[j] = byte(i + j)
		}
		rec[0] = byte(i % cifarClasses)
	}
	return b
}

// CIFAR100 returns n records of CIFAR-100, with the coarse labels 0 … 19 and the fine ones 0 … 99 in turn.
func CIFAR100(n int) []byte {
	const record = 2 + CIFARPixels
	b := make([]byte, n*record)
	for i := range n {
		rec := b[i*record : (i+1)*record]
		for j := range rec {
			rec[j] = byte(200 + i + j%7) // brighter than any label's number
		}
		rec[0], rec[1] = byte(i%20), byte(i%100)
	}
	return b
}

// NPYMagic holds the first bytes of every NPY file.
const NPYMagic = "\x93NUMPY"

// NPY returns an NPY file. values are of the type that descr names.
func NPY(descr, shape string, values any) []byte {
	return NPYOrdered(descr, "False", shape, values)
}

// NPYOrdered returns an NPY file. Where fortran is "True" the first index goes fastest.
func NPYOrdered(descr, fortran, shape string, values any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr, fortran, shape)
	header += strings.Repeat(" ", 63-(len(header)+10)%64) + "\n"
	b := append([]byte(NPYMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	order := binary.AppendByteOrder(binary.LittleEndian)
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	var out bytes.Buffer
	if err := binary.Write(&out, order.(binary.ByteOrder), values); err != nil {
		panic(err)
	}
	return append(b, out.Bytes()...)
}

// Ramp returns n numbers that count from 0 to 99 and begin again.
func Ramp[T int8 | uint8 | int16 | uint16 | int32 | int64 | float32 | float64](n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(i % 100)
	}
	return v
}
