package onnx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
)

// file reads the wire format of protocol buffers
// (https://protobuf.dev/programming-guides/encoding) at any place, a window at a time.
type file struct {
	ctx         context.Context
	r           io.ReaderAt
	at          int64 // where it was read last
	windowStart int64 // of the window
	window      []byte
	buf         [64 << 10]byte
	parts       int // fields that were counted
	ints        int // integers of packed fields
}

// span is a range of bytes in the file.
type span struct{ from, to int64 }

func (s span) size() int64 { return s.to - s.from }

// element is a field of a message: a number, or bytes that stand in its span.
type element struct {
	span
	number int
	long   bool // it has bytes of any number
	value  uint64
}

var (
	errCut  = errors.New("it ends within a field")
	errWire = errors.New("a field that no message has")
)

// byteAt is the byte at a place before to.
func (f *file) byteAt(at, to int64) (byte, error) {
	if at >= to {
		return 0, errCut
	}
	if at < f.windowStart || at >= f.windowStart+int64(len(f.window)) {
		if err := f.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := f.r.ReadAt(f.buf[:], at)
		if n == 0 {
			if err == nil || err == io.EOF {
				err = errCut
			}
			return 0, err
		}
		f.windowStart, f.window = at, f.buf[:n]
	}
	f.at = at
	return f.window[at-f.windowStart], nil
}

// varint is the number at a place, and where the next one begins.
func (f *file) varint(at, to int64) (v uint64, next int64, err error) {
	for shift := 0; shift < 64; shift += 7 {
		b, err := f.byteAt(at, to)
		if err != nil {
			return 0, 0, err
		}
		at++
		if v |= uint64(b&127) << shift; b < 128 {
			return v, at, nil
		}
	}
	return 0, 0, errWire
}

// fields calls do for each field of a message.
func (f *file) fields(s span, do func(element) error) error {
	for at := s.from; at < s.to; {
		key, next, err := f.varint(at, s.to)
		if err != nil {
			return err
		}
		e := element{number: int(min(key>>3, math.MaxInt32))}
		size := uint64(0)
		switch key & 7 {
		case 0:
			e.span.from = next
			if e.value, next, err = f.varint(next, s.to); err != nil {
				return err
			}
			e.span.to = next
		case 1:
			size = 8
		case 2:
			e.long = true
			if size, next, err = f.varint(next, s.to); err != nil {
				return err
			}
		case 5:
			size = 4
		default: // groups, which are of old, or none
			return errWire
		}
		if size > uint64(s.to-next) {
			return errCut
		}
		if key&7 != 0 {
			e.span = span{next, next + int64(size)}
			next = e.span.to
		}
		if e.number == 0 {
			return errWire
		}
		if err := do(e); err != nil {
			return err
		}
		at = next
	}
	return nil
}

// texts reads fields of a message that are texts, by number: of each the last.
func (f *file) texts(s span, to map[int]*string) error {
	return f.fields(s, func(e element) error {
		text := to[e.number]
		if text == nil || !e.long {
			return nil
		}
		if e.size() > mostText {
			return refusal(fmt.Sprintf("names of at most %d bytes", mostText), fmt.Sprintf("one of %d", e.size()), "Choose another model.")
		}
		b := make([]byte, e.size())
		for i := range b {
			var err error
			if b[i], err = f.byteAt(e.from+int64(i), e.to); err != nil {
				return err
			}
		}
		*text = string(b)
		return nil
	})
}
