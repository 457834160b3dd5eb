package format

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"image"
	"io"
	"strconv"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
	"clipscope/core/run"
)

// gallery decodes pictures, resizes them and collects them as the rows of a data set.
type gallery struct {
	*source.Reading
	ds    *data.Dataset
	index map[string]int // index of each class, by its name
	resizer
	meter   *source.Meter // of the file that is being read; nil until the first picture is decoded
	raw     bytes.Buffer
	sizes   map[image.Point]int // number of the pictures looked at, by their size
	colours int                 // number of those that are not grey
	resized int                 // number of pictures that had another size
	turned  int                 // number of pictures that were turned upright
	depth   depth
	greyed  int // number of pictures in colour that were made grey
	bad     table.BadRows
	seed    maphash.Seed
	seen    map[uint64]string // the first name of each content to train on, by its hash
}

func newGallery(in *source.Reading, classes []string) *gallery {
	g := &gallery{Reading: in, sizes: map[image.Point]int{}, index: map[string]int{}, seed: maphash.MakeSeed(), seen: map[uint64]string{}}
	g.ds = &data.Dataset{Task: data.Classification, Outputs: len(classes), Classes: classes}
	if classes == nil {
		g.ds.Task, g.ds.Outputs = data.Regression, 1
	}
	for i, c := range classes {
		g.index[c] = i
	}
	return g
}

// labels makes the gallery one of pictures with several labels each.
func (g *gallery) labels(t *flagTable) {
	g.ds.Task, g.ds.Outputs, g.ds.Classes = data.MultiLabel, len(t.names), t.names
}

// read returns the stored bytes of a picture. They are valid until the next call.
func (g *gallery) read(p picture) ([]byte, error) {
	large := fmt.Sprintf("of over %d MB", g.Limits.Picture>>20)
	if p.Size() > g.Limits.Picture {
		return nil, badPicture(p.Name(), large, nil)
	}
	r, err := p.Open()
	if err != nil {
		return nil, badPicture(p.Name(), "that cannot be opened", err)
	}
	defer r.Close()
	g.raw.Reset()
	g.raw.Grow(int(p.Size()) + bytes.MinRead)
	n, err := io.Copy(&g.raw, io.LimitReader(r, g.Limits.Picture+1))
	var own *data.Error
	switch {
	case errors.As(err, &own):
		return nil, err
	case err != nil:
		return nil, badPicture(p.Name(), "that cannot be read", err)
	case n > g.Limits.Picture:
		return nil, badPicture(p.Name(), large, nil)
	}
	return g.raw.Bytes(), nil
}

// badPicture returns the error for a picture that cannot be read. Under the option bad_rows it counts
// as a row that cannot be read, which may be left out.
func badPicture(name, what string, err error) error {
	return &data.Error{File: name, Expected: "a PNG or JPEG picture", Got: "one " + what, Err: err,
		Fix: "Replace the picture or leave it out, or " + data.SkipRows + "."}
}

// alive reports progress where that is due. Its error says why reading has to end; nil: it goes on.
func (g *gallery) alive() error {
	return g.meter.Check(false)
}

// spendDecoding counts n bytes that a picture is decoded to. Up to Limits.Decoded, a picture also adds
// to the allowance the bytes that it takes of it. A blank page packs to next to nothing and is no
// attack: its decoding has bounds of its own, and its pixels are released before the next picture is
// decoded. The sum bounds the time.
func spendDecoding(in *source.Reading, name string, n int64) error {
	free := min(n, in.Limits.Decoded-in.Taken.Decoded)
	in.Taken.Decoded += free
	in.Allowed += free
	return in.Spend(name, n)
}

// draw decodes a picture and resizes it to the gallery's size. The error is a [badPicture], or the
// context's.
func (g *gallery) draw(dst []uint8, name string, raw []byte, d pictureDecoder) error {
	if err := spendDecoding(g.Reading, name, d.cost.made); err != nil {
		return err
	}
	img, err := d.decode(&feed{raw, g.alive})
	if end := g.alive(); end != nil {
		return end
	}
	if err != nil {
		return badPicture(name, "that is damaged", err)
	}
	if err := g.depth.read(img, raw, g.alive); err != nil {
		return err
	}
	return g.into(dst, img, d.turn, g.alive)
}

// look counts the size of a picture, and whether it is in colour. It ignores one that cannot be read.
func (g *gallery) look(raw []byte) {
	c, err := newPictureDecoder("", raw, &g.Limits)
	if err != nil {
		return
	}
	g.sizes[c.size()]++
	if !c.grey() {
		g.colours++
	}
}

