package format

import (
	"cmp"
	"fmt"
	"hash"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
)

// Pictures come in folders, one for each class, or with tables that say what they show; loose, or in
// zip archives. They are read in three passes: the names say which there are, the headers of a few
// decide the common size, and then each picture is unpacked, decoded and resized by itself.

// Pictures is the name of the format of pictures.
const Pictures = "pictures"

// picturesFormat reads pictures, loose, in folders or in archives.
var picturesFormat = Format{
	Name:   Pictures,
	Beside: csvFormat.Name,
	Load:   loadPictures,
	Parts:  pictureParts,
}

// picture is a picture that has not been read.
type picture struct {
	source.File
	path  string // within the archive or folder
	from  int    // which of the files that were given
	role  string // train or test
	label string // the class, or a number
}

// defaultSide is the side, in pixels, of pictures without a common size of at most mostSide pixels.
// Papers on CIFAR and its kin train on pictures of this size.
const (
	defaultSide = 32
	mostSide    = 64
	sampled     = 64 // pictures whose headers are looked at
	mostSizes   = 1000
)

func loadPictures(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
	in.Advice = source.AdvicePictures
	if _, err := table.Choose(in.Options, in.Limits); err != nil {
		return nil, err
	}
	all, tables, err := listPictures(in, train, test)
	if err != nil {
		return nil, err
	}
	files := slices.Concat(train, test)
	var flags *flagTable
	if table.MultiLabel(in.Options) {
		flags = &flagTable{}
	}
	if all, err = labelPictures(in, files[0], all, tables, flags); err != nil {
		return nil, err
	}
	g := newGallery(in, nil)
	if flags != nil {
		g.labels(flags)
	} else {
		classes, err := classesOf(in, files[0], all)
		if err != nil {
			return nil, err
		}
		g = newGallery(in, classes)
	}
	if err := sampleHeaders(in, g, all); err != nil {
		return nil, err
	}
	if err := g.settle(files[0].Name()); err != nil {
		return nil, err
	}
	for role, sp := range map[string]*data.Split{source.RoleTrain: &g.ds.Train, source.RoleTest: &g.ds.Test} {
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
	if err := readPictures(in, g, files, all); err != nil {
		return nil, err
	}
	return g.done(files[0].Name())
}

// listPictures finds the pictures of files, and the tables among them.
func listPictures(in *source.Reading, train, test []source.File) (all []picture, tables []source.File, err error) {
	from := 0
	list := func(files []source.File, role string) error {
		for _, f := range files {
			var parts []picture
			switch f := f.(type) {
			case *source.Archive:
				for _, e := range f.Entries {
					if err := in.Step(source.MostNamed); err != nil {
						return err
					}
					switch {
					case source.IsPicture(e.Path):
						parts = append(parts, picture{File: e, path: e.Path, from: from, role: role})
					case source.EndsWith(e.Path, labelEnds...):
						if err := source.CountTables(in, f, 1); err != nil {
							return err
						}
						tables = append(tables, e)
					case source.EndsWith(e.Path, ".zip", ".tar", ".tar.gz", ".tgz"):
						return &data.Error{File: e.Name(), Expected: "pictures in the archive", Got: "an archive inside another", Fix: "Unpack it, and choose the archives in it."}
					case source.EndsWith(e.Path, unreadEnds...):
						in.Warn("%s is left out: of pictures, PNG and JPEG are read.", data.Shorten(e.Name()))
					}
				}
			case *source.Folder:
				f.WarnHidden(in)
				for _, p := range f.Files {
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
	if err = list(train, source.RoleTrain); err == nil {
		err = list(test, source.RoleTest)
	}
	return all, tables, err
}

// place reads the class and the role of pictures, of one archive or folder, from their paths. Folders name
// roles only where every picture is in one that does: a class may be called train.
func place(all []picture, role string) {
	where, roles := make([]standing, len(all)), true
	for i, p := range all {
		where[i] = standsIn(source.Composed(p.path))
		roles = roles && (where[i].role != "" || len(where[i].above) == 0)
	}
	if !roles {
		for i, p := range all {
			where[i] = standing{above: foldersOf(source.Composed(p.path))}
		}
	}
	for i, class := range classFolders(where) {
		all[i].label = class
		if role == source.RoleTrain {
			all[i].role = cmp.Or(where[i].role, role)
		}
	}
}

// labelPictures gives pictures the labels that tables have for them, and leaves out pictures without a
// label.
func labelPictures(in *source.Reading, f source.File, all []picture, tables []source.File, flags *flagTable) ([]picture, error) {
	used := false
	var names *pictureIndex
	for _, t := range tables {
		if names == nil { // which few archives need
			names = pictureNames(all)
		}
		ok, err := readLabels(in, t, all, names, used, flags)
		if err != nil {
			return nil, err
		}
		used = used || ok
	}
	if flags != nil {
		if err := flags.settle(in, f, used); err != nil {
			return nil, err
		}
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
		return nil, &data.Error{File: f.Name(), Expected: "a folder for each class, such as cat/1.png and dog/1.png, or a table filename,label",
			Got: fmt.Sprintf("%d pictures without either", len(all)), Fix: "Put the pictures of each class into a folder of its name, or add such a table (CSV)."}
	}
	if !used && names != nil && names.others != nil {
		return nil, names.others
	}
	if n := len(all) - len(kept); n > 0 {
		in.Warn("%d pictures are left out: no folder and no table says what they show.", n)
	}
	train, test := 0, 0
	for _, p := range kept {
		if p.role == source.RoleTest {
			test++
		} else {
			train++
		}
	}
	if train == 0 {
		for i := range kept {
			kept[i].role = source.RoleTrain
		}
	} else if test > 0 {
		in.Warn("%d pictures are used for testing, as their folders, tables or files say.", test)
	}
	return kept, nil
}

// classesOf lists the classes of the pictures to train on, sorted; nil for a regression.
func classesOf(in *source.Reading, f source.File, all []picture) ([]string, error) {
	if in.Options.Task == string(data.Regression) {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, p := range all {
		if p.role != source.RoleTrain || seen[p.label] {
			continue
		}
		if len(seen) == in.Limits.Classes {
			return nil, &data.Error{File: f.Name(), Expected: fmt.Sprintf("at most %d classes", in.Limits.Classes), Got: "more",
				Fix: "Put fewer folders into the archive, choose another label column, or regression as the task."}
		}
		seen[p.label] = true
	}
	classes := slices.SortedFunc(maps.Keys(seen), compareClasses)
	if len(classes) == 1 {
		return nil, data.OneClass(f.Name(), classes[0])
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

// sampleHeaders shows the headers of a few pictures to g, evenly spaced.
func sampleHeaders(in *source.Reading, g *gallery, all []picture) error {
	for k := range min(sampled, len(all)) {
		p := all[k*len(all)/min(sampled, len(all))]
		raw, err := g.read(p)
		if err == nil {
			g.look(raw)
		} else if in.Ended() != nil || in.Options.BadRows != "skip" {
			return err
		}
	}
	return nil
}

func readPictures(in *source.Reading, g *gallery, files []source.File, all []picture) error {
	m := in.Meter(nil, files[all[0].from], source.PhaseRead)
	g.meter = m
	for _, p := range all {
		if file := files[p.from]; file != m.File {
			m = in.Meter(nil, file, source.PhaseRead)
			g.meter = m
		}
		if err := m.Check(false); err != nil {
			return err
		}
		raw, err := g.read(p)
		if err == nil {
			err = g.add(p.Name(), p.role, p.label, raw)
		}
		if err == nil && p.role == source.RoleTrain {
			sum := maphash.Bytes(g.seed, raw)
			if first, ok := g.seen[sum]; ok {
				source.WarnTwice(in, first, p.Name())
			} else {
				g.seen[sum] = p.Name()
			}
		}
		if err != nil && !g.skips(err) {
			return err
		}
		m.Done += source.Stored(p.File)
	}
	m.Done = m.File.Size()
	return m.Check(true)
}

func pictureParts(in *source.Reading, files []source.File, tested bool, h hash.Hash, add func()) error {
	all, _, err := listPictures(in, files, nil)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.role == source.RoleTest && !tested {
			continue
		}
		h.Reset()
		if err := writeContent(in, h, p); err != nil {
			return err
		}
		add()
	}
	return nil
}

// writeContent writes a file to h as it is stored.
func writeContent(in *source.Reading, h hash.Hash, f source.File) error {
	if err := in.Ended(); err != nil {
		return fmt.Errorf("data: parts: %w", err)
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("data: parts: %w", err)
	}
	defer r.Close()
	io.WriteString(h, "picture|")
	if _, err := io.Copy(h, r); err != nil {
		return fmt.Errorf("data: parts: %w", err)
	}
	return nil
}

// labelEnds lists the ends of the names of tables that may say what pictures show.
var labelEnds = []string{".csv", ".tsv", "list_attr_celeba.txt"}

// unreadEnds lists the extensions of pictures of other kinds.
var unreadEnds = []string{".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".jfif", ".svg"}
