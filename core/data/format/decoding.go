package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"

	"clipscope/core/data/source"
)

// The standard library's decoders stop for nothing but an error of their reader, and do
// work that the bytes of a picture need not pay for: a scan of a progressive JPEG visits
// every block for some tens of bytes. The bounds on that work are therefore met before a
// picture is decoded, from its header and its markers, and its bytes are handed to the
// decoder a few at a time, so that decoding ends when the context does.

// pictureDecoder decodes a picture whose bounds have been checked.
type pictureDecoder struct {
	image.Config
	decode func(io.Reader) (image.Image, error)
	cost   pictureCost
	turn   turn // how the picture lies
}

// size returns the size of the picture once it is upright.
func (d *pictureDecoder) size() image.Point { return d.turn.upright(image.Pt(d.Width, d.Height)) }

// grey reports whether the picture has no colours.
func (d *pictureDecoder) grey() bool {
	return d.ColorModel == color.GrayModel || d.ColorModel == color.Gray16Model
}

// newPictureDecoder reads the header of a picture and refuses, before anything is decoded, one
// that is beyond the limits; name is what the error calls it.
func newPictureDecoder(name string, raw []byte, most *source.Limits) (pictureDecoder, error) {
	var d pictureDecoder
	var err error
	switch {
	case bytes.HasPrefix(raw, []byte("\x89PNG\r\n\x1a\n")):
		d.decode = png.Decode
		if d.Config, err = png.DecodeConfig(bytes.NewReader(raw)); err == nil {
			d.cost, d.turn = costOfPNG(d.Config, raw), turnOfPNG(raw)
		}
	case bytes.HasPrefix(raw, []byte("\xff\xd8")):
		d.decode = jpeg.Decode
		if d.Config, err = jpeg.DecodeConfig(bytes.NewReader(raw)); err == nil {
			d.cost, d.turn = costOfJPEG(d.Config, raw), turnOf(raw)
		}
	case len(raw) == 0:
		return d, badPicture(name, "that is empty", nil)
	default:
		return d, badPicture(name, fmt.Sprintf("that begins with % x", raw[:min(4, len(raw))]), nil)
	}
	if err != nil {
		return d, badPicture(name, "that is damaged", err)
	}
	return d, decodable(name, d.Config, d.cost, most)
}

// decodable refuses a picture that takes more to decode than the limits allow.
func decodable(name string, c image.Config, cost pictureCost, most *source.Limits) error {
	over := func(format string, args ...any) error { return badPicture(name, fmt.Sprintf(format, args...), nil) }
	switch {
	case c.Width < 1 || c.Height < 1:
		return over("without pixels")
	case c.Width > most.Side || c.Height > most.Side:
		return over("of %d×%d pixels, over the limit of %d a side", c.Height, c.Width, most.Side)
	case c.Width > most.Pixels/c.Height:
		return over("of %d×%d pixels, over the limit of %d million", c.Height, c.Width, most.Pixels/1_000_000)
	case cost.memory > most.Decoding:
		return over("of %d×%d pixels whose decoding takes %d MB, over the limit of %d", c.Height, c.Width, cost.memory>>20, most.Decoding>>20)
	case cost.passes() > cost.mostPasses(most):
		return over("whose %d scans go over its pixels %d times, over the limit of %d", cost.scans, cost.passes(), cost.mostPasses(most))
	}
	return nil
}

// pictureCost holds the cost of decoding a picture.
type pictureCost struct {
	memory      int64 // bytes that the decoder holds at once
	made        int64 // bytes that count against the file's allowance
	scans       int
	blocks      int64 // 8×8 values, of all components
	visited     int64 // blocks, by all scans
	progressive bool
}

// passes returns the number of times that the scans visit all blocks, rounded up.
func (c *pictureCost) passes() int64 { return (c.visited + max(c.blocks, 1) - 1) / max(c.blocks, 1) }

// mostPasses returns the limit of passes: a sequential JPEG has each component in one scan
// (ITU-T T.81, G.1.1).
func (c *pictureCost) mostPasses(most *source.Limits) int64 {
	if c.progressive {
		return int64(most.Passes)
	}
	return 1
}

