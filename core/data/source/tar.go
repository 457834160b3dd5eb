package source

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
)

// Tarred reports whether content that begins so is a tar archive: of ustar, pax or GNU by its mark, or
// of the form before those by the checksum of its first header.
func Tarred(head []byte) bool {
	if len(head) < tarBlock {
		return false
	}
	if mark := head[257:265]; bytes.HasPrefix(mark, []byte("ustar\x00")) || string(mark) == "ustar  \x00" {
		return true
	}
	field := head[148:156]
	want, err := strconv.ParseInt(strings.Trim(string(field), " \x00"), 8, 32)
	sum := int64(len(field)) * ' '
	for i, c := range head[:tarBlock] {
		if i < 148 || i >= 156 {
			sum += int64(c)
		}
	}
	return err == nil && head[0] != 0 && sum == want
}

const (
	// tarBlock is the size of a header, in bytes.
	tarBlock = 512
	// tarNamed is what an entry takes of Limits.Directory beside its name, in bytes: as much as in a zip
	// archive, so that both may have as many files.
	tarNamed = 46
	// mostTarName is the longest path that is read, in bytes: that of a zip archive.
	mostTarName = 1<<16 - 1
	// tarHead is how much of an entry's beginning is held, in bytes, of an archive that can only be read from its
	// beginning on: as much as buffers read of a file that is recognised. Limits.Heads bounds that of all entries.
	tarHead = 2 * HeadSize
)

// OpenTar lists the entries of a tar archive, plain or gzipped. Of a plain one the headers are read and
// entries are read where they lie; a gzipped one is unpacked once for the list, and again for each time
// that its entries are gone through.
func OpenTar(in *Reading, f File) (*Archive, error) {
	s, err := in.Open(f, PhaseScan)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	at, random := f.(Random)
	if s.Gzip || !random {
		list := &tarList{in: in, archive: &Archive{File: f, work: in.Work}, reels: &tarReels{in: in, file: f}}
		in.opened = append(in.opened, list.reels)
		counted := &counter{r: s}
		if err := list.read(counted, func() int64 { return counted.n }); err != nil {
			return nil, err
		}
		if _, err := io.Copy(io.Discard, s); err != nil { // to the checksum
			return nil, err
		}
		return list.archive, in.filled(list.archive)
	}
	r, err := in.openAt(at)
	if err != nil {
		return nil, err
	}
	list := &tarList{in: in, archive: &Archive{File: f, work: in.Work}, at: &metered{ReaderAt: r, work: in.Work, left: math.MaxInt64}, meter: in.Meter(nil, f, PhaseScan)}
	section := io.NewSectionReader(list.at, 0, f.Size())
	err = list.read(section, func() int64 {
		at, _ := section.Seek(0, io.SeekCurrent) // of a section, which cannot fail
		return at
	})
	if err != nil {
		return nil, err
	}
	return list.archive, in.filled(list.archive)
}

// tarList lists the entries of a tar archive.
type tarList struct {
	in      *Reading
	archive *Archive
	at      *metered  // the archive, where it can be read at any place
	meter   *Meter    // of the list, there
	reels   *tarReels // the archive, where it cannot
	total   int64     // bytes of all entries
	heads   int64     // bytes of their beginnings that are held
}

// read reads the headers from r. position returns where r is.
func (l *tarList) read(r io.Reader, position func() int64) error {
	var links, others int
	byPath := map[string]*Entry{}
	left := l.in.Limits.Directory
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			if links > 0 {
				l.in.Warn("%s: %d links are left out. A file that one leads to is read where it lies in the archive.", data.Shorten(l.archive.Name()), links)
			}
			if others > 0 {
				l.in.Warn("%s: %d entries are left out: they are devices or the like, not files.", data.Shorten(l.archive.Name()), others)
			}
			slices.SortFunc(l.archive.Entries, func(a, b *Entry) int { return cmp.Compare(a.packed.(*tarEntry).at, b.packed.(*tarEntry).at) }) // some were listed again
			return nil
		case err != nil:
			return l.fault(err)
		}
		if err := l.in.Step(MostNamed); err != nil {
			return err
		}
		if l.meter != nil {
			l.meter.Done = position()
			if err := l.meter.Check(false); err != nil {
				return err
			}
		}
		if left -= tarNamed + int64(len(h.Name)); left < 0 {
			return l.in.largeDirectory(l.archive)
		}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeLink, tar.TypeSymlink:
			links++
			continue
		default:
			others++
			continue
		}
		name := h.Name
		for strings.HasPrefix(name, "./") {
			name = strings.TrimLeft(name[2:], "/")
		}
		path, ok := l.archive.entryPath(name)
		if !ok {
			continue
		}
		e, err := l.add(byPath, path, h, position())
		if err != nil {
			return err
		}
		if most := min(h.Size, tarHead, l.in.Limits.Heads-l.heads); l.reels != nil && most > 0 {
			l.heads += most
			e.head = make([]byte, most)
			if _, err := io.ReadFull(t, e.head); err != nil {
				return l.fault(err)
			}
		}
	}
}

