package data

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"image"
	"image/color"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
)

// Pictures come in folders, one for each class, or with tables that say what they
// show; loose, or in zip archives. They are looked at three times: the names tell what
// there is, the headers of a few what size they are brought to, and then each is
// unpacked, decoded and resized by itself.

// picture is one that has not been read.
type picture struct {
	File
	path  string // within the archive or folder
	from  int    // which of the files that were given
	role  string // train or test
	label string // the class, or a number
}

// defaultSide is what pictures are brought to that have no common size of at most
// mostSide pixels; what papers on CIFAR and its kin train on.
const (
	defaultSide = 32
	mostSide    = 64
	sampled     = 64 // pictures whose headers are looked at
	mostSizes   = 1000
)

func (l *loader) loadPictures(train, test []File) (*Dataset, error) {
	l.advice = advicePictures
	if _, err := choices(l.opt, l.limits); err != nil {
		return nil, err
	}
	all, tables, err := l.listPictures(train, test)
	if err != nil {
		return nil, err
	}
	files := slices.Concat(train, test)
	if all, err = l.labelled(files[0], all, tables); err != nil {
		return nil, err
	}
	classes, err := l.classesOf(files[0], all)
	if err != nil {
		return nil, err
	}
	g := l.newGallery(classes)
	if err := l.sample(g, all); err != nil {
		return nil, err
	}
	if err := g.settle(files[0].Name()); err != nil {
		return nil, err
	}
	for role, sp := range map[string]*Split{roleTrain: &g.ds.Train, roleTest: &g.ds.Test} {
		n := 0
		for _, p := range all {
			if p.role == role {
				n++
			}
		}
		if err := g.room(files[0].Name(), sp, n); err != nil {
			return nil, err
		}
	}
	if err := l.readPictures(g, files, all); err != nil {
		return nil, err
	}
	return g.done(files[0].Name())
}

// listPictures finds the pictures of files, and the tables among them.
func (l *loader) listPictures(train, test []File) (all []picture, tables []File, err error) {
	from := 0
	list := func(files []File, role string) error {
		for _, f := range files {
			var parts []picture
			switch f := f.(type) {
			case *archive:
				for _, e := range f.entries {
					if err := l.step(mostNamed); err != nil {
						return err
					}
					switch {
					case endsWith(e.path, pictureEnds...):
						parts = append(parts, picture{File: e, path: e.path, from: from, role: role})
					case endsWith(e.path, labelEnds...):
						if err := l.countTables(f, 1); err != nil {
							return err
						}
						tables = append(tables, e)
					case endsWith(e.path, ".zip"):
						return &Error{File: e.Name(), Expected: "pictures in the archive", Got: "a zip archive inside another", Fix: "Unpack it, and choose the archives in it."}
					case endsWith(e.path, unreadEnds...):
						l.warn("%s is left out: of pictures, PNG and JPEG are read.", shorten(e.Name()))
					}
				}
			case *folder:
				for _, p := range f.files {
					parts = append(parts, picture{File: p, path: p.Name(), from: from, role: role})
				}
			default:
				tables = append(tables, f)
			}
			place(parts, role)
			all = append(all, parts...)
			from++
		}
		return nil
	}
	if err = list(train, roleTrain); err == nil {
		err = list(test, roleTest)
	}
	return all, tables, err
}

// place takes from the paths of one archive's or folder's pictures what class they are
// of and whether they are to test on. A folder is of a role where all are in one: a
// class may be called train.
func place(all []picture, role string) {
	where, roles := make([]standing, len(all)), true
	for i, p := range all {
		where[i] = standsIn(p.path)
		roles = roles && (where[i].role != "" || len(where[i].above) == 0)
	}
	if !roles {
		for i, p := range all {
			where[i] = standing{above: foldersOf(p.path)}
		}
	}
	for i, class := range classFolders(where) {
		all[i].label = class
		if role == roleTrain {
			all[i].role = cmp.Or(where[i].role, role)
		}
	}
}

