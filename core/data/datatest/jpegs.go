package datatest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// JPEGPart is a component of a JPEG, with its sampling factors.
type JPEGPart struct{ h, v int }

// JPEGScan is a scan: its components, by number, the band of coefficients, and the bits
// of them (ITU-T T.81, B.2.3).
type JPEGScan struct {
	parts          []int
	from, to       int
	before, beside int // Ah and Al
}

// MadeJPEG writes JPEGs whose blocks are each of one shade: all that scans but those of the
// mean say is that nothing follows, in as few bits as there are.
type MadeJPEG struct {
	W, H        int
	Parts       []JPEGPart
	Progressive bool
	Level       func() int // of a block, as a difference to the one before
	out         bytes.Buffer
	held        uint64 // bits on their way out
	n           int
}

func (m *MadeJPEG) segment(marker byte, body ...byte) {
	m.out.Write([]byte{0xff, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)})
	m.out.Write(body)
}

func (m *MadeJPEG) bits(v, n int) {
	m.held, m.n = m.held<<n|uint64(v), m.n+n
	for ; m.n >= 8; m.n -= 8 {
		b := byte(m.held >> (m.n - 8))
		if m.out.WriteByte(b); b == 0xff {
			m.out.WriteByte(0)
		}
	}
}

// end fills the last byte with ones.
func (m *MadeJPEG) end() {
	if m.n > 0 {
		m.bits(1<<(8-m.n)-1, 8-m.n)
	}
}

// begin writes all before the first scan. Codes have four bits, and are what they stand
// for: a size in the first table, the logarithm of a run in the second.
func (m *MadeJPEG) begin() {
	m.out.Write([]byte{0xff, 0xd8})
	m.segment(0xe0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")...)
	m.segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	sof := []byte{8, byte(m.H >> 8), byte(m.H), byte(m.W >> 8), byte(m.W), byte(len(m.Parts))}
	for i, p := range m.Parts {
		sof = append(sof, byte(i+1), byte(p.h<<4|p.v), 0)
	}
	kind := byte(0xc0)
	if m.Progressive {
		kind = 0xc2
	}
	m.segment(kind, sof...)
	lengths := make([]byte, 16)
	lengths[3] = 15
	for class := range byte(2) {
		table := append([]byte{class << 4}, lengths...)
		for i := range byte(15) {
			if class == 1 {
				i <<= 4
			}
			table = append(table, i)
		}
		m.segment(0xc4, table...)
	}
}

// blocks returns the number of blocks of a component, across and down.
func (m *MadeJPEG) blocks(p JPEGPart) (across, down int) {
	h, v := 1, 1
	for _, q := range m.Parts {
		h, v = max(h, q.h), max(v, q.v)
	}
	if len(m.Parts) == 1 {
		p, h, v = JPEGPart{1, 1}, 1, 1
	}
	return (m.W + 8*h - 1) / (8 * h) * p.h, (m.H + 8*v - 1) / (8 * v) * p.v
}

// scan writes one scan.
func (m *MadeJPEG) scan(s JPEGScan) {
	sos := []byte{byte(len(s.parts))}
	for _, i := range s.parts {
		sos = append(sos, byte(i+1), 0)
	}
	m.segment(0xda, append(sos, byte(s.from), byte(s.to), byte(s.before<<4|s.beside))...)
	coded := 0
	for _, i := range s.parts {
		across, down := m.blocks(m.Parts[i])
		if p := m.Parts[i]; len(s.parts) == 1 && len(m.Parts) > 1 { // blocks beyond the picture are left out
			h, v := m.Parts[0].h/p.h, m.Parts[0].v/p.v
			across, down = min(across, (m.W/h+7)/8), min(down, (m.H/v+7)/8)
		}
		coded += across * down
	}
	switch {
	case s.from == 0 && s.before == 0:
		for range coded {
			level := 0
			if m.Level != nil {
				level = m.Level()
			}
			size := bits.Len(uint(max(level, -level)))
			m.bits(size, 4)
			if level < 0 {
				level += 1<<size - 1
			}
			m.bits(level, size)
			if !m.Progressive {
				m.bits(0, 4)
			}
		}
	case s.from == 0:
		for range coded {
			m.bits(0, 1)
		}
	default:
		for coded > 0 {
			run := min(coded, 1<<15-1)
			k := bits.Len(uint(run)) - 1
			m.bits(k, 4)
			m.bits(run-1<<k, k)
			coded -= run
		}
	}
	m.end()
}

// JPEGOf returns m as a JPEG of these scans.
func JPEGOf(m MadeJPEG, scans ...JPEGScan) []byte {
	m.begin()
	for _, s := range scans {
		m.scan(s)
	}
	m.out.Write([]byte{0xff, 0xd9})
	return m.out.Bytes()
}

// WholeScan returns a scan of all coefficients of components, as a sequential JPEG has it.
func WholeScan(parts ...int) JPEGScan { return JPEGScan{parts: parts, to: 63} }

// Band returns the first scan of the coefficients from to to of components.
func Band(from, to int, parts ...int) JPEGScan { return JPEGScan{parts: parts, from: from, to: to} }

// libjpegs are the scans that libjpeg makes of colours, and of grey; mozjpegs are more of
// them, as encoders that look for the best make.
var (
	libjpegs = []JPEGScan{
		{[]int{0, 1, 2}, 0, 0, 0, 1}, {[]int{0}, 1, 5, 0, 2}, {[]int{2}, 1, 63, 0, 1}, {[]int{1}, 1, 63, 0, 1}, {[]int{0}, 6, 63, 0, 2},
		{[]int{0}, 1, 63, 2, 1}, {[]int{0, 1, 2}, 0, 0, 1, 0}, {[]int{2}, 1, 63, 1, 0}, {[]int{1}, 1, 63, 1, 0}, {[]int{0}, 1, 63, 1, 0},
	}
	mozjpegs = append([]JPEGScan{{[]int{0}, 0, 0, 0, 0}, {[]int{1, 2}, 0, 0, 0, 0}}, func() (all []JPEGScan) {
		for i := range 3 {
			all = append(all, JPEGScan{[]int{i}, 1, 2, 0, 3}, JPEGScan{[]int{i}, 3, 63, 0, 3}, JPEGScan{[]int{i}, 1, 63, 3, 2}, JPEGScan{[]int{i}, 1, 63, 2, 1}, JPEGScan{[]int{i}, 1, 63, 1, 0})
		}
		return all
	}()...)
	greys = func() []JPEGScan {
		all := []JPEGScan{{[]int{0}, 0, 0, 0, 0}}
		for k := range 19 {
			all = append(all, JPEGScan{[]int{0}, 1 + 3*k, 3 + 3*k, 0, 0})
		}
		return all
	}()
	Colours420 = []JPEGPart{{2, 2}, {1, 1}, {1, 1}}
	Colours444 = []JPEGPart{{1, 1}, {1, 1}, {1, 1}}
	OnlyGrey   = []JPEGPart{{1, 1}}
)

// ScansOver returns a progressive grey JPEG with so many scans, all but the first of next to nothing.
func ScansOver(w, h, scans int) []byte {
	all := []JPEGScan{{[]int{0}, 0, 0, 0, 0}}
	for len(all) < scans {
		all = append(all, JPEGScan{[]int{0}, 1, 63, 0, 0})
	}
	return JPEGOf(MadeJPEG{W: w, H: h, Parts: OnlyGrey, Progressive: true}, all...)
}

// Chunk returns a chunk of a PNG, with its length and its checksum.
func Chunk(kind string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// PNGOf returns a PNG whose data unpack to so many zeros. depth, kind and interlaced are fields of its
// header; before holds chunks that come ahead of the data.
func PNGOf(w, h int, depth, kind, interlaced byte, zeros int, before ...[]byte) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	b := append([]byte("\x89PNG\r\n\x1a\n"), Chunk("IHDR", append(header, depth, kind, 0, 0, interlaced))...)
	if kind == 3 {
		b = append(b, Chunk("PLTE", []byte{1, 2, 3, 4, 5, 6})...)
	}
	b = append(b, slices.Concat(before...)...)
	return slices.Concat(b, Chunk("IDAT", deflated(zeros)), Chunk("IEND", nil))
}

// interlaced returns the number of bytes of a picture's seven passes (PNG, 8.2), with the filter byte of
// each line. A pixel takes pixel bytes.
func interlaced(w, h, pixel int) (n int) {
	for _, p := range [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
		n += (h - p[1] + p[3] - 1) / p[3] * (1 + pixel*((w-p[0]+p[2]-1)/p[2]))
	}
	return n
}

func deflated(zeros int) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	some := make([]byte, 1<<16)
	for ; zeros > 0; zeros -= len(some) {
		w.Write(some[:min(zeros, len(some))])
	}
	w.Close()
	return b.Bytes()
}

