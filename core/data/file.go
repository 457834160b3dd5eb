package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
)

// File is a local file. It may be opened several times, one after the other,
// and reads the same each time; Load closes what it opens.
type File interface {
	Name() string // without folders, as its owner knows it
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

// Progress says how far Load is: Done of Total stored bytes of one file in one
// phase. A table is read twice: "scan" learns its columns, "read" fills the
// rows; images have only "read".
type Progress struct {
	Phase string `json:"phase"`
	File  string `json:"file"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

const (
	phaseScan = "scan"
	phaseRead = "read"

	progressEvery = 1 << 20   // bytes between two reports
	mostPerRead   = 256 << 10 // so that cancelling and progress are prompt
	headSize      = 64 << 10  // how much of a file is looked at to recognise it
)

// limits bound what a file may ask for. They are a struct so that tests need
// no gigabytes to meet them.
type limits struct {
	bytes      int64 // of the features of one data set
	features   int
	columns    int // of a table
	categories int // of a categorical column
	classes    int
	record     int64 // bytes of one row of a table
}

func defaultLimits() limits {
	return limits{
		bytes:      1 << 30,
		features:   1 << 16,
		columns:    20_000,
		categories: 1000,
		classes:    1000,
		record:     4 << 20,
	}
}

// source is an open file, decompressed.
type source struct {
	*bufio.Reader
	file   File
	gzip   bool
	stream io.Reader // what Reader reads: errors already in the owner's terms
	raw    *meter
}

// openSource opens f, sees through gzip, and reports progress on the stored bytes.
func openSource(ctx context.Context, f File, phase string, progress func(Progress)) (*source, error) {
	if f.Size() == 0 {
		return nil, emptyFile(f)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, &Error{File: f.Name(), Got: "the file could not be opened", Err: err,
			Fix: "Choose the file again; it may have been moved or changed since."}
	}
	raw := &meter{ctx: ctx, rc: rc, file: f, phase: phase, progress: progress}
	s := &source{file: f, raw: raw}
	stored := bufio.NewReaderSize(readerFunc(s.readStored), headSize)
	s.stream = stored
	if magic, _ := stored.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		s.gzip = true
		zr, err := gzip.NewReader(stored)
		if err != nil {
			rc.Close()
			return nil, s.gzipError(err)
		}
		s.stream = readerFunc(func(p []byte) (int, error) {
			n, err := zr.Read(p)
			return n, s.gzipError(err)
		})
	}
	s.Reader = bufio.NewReaderSize(s.stream, headSize)
	return s, nil
}

func (s *source) Close() error { return s.raw.rc.Close() }

func (s *source) readStored(p []byte) (int, error) {
	n, err := s.raw.Read(p)
	if err == nil || err == io.EOF || s.raw.ctx.Err() != nil {
		return n, err
	}
	return n, &Error{File: s.file.Name(), Byte: s.raw.done, Got: "the file could not be read", Err: err,
		Fix: "Choose the file again; it may have been moved or changed since."}
}

// gzipError puts what a damaged gzip stream gives in the owner's terms.
func (s *source) gzipError(err error) error {
	var own *Error
	switch {
	case err == nil || err == io.EOF || errors.As(err, &own) || s.raw.ctx.Err() != nil:
		return err
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

// meter counts the stored bytes, reports them and ends reading when ctx does.
type meter struct {
	ctx      context.Context
	rc       io.ReadCloser
	file     File
	phase    string
	progress func(Progress)
	done     int64
	reported int64
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, fmt.Errorf("data: load: %w", err)
	}
	n, err := m.rc.Read(p[:min(len(p), mostPerRead)])
	m.done += int64(n)
	if m.progress != nil && (m.done-m.reported >= progressEvery || err == io.EOF && m.done > m.reported) {
		m.reported = m.done
		m.progress(Progress{Phase: m.phase, File: m.file.Name(), Done: m.done, Total: m.file.Size()})
	}
	return n, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
