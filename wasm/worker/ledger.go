package worker

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"clipscope/core/data"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

func (s *Session) digest(q run.DigestRequest) (any, error) {
	salt, err := hex.DecodeString(q.Salt)
	if err != nil {
		return nil, fmt.Errorf("worker: the ledger's salt: %w", err)
	}
	if s.open == nil || len(s.files) == 0 {
		return nil, errors.New("worker: no files are open: built-in data are public and have no ledger")
	}
	if s.salt != q.Salt {
		s.names, s.tested, s.salt = nil, nil, q.Salt
	}
	if s.names == nil {
		if s.names, err = digestRows(s.open, s.files, salt); err != nil {
			return nil, err
		}
	}
	if !q.Tested {
		return run.DigestReply{Names: s.names}, nil
	}
	if s.tested == nil && s.open.Test.N > 0 {
		tested := *s.open
		tested.Train = s.open.Test
		if s.tested, err = digestRows(&tested, s.tests, salt); err != nil {
			return nil, err
		}
	}
	return run.DigestReply{Names: slices.Concat(s.names, s.tested)}, nil
}

// digestRows names the training rows of ds and the files that they come from.
func digestRows(ds *data.Dataset, files []data.File, salt []byte) ([]string, error) {
	rows, name, err := privacy.Digest(salt)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if err := data.WriteRows(rows, ds); err != nil {
		return nil, fmt.Errorf("worker: naming the data for the ledger: %w", err)
	}
	names := []string{name()}
	for _, f := range files {
		name, err := digestFile(f, salt)
		if err != nil {
			return nil, fmt.Errorf("worker: naming %s for the ledger: %w", f.Name(), err)
		}
		names = append(names, name)
	}
	return names, nil
}

// digestFile names a file by its content, compressed or not.
func digestFile(f data.File, salt []byte) (name string, err error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	hash, sum, err := privacy.Digest(salt)
	if err != nil {
		return "", err
	}
	buffered := bufio.NewReaderSize(r, 1<<16)
	var content io.Reader = buffered
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
		if content, err = gzip.NewReader(buffered); err != nil {
			return "", err
		}
	}
	if _, err := io.Copy(hash, content); err != nil {
		return "", err
	}
	return sum(), nil
}
