package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"clipscope/core/data"
)

// File is a local file. It may be opened several times, one after the other,
// and reads the same each time; who opens it closes it.
type File interface {
	Name() string // as its owner knows it: below a folder that was chosen as a whole, with folders
	Size() int64  // bytes as stored
	Open() (io.ReadCloser, error)
}

// Bytes returns a File over b, which must not change.
func Bytes(name string, b []byte) File { return bytesFile{name, b} }

type bytesFile struct {
	name string
	b    []byte
}

func (f bytesFile) Name() string { return f.name }
func (f bytesFile) Size() int64  { return int64(len(f.b)) }
func (f bytesFile) Open() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(f.b)), nil
}
func (f bytesFile) OpenAt() (ReaderAtCloser, error) { return memory{bytes.NewReader(f.b)}, nil }

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

// Stream is an open file, decompressed.
type Stream struct {
	*bufio.Reader
	File   File
	Gzip   bool
	made   bool      // the content is not what is stored: its rows and cells are spent
	unpack bool      // and its bytes are, where no entry of an archive has spent them
	stream io.Reader // the content
	raw    *Meter
	held   []*bufio.Reader // whose memory other sources may have when this one is closed
}

// Buffer returns a reader of r with a buffer of so many bytes, until s is closed.
func (s *Stream) Buffer(r io.Reader, size int) *bufio.Reader {
	b := s.raw.in.buffers.reader(r, size)
	s.held = append(s.held, b)
	return b
}

// notOpened returns the error of a file that cannot be opened.
func notOpened(f File, err error) error {
	return &data.Error{File: f.Name(), Got: "the file could not be opened", Err: err,
		Fix: "Choose the file again; it may have been moved or changed since."}
}

// Open opens f, sees through gzip, and reports progress on the stored bytes.
func (in *Reading) Open(f File, phase string) (*Stream, error) {
	if f.Size() == 0 {
		return nil, emptyFile(f)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, notOpened(f, err)
	}
	_, text := f.(Written)
	_, packed := f.(*Entry)
	if text {
		in.Advice = AdviceCSV
	}
	s := &Stream{File: f, made: text || packed, unpack: text, raw: in.Meter(rc, f, phase)}
	stored := s.Buffer(readerFunc(s.readStored), HeadSize)
	s.stream = stored
	compressed := gzipped(stored)
	if err := in.Ended(); err != nil { // which those who peek do not see
		s.Close()
		return nil, err
	}
	if compressed {
		s.Gzip, s.made, s.unpack = true, true, true
		zr, err := gzip.NewReader(stored)
		if err != nil {
			rc.Close()
			return nil, s.gzipError(err)
		}
		s.stream = &members{stored, zr}
	}
	s.Reader = s.Buffer(readerFunc(s.read), HeadSize)
	return s, nil
}

func gzipped(r *bufio.Reader) bool {
	magic, _ := r.Peek(2)
	return string(magic) == "\x1f\x8b"
}

// members reads the members of a gzip file one after the other, so that what
// follows the last is told from damage.
type members struct {
	stored *bufio.Reader
	*gzip.Reader
}

var errTrailing = errors.New("not gzip")

func (m *members) Read(p []byte) (int, error) {
	for {
		m.Multistream(false)
		n, err := m.Reader.Read(p)
		if err != io.EOF {
			return n, err
		}
		if _, err := m.stored.Peek(1); err != nil {
			return n, err
		}
		if !gzipped(m.stored) {
			return n, errTrailing
		}
		if err := m.Reset(m.stored); err != nil || n > 0 {
			return n, err
		}
	}
}

// Close closes the file. Bytes that Peek returned are no longer valid.
func (s *Stream) Close() error {
	for _, b := range s.held {
		s.raw.in.buffers.keep(b)
	}
	s.held = nil
	return s.raw.rc.Close()
}

// read reads the content, with errors in the owner's terms. A few stored bytes may unpack to a great many,
// so it also looks at the time.
func (s *Stream) read(p []byte) (int, error) {
	if err := s.raw.Check(false); err != nil {
		return 0, err
	}
	n, err := s.stream.Read(p)
	if s.Gzip {
		err = s.gzipError(err)
	}
	if s.unpack {
		if err := s.raw.in.Spend(s.File.Name(), int64(n)); err != nil {
			return 0, err
		}
	}
	return n, err
}

// SpendRow spends the overhead of a row of so many cells, where the content is not the stored bytes.
func (s *Stream) SpendRow(cells int) error {
	if !s.made {
		return nil
	}
	return s.raw.in.Spend(s.File.Name(), rowCost+cellCost*int64(cells))
}

func (s *Stream) readStored(p []byte) (int, error) {
	n, err := s.raw.Read(p)
	var own *data.Error
	if err == nil || err == io.EOF || errors.As(err, &own) || s.raw.in.ctx.Err() != nil {
		return n, err
	}
	return n, &data.Error{File: s.File.Name(), Byte: s.raw.Done, Got: "the file could not be read", Err: err,
		Fix: "Choose the file again; it may have been moved or changed since."}
}

// gzipError returns the error of a damaged gzip stream in the owner's terms.
func (s *Stream) gzipError(err error) error {
	var own *data.Error
	switch {
	case err == nil || err == io.EOF || errors.As(err, &own) || s.raw.in.ctx.Err() != nil:
		return err
	case err == errTrailing:
		return &data.Error{File: s.File.Name(), Expected: "nothing after the end of the gzip data",
			Got: "other bytes there",
			Fix: "Remove what follows the compressed data, or compress the file again."}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &data.Error{File: s.File.Name(), Expected: "a complete gzip file",
			Got: fmt.Sprintf("one that is cut short after %d bytes", s.raw.Done),
			Fix: "Download or copy the file again."}
	default:
		return &data.Error{File: s.File.Name(), Expected: "a sound gzip file",
			Got: fmt.Sprintf("damage near stored byte %d", s.raw.Done), Err: err,
			Fix: "Download or copy the file again."}
	}
}

func emptyFile(f File) error {
	return &data.Error{File: f.Name(), Expected: "rows of data", Got: "an empty file",
		Fix: "Choose a file that has rows."}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Changed returns the error of a file that was another in the pass before.
func Changed(file string) error {
	return &data.Error{File: file, Expected: "the same rows as a moment ago", Got: "others: the file has changed while it was read", Fix: "Choose the file again."}
}
