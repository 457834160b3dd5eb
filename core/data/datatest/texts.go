package datatest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"clipscope/core/data/source"
)

// UTF16Text writes s in UTF-16, behind a mark of the order.
func UTF16Text(s string, order binary.AppendByteOrder) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

// Windows1252Text writes s in Windows-1252, as far as that has its characters.
func Windows1252Text(s string) []byte {
	codes := map[rune]byte{}
	for c := range 256 {
		if text, err := io.ReadAll(source.NewDecoder(bufio.NewReader(bytes.NewReader([]byte{byte(c)})), source.Windows1252)); err == nil {
			r, _ := utf8.DecodeRune(text)
			if _, ok := codes[r]; !ok {
				codes[r] = byte(c)
			}
		}
	}
	var b []byte
	for _, r := range s {
		if c, ok := codes[r]; ok {
			b = append(b, c)
		}
	}
	return b
}