// labelled gives pictures the labels that tables have for them, and leaves those out
// of which nothing says what they show.
func (l *loader) labelled(f File, all []picture, tables []File) ([]picture, error) {
	used := false
	var names *pictureIndex
	for _, t := range tables {
		if names == nil { // which few archives need
			names = pictureNames(all)
		}
		ok, err := l.readLabels(t, all, names, used)
		if err != nil {
			return nil, err
		}
		used = used || ok
	}
	if used {
		for i := range all {
			if rest, ok := strings.CutPrefix(all[i].label, fromTable); ok {
				all[i].label = rest
			} else {
				all[i].label = ""
			}
		}
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(p picture) bool { return p.label == "" })
	if len(kept) == 0 {
		return nil, &Error{File: f.Name(), Expected: "a folder for each class, such as cat/1.png and dog/1.png, or a table filename,label",
			Got: fmt.Sprintf("%d pictures without either", len(all)), Fix: "Put the pictures of each class into a folder of its name, or add such a table (CSV)."}
	}
	if n := len(all) - len(kept); n > 0 {
		l.warn("%d pictures are left out: no folder and no table says what they show.", n)
	}
	train, test := 0, 0
	for _, p := range kept {
		if p.role == roleTest {
			test++
		} else {
			train++
		}
	}
	if train == 0 {
		for i := range kept {
			kept[i].role = roleTrain
		}
	} else if test > 0 {
		l.warn("%d pictures are used for testing, as their folders, tables or files say.", test)
	}
	return kept, nil
}

// fromTable marks a label that a table gave; no folder's name begins so.
const fromTable = "\x00"

// readLabels reads a table of pictures' names and labels. It reports whether it is one.
func (l *loader) readLabels(f File, all []picture, names *pictureIndex, others bool) (bool, error) {
	ch, err := choices(l.opt, l.limits)
	if err != nil {
		return false, err
	}
	t, err := l.openTable(f, phaseScan, ch, nil)
	if err != nil {
		return false, err
	}
	defer t.src.Close()
	var first [][]string
	for size := int64(0); len(first) < 100 && size < l.limits.record; {
		cells, _, err := t.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return false, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = strings.Clone(c)
			size += int64(len(c))
		}
		first = append(first, row)
	}
	nameAt, labelAt, err := l.labelColumns(t, first, names)
	if err != nil || nameAt < 0 {
		if err == nil && !others {
			l.warn("%s names none of the pictures, and is not used.", shorten(f.Name()))
		}
		return false, err
	}
	held := namedTest(path.Base(f.Name()))
	take := func(cells []string) error {
		if n := len(cells[nameAt]); n > mostPath {
			return &Error{File: f.Name(), Column: nameAt + 1, Expected: fmt.Sprintf("names of pictures of at most %d bytes, as archives have them", mostPath), Got: fmt.Sprintf("one of %d", n),
				Fix: "Correct the table, or leave it out of the archive."}
		}
		i, ok := names.find(cells[nameAt])
		if !ok {
			return nil // of a picture that is not there
		}
		label := cells[labelAt]
		if len(label) > l.limits.category {
			return &Error{File: f.Name(), Expected: fmt.Sprintf("labels of at most %d bytes", l.limits.category), Got: quote(label), Fix: "Choose another label column."}
		}
		if label != "" {
			all[i].label = fromTable + label
		}
		if held {
			all[i].role = roleTest
		}
		return nil
	}
	for _, row := range first {
		if err := take(row); err != nil {
			return false, err
		}
	}
	for {
		cells, _, err := t.next()
		if err == io.EOF {
			return true, nil
		}
		if err == nil {
			err = take(cells)
		}
		if err != nil {
			return false, err
		}
	}
}

// pictureIndex finds pictures by what a table may call them: the path, the name, or
// the name without its end; by one of the latter two where no other is called so.
type pictureIndex struct {
	at      map[string]int
	longest int // bytes of a path
}

