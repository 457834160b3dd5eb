package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Go's linker leaves out of a program's data whatever is 0 over a few bytes, and so
// writes a hundred thousand pieces, each with where it goes. That makes the file
// smaller and what is fetched larger, by a twentieth: a packer takes zeros for almost
// nothing, and numbers that are all different for what they are. A browser starts
// from fewer pieces sooner, too.

// minGap is the zeros that part two pieces. With 32 the program is packed to what it
// is in one piece, but for 3 kB in 3 MB, and its largest empty stretches stay out of
// the file; with 8 it is 7 % larger.
const minGap = 32

const (
	magic       = "\x00asm\x01\x00\x00\x00" // WebAssembly's, and its version
	dataSection = 11
	countOfData = 12
	i32Const    = 0x41
	end         = 0x0b
)

var errModule = errors.New("not a WebAssembly module of Go's linker")

// joinSegments returns a module that is the same but for its data, which edit may change
// and which is written in as few active segments as leave out no more than stretches of
// zeros. The order of segments that overlap is kept.
func joinSegments(module []byte, edit func(image []byte) error) ([]byte, error) {
	rest, ok := bytes.CutPrefix(module, []byte(magic))
	if !ok {
		return nil, errModule
	}
	out := append(make([]byte, 0, len(module)+len(module)/4), magic...)
	for len(rest) > 0 {
		r := reader{rest}
		id := r.byte()
		body := r.bytes(r.uint())
		if r.rest == nil || id == countOfData {
			return nil, errModule
		}
		if id == dataSection {
			joined, err := joinData(body, edit)
			if err != nil {
				return nil, err
			}
			out = append(out, id)
			out = binary.AppendUvarint(out, uint64(len(joined)))
			out = append(out, joined...)
		} else {
			out = append(out, rest[:len(rest)-len(r.rest)]...)
		}
		rest = r.rest
	}
	return out, nil
}

// maxData bounds what a program's data may take: forty times what this one's does.
const maxData = 256 << 20

// joinData is joinSegments for what is in the data section.
func joinData(section []byte, edit func(image []byte) error) ([]byte, error) {
	r := reader{section}
	var image []byte
	for n := r.uint(); n > 0; n-- {
		kind, op, at, stop := r.uint(), r.byte(), r.int(), r.byte()
		data := r.bytes(r.uint())
		to := at + int64(len(data))
		if r.rest == nil || kind != 0 || op != i32Const || stop != end || at < 0 || to > maxData {
			return nil, fmt.Errorf("%w: a segment of another kind", errModule)
		}
		if to > int64(len(image)) {
			image = append(image, make([]byte, to-int64(len(image)))...)
		}
		copy(image[at:], data)
	}
	if len(r.rest) > 0 {
		return nil, errModule
	}
	if err := edit(image); err != nil {
		return nil, err
	}
	pieces := stretches(image)
	out := binary.AppendUvarint(nil, uint64(len(pieces)))
	for _, p := range pieces {
		out = append(out, 0, i32Const)
		out = appendVarint(out, int64(p.from))
		out = append(out, end)
		out = binary.AppendUvarint(out, uint64(p.to-p.from))
		out = append(out, image[p.from:p.to]...)
	}
	return out, nil
}

type stretch struct{ from, to int }

// stretches lists what is between zeros of minGap or more.
func stretches(image []byte) []stretch {
	var list []stretch
	for i, b := range image {
		switch {
		case b == 0:
		case len(list) > 0 && i-list[len(list)-1].to < minGap:
			list[len(list)-1].to = i + 1
		default:
			list = append(list, stretch{i, i + 1})
		}
	}
	return list
}

// A reader takes a module apart; what it has no bytes for is 0, and its rest is nil
// from then on.
type reader struct{ rest []byte }

func (r *reader) bytes(n uint64) []byte {
	if r.rest == nil || n > uint64(len(r.rest)) {
		r.rest = nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint() uint64 {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 || x > math.MaxUint32 {
		r.rest = nil
		return 0
	}
	r.bytes(uint64(n))
	return x
}

// int reads a signed LEB128 number of 32 bits.
func (r *reader) int() int64 {
	var x int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		x |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 {
				x |= -1 << (shift + 7)
			}
			return x
		}
	}
	r.rest = nil
	return 0
}

// appendVarint writes a signed LEB128 number, which is not encoding/binary's.
func appendVarint(b []byte, x int64) []byte {
	for {
		low := byte(x & 0x7f)
		x >>= 7
		if x == 0 && low&0x40 == 0 || x == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}
