package datatest

import (
	"archive/tar"
	"bytes"
	"fmt"
)

// Tar writes a tar archive of names and contents in turn. What stands in the place of a content may be a
// header, of which the name is taken and the size is kept.
func Tar(parts ...any) []byte { return TarOf(tar.FormatUnknown, parts...) }

// TarOf is like Tar, in a form of headers.
func TarOf(form tar.Format, parts ...any) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		h := tar.Header{Typeflag: tar.TypeReg, Mode: 0o644}
		var content []byte
		switch part := parts[i+1].(type) {
		case []byte:
			content = part
		case string:
			content = []byte(part)
		case tar.Header:
			h = part
		}
		h.Format, h.Name = form, parts[i].(string)
		h.Size += int64(len(content))
		err := w.WriteHeader(&h)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			panic(fmt.Sprintf("%.40s: %v", h.Name, err))
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// FixTarSum makes the checksum of the header at a place of a tar archive fit.
func FixTarSum(b []byte, at int) []byte {
	copy(b[at+148:], "        ")
	sum := 0
	for _, c := range b[at : at+512] {
		sum += int(c)
	}
	copy(b[at+148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}