// add lists a file whose content begins at position.
func (l *tarList) add(byPath map[string]*Entry, path string, h *tar.Header, position int64) (*tarEntry, error) {
	e := &Entry{Archive: l.archive, Path: path}
	switch {
	case len(path) > mostTarName:
		return nil, &data.Error{File: l.archive.Name(), Expected: fmt.Sprintf("paths of at most %d bytes", mostTarName), Got: fmt.Sprintf("one of %d", len(path)),
			Fix: "Pack the files again, with shorter names."}
	case sparse(h):
		return nil, &data.Error{File: e.Name(), Expected: "a file that is stored whole", Got: "a sparse one, whose holes are not stored",
			Fix: "Pack the files again without tar's option --sparse (-S)."}
	case l.reels == nil && h.Size > l.archive.Size()-position:
		return nil, l.fault(io.ErrUnexpectedEOF)
	}
	content := &tarEntry{list: l, at: position, size: h.Size}
	e.packed = content
	l.total += h.Size
	if old := byPath[path]; old != nil { // as tar itself unpacks it
		l.in.Warn("%s is in the archive more than once: the last one is read.", data.Shorten(e.Name()))
		l.total -= old.Size()
		old.packed = content
		return content, nil
	}
	byPath[path] = e
	l.archive.Entries = append(l.archive.Entries, e)
	return content, nil
}

// sparse reports whether a file has holes that are not stored.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}

// fault puts what a damaged archive gives in the owner's terms.
func (l *tarList) fault(err error) error {
	var own *data.Error
	switch {
	case errors.As(err, &own) || l.in.Ended() != nil:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &data.Error{File: l.archive.Name(), Expected: "a complete tar archive", Got: "one that ends within a file", Err: err,
			Fix: "Download or pack the archive again."}
	}
	return &data.Error{File: l.archive.Name(), Expected: "a sound tar archive", Got: "damage", Err: err, Fix: "Download or pack the archive again."}
}

// tarEntry is an entry of a tar archive: so many bytes from a place on.
type tarEntry struct {
	list     *tarList
	at, size int64
	head     []byte // the beginning of the content, where it is held
}

func (e *tarEntry) Size() int64       { return e.size }
func (*tarEntry) sum() (uint32, bool) { return 0, false }

// stored returns, of a gzipped archive, the share of it that the entry has of all entries.
func (e *tarEntry) stored() int64 {
	if e.list.reels == nil {
		return e.size
	}
	return int64(float64(e.size) / float64(max(1, e.list.total)) * float64(e.list.archive.Size()))
}

func (e *tarEntry) Open() (io.ReadCloser, error) {
	if e.list.reels == nil {
		return io.NopCloser(io.NewSectionReader(e.list.at, e.at, e.size)), nil
	}
	return &reelEntry{entry: e, head: e.head}, nil
}

// tarReels opens the entries of an archive that can only be read from its beginning on. An entry that lies
// behind the one that was closed last is reached by reading on, any other from the beginning. So entries
// that are read in the archive's order cost one pass, and all that is unpacked is spent.
type tarReels struct {
	in   *Reading
	file File
	idle *reel
}

// reel is an archive that is being unpacked.
type reel struct {
	*Stream
	at int64 // bytes that have been read
}

// wind returns the archive from a place on.
func (t *tarReels) wind(at int64) (*reel, error) {
	r := t.idle
	if t.idle = nil; r != nil && r.at > at {
		r.Close()
		r = nil
	}
	if r == nil {
		s, err := t.in.Open(t.file, PhaseSniff)
		if err != nil {
			return nil, err
		}
		r = &reel{Stream: s}
	}
	n, err := r.Discard(int(at - r.at))
	r.at += int64(n)
	if err != nil {
		r.Close()
		if err == io.EOF {
			err = Changed(t.file.Name())
		}
		return nil, err
	}
	return r, nil
}

// Close closes the stream that was kept.
func (t *tarReels) Close() error {
	if t.idle == nil {
		return nil
	}
	defer func() { t.idle = nil }()
	return t.idle.Close()
}

// reelEntry reads an entry of an archive that is being unpacked: what is held of it, and then the archive.
type reelEntry struct {
	entry *tarEntry
	head  []byte // what has not been read of it
	reel  *reel  // nil before and after
}

func (r *reelEntry) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	e, reels := r.entry, r.entry.list.reels
	if int64(len(e.head)) == e.size {
		return 0, io.EOF
	}
	if r.reel == nil {
		var err error
		if r.reel, err = reels.wind(e.at + int64(len(e.head))); err != nil {
			return 0, err
		}
	}
	rest := e.at + e.size - r.reel.at
	if rest == 0 {
		return 0, io.EOF
	}
	n, err := r.reel.Read(p[:min(int64(len(p)), rest)])
	r.reel.at += int64(n)
	if err == io.EOF {
		err = Changed(reels.file.Name())
	}
	return n, err
}

// Close keeps the stream for the entry that is read next.
func (r *reelEntry) Close() error {
	if r.reel == nil {
		return nil
	}
	reels := r.entry.list.reels
	err := reels.Close()
	reels.idle, r.reel = r.reel, nil
	return err
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