// settle decides the size and the channels that all pictures are brought to.
func (g *gallery) settle(file string) error {
	size := image.Pt(defaultSide, defaultSide)
	most := 0
	for s, n := range g.sizes {
		if n > most || n == most && (s.X < size.X || s.X == size.X && s.Y < size.Y) {
			size, most = s, n
		}
	}
	if size.X > mostSide || size.Y > mostSide || most == 0 {
		size = image.Pt(defaultSide, defaultSide)
	}
	g.frame = frame{size.Y, size.X, 1}
	if g.colours > 0 {
		g.planes = 3
	}
	opt := g.Options.Image
	switch len(opt.Size) {
	case 0:
	case 1:
		g.height, g.width = opt.Size[0], opt.Size[0]
	case 2:
		g.height, g.width = opt.Size[0], opt.Size[1]
	default:
		return data.BadOption("image.size", "a height and a width, or one number for both", fmt.Sprint(opt.Size))
	}
	if opt.Channels != 0 {
		g.planes = opt.Channels
	}
	if g.transform = cmp.Or(opt.Transform, run.TransformFit); !run.IsTransform(g.transform) {
		return data.BadOption("image.transform", "fit, stretch or crop", opt.Transform)
	}
	const mostSides = 1024
	switch {
	case g.height < 1 || g.width < 1 || g.height > mostSides || g.width > mostSides:
		return data.BadOption("image.size", fmt.Sprintf("from 1 to %d", mostSides), fmt.Sprint(opt.Size))
	case g.planes != 1 && g.planes != 3:
		return data.BadOption("image.channels", "1, for grey, or 3, for colour", fmt.Sprint(g.planes))
	case g.values() > g.Limits.Features:
		return &data.Error{File: file, Expected: fmt.Sprintf("pictures of at most %d values", g.Limits.Features), Got: fmt.Sprintf("%d×%d×%d", g.planes, g.height, g.width),
			Fix: "Choose a smaller size."}
	}
	g.ds.Features, g.ds.Bounds = g.values(), data.ByteBounds(g.values())
	g.ds.Shape, g.ds.Transform = []int{g.height, g.width}, g.transform
	if g.planes > 1 {
		g.ds.Shape = []int{g.planes, g.height, g.width}
	}
	return nil
}

// room claims and allocates the memory for n pictures.
func (g *gallery) room(file string, sp *data.Split, n int) error {
	if err := g.Claim(file, int64(n), int64(g.values()), int64(g.values())+source.RowOverhead+4*int64(g.ds.TargetWidth()-1)); err != nil || n == 0 {
		return err
	}
	sp.U8, sp.Y = make([]uint8, n*g.values()), make([]float32, n*g.ds.TargetWidth())
	return nil
}

// add decodes a picture and appends it as a row.
func (g *gallery) add(name, role, label string, raw []byte) error {
	c, err := newPictureDecoder(name, raw, &g.Limits)
	if err != nil {
		return err
	}
	sp := &g.ds.Train
	if role == source.RoleTest {
		sp = &g.ds.Test
	}
	if err := g.target(sp, name, label); err != nil {
		return err
	}
	at := sp.N * g.values()
	if at == len(sp.U8) {
		return source.Changed(name)
	}
	if err := g.draw(sp.U8[at:at+g.values()], name, raw, c); err != nil {
		return err
	}
	sp.N++
	if c.size() != image.Pt(g.width, g.height) {
		g.resized++
	}
	if c.turn.turned() {
		g.turned++
	}
	if g.planes == 1 && !c.grey() {
		g.greyed++
	}
	if g.sizes[c.size()] == 0 && len(g.sizes) < mostSizes {
		g.sizes[c.size()] = 1
	}
	return nil
}

// target writes the targets of the next row of sp.
func (g *gallery) target(sp *data.Split, name, label string) error {
	width := g.ds.TargetWidth()
	if len(sp.Y) < (sp.N+1)*width {
		return source.Changed(name)
	}
	y := sp.Y[sp.N*width:][:width]
	if g.ds.Task == data.MultiLabel {
		writeFlags(y, label)
		return nil
	}
	if g.ds.Task == data.Regression {
		v, err := strconv.ParseFloat(label, 32)
		if err != nil || v-v != 0 {
			return &data.Error{File: name, Expected: "a number as its label", Got: data.Quote(label), Fix: "Correct the label, or choose classification as the task."}
		}
		y[0] = float32(v)
		return nil
	}
	k, ok := g.index[label]
	if !ok {
		return &data.Error{File: name, Expected: "one of the classes " + data.List(g.ds.Classes), Got: data.Quote(label), Fix: "Move the picture, or leave it out."}
	}
	y[0] = float32(k)
	return nil
}

