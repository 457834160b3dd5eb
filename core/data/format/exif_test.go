package format

import (
	"bytes"
	"encoding/binary"
	"image"
	"testing"
)

// withExif returns the beginning of a JPEG whose EXIF segment has one entry.
func withExif(order binary.AppendByteOrder, mark string, at uint32, tag, kind uint16, count uint32, value uint16) []byte {
	tiff := order.AppendUint32([]byte(mark), at)
	tiff = order.AppendUint16(tiff, 1)
	tiff = order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, tag), kind), count)
	tiff = append(order.AppendUint16(tiff, value), 0, 0)
	body := append([]byte("Exif\x00\x00"), tiff...)
	b := []byte{0xff, 0xd8, 0xff, 0xe0, 0, 4, 'J', 'F', 0xff, 0xff, 0xff, 0xe1}
	return append(binary.BigEndian.AppendUint16(b, uint16(len(body)+2)), body...)
}

// TestOrientationIsRead finds the orientation in either byte order, behind other segments and filling, and takes
// what is none of EXIF's for upright.
func TestOrientationIsRead(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	for name, c := range map[string]struct {
		raw  []byte
		want turn
	}{
		"little-endian": {withExif(le, "II*\x00", 8, 274, 3, 1, 6), 6},
		"big-endian":    {withExif(be, "MM\x00*", 8, 274, 3, 1, 8), 8},
		"0":             {withExif(be, "MM\x00*", 8, 274, 3, 1, 0), 1},
		"9":             {withExif(be, "MM\x00*", 8, 274, 3, 1, 9), 1},
		"a long":        {withExif(be, "MM\x00*", 8, 274, 4, 1, 6), 1},
		"two values":    {withExif(le, "II*\x00", 8, 274, 3, 2, 6), 1},
		"another tag":   {withExif(le, "II*\x00", 8, 275, 3, 1, 6), 1},
		"no order":      {withExif(le, "IM*\x00", 8, 274, 3, 1, 6), 1},
		"far away":      {withExif(le, "II*\x00", 1<<31, 274, 3, 1, 6), 1},
		"within itself": {withExif(le, "II*\x00", 0, 274, 3, 1, 6), 1},
		"a scan before": {append([]byte{0xff, 0xd8, 0xff, 0xda, 0, 4, 1, 2}, withExif(le, "II*\x00", 8, 274, 3, 1, 6)[2:]...), 1},
		"nothing":       {[]byte{0xff, 0xd8}, 1},
	} {
		if got := turnOf(c.raw); got != c.want {
			t.Errorf("%s: orientation %d, not %d", name, got, c.want)
		}
	}
	whole := withExif(le, "II*\x00", 8, 274, 3, 1, 6)
	for n := range whole {
		if got := turnOf(whole[:n]); got != 1 {
			t.Errorf("cut after %d bytes: orientation %d", n, got)
		}
	}
}

// TestTurnsAreInverses: where a pixel is stored, and where it is shown, are inverses, and both cover all of the picture.
func TestTurnsAreInverses(t *testing.T) {
	for turn := turn(0); turn <= 8; turn++ {
		size := image.Pt(5, 3) // upright
		stored := turn.upright(size)
		seen := map[image.Point]bool{}
		for y := range stored.Y {
			for x := range stored.X {
				at := turn.place(image.Pt(x, y), size)
				if back := turn.stored(image.Rectangle{at, at.Add(image.Pt(1, 1))}, size); back.Min != image.Pt(x, y) || back.Size() != image.Pt(1, 1) || !at.In(image.Rectangle{Max: size}) {
					t.Fatalf("orientation %d: (%d, %d) is shown at %v, which is stored at %v", turn, x, y, at, back)
				}
				seen[at] = true
			}
		}
		if len(seen) != size.X*size.Y {
			t.Errorf("orientation %d: %d of %d pixels are shown", turn, len(seen), size.X*size.Y)
		}
	}
}

// FuzzExif: whatever a segment holds, an orientation is one of eight, found without a panic and the same each time.
func FuzzExif(f *testing.F) {
	f.Add(withExif(binary.LittleEndian, "II*\x00", 8, 274, 3, 1, 6))
	f.Add(withExif(binary.BigEndian, "MM\x00*", 8, 274, 3, 1, 3))
	f.Add(withExif(binary.BigEndian, "MM\x00*", 1<<31, 274, 3, 1, 3))
	f.Add(append([]byte("\xff\xd8"), bytes.Repeat([]byte{0xff}, 99)...))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := turnOf(raw)
		if got < 1 || got > 8 || got != turnOf(raw) {
			t.Errorf("orientation %d", got)
		}
		if tiff := turnIn(raw); tiff < 1 || tiff > 8 {
			t.Errorf("orientation %d of a directory", tiff)
		}
	})
}

// FuzzStatedBits: chunks of a PNG say at most a byte of bits, and one of eight orientations.
func FuzzStatedBits(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x01sBIT\x0cabcd"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\xff\xff\xff\xfftEXt"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if bits := statedBits(raw); bits < 0 || bits > 255 {
			t.Errorf("%d bits", bits)
		}
		if got := turnOfPNG(raw); got < 1 || got > 8 {
			t.Errorf("orientation %d", got)
		}
	})
}

// TestPlacesKeepProportions: the part of a picture that is shown, and the part of the frame that shows it, lie within
// them, and differ in proportions by no more than half a pixel.
func TestPlacesKeepProportions(t *testing.T) {
	for _, transform := range []string{"fit", "stretch", "crop"} {
		for _, size := range []image.Point{{640, 160}, {1, 65535}, {65535, 1}, {7, 5}, {32, 32}, {3, 1000}} {
			for _, f := range []frame{{32, 32, 1}, {1, 1, 3}, {24, 33, 3}, {1024, 1, 1}} {
				r := resizer{frame: f, transform: transform}
				from, to := r.placed(size)
				whole, shown := image.Rectangle{Max: size}, image.Rect(0, 0, f.width, f.height)
				if from.Empty() || to.Empty() || !from.In(whole) || !to.In(shown) {
					t.Errorf("%s of %v to %v: %v to %v", transform, size, f, from, to)
				}
				if transform == "fit" && from != whole || transform == "crop" && to != shown || transform == "stretch" && (from != whole || to != shown) {
					t.Errorf("%s of %v to %v: %v to %v", transform, size, f, from, to)
				}
				if transform == "fit" && to.Dx() < f.width && to.Dy() < f.height || transform == "crop" && from.Dx() < size.X && from.Dy() < size.Y {
					t.Errorf("%s of %v to %v leaves both sides: %v to %v", transform, size, f, from, to)
				}
			}
		}
	}
}
