package worker

import (
	"io"

	"clipscope/core/data"
)

// Blob is bytes on their way to the page, which the host keeps where it has room.
type Blob interface {
	io.Writer
	// Sent is what [run.Message] carries.
	Sent() any
}

// blobbed is a reply with bytes beside it.
type blobbed struct {
	reply any
	blob  Blob
}

// whole is all of a file.
func whole(f data.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := make([]byte, f.Size())
	_, err = io.ReadFull(r, b)
	return b, err
}
