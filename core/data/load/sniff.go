package load

import (
	"fmt"
	"slices"

	"clipscope/core/data"
	"clipscope/core/data/format"
	"clipscope/core/data/source"
)

// recognise finds the one format of all files. It opens archives, and replaces one that has no format of
// its own by its files.
func recognise(in *source.Reading, train, test *[]source.File) (*format.Format, error) {
	var of kinds
	for _, files := range []*[]source.File{train, test} {
		var all []source.File
		for _, f := range *files {
			parts, err := sniff(in, f, of.add)
			if err != nil {
				return nil, err
			}
			all = append(all, parts...)
		}
		*files = all
	}
	if len(*test) == 0 && of.kind.Beside == "" { // what was unpacked has names that were not seen before
		*train, *test, _ = source.SplitFiles(*train, nil, in.Options.Roles)
		for _, f := range *test {
			in.Warn("%s is used for testing, as its name says.", data.Shorten(f.Name()))
		}
	}
	return of.kind, nil
}

// kinds finds the one format of files.
type kinds struct {
	kind  *format.Format
	first source.File
}

func (of *kinds) add(f source.File, k *format.Format) error {
	beside := func(a, b *format.Format) bool { return a.Beside == b.Name }
	switch {
	case of.first == nil || beside(k, of.kind):
		of.kind, of.first = k, f
	case k != of.kind && !beside(of.kind, k):
		return &data.Error{File: f.Name(),
			Expected: fmt.Sprintf("a file of the same kind as %s (%s)", data.Shorten(of.first.Name()), of.kind.Name),
			Got:      fmt.Sprintf("a %s file", k.Name),
			Fix:      "Choose files of one data set at a time."}
	}
	return nil
}

// sniff calls add with the format of f. It returns f or, for an archive, the files to be read in its place.
func sniff(in *source.Reading, f source.File, add func(source.File, *format.Format) error) ([]source.File, error) {
	if _, ok := f.(*source.Folder); ok {
		return sniffMany(f, add)
	}
	head, size, err := source.Head(in, f)
	if err != nil {
		return nil, err
	}
	_, packed := f.(*source.Entry)
	if !packed && source.Zipped(head) && size == 0 {
		return nil, format.NotData(f.Name(), "a zip archive inside a gzip file: unpack it first")
	}
	if !packed && source.Zipped(head) {
		return sniffArchive(in, f, source.OpenArchive, add)
	}
	if !packed && source.Tarred(head) {
		return sniffArchive(in, f, source.OpenTar, add)
	}
	k, err := format.Of(f.Name(), head, size, in.Options.Encoding)
	if err != nil {
		return nil, err
	}
	return []source.File{f}, add(f, k)
}

// sniffArchive is sniff for an archive, which open lists.
func sniffArchive(in *source.Reading, f source.File, open func(*source.Reading, source.File) (*source.Archive, error), add func(source.File, *format.Format) error) ([]source.File, error) {
	a, err := open(in, f)
	if err != nil {
		return nil, err
	}
	if all, err := sniffMany(a, add); all != nil || err != nil {
		return all, err
	}
	if err := source.CountTables(in, f, len(a.Entries)); err != nil {
		return nil, err
	}
	m := in.Meter(nil, f, source.PhaseScan)
	aside := func(e *source.Entry) bool { return format.Aside(e.Path) }
	all := !slices.ContainsFunc(a.Entries, func(e *source.Entry) bool { return !aside(e) })
	var files []source.File
	for _, e := range a.Entries {
		if err := m.Check(false); err != nil {
			return nil, err
		}
		if aside(e) && !all {
			in.Warn("%s is left out: it tells about the data.", data.Shorten(e.Name()))
			continue
		}
		if _, err := sniff(in, e, add); err != nil {
			return nil, err
		}
		files = append(files, e)
		m.Done += source.Stored(e)
	}
	return files, nil
}

// sniffMany is like sniff for a file that holds many; nil where they have to be sniffed one by one.
func sniffMany(f source.File, add func(source.File, *format.Format) error) ([]source.File, error) {
	k, err := format.OfMany(f)
	if k == nil || err != nil {
		return nil, err
	}
	return []source.File{f}, add(f, k)
}
