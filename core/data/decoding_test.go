package data

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/run"
)

// jpegPart is a component of a JPEG, with its sampling factors.
type jpegPart struct{ h, v int }

// jpegScan is a scan: its components, by number, the band of coefficients, and the bits
// of them (ITU-T T.81, B.2.3).
type jpegScan struct {
	parts          []int
	from, to       int
	before, beside int // Ah and Al
}

// madeJPEG writes JPEGs whose blocks are each of one shade: all that scans but those of the
// mean say is that nothing follows, in as few bits as there are.
type madeJPEG struct {
	w, h        int
	parts       []jpegPart
	progressive bool
	level       func() int // of a block, as a difference to the one before
	out         bytes.Buffer
	held        uint64 // bits on their way out
	n           int
}

func (m *madeJPEG) segment(marker byte, body ...byte) {
	m.out.Write([]byte{0xff, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)})
	m.out.Write(body)
}

func (m *madeJPEG) bits(v, n int) {
	m.held, m.n = m.held<<n|uint64(v), m.n+n
	for ; m.n >= 8; m.n -= 8 {
		b := byte(m.held >> (m.n - 8))
		if m.out.WriteByte(b); b == 0xff {
			m.out.WriteByte(0)
		}
	}
}

// end fills the last byte with ones.
func (m *madeJPEG) end() {
	if m.n > 0 {
		m.bits(1<<(8-m.n)-1, 8-m.n)
	}
}

