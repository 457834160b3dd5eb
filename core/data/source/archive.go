package source

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"clipscope/core/data"
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

// Archive is a zip or tar archive whose directory has been read. Names in it are only names:
// nothing is ever written where they point.
type Archive struct {
	File
	work    *Work
	Entries []*Entry // without folders and what systems leave beside files, as the directory has them
	hidden  hidden
}

// Entry is a file of an archive, as a File.
type Entry struct {
	Archive *Archive
	Path    string // with folders, parted by slashes
	packed
}

// packed is an entry in the form of its archive.
type packed interface {
	// Size returns the number of bytes once unpacked, as the archive states it.
	Size() int64
	// Open unpacks the entry. What is unpacked is spent.
	Open() (io.ReadCloser, error)
	// stored returns the number of bytes that the entry takes of its archive.
	stored() int64
	// sum returns the checksum of the content, and false where the archive has none.
	sum() (uint32, bool)
}

// Name returns the archive's name and the path in it.
func (e *Entry) Name() string { return e.Archive.Name() + "/" + e.Path }

// entryPath returns the path of an entry by its name in the archive, and false of folders and of what
// systems and programs leave beside files. It counts files of hidden folders.
func (a *Archive) entryPath(name string) (string, bool) {
	name = strings.ReplaceAll(name, `\`, "/") // as some programs write them
	if strings.HasSuffix(name, "/") || a.hidden.has(name) || junk(name) {
		return "", false
	}
	return strings.ToValidUTF8(name, "�"), true
}

// OpenArchive reads the directory of a zip archive, up to a limit, and refuses an archive that cannot be
// read without surprises.
func OpenArchive(in *Reading, f File) (*Archive, error) {
	at, ok := f.(Random)
	if !ok {
		return nil, &data.Error{File: f.Name(), Expected: "a zip archive by itself", Got: "one that cannot be read at any place",
			Fix: "Choose the archive as a file of its own."}
	}
	r, err := in.openAt(at)
	if err != nil {
		return nil, err
	}
	directory := &metered{ReaderAt: r, work: in.Work, left: in.Limits.Directory}
	z, err := zip.NewReader(directory, f.Size())
	switch {
	case directory.left < 0:
		return nil, in.largeDirectory(f)
	case err != nil:
		return nil, badArchive(f.Name(), err)
	}
	directory.left = math.MaxInt64 // from here on what is unpacked is counted
	if err := lieApart(in, f, directory, z.File); err != nil {
		return nil, err
	}
	a := &Archive{File: f, work: in.Work}
	for _, zf := range z.File {
		name, ok := a.entryPath(zf.Name)
		if !ok {
			continue
		}
		e := &Entry{Archive: a, Path: name}
		e.packed = &zipEntry{e, zf}
		if err := checkZip(e, zf); err != nil {
			return nil, err
		}
		a.Entries = append(a.Entries, e)
	}
	return a, in.filled(a)
}

// openAt opens an archive until the reading is closed.
func (in *Reading) openAt(f Random) (ReaderAtCloser, error) {
	r, err := f.OpenAt()
	if err != nil {
		return nil, notOpened(f, err)
	}
	in.opened = append(in.opened, r)
	return r, nil
}

// largeDirectory returns the error of an archive whose list of files is beyond its limit.
func (in *Reading) largeDirectory(f File) error {
	return &data.Error{File: f.Name(), Expected: fmt.Sprintf("an archive whose directory takes at most %d MB", in.Limits.Directory>>20), Got: "a larger one",
		Fix: "Pack the pictures into several archives, or fewer of them."}
}

// filled returns the error of an archive without files, and warns of those in hidden folders.
func (in *Reading) filled(a *Archive) error {
	a.hidden.warn(in, a.Name())
	if len(a.Entries) > 0 {
		return nil
	}
	return &data.Error{File: a.Name(), Expected: "files in the archive", Got: "none", Fix: "Choose an archive that holds data."}
}

// lieApart refuses an archive whose entries share bytes: the same few could be read as any number of
// files.
func lieApart(in *Reading, f File, directory *metered, files []*zip.File) error {
	const header = 30 // bytes of an entry's, which its name follows
	type place struct{ from, end int64 }
	places := make([]place, len(files))
	for i, zf := range files {
		if err := in.Step(MostNamed); err != nil {
			return err
		}
		from := directory.header(zf)
		if from < 0 || from > f.Size() || zf.CompressedSize64 > uint64(f.Size()) {
			return badArchive(f.Name(), zip.ErrFormat)
		}
		places[i] = place{from, from + header + int64(len(zf.Name)) + int64(zf.CompressedSize64)}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(places); i++ {
		if places[i].from < places[i-1].end {
			return &data.Error{File: f.Name(), Expected: "an archive whose files lie one behind the other", Got: "files that share bytes: some overlap",
				Fix: "Pack the files again; no usual program makes such an archive."}
		}
	}
	return nil
}

// Files returns the entries whose names end in one of ends, or all.
func (a *Archive) Files(ends ...string) (all []File) {
	for _, e := range a.Entries {
		if len(ends) == 0 || EndsWith(e.Path, ends...) {
			all = append(all, e)
		}
	}
	return all
}

// Find returns the entry of that path, large and small letters being the same; nil where there is none.
func (a *Archive) Find(path string) *Entry {
	for _, e := range a.Entries {
		if strings.EqualFold(e.Path, path) {
			return e
		}
	}
	return nil
}

// EndsWith reports whether name ends in one of ends, which are in small letters.
func EndsWith(name string, ends ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

func badArchive(name string, err error) error {
	return &data.Error{File: name, Expected: "a sound zip archive", Got: "damage", Err: err, Fix: "Download or pack the archive again."}
}

// checkZip refuses what is encrypted, packed in an unusual way, or says a size of itself
// that it cannot have.
func checkZip(e *Entry, z *zip.File) error {
	const encrypted = 1
	switch {
	case z.Flags&encrypted != 0:
		return &data.Error{File: e.Name(), Expected: "an archive without a password", Got: "an encrypted file", Fix: "Pack the files again without a password."}
	case z.Method != zip.Store && z.Method != zip.Deflate:
		return &data.Error{File: e.Name(), Expected: "a file that is stored or deflated", Got: fmt.Sprintf("one packed by method %d", z.Method),
			Fix: "Pack the files again as a plain zip archive."}
	case z.UncompressedSize64 > MostDeflated*z.CompressedSize64+MostDeflated || z.Method == zip.Store && z.UncompressedSize64 != z.CompressedSize64 || z.CompressedSize64 > uint64(e.Archive.Size()):
		return &data.Error{File: e.Name(), Expected: "a size that the archive can hold", Got: fmt.Sprintf("%d bytes packed into %d", z.UncompressedSize64, z.CompressedSize64),
			Fix: "Download or pack the archive again: it is damaged."}
	}
	return nil
}

// zipEntry is an entry of a zip archive.
type zipEntry struct {
	entry *Entry
	file  *zip.File
}

func (z *zipEntry) Size() int64         { return int64(z.file.UncompressedSize64) }
func (z *zipEntry) stored() int64       { return int64(z.file.CompressedSize64) }
func (z *zipEntry) sum() (uint32, bool) { return z.file.CRC32, true }

func (z *zipEntry) Open() (io.ReadCloser, error) {
	r, err := z.file.Open()
	if err != nil {
		return nil, badArchive(z.entry.Name(), err)
	}
	return &unpacking{z.entry, r}, nil
}

type unpacking struct {
	e *Entry
	io.ReadCloser
}

// Read says what is wrong with an entry in its owner's terms.
func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err := u.e.Archive.work.Spend(u.e.Archive.Name(), int64(n)); err != nil {
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
	work  *Work
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

// MostNamed is the effort of an entry's name, in bytes: about what it takes of a directory.
const MostNamed = 256

// ErrTooMuch is the cause of an error about a file that asks for more than it may: none is left out as
// a bad row.
var ErrTooMuch = errors.New("more than is read")

func (m *metered) ReadAt(p []byte, at int64) (int, error) {
	if m.asked != nil {
		*m.asked = at
		return 0, io.EOF
	}
	if m.left -= int64(len(p)); m.left < 0 {
		return 0, ErrTooMuch
	}
	if err := m.work.Step(int64(len(p))); err != nil {
		return 0, err
	}
	return m.ReaderAt.ReadAt(p, at)
}

// Zipped reports whether a file that begins so is a zip archive.
func Zipped(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// Stored returns the number of bytes of its archive, or of the disk, that a file takes.
func Stored(f File) int64 {
	if e, ok := f.(*Entry); ok {
		return e.stored()
	}
	return f.Size()
}
