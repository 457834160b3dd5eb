package format

import (
	"bytes"
	"encoding/binary"
	"image"
	"iter"
)

// turn is the orientation of a stored picture, as EXIF numbers it (CIPA DC-008, tag 274): 1 is upright; 2 to 8
// say by which reflection and rotation it becomes so. 0 stands for 1.
type turn uint8

// exifOrientation is the tag of a picture's orientation.
const exifOrientation = 274

// turnOf returns the orientation that a JPEG states in its EXIF segment, and 1 where it states none that
// EXIF knows. It looks at each byte once at most, and at none behind the first scan.
func turnOf(raw []byte) turn {
	const app1, sos, eoi = 0xe1, 0xda, 0xd9
	for at := 2; at+4 <= len(raw) && raw[at] == 0xff; {
		marker := raw[at+1]
		if marker == 0xff { // filling
			at++
			continue
		}
		n := int(binary.BigEndian.Uint16(raw[at+2:])) + 2
		if marker == sos || marker == eoi || n < 4 || at+n > len(raw) {
			break
		}
		if tiff, ok := bytes.CutPrefix(raw[at+4:at+n], []byte("Exif\x00\x00")); ok && marker == app1 {
			return turnIn(tiff)
		}
		at += n
	}
	return 1
}

// turnOfPNG returns the orientation that a PNG states in its chunk eXIf (PNG, third edition, 11.3.4.5), before or behind its
// pixels. It goes from chunk to chunk and looks into no other.
func turnOfPNG(raw []byte) turn {
	for kind, content := range chunks(raw) {
		if kind == "eXIf" {
			return turnIn(content)
		}
	}
	return 1
}

// chunks yields the chunks of a PNG, up to the first that is cut short.
func chunks(raw []byte) iter.Seq2[string, []byte] {
	const signature, frame = 8, 12
	return func(yield func(string, []byte) bool) {
		for at := signature; at+frame <= len(raw); {
			n := int64(binary.BigEndian.Uint32(raw[at:]))
			content := raw[at+8:]
			if n > int64(len(content)) || !yield(string(raw[at+4:at+8]), content[:n]) {
				return
			}
			at += frame + int(n)
		}
	}
}

// turnIn returns the orientation in the first directory of a TIFF structure.
func turnIn(tiff []byte) turn {
	const head, entry, short = 8, 12, 3
	if len(tiff) < head {
		return 1
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := int64(order.Uint32(tiff[4:]))
	if at < head || at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entry {
			break
		}
		if order.Uint16(entries) == exifOrientation {
			if v := order.Uint16(entries[8:]); order.Uint16(entries[2:]) == short && order.Uint32(entries[4:]) == 1 && v >= 1 && v <= 8 {
				return turn(v)
			}
			break
		}
		entries = entries[entry:]
	}
	return 1
}

// turned reports whether the picture is not stored upright.
func (t turn) turned() bool { return t > 1 }

// across reports whether rows are stored as columns.
func (t turn) across() bool { return t >= 5 }

// flips reports whether the upright picture is mirrored left to right, and top to bottom, once rows are
// rows.
func (t turn) flips() (x, y bool) {
	switch t {
	case 2:
		return true, false
	case 3:
		return true, true
	case 4:
		return false, true
	case 6:
		return true, false
	case 7:
		return true, true
	case 8:
		return false, true
	}
	return false, false
}

// upright returns the size of a picture once it is upright, of its stored size, and the other way round.
func (t turn) upright(size image.Point) image.Point {
	if t.across() {
		return image.Pt(size.Y, size.X)
	}
	return size
}

// place returns where the stored pixel at p is in the upright picture of that size.
func (t turn) place(p, size image.Point) image.Point {
	p = t.upright(p)
	x, y := t.flips()
	if x {
		p.X = size.X - 1 - p.X
	}
	if y {
		p.Y = size.Y - 1 - p.Y
	}
	return p
}

// stored returns where a part of the upright picture of that size is stored.
func (t turn) stored(part image.Rectangle, size image.Point) image.Rectangle {
	x, y := t.flips()
	if x {
		part.Min.X, part.Max.X = size.X-part.Max.X, size.X-part.Min.X
	}
	if y {
		part.Min.Y, part.Max.Y = size.Y-part.Max.Y, size.Y-part.Min.Y
	}
	return image.Rectangle{t.upright(part.Min), t.upright(part.Max)}
}
