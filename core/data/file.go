package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"
)

// File is a local file. It may be opened several times, one after the other,
// and reads the same each time; Load closes what it opens.
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

// Progress says how far Load is: Done of Total stored bytes of one file in one
// phase. Tables and compressed CIFAR records are read twice: "scan" learns what
// there is, "read" fills the rows; other images have only "read".
type Progress struct {
	Phase string `json:"phase"`
	File  string `json:"file"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

const (
	phaseScan  = "scan"
	phaseRead  = "read"
	phaseSniff = "" // not reported

	progressEvery = 1 << 20                // stored bytes between two reports at most,
	progressAfter = 250 * time.Millisecond // or time: few bytes may decompress to many
	mostPerRead   = 256 << 10              // so that cancelling and progress are prompt
	headSize      = 64 << 10               // how much of a file is looked at to recognise it
)

// limits bound what a file may ask for. They are a struct so that tests need
// no gigabytes to meet them.
type limits struct {
	bytes      int64 // of all rows, see claim
	features   int
	columns    int   // of a table
	categories int   // of a categorical column
	category   int   // bytes of one
	texts      int64 // bytes of all categories of all columns, while they are counted
	text       int   // characters of a cell that a backbone reads
	classes    int
	record     int64 // bytes of one row of a table
	directory  int64 // bytes of an archive's directory
	tables     int   // in archives, each of which is opened several times
	picture    int64 // bytes of one, as stored
	side       int   // pixels of one, across or down
	pixels     int   // of one
	decoding   int64 // bytes that the decoder of one holds at once
	decoded    int64 // bytes that are decoded of all pictures, whatever their files allow
	passes     int   // of a progressive JPEG's scans over its pixels
}

func defaultLimits() limits {
	return limits{
		bytes:      1 << 30,
		features:   1 << 16,
		columns:    20_000,
		categories: 1000,
		category:   1000,
		texts:      64 << 20,
		text:       20_000, // some pages: what reads it takes time and memory that grow with it
		classes:    1000,
		record:     4 << 20,
		directory:  16 << 20, // some 200,000 files
		tables:     10_000,
		picture:    32 << 20,
		side:       1<<16 - 1,
		pixels:     70_000_000, // phones have up to 64 million
		decoding:   400 << 20,  // Go's decoders take from 1 to 17 bytes a pixel
		decoded:    1 << 30,    // 120 pages at 300 dpi of grey, 40 of colours
		passes:     32,         // cameras and tools make 5 to 10 of colours, and at most 20 of grey
	}
}

// source is an open file, decompressed.
type source struct {
	*bufio.Reader
	file   File
	gzip   bool
	made   bool      // the content is not what is stored: its rows and cells are spent
	unpack bool      // and its bytes are, where no entry of an archive has spent them
	stream io.Reader // the content
	raw    *meter
	held   []*bufio.Reader // whose memory other sources may have when this one is closed
}

// buffer has a reader of r with a buffer of so many bytes, until s is closed.
func (s *source) buffer(r io.Reader, size int) *bufio.Reader {
	b := s.raw.l.buffered(r, size)
	s.held = append(s.held, b)
	return b
}

// open opens f, sees through gzip, and reports progress on the stored bytes.
func (l *loader) open(f File, phase string) (*source, error) {
	if f.Size() == 0 {
		return nil, emptyFile(f)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, &Error{File: f.Name(), Got: "the file could not be opened", Err: err,
			Fix: "Choose the file again; it may have been moved or changed since."}
	}
	_, text := f.(written)
	_, packed := f.(*entry)
	if text {
		l.advice = adviceCSV
	}
	s := &source{file: f, made: text || packed, unpack: text, raw: &meter{l: l, rc: rc, file: f, phase: phase, told: l.now()}}
	stored := s.buffer(readerFunc(s.readStored), headSize)
	s.stream = stored
	if gzipped(stored) {
		s.gzip, s.made, s.unpack = true, true, true
		zr, err := gzip.NewReader(stored)
		if err != nil {
			rc.Close()
			return nil, s.gzipError(err)
		}
		s.stream = &members{stored, zr}
	}
	s.Reader = s.buffer(readerFunc(s.read), headSize)
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

// Close closes the file. What was peeked of it holds no longer.
func (s *source) Close() error {
	l := s.raw.l
	for _, b := range s.held {
		b.Reset(nothing{})
		if len(l.free) < mostFree {
			l.free = append(l.free, b)
		}
	}
	s.held = nil
	return s.raw.rc.Close()
}

// nothing is a reader at its end.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// read reads the content, with errors in the owner's terms. A few stored bytes
// may be a great many here, so the time is looked at too.
func (s *source) read(p []byte) (int, error) {
	if err := s.raw.check(false); err != nil {
		return 0, err
	}
	n, err := s.stream.Read(p)
	if s.gzip {
		err = s.gzipError(err)
	}
	if s.unpack {
		if err := s.raw.l.spend(s.file.Name(), int64(n)); err != nil {
			return 0, err
		}
	}
	return n, err
}

func (s *source) readStored(p []byte) (int, error) {
	n, err := s.raw.Read(p)
	var own *Error
	if err == nil || err == io.EOF || errors.As(err, &own) || s.raw.l.ctx.Err() != nil {
		return n, err
	}
	return n, &Error{File: s.file.Name(), Byte: s.raw.done, Got: "the file could not be read", Err: err,
		Fix: "Choose the file again; it may have been moved or changed since."}
}

// gzipError puts what a damaged gzip stream gives in the owner's terms.
func (s *source) gzipError(err error) error {
	var own *Error
	switch {
	case err == nil || err == io.EOF || errors.As(err, &own) || s.raw.l.ctx.Err() != nil:
		return err
	case err == errTrailing:
		return &Error{File: s.file.Name(), Expected: "nothing after the end of the gzip data",
			Got: "other bytes there",
			Fix: "Remove what follows the compressed data, or compress the file again."}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{File: s.file.Name(), Expected: "a complete gzip file",
			Got: fmt.Sprintf("one that is cut short after %d bytes", s.raw.done),
			Fix: "Download or copy the file again."}
	default:
		return &Error{File: s.file.Name(), Expected: "a sound gzip file",
			Got: fmt.Sprintf("damage near stored byte %d", s.raw.done), Err: err,
			Fix: "Download or copy the file again."}
	}
}

func emptyFile(f File) error {
	return &Error{File: f.Name(), Expected: "rows of data", Got: "an empty file",
		Fix: "Choose a file that has rows."}
}

// meter counts the stored bytes, reports them and ends reading when the context
// does.
type meter struct {
	l        *loader
	rc       io.ReadCloser
	file     File
	phase    string
	done     int64
	reported int64
	told     time.Time
}

func (m *meter) Read(p []byte) (int, error) {
	for {
		if err := m.check(false); err != nil {
			return 0, err
		}
		n, err := m.rc.Read(p[:min(len(p), mostPerRead)])
		m.done += int64(n)
		if stored, ok := m.rc.(interface{ Done() int64 }); ok { // what is read is not what is stored
			m.done = stored.Done()
		}
		if err == io.EOF && m.done > m.reported {
			m.check(true)
		}
		if n > 0 || err != nil || len(p) == 0 { // or else there is nothing yet
			return n, err
		}
	}
}

// check reports progress when it is time to. The error is the context's.
func (m *meter) check(end bool) error {
	if err := m.l.ended(); err != nil {
		return err
	}
	if m.l.progress == nil || m.phase == phaseSniff {
		return nil
	}
	now := m.l.now()
	if end || m.done-m.reported >= progressEvery || now.Sub(m.told) >= progressAfter {
		m.reported, m.told = m.done, now
		m.l.progress(Progress{Phase: m.phase, File: m.file.Name(), Done: m.done, Total: m.file.Size()})
	}
	return nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
