package source

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// The encodings of a table's text, as csv.encoding names them.
const (
	UTF8        = "utf-8"
	UTF16       = "utf-16" // by its byte order mark, or else as the first byte has it
	Windows1252 = "windows-1252"
)

// Decoder reads text as UTF-8, always valid. A byte order mark tells the
// encoding and is left out; failing that, the first byte beyond ASCII and what
// comes after it do.
type Decoder struct {
	r        *bufio.Reader
	Encoding string           // empty while all that was read is ASCII
	order    binary.ByteOrder // of UTF-16
	Damaged  int              // characters that the encoding does not have
	text     []byte           // decoded and not yet read
	buf      []byte
}

// NewDecoder returns a decoder of r, in the encoding given or, where that is empty, detected.
func NewDecoder(r *bufio.Reader, encoding string) *Decoder {
	d := &Decoder{r: r, Encoding: encoding, order: binary.LittleEndian}
	head, _ := r.Peek(3)
	skip := 0
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) && encoding != Windows1252:
		d.Encoding, skip = UTF8, 3
	case UTF16Mark(head):
		d.Encoding, skip = UTF16, 2
	}
	if d.Encoding == UTF16 && len(head) > 0 && (head[0] == 0 || head[0] == 0xfe) {
		d.order = binary.BigEndian
	}
	_, _ = r.Discard(skip) // what was peeked is there
	return d
}

// UTF16Mark reports whether text that begins so is in UTF-16.
func UTF16Mark(head []byte) bool {
	return len(head) >= 2 && (head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff)
}

func (d *Decoder) Read(p []byte) (int, error) {
	if len(d.text) == 0 {
		if err := d.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, d.text)
	d.text = d.text[n:]
	return n, nil
}

// fill decodes what r has at hand, a character at least.
func (d *Decoder) fill() error {
	if _, err := d.r.Peek(1); err != nil {
		return err
	}
	b, _ := d.r.Peek(d.r.Buffered())
	if d.Encoding == "" && !ascii(b) {
		b, _ = d.r.Peek(HeadSize)
		d.Encoding = guessEncoding(b)
	}
	d.buf = d.buf[:0]
	used := 0
	switch d.Encoding {
	case UTF16:
		used = d.utf16(b)
	case Windows1252:
		for _, c := range b {
			d.buf = utf8.AppendRune(d.buf, fromWindows1252(c))
		}
		used = len(b)
	default:
		used = d.utf8(b)
	}
	d.text = d.buf
	_, err := d.r.Discard(used)
	return err
}

// utf8 decodes b, at least one character of it and without a character that is cut in two at its end. It
// returns the number of bytes decoded.
func (d *Decoder) utf8(b []byte) (used int) {
	if utf8.Valid(b) {
		d.buf = append(d.buf, b...)
		return len(b)
	}
	if !utf8.FullRune(b) {
		b, _ = d.r.Peek(utf8.UTFMax)
	}
	for used < len(b) && (used == 0 || utf8.FullRune(b[used:])) {
		r, n := utf8.DecodeRune(b[used:])
		if r == utf8.RuneError && n == 1 {
			d.Damaged++
		}
		d.buf = utf8.AppendRune(d.buf, r)
		used += n
	}
	return used
}

// utf16 is like utf8, for UTF-16.
func (d *Decoder) utf16(b []byte) (used int) {
	const most = 4 // bytes of a character
	if len(b) < most {
		b, _ = d.r.Peek(most)
	}
	for used < len(b) && (used == 0 || len(b)-used >= most) {
		r, n := decodeUTF16(b[used:], d.order)
		if r == utf8.RuneError {
			d.Damaged++
		}
		d.buf = utf8.AppendRune(d.buf, r)
		used += n
	}
	return used
}

// decodeUTF16 decodes the first character of b and returns how many bytes it
// has; RuneError where it is cut off or half of a pair.
func decodeUTF16(b []byte, order binary.ByteOrder) (r rune, n int) {
	if len(b) < 2 {
		return utf8.RuneError, len(b)
	}
	r = rune(order.Uint16(b))
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(b) >= 4 {
		if pair := utf16.DecodeRune(r, rune(order.Uint16(b[2:]))); pair != utf8.RuneError {
			return pair, 4
		}
	}
	return utf8.RuneError, 2
}

func ascii(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// guessEncoding tells UTF-8, whose longer characters seldom come about by
// chance, from the one-byte encoding that spreadsheets wrote before it.
func guessEncoding(b []byte) string {
	characters, others := 0, 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			others++
		case n > 1:
			characters++
		}
		b = b[n:]
	}
	if characters >= others {
		return UTF8
	}
	return Windows1252
}

var cp1252 = [...]rune{
	'€', '�', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '�', 'Ž', '�',
	'�', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '�', 'ž', 'Ÿ',
}

// fromWindows1252 differs from Latin-1 between 0x80 and 0x9f; five bytes there
// stand for nothing.
func fromWindows1252(c byte) rune {
	if c < 0x80 || c > 0x9f {
		return rune(c)
	}
	return cp1252[c-0x80]
}