// skips counts a picture that cannot be read and reports whether it may be left out.
func (g *gallery) skips(err error) bool {
	e, ok := err.(*data.Error)
	if !ok || g.Options.BadRows != "skip" || errors.Is(err, source.ErrTooMuch) {
		return false
	}
	if g.bad.Count++; g.bad.Count == 1 {
		g.bad.First = e
	}
	return true
}

// done returns the data set of the pictures that could be read.
func (g *gallery) done(file string) (*data.Dataset, error) {
	rows := g.ds.Train.N + g.ds.Test.N
	switch {
	case g.bad.Count > rows:
		return nil, &data.Error{File: file, Expected: "most pictures to be readable", Got: fmt.Sprintf("%d that are not (the first: %s)", g.bad.Count, g.bad.First.Fault()),
			Fix: "Choose another archive or folder."}
	case g.ds.Train.N == 0:
		return nil, &data.Error{File: file, Expected: "pictures to train on", Got: "none", Fix: "Choose pictures that are not all for testing."}
	}
	for _, sp := range []*data.Split{&g.ds.Train, &g.ds.Test} {
		sp.U8, sp.Y = sp.U8[:sp.N*g.values():sp.N*g.values()], sp.Y[:sp.N*g.ds.TargetWidth():sp.N*g.ds.TargetWidth()]
	}
	if g.ds.Task == data.Classification && data.AllEqual(g.ds.Train.Y) {
		return nil, data.OneClass(file, g.ds.Classes[int(g.ds.Train.Y[0])])
	}
	if g.bad.Count > 0 {
		g.Report.BadRows += g.bad.Count
		g.Warn("%d pictures are left out because they cannot be read. The first: %s.", g.bad.Count, g.bad.First.Fault())
	}
	if g.resized > 0 {
		how := map[string]string{run.TransformFit: "with a black border where proportions differ", run.TransformStretch: "without keeping proportions", run.TransformCrop: "cut to the middle where proportions differ"}[g.transform]
		g.Warn("%d of %d pictures, which are of %s, were brought to %d×%d, %s. Choose another size if that is wrong.", g.resized, rows, sizes(len(g.sizes)), g.height, g.width, how)
	}
	if g.turned > 0 {
		g.Warn("%d of %d pictures were turned upright, as their cameras say (EXIF).", g.turned, rows)
	}
	g.depth.warn(g.Reading)
	if g.greyed > 0 {
		g.Warn("%d pictures in colour were made grey. Choose 3 channels to keep their colours.", g.greyed)
	}
	return g.ds, nil
}

func sizes(n int) string {
	if n >= mostSizes {
		return "many sizes"
	}
	if n == 1 {
		return "one size"
	}
	return strconv.Itoa(n) + " sizes"
}

// rows calls do for each picture of f, with the name that errors give it, its label and its bytes. It
// stops at the first error of do; io.EOF ends it without an error.
func (g *gallery) rows(f source.ColumnsFile, phase string, do func(row, label string, raw []byte) error) error {
	rc, err := f.Open()
	if err != nil {
		return err
	}
	defer rc.Close()
	m := g.Reading.Meter(rc, f, phase)
	g.meter = m
	r := bufio.NewReaderSize(m, source.HeadSize)
	for n := 1; ; n++ {
		label, err := g.part(r, int64(g.Limits.Category))
		if err == io.EOF {
			return nil
		}
		name := string(label)
		row := fmt.Sprintf("%s, picture %d", f.Name(), n)
		var raw []byte
		if err == nil {
			if raw, err = g.part(r, g.Limits.Picture); err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
		}
		if err == nil {
			err = g.Spend(f.Name(), int64(len(name)+len(raw)))
		}
		if err == nil {
			err = do(row, name, raw)
		}
		switch {
		case err == io.EOF:
			return nil
		case err == io.ErrUnexpectedEOF || err == source.ErrTooMuch:
			return badPicture(row, "that is too large, or whose label is", nil)
		case err != nil:
			return err
		}
	}
}

// part reads a length and so many bytes behind it. They are valid until the next call.
func (g *gallery) part(r io.Reader, most int64) ([]byte, error) {
	var length [4]byte
	if err := fill(r, length[:]); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(length[:]))
	if n > most {
		return nil, source.ErrTooMuch
	}
	g.raw.Reset()
	if m, err := io.CopyN(&g.raw, r, n); err != nil {
		if m < n && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return g.raw.Bytes(), nil
}