// costOfPNG returns the cost of a PNG with a sound header. Its pixels bound the work: the
// decoder refuses data beyond them, and passes over chunks that it does not know.
func costOfPNG(c image.Config, raw []byte) pictureCost {
	const depthAt, kindAt, interlaceAt = 24, 25, 28          // in the header, which comes first
	samples := map[byte]int64{2: 3, 4: 2, 6: 4}[raw[kindAt]] // of a pixel; other kinds have one
	each := int64(4)                                         // bytes of a pixel; also of grey ones, where one of them is transparent
	if raw[depthAt] == 16 {
		each = 8
	} else if _, ok := c.ColorModel.(color.Palette); ok {
		each = 1
	}
	pixels := int64(c.Width) * int64(c.Height)
	memory := each * pixels
	if raw[interlaceAt] != 0 {
		memory += memory / 2 // of the last pass, which is merged into the whole
	}
	return pictureCost{memory: memory, made: pixels*max(samples, 1)*int64(raw[depthAt])/8 + int64(c.Height)}
}

// visit is the cost of a visit to a block, in bytes: a visit takes as long as unpacking some ten bytes.
const visit = 8

// costOfJPEG adds up the scans of a JPEG. It walks the markers as the decoder of the
// standard library does, which visits no block more: where the two differ, the decoder
// ends with an error.
func costOfJPEG(c image.Config, raw []byte) pictureCost {
	const sofBaseline, sofProgressive, sos, eoi, firstRST, lastRST = 0xc0, 0xc2, 0xda, 0xd9, 0xd0, 0xd7
	var cost pictureCost
	blocks := map[byte]int64{} // of a component, by its identifier
	for at := 2; at+4 <= len(raw); {
		marker := raw[at+1]
		switch {
		case raw[at] != 0xff: // data of a scan, or of nothing
			next := bytes.IndexByte(raw[at:], 0xff)
			if next < 0 {
				next = len(raw)
			}
			at += next
			continue
		case marker == 0xff: // filling
			at++
			continue
		case marker == 0, marker >= firstRST && marker <= lastRST:
			at += 2
			continue
		}
		n := int(binary.BigEndian.Uint16(raw[at+2:])) + 2
		if marker == eoi || n < 4 || at+n > len(raw) {
			break
		}
		segment := raw[at+4 : at+n]
		switch {
		case marker >= sofBaseline && marker <= sofProgressive && cost.blocks == 0:
			cost.progressive = marker == sofProgressive
			cost.blocks = blocksOf(c, segment, blocks)
		case marker == sos:
			cost.scans++
			cost.visited += visitedBy(segment, blocks, cost.blocks)
		}
		at += n
	}
	const block = 64
	cost.memory, cost.made = block*cost.blocks, visit*cost.visited
	if cost.progressive {
		cost.memory += 4 * block * cost.blocks // coefficients, as int32
	}
	if m := c.ColorModel; m != color.YCbCrModel && m != color.GrayModel {
		cost.memory += 4 * int64(c.Width) * int64(c.Height) // the picture in other colours
	}
	return cost
}

// blocksOf counts the blocks of each component of a frame header, and all of them.
func blocksOf(c image.Config, sof []byte, of map[byte]int64) (all int64) {
	const head, each = 6, 3
	if len(sof) < head+each {
		return 0
	}
	parts := sof[head:]
	h0, v0 := int(parts[1]>>4), int(parts[1]&15)
	if len(parts) < 2*each { // one component's factors do not count (T.81, A.2.2)
		h0, v0 = 1, 1
	}
	across, down := int64(c.Width+8*h0-1)/int64(max(8*h0, 1)), int64(c.Height+8*v0-1)/int64(max(8*v0, 1))
	for ; len(parts) >= each; parts = parts[each:] {
		n := across * down * int64(parts[1]>>4) * int64(parts[1]&15)
		if h0 == 1 && v0 == 1 && len(sof) < head+2*each {
			n = across * down
		}
		of[parts[0]] = n
		all += n
	}
	return all
}

// visitedBy counts the blocks that a scan visits: those of its components.
func visitedBy(sos []byte, of map[byte]int64, all int64) (n int64) {
	if len(sos) == 0 || len(sos) < 1+2*int(sos[0]) {
		return 0 // which the decoder refuses
	}
	for i := range int(sos[0]) {
		n += of[sos[1+2*i]]
	}
	return min(n, all)
}

// fedAtOnce is the number of bytes that a decoder gets at a time: fewer than two scans of
// a JPEG have, and of a PNG so many as stand for 64 kB.
const fedAtOnce = 64

// feed hands the bytes of a picture to its decoder for as long as alive has no error.
type feed struct {
	raw   []byte
	alive func() error
}

func (f *feed) Read(p []byte) (int, error) {
	if err := f.alive(); err != nil {
		return 0, err
	}
	if len(f.raw) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), fedAtOnce)], f.raw)
	f.raw = f.raw[n:]
	return n, nil
}