// HonestPicture is a picture as phones, cameras and tools make it, with its size.
type HonestPicture struct {
	Picture       []byte
	Width, Height int
}

// HonestPictures returns the largest pictures that are to be read, and those with the most scans, by name.
func HonestPictures() map[string]HonestPicture {
	rng := rand.New(rand.NewPCG(5, 6))
	level := func() int { return rng.IntN(15) - 7 }
	colour := func(w, h int, parts []JPEGPart, progressive bool) MadeJPEG {
		return MadeJPEG{W: w, H: h, Parts: parts, Progressive: progressive, Level: level}
	}
	many := slices.Concat(ScansOver(64, 64, 32))
	return map[string]HonestPicture{
		"libjpeg, 10 scans":        {JPEGOf(colour(301, 203, Colours420, true), libjpegs...), 301, 203},
		"libjpeg, 4:4:4":           {JPEGOf(colour(301, 203, Colours444, true), libjpegs...), 301, 203},
		"17 scans":                 {JPEGOf(colour(640, 480, Colours420, true), mozjpegs...), 640, 480},
		"20 scans of grey":         {JPEGOf(colour(640, 480, OnlyGrey, true), greys...), 640, 480},
		"32 scans of grey":         {many, 64, 64},
		"a scan each":              {JPEGOf(colour(301, 203, Colours420, false), WholeScan(0), WholeScan(1), WholeScan(2)), 301, 203},
		"grey that says 2×2":       {JPEGOf(MadeJPEG{W: 301, H: 203, Parts: []JPEGPart{{2, 2}}, Level: level}, WholeScan(0)), 301, 203},
		"a PNG in seven passes":    {PNGOf(100, 60, 16, 6, 1, interlaced(100, 60, 8)), 100, 60},
		"a profile that is a bomb": {PNGOf(40, 30, 8, 0, 0, 41*30, Chunk("iCCP", append([]byte("x\x00\x00"), deflated(64<<20)...)), Chunk("zTXt", append([]byte("x\x00\x00"), deflated(64<<20)...))), 40, 30},
		"a profile with markers":   {slices.Concat([]byte("\xff\xd8\xff\xe2\xff\xff"), bytes.Repeat([]byte("\xff\xda\x00"), 65533/3+1)[:65533], JPEGOf(colour(64, 48, Colours420, false), WholeScan(0, 1, 2))[2:]), 64, 48},
		"pictures behind the end":  {slices.Concat(JPEGOf(colour(64, 48, Colours420, false), WholeScan(0, 1, 2)), ScansOver(64, 64, 60)), 64, 48},
	}
}
