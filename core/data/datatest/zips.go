package datatest

import (
	"archive/zip"
	"bytes"
)

// Zip returns a zip archive. parts holds the names and contents of its files in turn; contents are
// strings or bytes, and are deflated.
func Zip(parts ...any) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		f, err := w.Create(parts[i].(string))
		if err == nil {
			switch content := parts[i+1].(type) {
			case []byte:
				_, err = f.Write(content)
			case string:
				_, err = f.Write([]byte(content))
			}
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// FixCRC corrects the checksum of a PNG's header in place, and returns b.
func FixCRC(b []byte) []byte {
	crc := ^uint32(0)
	for _, c := range b[12:29] {
		crc ^= uint32(c)
		for range 8 {
			crc = crc>>1 ^ 0xedb88320&-(crc&1)
		}
	}
	for i := range 4 {
		b[29+i] = byte(^crc >> (24 - 8*i))
	}
	return b
}
