package data

import (
	"archive/zip"
	"cmp"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
)

// Random is a File that can be read at any place, as archives have to be.
type Random interface {
	File
	OpenAt() (ReaderAtCloser, error)
}

// ReaderAtCloser is the opened form of a [Random].
type ReaderAtCloser interface {
	io.ReaderAt
	io.Closer
}

// archive is a zip archive whose directory has been read. Names in it are only names:
// nothing is ever written where they point.
type archive struct {
	File
	work    *work
	entries []*entry // without folders and what systems leave beside files, as the directory has them
}

// entry is one file of an archive, as a File.
type entry struct {
	of   *archive
	path string // with folders, parted by slashes
	zip  *zip.File
}

func (e *entry) Name() string { return e.of.Name() + "/" + e.path }
func (e *entry) Size() int64  { return int64(e.zip.UncompressedSize64) }

// openArchive reads the directory of a zip archive, so much of it and no more, and
// refuses what cannot be read without surprises.
func (l *loader) openArchive(f File) (*archive, error) {
	at, ok := f.(Random)
	if !ok {
		return nil, &Error{File: f.Name(), Expected: "a zip archive by itself", Got: "one that cannot be read at any place",
			Fix: "Choose the archive as a file of its own."}
	}
	r, err := at.OpenAt()
	if err != nil {
		return nil, &Error{File: f.Name(), Got: "the file could not be opened", Err: err,
			Fix: "Choose the file again; it may have been moved or changed since."}
	}
	l.opened = append(l.opened, r)
	directory := &metered{ReaderAt: r, work: l.work, left: l.limits.directory}
	z, err := zip.NewReader(directory, f.Size())
	switch {
	case directory.left < 0:
		return nil, &Error{File: f.Name(), Expected: fmt.Sprintf("an archive whose directory takes at most %d MB", l.limits.directory>>20), Got: "a larger one",
			Fix: "Pack the pictures into several archives, or fewer of them."}
	case err != nil:
		return nil, badArchive(f.Name(), err)
	}
	directory.left = math.MaxInt64 // from here on what is unpacked is counted
	if err := l.apart(f, directory, z.File); err != nil {
		return nil, err
	}
	a := &archive{File: f, work: l.work}
	for _, zf := range z.File {
		name := strings.ReplaceAll(zf.Name, `\`, "/") // as some programs write them
		if strings.HasSuffix(name, "/") || junk(name) {
			continue
		}
		e := &entry{a, strings.ToValidUTF8(name, "�"), zf}
		if err := e.check(); err != nil {
			return nil, err
		}
		a.entries = append(a.entries, e)
	}
	if len(a.entries) == 0 {
		return nil, &Error{File: f.Name(), Expected: "files in the archive", Got: "none", Fix: "Choose an archive that holds data."}
	}
	return a, nil
}

// apart refuses an archive whose entries share bytes: the same few could be read as any number of
// files.
func (l *loader) apart(f File, directory *metered, files []*zip.File) error {
	const header = 30 // bytes of an entry's, which its name follows
	type place struct{ from, end int64 }
	places := make([]place, len(files))
	for i, zf := range files {
		if err := l.step(mostNamed); err != nil {
			return err
		}
		from := directory.header(zf)
		if from < 0 || from > f.Size() || zf.CompressedSize64 > uint64(f.Size()) {
			return badArchive(f.Name(), zip.ErrFormat)
		}
		places[i] = place{from, from + header + int64(len(zf.Name)) + int64(zf.CompressedSize64)}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(places); i++ {
		if places[i].from < places[i-1].end {
			return &Error{File: f.Name(), Expected: "an archive whose files lie one behind the other", Got: "files that share bytes: some overlap",
				Fix: "Pack the files again; no usual program makes such an archive."}
		}
	}
	return nil
}

// files are the entries whose names end so, or all.
func (a *archive) files(ends ...string) (all []File) {
	for _, e := range a.entries {
		if len(ends) == 0 || endsWith(e.path, ends...) {
			all = append(all, e)
		}
	}
	return all
}

// endsWith reports whether name ends in one of ends, which are in small letters.
func endsWith(name string, ends ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// holds says what the archive is, by the names in it; empty where its files are to be
// looked at one by one.
func (a *archive) holds() (format, error) {
	var office string
	for _, e := range a.entries {
		switch name := strings.ToLower(e.path); {
		case isBook(name):
			return formatXLSX, nil
		case strings.HasSuffix(name, ".npy"):
			return formatNumPy, nil
		case name == "word/document.xml":
			office = "a text document"
		case name == "ppt/presentation.xml":
			office = "a presentation"
		case name == "xl/workbook.bin":
			office = "a binary spreadsheet (.xlsb)"
		case name == "content.xml":
			office = "an OpenDocument file"
		case strings.HasSuffix(name, "data.pkl"):
			office = "a PyTorch file, whose pickle is never unpacked"
		}
	}
	if office != "" {
		return "", notData(a.Name(), office)
	}
	if len(a.files(pictureEnds...)) > 0 {
		return formatPictures, nil
	}
	return "", nil
}

// junk are files that nobody put there.
func junk(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(base, ".") || strings.EqualFold(base, "thumbs.db") || strings.EqualFold(base, "desktop.ini")
}

func badArchive(name string, err error) error {
	return &Error{File: name, Expected: "a sound zip archive", Got: "damage", Err: err, Fix: "Download or pack the archive again."}
}

// check refuses what is encrypted, packed in an unusual way, or says a size of itself
// that it cannot have.
func (e *entry) check() error {
	z := e.zip
	const encrypted = 1
	switch {
	case z.Flags&encrypted != 0:
		return &Error{File: e.Name(), Expected: "an archive without a password", Got: "an encrypted file", Fix: "Pack the files again without a password."}
	case z.Method != zip.Store && z.Method != zip.Deflate:
		return &Error{File: e.Name(), Expected: "a file that is stored or deflated", Got: fmt.Sprintf("one packed by method %d", z.Method),
			Fix: "Pack the files again as a plain zip archive."}
	case z.UncompressedSize64 > mostDeflated*z.CompressedSize64+mostDeflated || z.Method == zip.Store && z.UncompressedSize64 != z.CompressedSize64 || z.CompressedSize64 > uint64(e.of.Size()):
		return &Error{File: e.Name(), Expected: "a size that the archive can hold", Got: fmt.Sprintf("%d bytes packed into %d", z.UncompressedSize64, z.CompressedSize64),
			Fix: "Download or pack the archive again: it is damaged."}
	}
	return nil
}

// Open unpacks the entry. What is unpacked is spent.
func (e *entry) Open() (io.ReadCloser, error) {
	r, err := e.zip.Open()
	if err != nil {
		return nil, badArchive(e.Name(), err)
	}
	return &unpacking{e, r}, nil
}

type unpacking struct {
	e *entry
	io.ReadCloser
}

// Read says what is wrong with an entry in its owner's terms.
func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err := u.e.of.work.spend(u.e.of.Name(), int64(n)); err != nil {
		return 0, err
	}
	var corrupt flate.CorruptInputError
	if err == zip.ErrChecksum || err == zip.ErrFormat || err == io.ErrUnexpectedEOF || errors.As(err, &corrupt) {
		err = badArchive(u.e.Name(), err)
	}
	return n, err
}

// metered ends reading after so many bytes.
type metered struct {
	io.ReaderAt
	work  *work
	left  int64
	asked *int64 // where a reader asks, which is then told nothing; nil: it is told
}

// header finds where the header of an entry is, which package zip does not tell. It looks there
// before all else, so nothing has to be read.
func (m *metered) header(zf *zip.File) int64 {
	at := int64(-1)
	m.asked = &at
	_, _ = zf.DataOffset() // an error, as nothing is read
	m.asked = nil
	return at
}

// mostNamed is about what an entry takes of a directory.
const mostNamed = 256

var errTooMuch = errors.New("more than is read")

func (m *metered) ReadAt(p []byte, at int64) (int, error) {
	if m.asked != nil {
		*m.asked = at
		return 0, io.EOF
	}
	if m.left -= int64(len(p)); m.left < 0 {
		return 0, errTooMuch
	}
	if err := m.work.step(int64(len(p))); err != nil {
		return 0, err
	}
	return m.ReaderAt.ReadAt(p, at)
}
