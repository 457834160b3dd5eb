package model

import (
	"encoding/binary"
	"io"
	"math"
)

// message is a protocol buffer's message while it is written: its fields in pieces, so
// that a large tensor is copied into nothing on its way to the file.
type message struct {
	pieces [][]byte
	size   int
}

func (m *message) addPiece(b []byte) {
	m.pieces = append(m.pieces, b)
	m.size += len(b)
}

// The ways in which a field's value is written.
const (
	asVarint  = 0
	asBytes   = 2
	asFixed32 = 5
)

func key(field, how int) []byte {
	return binary.AppendUvarint(nil, uint64(field)<<3|uint64(how))
}

func (m *message) number(field, v int) {
	m.addPiece(binary.AppendUvarint(key(field, asVarint), uint64(v)))
}

func (m *message) float(field int, v float32) {
	m.addPiece(binary.LittleEndian.AppendUint32(key(field, asFixed32), math.Float32bits(v)))
}

func (m *message) bytes(field int, b []byte) {
	m.addPiece(binary.AppendUvarint(key(field, asBytes), uint64(len(b))))
	m.addPiece(b)
}

func (m *message) text(field int, s string) { m.bytes(field, []byte(s)) }

// message adds another as a field; it is not to be changed afterwards.
func (m *message) message(field int, other *message) {
	m.addPiece(binary.AppendUvarint(key(field, asBytes), uint64(other.size)))
	m.all(other)
}

// all adds another's fields.
func (m *message) all(other *message) {
	m.pieces = append(m.pieces, other.pieces...)
	m.size += other.size
}

func (m *message) writeTo(w io.Writer) error {
	for _, b := range m.pieces {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}
