package source

import (
	"io"
	"slices"
	"strings"
)

// IsPicture reports whether a file of that name is a picture that is read.
func IsPicture(name string) bool { return EndsWith(name, ".png", ".jpg", ".jpeg") }

// Gather joins the pictures among files into one File, as a folder of them is one thing
// to its owner and to the ledger, and leaves out what systems and programs put beside files:
// hidden files, and hidden folders below the one that was chosen. It does nothing to what it
// has made before.
//
// What is gathered reads as all of its pictures one after the other, by name.
func Gather(files []File) []File {
	var pictures, others []File
	var left hidden
	for _, f := range files {
		_, below, nested := strings.Cut(strings.TrimPrefix(f.Name(), "/"), "/")
		switch {
		case nested && (left.has(below) || junk(below)):
		case IsPicture(f.Name()):
			pictures = append(pictures, f)
		default:
			others = append(others, f)
		}
	}
	if len(pictures) == 0 {
		return others
	}
	slices.SortStableFunc(pictures, func(a, b File) int { return strings.Compare(a.Name(), b.Name()) })
	d := newFolder(pictures)
	d.hidden = left
	return append([]File{d}, others...)
}

// Folder joins pictures that are files by themselves into one File.
type Folder struct {
	name  string
	size  int64
	Files []File // by name

	hidden hidden
}

// WarnHidden warns of files in hidden folders, which [Gather] left out.
func (d *Folder) WarnHidden(in *Reading) { d.hidden.warn(in, d.name) }

func newFolder(files []File) *Folder {
	d := &Folder{Files: files}
	for _, f := range files {
		d.size += f.Size()
	}
	if top, _, ok := strings.Cut(strings.TrimPrefix(files[0].Name(), "/"), "/"); ok {
		d.name = top
	} else if d.name = files[0].Name(); len(files) > 1 {
		d.name = "pictures"
	}
	return d
}

// Name returns the name of the folder above all pictures or, of one picture, its own.
func (d *Folder) Name() string { return d.name }

// Size returns the number of bytes of all pictures.
func (d *Folder) Size() int64 { return d.size }

// Open returns a reader of all pictures, one after the other.
func (d *Folder) Open() (io.ReadCloser, error) { return &folderReader{rest: d.Files}, nil }

// folderReader reads files one after the other.
type folderReader struct {
	rest []File
	io.ReadCloser
}

func (r *folderReader) Read(p []byte) (int, error) {
	for {
		if r.ReadCloser == nil {
			if len(r.rest) == 0 {
				return 0, io.EOF
			}
			rc, err := r.rest[0].Open()
			if err != nil {
				return 0, err
			}
			r.ReadCloser, r.rest = rc, r.rest[1:]
		}
		n, err := r.ReadCloser.Read(p)
		if err != io.EOF {
			return n, err
		}
		if err := r.Close(); err != nil {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

func (r *folderReader) Close() error {
	if r.ReadCloser == nil {
		return nil
	}
	err := r.ReadCloser.Close()
	r.ReadCloser = nil
	return err
}