const several = -1

func pictureNames(all []picture) *pictureIndex {
	names, longest := map[string]int{}, 0
	for i, p := range all {
		base := path.Base(p.path)
		for _, name := range []string{base, strings.TrimSuffix(base, path.Ext(base))} {
			if other, ok := names[name]; ok && other != i {
				names[name] = several
			} else {
				names[name] = i
			}
		}
	}
	for i, p := range all {
		names[p.path] = i
		longest = max(longest, len(p.path))
	}
	return &pictureIndex{names, longest}
}

// mostAbove limits the folders that a cell may have above a picture that do not stand above it
// in the archive: those of the disk on which the table was written.
const mostAbove = 64

// mostPath is the longest path that an entry of a zip archive can have.
const mostPath = 1<<16 - 1

// find takes time in proportion to the bytes of name, whatever it is.
func (x *pictureIndex) find(name string) (int, bool) {
	name = strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "./")
	for range mostAbove {
		if len(name) <= x.longest {
			if i, ok := x.at[name]; ok {
				return i, i != several
			}
		}
		if _, name, _ = strings.Cut(name, "/"); name == "" {
			break
		}
	}
	return 0, false
}

// labelColumns are the columns of names and of labels; the first is -1 where the table
// is about something else.
func (l *loader) labelColumns(t *table, rows [][]string, names *pictureIndex) (nameAt, labelAt int, err error) {
	nameAt = -1
	best := 0
	for i := range t.width {
		known, cells := map[int]bool{}, 0
		for _, row := range rows {
			if at, ok := names.find(row[i]); ok {
				known[at] = true
				cells++
			}
		}
		// Labels may be called as pictures are: 0 as 0.png. They come again and again.
		if len(known) > best && 2*len(known) >= cells {
			nameAt, best = i, len(known)
		}
	}
	if nameAt < 0 {
		return -1, 0, nil
	}
	for _, want := range append([]string{l.opt.Label}, labelNames()...) {
		for i, name := range t.names {
			if want != "" && i != nameAt && strings.EqualFold(name, want) {
				return nameAt, i, nil
			}
		}
	}
	if n, err := strconv.Atoi(l.opt.Label); err == nil && n >= 1 && n <= t.width && n != nameAt+1 {
		return nameAt, n - 1, nil
	}
	if t.width == 2 {
		return nameAt, 1 - nameAt, nil
	}
	return 0, 0, &Error{File: t.name, Expected: "a table of two columns, filename and label", Got: fmt.Sprintf("%d columns, none of them called label", t.width),
		Fix: "Choose the label column."}
}

