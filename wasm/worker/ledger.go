package worker

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

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
	if s.names != nil && s.salt == q.Salt {
		return run.DigestReply{Names: s.names}, nil
	}
	rows, name, err := privacy.Digest(salt)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if err := data.WriteRows(rows, s.open); err != nil {
		return nil, fmt.Errorf("worker: naming the data for the ledger: %w", err)
	}
	names := []string{name()}
	for _, f := range s.files {
		name, err := digestFile(f, salt)
		if err != nil {
			return nil, fmt.Errorf("worker: naming %s for the ledger: %w", f.Name(), err)
		}
		names = append(names, name)
	}
	s.names, s.salt = names, q.Salt
	return run.DigestReply{Names: names}, nil
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
