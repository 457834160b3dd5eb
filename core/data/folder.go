package data

import (
	"io"
	"path"
	"slices"
	"strings"
)

// pictureEnds lists the extensions of pictures.
var pictureEnds = []string{".png", ".jpg", ".jpeg"}

// unreadEnds lists the extensions of pictures of other kinds.
var unreadEnds = []string{".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".jfif", ".svg"}

// labelEnds lists the extensions of tables that may say what pictures show.
var labelEnds = []string{".csv", ".tsv"}

// Gather joins the pictures among files into one File, as a folder of them is one thing
// to its owner and to the ledger, and leaves out what systems put beside files. It does
// nothing to what it has made before.
//
// What is gathered reads as all of its pictures one after the other, by name.
func Gather(files []File) []File {
	var pictures, others []File
	for _, f := range files {
		switch {
		case endsWith(f.Name(), pictureEnds...):
			pictures = append(pictures, f)
		case strings.Contains(f.Name(), "/") && junk(f.Name()):
		default:
			others = append(others, f)
		}
	}
	if len(pictures) == 0 {
		return others
	}
	slices.SortStableFunc(pictures, func(a, b File) int { return strings.Compare(a.Name(), b.Name()) })
	return append([]File{newFolder(pictures)}, others...)
}

// folder is pictures that are files by themselves.
type folder struct {
	name  string
	size  int64
	files []File // by name
}

func newFolder(files []File) *folder {
	d := &folder{files: files}
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

func (d *folder) Name() string { return d.name }
func (d *folder) Size() int64  { return d.size }

func (d *folder) Open() (io.ReadCloser, error) { return &folderReader{rest: d.files}, nil }

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

// Where pictures stand tells what they show: each class has a folder, and a folder
// above those may say that its pictures are to train or to test on.

// roleFolders maps the names of such folders to their roles.
var roleFolders = map[string]string{
	"train": roleTrain, "training": roleTrain, "test": roleTest, "testing": roleTest,
	"val": roleTest, "valid": roleTest, "validation": roleTest,
}

// standing holds the role and class that the path of a picture says.
type standing struct {
	role  string   // train, test or nothing
	above []string // the folders that it stands in, below one of a role
}

// foldersOf are the folders in a path.
func foldersOf(name string) []string {
	dir := strings.Trim(path.Dir(strings.TrimLeft(name, "/")), "/")
	if dir == "." || dir == "" {
		return nil
	}
	return strings.Split(dir, "/")
}

func standsIn(name string) standing {
	folders := foldersOf(name)
	for i, part := range folders {
		if role := roleFolders[strings.ToLower(part)]; role != "" {
			return standing{role, folders[i+1:]}
		}
	}
	return standing{above: folders}
}

// classFolders are the classes of pictures by their paths: the first folder that is not
// above all of them, or below one of a role the first. Empty where there is none.
func classFolders(all []standing) []string {
	common := -1 // how many folders stand above all pictures
	var first []string
	for _, s := range all {
		if s.role != "" {
			continue
		}
		if common < 0 {
			first, common = s.above, len(s.above)
		}
		n := 0
		for n < min(common, len(s.above)) && s.above[n] == first[n] {
			n++
		}
		common = n
	}
	classes := make([]string, len(all))
	for i, s := range all {
		above := s.above
		if s.role == "" {
			above = above[common:]
		}
		if len(above) > 0 {
			classes[i] = above[0]
		}
	}
	return classes
}
