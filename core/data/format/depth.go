package format

import (
	"encoding/binary"
	"image"

	"clipscope/core/data/source"
)

// PNG has samples of 8 or 16 bits, and cameras, scanners and microscopes ones of 10, 12 or 14. A program
// that follows PNG scales these to all 16, and states in the chunk sBIT how many they were. Many programs
// store them as they are: then pictures look black.

// lookEvery is the number of bytes of samples, of whole pixels, between two looks whether reading goes on.
const lookEvery = 64 << 10

// depth counts the PNG pictures of 16 bits that were read.
type depth struct {
	pictures  int
	stretched int
	largest   uint16 // of the samples as they are stored
}

// statedBits returns the largest number of significant bits of a colour that a PNG states in its chunk sBIT;
// 0 where it states none. It looks at no chunk behind the first of pixels.
func statedBits(raw []byte) int {
	const kindAt, ofColour = 25, 2
	colours := 1
	if len(raw) > kindAt && raw[kindAt]&ofColour != 0 {
		colours = 3
	}
	for kind, content := range chunks(raw) {
		switch kind {
		case "IDAT":
			return 0
		case "sBIT":
			bits := 0
			for _, b := range content[:min(len(content), colours)] {
				bits = max(bits, int(b))
			}
			return bits
		}
	}
	return 0
}

// deepSamples returns the samples of a picture of 16 bits, big-endian, how many each pixel has, and how many of those are
// of colour; nil of other pictures.
func deepSamples(img image.Image) (pix []uint8, each, colours int) {
	switch m := img.(type) {
	case *image.Gray16:
		return m.Pix, 1, 1
	case *image.RGBA64:
		return m.Pix, 4, 3
	case *image.NRGBA64:
		return m.Pix, 4, 3
	}
	return nil, 0, 0
}

// read takes in a picture that was decoded from raw. Where a PNG states that its samples have fewer than
// 16 bits, and stores them as they are, it stretches them to 16. It ends with the error of alive, which it
// calls every 64 kB.
func (d *depth) read(img image.Image, raw []byte, alive func() error) error {
	pix, each, colours := deepSamples(img)
	if pix == nil {
		return nil
	}
	d.pictures++
	bits := statedBits(raw)
	largest, scaled := uint16(0), true
	for at := 0; at+2*each <= len(pix); at += 2 * each {
		if at%lookEvery == 0 {
			if err := alive(); err != nil {
				return err
			}
		}
		for c := range colours {
			v := binary.BigEndian.Uint16(pix[at+2*c:])
			largest = max(largest, v)
			scaled = scaled && scaledFrom(v, bits)
		}
	}
	d.largest = max(d.largest, largest)
	if bits < 1 || bits >= 16 || int(largest)>>bits > 0 || scaled {
		return nil
	}
	d.stretched++
	most := uint32(1)<<bits - 1
	for at := 0; at+2*each <= len(pix); at += 2 * each {
		if at%lookEvery == 0 {
			if err := alive(); err != nil {
				return err
			}
		}
		for c := range colours {
			v := uint32(binary.BigEndian.Uint16(pix[at+2*c:]))
			binary.BigEndian.PutUint16(pix[at+2*c:], uint16((v*0xffff+most/2)/most))
		}
	}
	return nil
}

// scaledFrom reports whether v may be a sample of so many bits that was scaled to 16: by shifting, or in
// proportion and then rounded.
func scaledFrom(v uint16, bits int) bool {
	if bits < 1 || bits >= 16 || v&(1<<(16-bits)-1) == 0 {
		return true
	}
	most := uint32(1)<<bits - 1
	own := (uint32(v)*most + 0x7fff) / 0xffff
	whole := int((own*0xffff + most/2) / most)
	return int(v)-whole <= 1 && whole-int(v) <= 1
}

// warn says what was done, and that pictures are dark which state nothing.
func (d *depth) warn(in *source.Reading) {
	const dark = 1 << 14
	switch {
	case d.stretched > 0 && d.stretched == d.pictures:
		in.Warn("%d PNG pictures of 16 bits were stretched to their whole range, as their own statement of fewer bits says (sBIT).", d.stretched)
	case d.stretched > 0:
		in.Warn("%d of %d PNG pictures of 16 bits were stretched to their whole range, as their own statement of fewer bits says (sBIT). The others state none, or have more already.", d.stretched, d.pictures)
	case d.pictures > 0 && d.largest < dark:
		in.Doubt("%d PNG pictures of 16 bits have no value above %d of 65535: they are read as dark. If they hold fewer bits than 16, save them stretched, or with a chunk sBIT that says so.", d.pictures, d.largest)
	}
}