// begin writes all before the first scan. Codes have four bits, and are what they stand
// for: a size in the first table, the logarithm of a run in the second.
func (m *madeJPEG) begin() {
	m.out.Write([]byte{0xff, 0xd8})
	m.segment(0xe0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")...)
	m.segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	sof := []byte{8, byte(m.h >> 8), byte(m.h), byte(m.w >> 8), byte(m.w), byte(len(m.parts))}
	for i, p := range m.parts {
		sof = append(sof, byte(i+1), byte(p.h<<4|p.v), 0)
	}
	kind := byte(0xc0)
	if m.progressive {
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

// blocks is the number of blocks of a component, across and down.
func (m *madeJPEG) blocks(p jpegPart) (across, down int) {
	h, v := 1, 1
	for _, q := range m.parts {
		h, v = max(h, q.h), max(v, q.v)
	}
	if len(m.parts) == 1 {
		p, h, v = jpegPart{1, 1}, 1, 1
	}
	return (m.w + 8*h - 1) / (8 * h) * p.h, (m.h + 8*v - 1) / (8 * v) * p.v
}

// scan writes one scan.
func (m *madeJPEG) scan(s jpegScan) {
	sos := []byte{byte(len(s.parts))}
	for _, i := range s.parts {
		sos = append(sos, byte(i+1), 0)
	}
	m.segment(0xda, append(sos, byte(s.from), byte(s.to), byte(s.before<<4|s.beside))...)
	coded := 0
	for _, i := range s.parts {
		across, down := m.blocks(m.parts[i])
		if p := m.parts[i]; len(s.parts) == 1 && len(m.parts) > 1 { // blocks beyond the picture are left out
			h, v := m.parts[0].h/p.h, m.parts[0].v/p.v
			across, down = min(across, (m.w/h+7)/8), min(down, (m.h/v+7)/8)
		}
		coded += across * down
	}
	switch {
	case s.from == 0 && s.before == 0:
		for range coded {
			level := 0
			if m.level != nil {
				level = m.level()
			}
			size := bits.Len(uint(max(level, -level)))
			m.bits(size, 4)
			if level < 0 {
				level += 1<<size - 1
			}
			m.bits(level, size)
			if !m.progressive {
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

// jpegOf is a JPEG of these scans.
func jpegOf(m madeJPEG, scans ...jpegScan) []byte {
	m.begin()
	for _, s := range scans {
		m.scan(s)
	}
	m.out.Write([]byte{0xff, 0xd9})
	return m.out.Bytes()
}

// whole are the coefficients of a sequential scan.
func whole(parts ...int) jpegScan { return jpegScan{parts: parts, to: 63} }

// libjpegs are the scans that libjpeg makes of colours, and of grey; mozjpegs are more of
// them, as encoders that look for the best make.
var (
	libjpegs = []jpegScan{
		{[]int{0, 1, 2}, 0, 0, 0, 1}, {[]int{0}, 1, 5, 0, 2}, {[]int{2}, 1, 63, 0, 1}, {[]int{1}, 1, 63, 0, 1}, {[]int{0}, 6, 63, 0, 2},
		{[]int{0}, 1, 63, 2, 1}, {[]int{0, 1, 2}, 0, 0, 1, 0}, {[]int{2}, 1, 63, 1, 0}, {[]int{1}, 1, 63, 1, 0}, {[]int{0}, 1, 63, 1, 0},
	}
	mozjpegs = append([]jpegScan{{[]int{0}, 0, 0, 0, 0}, {[]int{1, 2}, 0, 0, 0, 0}}, func() (all []jpegScan) {
		for i := range 3 {
			all = append(all, jpegScan{[]int{i}, 1, 2, 0, 3}, jpegScan{[]int{i}, 3, 63, 0, 3}, jpegScan{[]int{i}, 1, 63, 3, 2}, jpegScan{[]int{i}, 1, 63, 2, 1}, jpegScan{[]int{i}, 1, 63, 1, 0})
		}
		return all
	}()...)
	greys = func() []jpegScan {
		all := []jpegScan{{[]int{0}, 0, 0, 0, 0}}
		for k := range 19 {
			all = append(all, jpegScan{[]int{0}, 1 + 3*k, 3 + 3*k, 0, 0})
		}
		return all
	}()
	colours420 = []jpegPart{{2, 2}, {1, 1}, {1, 1}}
	colours444 = []jpegPart{{1, 1}, {1, 1}, {1, 1}}
	onlyGrey   = []jpegPart{{1, 1}}
)

// scansOver is a progressive JPEG of grey with many scans of next to nothing.
func scansOver(w, h, scans int) []byte {
	all := []jpegScan{{[]int{0}, 0, 0, 0, 0}}
	for len(all) < scans {
		all = append(all, jpegScan{[]int{0}, 1, 63, 0, 0})
	}
	return jpegOf(madeJPEG{w: w, h: h, parts: onlyGrey, progressive: true}, all...)
}

// chunk is one of a PNG.
func chunk(kind string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// pngOf is a PNG of so many zeros as its data; depth and kind are as in its header.
func pngOf(w, h int, depth, kind, interlaced byte, zeros int, before ...[]byte) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	b := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, depth, kind, 0, 0, interlaced))...)
	if kind == 3 {
		b = append(b, chunk("PLTE", []byte{1, 2, 3, 4, 5, 6})...)
	}
	b = append(b, slices.Concat(before...)...)
	return slices.Concat(b, chunk("IDAT", deflated(zeros)), chunk("IEND", nil))
}

// interlaced is the number of bytes of a picture's seven passes (PNG, 8.2), with each line's filter.
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

// TestHostilePictures: each is refused by the name of the bound that it passes, before
// more is allocated than little.
func TestHostilePictures(t *testing.T) {
	twice := jpegOf(madeJPEG{w: 640, h: 480, parts: colours444}, whole(0), whole(1), whole(2), whole(0))
	for name, tc := range map[string]struct {
		picture []byte
		want    string
	}{
		"2,000 scans":             {scansOver(5000, 5000, 2000), "whose 2000 scans go over its pixels 2000 times, over the limit of 32"},
		"33 scans":                {scansOver(64, 64, 33), "go over its pixels 33 times, over the limit of 32"},
		"a component twice":       {twice, "go over its pixels 2 times, over the limit of 1"},
		"scans behind a filling":  {bytes.Replace(scansOver(64, 64, 60), []byte("\xff\xda"), []byte("\xff\xff\xff\xff\xda"), -1), "over the limit of 32"},
		"scans behind comments":   {bytes.Replace(scansOver(64, 64, 60), []byte("\xff\xda"), []byte("\xff\xfe\x00\x04\xff\xd9\xff\xda"), -1), "over the limit of 32"},
		"a JPEG of 65535²":        {jpegOf(madeJPEG{w: 65535, h: 65535, parts: onlyGrey, progressive: true}), "65535×65535 pixels, over the limit of 70 million"},
		"coefficients":            {jpegOf(madeJPEG{w: 8000, h: 8000, parts: colours444, progressive: true}), "decoding takes 915 MB, over the limit of 400"},
		"a PNG of a column":       {pngOf(1, 1<<31-1, 8, 0, 0, 100), "2147483647×1 pixels, over the limit of 65535 a side"},
		"a PNG of 66 gigapixels":  {pngOf(1<<31-1, 1<<31-1, 1, 0, 0, 100), "dimension overflow"},
		"a PNG of 16 bits":        {pngOf(8000, 8000, 16, 6, 0, 100), "decoding takes 488 MB, over the limit of 400"},
		"a PNG in seven passes":   {pngOf(8000, 8000, 16, 2, 1, 100), "decoding takes 732 MB, over the limit of 400"},
		"a PNG of two colours":    {pngOf(20000, 20000, 1, 3, 0, 100), "20000×20000 pixels, over the limit of 70 million"},
		"a PNG with more behind":  {pngOf(9, 9, 8, 0, 0, 32<<20), "too much pixel data"},
		"a PNG that ends":         {pngOf(3000, 3000, 8, 0, 1, 100), "damaged"},
		"a PNG of empty parts":    {pngOf(9, 9, 8, 0, 0, 3, bytes.Repeat(chunk("IDAT", nil), 1<<18)), "damaged"},
		"a JPEG of fillings":      {append([]byte("\xff\xd8"), bytes.Repeat([]byte{0xff}, 8<<20)...), "damaged"},
		"a JPEG without restarts": {append([]byte("\xff\xd8\xff\xdd\x00\x04\x00\x01"), asJPEG(drawn(99, 99, plain(color.White)))[2:]...), "damaged"},
	} {
		g := grey(9, 9, 3)
		refused(t, name, []File{Bytes("a.zip", packed("a/1.png", tc.picture, "b/1.png", g))}, tc.want)
		refused(t, name+", loose", []File{named("x/a/1.png", tc.picture), named("x/b/1.png", g)}, tc.want)
	}
}

// TestManyPicturesOfNothing: each is within its bounds, and together they take more work
// than their bytes allow, which is found at once.
func TestManyPicturesOfNothing(t *testing.T) {
	scans := slices.Repeat([]jpegScan{{[]int{0}, 1, 63, 0, 0}}, 32)
	for name, picture := range map[string][]byte{
		"scans without means": jpegOf(madeJPEG{w: 4000, h: 4000, parts: onlyGrey, progressive: true}, scans...),
		"black":               pngOf(4000, 4000, 8, 0, 0, 4000*4001),
	} {
		var parts []any
		for i := range 30 {
			parts = append(parts, fmt.Sprintf("%d/%d.png", i%2, i), picture)
		}
		files := []File{Bytes("a.zip", packed(parts...))}
		for _, free := range []int64{0, 100 << 20} {
			l := newLoader(t.Context(), run.CSV{BadRows: "skip"})
			l.limits.decoded = free
			if _, err := l.load(files, nil); !errors.Is(err, errTooMuch) || !strings.Contains(err.Error(), "nearly blank") || strings.Contains(err.Error(), "CSV") {
				t.Errorf("%s: %v", name, err)
			}
			if l.made > 2*l.allowed || l.allowed > free+64<<20 || l.decoded != free {
				t.Errorf("%s: %d of %d bytes of work, %d for free", name, l.made, l.allowed, l.decoded)
			}
		}
	}
}

// TestBlankPages: scans of empty pages, which pack to next to nothing and whose packed forms are
// alike, are read.
func TestBlankPages(t *testing.T) {
	var parts []any
	for i := range 20 {
		page := pngOf(2480, 3508, 8, 0, 0, 3508*2481, chunk("tEXt", fmt.Appendf(nil, "Page\x00%d", i))) // A4 at 300 dpi
		parts = append(parts, fmt.Sprintf("%d/%d.png", i%2, i), page)
	}
	l := newLoader(t.Context(), run.CSV{TestShare: -1})
	file := Bytes("scans.zip", packed(parts...))
	ds, err := l.load([]File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ds.Train.N != 20 || l.made <= Allowance(file.Size()) {
		t.Errorf("%d pages; %d bytes were made of %d, which its bytes alone allow", ds.Train.N, l.made, file.Size())
	}
}

// TestHonestPictures: what phones, cameras and tools make is read, and a limit is met by
// what is one beyond it and by nothing else.
func TestHonestPictures(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	level := func() int { return rng.IntN(15) - 7 }
	colour := func(w, h int, parts []jpegPart, progressive bool) madeJPEG {
		return madeJPEG{w: w, h: h, parts: parts, progressive: progressive, level: level}
	}
	many := slices.Concat(scansOver(64, 64, 32))
	for name, tc := range map[string]struct {
		picture []byte
		w, h    int
	}{
		"libjpeg, 10 scans":        {jpegOf(colour(301, 203, colours420, true), libjpegs...), 301, 203},
		"libjpeg, 4:4:4":           {jpegOf(colour(301, 203, colours444, true), libjpegs...), 301, 203},
		"17 scans":                 {jpegOf(colour(640, 480, colours420, true), mozjpegs...), 640, 480},
		"20 scans of grey":         {jpegOf(colour(640, 480, onlyGrey, true), greys...), 640, 480},
		"32 scans of grey":         {many, 64, 64},
		"a scan each":              {jpegOf(colour(301, 203, colours420, false), whole(0), whole(1), whole(2)), 301, 203},
		"grey that says 2×2":       {jpegOf(madeJPEG{w: 301, h: 203, parts: []jpegPart{{2, 2}}, level: level}, whole(0)), 301, 203},
		"a PNG in seven passes":    {pngOf(100, 60, 16, 6, 1, interlaced(100, 60, 8)), 100, 60},
		"a profile that is a bomb": {pngOf(40, 30, 8, 0, 0, 41*30, chunk("iCCP", append([]byte("x\x00\x00"), deflated(64<<20)...)), chunk("zTXt", append([]byte("x\x00\x00"), deflated(64<<20)...))), 40, 30},
		"a profile with markers":   {slices.Concat([]byte("\xff\xd8\xff\xe2\xff\xff"), bytes.Repeat([]byte("\xff\xda\x00"), 65533/3+1)[:65533], jpegOf(colour(64, 48, colours420, false), whole(0, 1, 2))[2:]), 64, 48},
		"pictures behind the end":  {slices.Concat(jpegOf(colour(64, 48, colours420, false), whole(0, 1, 2)), scansOver(64, 64, 60)), 64, 48},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l := newLoader(t.Context(), run.CSV{TestShare: -1})
		ds, err := l.load([]File{Bytes("a.zip", packed("a/1.png", tc.picture, "b/1.png", tc.picture))}, nil)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if ds.Train.N != 2 {
			t.Errorf("%s: %d rows", name, ds.Train.N)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
			t.Errorf("%s: %d MB were allocated", name, mb)
		}
		d, err := l.limits.newPictureDecoder(name, tc.picture)
		if err != nil || d.Width != tc.w || d.Height != tc.h {
			t.Errorf("%s: %d×%d, %v", name, d.Width, d.Height, err)
		}
	}
}

// TestPhonesPicture: 48 million pixels, as phones have, become a row.
func TestPhonesPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes 48 million pixels")
	}
	m := madeJPEG{w: 8064, h: 6048, parts: colours420}
	got, err := Picture("phone.jpg", jpegOf(m, whole(0, 1, 2)), []int{3, 8, 8})
	if err != nil || slices.ContainsFunc(got, func(v uint8) bool { return v < 127 || v > 129 }) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestDecodersEnd: reading ends within a picture when the context does, and says how far it
// is meanwhile, whatever the decoder.
func TestDecodersEnd(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 300, 300))
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(rng.IntN(256)) | 1
	}
	for name, picture := range map[string][]byte{
		"PNG": asPNG(noise), "JPEG": asJPEG(noise), "scans": scansOver(2000, 2000, 32),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		l := newLoader(ctx, run.CSV{})
		clock := time.Unix(0, 0)
		l.now = func() time.Time { clock = clock.Add(progressAfter); return clock }
		reports := 0
		l.progress = func(Progress) {
			if reports++; reports == 20 {
				cancel()
			}
		}
		parts := []File{named("x/a/1.png", picture), named("x/b/1.png", picture)}
		if _, err := l.load(parts, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v after %d reports", name, err, reports)
		}
		if reports != 20 {
			t.Errorf("%s: %d reports", name, reports)
		}
	}
}

// TestCostIsTheDecoders: no decoder reads more scans than are counted, whatever stands
// between them.
func TestCostIsTheDecoders(t *testing.T) {
	for _, scans := range []int{1, 2, 7, 31} {
		b := scansOver(80, 40, scans)
		c := image.Config{Width: 80, Height: 40, ColorModel: color.GrayModel}
		cost := costOfJPEG(c, b)
		if cost.scans != scans || cost.blocks != 50 || cost.visited != int64(50*scans) || cost.memory != 50*64*5 || !cost.progressive {
			t.Errorf("%d scans: %+v", scans, cost)
		}
	}
	for parts, want := range map[string]pictureCost{
		"420": {memory: 6 * 64, made: 48, blocks: 6, scans: 1, visited: 6}, "444": {memory: 3 * 2 * 2 * 64, made: 96, blocks: 12, scans: 1, visited: 12},
	} {
		of := colours420
		if parts == "444" {
			of = colours444
		}
		b := jpegOf(madeJPEG{w: 16, h: 16, parts: of}, whole(0, 1, 2))
		if cost := costOfJPEG(image.Config{Width: 16, Height: 16, ColorModel: color.YCbCrModel}, b); cost != want {
			t.Errorf("%s: %+v, want %+v", parts, cost, want)
		}
	}
}

func FuzzPictureCost(f *testing.F) {
	for _, b := range [][]byte{scansOver(64, 64, 3), jpegOf(madeJPEG{w: 16, h: 16, parts: colours420}, whole(0, 1, 2)), pngOf(9, 9, 8, 0, 1, 90), pngOf(9, 9, 1, 3, 0, 27), asJPEG(drawn(9, 9, plain(color.White)))} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l := defaultLimits()
		l.pixels, l.decoding = 1<<16, 1<<20
		d, err := l.newPictureDecoder("x", b)
		if err != nil {
			if strings.Contains(err.Error(), "%!") {
				t.Fatal(err)
			}
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := d.decode(&feed{b, t.Context().Err})
		runtime.ReadMemStats(&after)
		if err == nil && (m.Bounds().Dx() != d.Width || m.Bounds().Dy() != d.Height) {
			t.Fatal(fmt.Sprint(m.Bounds(), d.Config))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(2*l.decoding+16<<20) {
			t.Fatalf("%d bytes were allocated", n)
		}
	})
}