// classesOf lists the classes of the pictures to train on, sorted; nil for a regression.
func (l *loader) classesOf(f File, all []picture) ([]string, error) {
	if l.opt.Task == string(Regression) {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, p := range all {
		if p.role != roleTrain || seen[p.label] {
			continue
		}
		if len(seen) == l.limits.classes {
			return nil, &Error{File: f.Name(), Expected: fmt.Sprintf("at most %d classes", l.limits.classes), Got: "more",
				Fix: "Put fewer folders into the archive, choose another label column, or regression as the task."}
		}
		seen[p.label] = true
	}
	classes := slices.SortedFunc(maps.Keys(seen), compareClasses)
	if len(classes) == 1 {
		return nil, oneClass(f.Name(), classes[0])
	}
	return classes, nil
}

// compareClasses orders numbers by value, and before words.
func compareClasses(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(cmp.Compare(x, y), strings.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}

// sample shows the headers of a few pictures to g, evenly spaced.
func (l *loader) sample(g *gallery, all []picture) error {
	for k := range min(sampled, len(all)) {
		p := all[k*len(all)/min(sampled, len(all))]
		raw, err := g.read(p)
		if err == nil {
			g.look(raw)
		} else if l.ctx.Err() != nil || l.opt.BadRows != "skip" {
			return err
		}
	}
	return nil
}

func (l *loader) readPictures(g *gallery, files []File, all []picture) error {
	m := &meter{l: l, file: files[all[0].from], phase: phaseRead, told: l.now()}
	g.meter = m
	for _, p := range all {
		if file := files[p.from]; file != m.file {
			m = &meter{l: l, file: file, phase: phaseRead, told: l.now()}
			g.meter = m
		}
		if err := m.check(false); err != nil {
			return err
		}
		raw, err := g.read(p)
		if err == nil {
			err = g.add(p.Name(), p.role, p.label, raw)
		}
		if err == nil && p.role == roleTrain {
			sum := maphash.Bytes(g.seed, raw)
			if first, ok := g.seen[sum]; ok {
				l.warnTwice(first, p.Name())
			} else {
				g.seen[sum] = p.Name()
			}
		}
		if err != nil && !g.skips(err) {
			return err
		}
		m.done += stored(p.File)
	}
	m.done = m.file.Size()
	return m.check(true)
}

// stored returns the number of bytes of its archive, or of the disk, that a file takes.
func stored(f File) int64 {
	if e, ok := f.(*entry); ok {
		return int64(e.zip.CompressedSize64)
	}
	return f.Size()
}

// gallery makes rows of pictures.
type gallery struct {
	*loader
	ds    *Dataset
	index map[string]int // of a class
	resizer
	meter   *meter // of the file that is read; nil: none
	raw     bytes.Buffer
	sizes   map[image.Point]int // of the pictures that were looked at
	colours int                 // of those, how many are not grey
	resized int                 // pictures that had another size
	greyed  int                 // pictures in colour that have been made grey
	bad     badRows
	seed    maphash.Seed
	seen    map[uint64]string // the first name of each content to train on, by its hash
}

func (l *loader) newGallery(classes []string) *gallery {
	g := &gallery{loader: l, sizes: map[image.Point]int{}, index: map[string]int{}, seed: maphash.MakeSeed(), seen: map[uint64]string{}}
	g.ds = &Dataset{Task: Classification, Outputs: len(classes), Classes: classes}
	if classes == nil {
		g.ds.Task, g.ds.Outputs = Regression, 1
	}
	for i, c := range classes {
		g.index[c] = i
	}
	return g
}

// Picture decodes a PNG or JPEG picture and brings it to shape, [height, width] or
// [3, height, width], as Load does with those of a data set. name is what an [*Error]
// calls it.
func Picture(name string, raw []byte, shape []int) ([]uint8, error) {
	g := newLoader(context.Background(), run.CSV{}).newGallery(nil)
	switch {
	case len(shape) == 2:
		g.frame = frame{shape[0], shape[1], 1}
	case len(shape) == 3 && shape[0] == 3:
		g.frame = frame{shape[1], shape[2], 3}
	default:
		return nil, fmt.Errorf("data: picture: want a shape of height and width, or of 3 planes, have %v", shape)
	}
	if g.height < 1 || g.width < 1 || g.height > g.limits.features/g.width {
		return nil, fmt.Errorf("data: picture: a shape of %v", shape)
	}
	d, err := g.limits.newPictureDecoder(name, raw)
	if err != nil {
		return nil, err
	}
	g.allow(Bytes(name, raw))
	dst := make([]uint8, g.values())
	if err := g.draw(dst, name, raw, d); err != nil {
		return nil, err
	}
	return dst, nil
}

// read reads the bytes of a picture, as they are stored. They hold until the next call.
func (g *gallery) read(p picture) ([]byte, error) {
	large := fmt.Sprintf("of over %d MB", g.limits.picture>>20)
	if p.Size() > g.limits.picture {
		return nil, badPicture(p.Name(), large, nil)
	}
	r, err := p.Open()
	if err != nil {
		return nil, badPicture(p.Name(), "that cannot be opened", err)
	}
	defer r.Close()
	g.raw.Reset()
	g.raw.Grow(int(p.Size()) + bytes.MinRead)
	n, err := io.Copy(&g.raw, io.LimitReader(r, g.limits.picture+1))
	var own *Error
	switch {
	case errors.As(err, &own):
		return nil, err
	case err != nil:
		return nil, badPicture(p.Name(), "that cannot be read", err)
	case n > g.limits.picture:
		return nil, badPicture(p.Name(), large, nil)
	}
	return g.raw.Bytes(), nil
}

// badPicture is the error for one of them. Its row is that of a table's error, which
// may be left out.
func badPicture(name, what string, err error) error {
	return &Error{File: name, Expected: "a PNG or JPEG picture", Got: "one " + what, Err: err,
		Fix: "Replace the picture or leave it out, or skip rows that cannot be read."}
}

// alive reports progress where it is time to, and why reading is to end, if it is.
func (g *gallery) alive() error {
	if g.meter == nil {
		return g.ended()
	}
	return g.meter.check(false)
}

// spendDecoding counts n bytes that a picture is decoded to. Up to limits.decoded, pictures add
// to the allowance what they take of it: a blank page packs to next to nothing and is no attack,
// as its decoding has bounds of its own and its pixels are let go before the next picture's. The
// sum bounds the time.
func (l *loader) spendDecoding(name string, n int64) error {
	free := min(n, l.limits.decoded-l.decoded)
	l.decoded += free
	l.allowed += free
	return l.spend(name, n)
}

// draw decodes a picture and brings it to the gallery's size. The error is a
// [badPicture], or the context's.
func (g *gallery) draw(dst []uint8, name string, raw []byte, d pictureDecoder) error {
	if err := g.spendDecoding(name, d.cost.made); err != nil {
		return err
	}
	img, err := d.decode(&feed{raw, g.alive})
	if end := g.alive(); end != nil {
		return end
	}
	if err != nil {
		return badPicture(name, "that is damaged", err)
	}
	return g.into(dst, img, g.alive)
}

// look counts the size and the colours of a picture, if it has any.
func (g *gallery) look(raw []byte) {
	c, err := g.limits.newPictureDecoder("", raw)
	if err != nil {
		return
	}
	g.sizes[image.Pt(c.Width, c.Height)]++
	if c.ColorModel != color.GrayModel && c.ColorModel != color.Gray16Model {
		g.colours++
	}
}

// settle decides what the pictures are brought to.
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
	opt := g.opt.Image
	switch len(opt.Size) {
	case 0:
	case 1:
		g.height, g.width = opt.Size[0], opt.Size[0]
	case 2:
		g.height, g.width = opt.Size[0], opt.Size[1]
	default:
		return badOption("image.size", "a height and a width, or one number for both", fmt.Sprint(opt.Size))
	}
	if opt.Channels != 0 {
		g.planes = opt.Channels
	}
	const mostSides = 1024
	switch {
	case g.height < 1 || g.width < 1 || g.height > mostSides || g.width > mostSides:
		return badOption("image.size", fmt.Sprintf("from 1 to %d", mostSides), fmt.Sprint(opt.Size))
	case g.planes != 1 && g.planes != 3:
		return badOption("image.channels", "1, for grey, or 3, for colour", fmt.Sprint(g.planes))
	case g.values() > g.limits.features:
		return &Error{File: file, Expected: fmt.Sprintf("pictures of at most %d values", g.limits.features), Got: fmt.Sprintf("%d×%d×%d", g.planes, g.height, g.width),
			Fix: "Choose a smaller size."}
	}
	g.ds.Features, g.ds.Bounds = g.values(), byteBounds(g.values())
	g.ds.Shape = []int{g.height, g.width}
	if g.planes > 1 {
		g.ds.Shape = []int{g.planes, g.height, g.width}
	}
	return nil
}

// room makes room for n pictures.
func (g *gallery) room(file string, sp *Split, n int) error {
	if err := g.claim(file, int64(n), int64(g.values()), int64(g.values())+rowOverhead); err != nil || n == 0 {
		return err
	}
	sp.U8, sp.Y = make([]uint8, n*g.values()), make([]float32, n)
	return nil
}

// add decodes a picture and makes it a row.
func (g *gallery) add(name, role, label string, raw []byte) error {
	c, err := g.limits.newPictureDecoder(name, raw)
	if err != nil {
		return err
	}
	y, err := g.target(name, label)
	if err != nil {
		return err
	}
	sp := &g.ds.Train
	if role == roleTest {
		sp = &g.ds.Test
	}
	at := sp.N * g.values()
	if at == len(sp.U8) {
		return changed(name)
	}
	if err := g.draw(sp.U8[at:at+g.values()], name, raw, c); err != nil {
		return err
	}
	sp.Y[sp.N] = y
	sp.N++
	if c.Width != g.width || c.Height != g.height {
		g.resized++
	}
	if g.planes == 1 && c.ColorModel != color.GrayModel && c.ColorModel != color.Gray16Model {
		g.greyed++
	}
	if g.sizes[image.Pt(c.Width, c.Height)] == 0 && len(g.sizes) < mostSizes {
		g.sizes[image.Pt(c.Width, c.Height)] = 1
	}
	return nil
}

func (g *gallery) target(name, label string) (float32, error) {
	if g.ds.Task == Regression {
		v, err := strconv.ParseFloat(label, 32)
		if err != nil || v-v != 0 {
			return 0, &Error{File: name, Expected: "a number as its label", Got: quote(label), Fix: "Correct the label, or choose classification as the task."}
		}
		return float32(v), nil
	}
	k, ok := g.index[label]
	if !ok {
		return 0, &Error{File: name, Expected: "one of the classes " + list(g.ds.Classes), Got: quote(label), Fix: "Move the picture, or leave it out."}
	}
	return float32(k), nil
}

// skips counts a picture that cannot be read and reports whether it may be left out.
func (g *gallery) skips(err error) bool {
	e, ok := err.(*Error)
	if !ok || g.opt.BadRows != "skip" || errors.Is(err, errTooMuch) {
		return false
	}
	if g.bad.count++; g.bad.count == 1 {
		g.bad.first = e
	}
	return true
}

// done is the data set, of the pictures that could be read.
func (g *gallery) done(file string) (*Dataset, error) {
	rows := g.ds.Train.N + g.ds.Test.N
	switch {
	case g.bad.count > rows:
		return nil, &Error{File: file, Expected: "most pictures to be readable", Got: fmt.Sprintf("%d that are not (the first: %s)", g.bad.count, g.bad.first.fault()),
			Fix: "Choose another archive or folder."}
	case g.ds.Train.N == 0:
		return nil, &Error{File: file, Expected: "pictures to train on", Got: "none", Fix: "Choose pictures that are not all for testing."}
	}
	for _, sp := range []*Split{&g.ds.Train, &g.ds.Test} {
		sp.U8, sp.Y = sp.U8[:sp.N*g.values():sp.N*g.values()], sp.Y[:sp.N:sp.N]
	}
	if g.ds.Task == Classification && allEqual(g.ds.Train.Y) {
		return nil, oneClass(file, g.ds.Classes[int(g.ds.Train.Y[0])])
	}
	if g.bad.count > 0 {
		g.report.BadRows += g.bad.count
		g.warn("%d pictures are left out because they cannot be read. The first: %s.", g.bad.count, g.bad.first.fault())
	}
	if g.resized > 0 {
		g.warn("%d of %d pictures, which are of %s sizes, were brought to %d×%d, without keeping proportions. Choose another size if that is wrong.", g.resized, rows, sizes(len(g.sizes)), g.height, g.width)
	}
	if g.greyed > 0 {
		g.warn("%d pictures in colour were made grey. Choose 3 channels to keep their colours.", g.greyed)
	}
	return g.ds, nil
}

func sizes(n int) string {
	if n >= mostSizes {
		return "many"
	}
	return strconv.Itoa(n)
}
