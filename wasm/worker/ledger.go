package worker

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
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
		s.known, s.tested, s.salt = nil, nil, q.Salt
	}
	if s.known == nil {
		if s.known, err = s.identify(&s.open.Train, s.files, salt, false); err != nil {
			return nil, err
		}
	}
	if !q.Tested {
		return run.DigestReply{Identity: *s.known}, nil
	}
	if s.tested == nil && s.open.Test.N > 0 {
		if s.tested, err = s.identify(&s.open.Test, s.tests, salt, true); err != nil {
			return nil, err
		}
	}
	both := *s.known
	if s.tested != nil {
		both.Names, both.Marks = slices.Concat(both.Names, s.tested.Names), slices.Concat(both.Marks, s.tested.Marks)
	}
	both.ID = idOf(both)
	return run.DigestReply{Identity: both}, nil
}

// identify makes the identity of some rows of the open data and of the files that they
// come from. For rows that are tested on, the pictures held for testing among the other
// files count as well.
func (s *Session) identify(of *data.Split, files []data.File, salt []byte, tested bool) (*run.Identity, error) {
	hash, name, err := privacy.Digest(salt)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	rows := *s.open
	rows.Train = *of
	if err := data.WriteRows(hash, &rows); err != nil {
		return nil, fmt.Errorf("worker: naming the data for the ledger: %w", err)
	}
	id := &run.Identity{Names: []string{name()}, Marks: []string{}}
	for _, f := range files {
		name, err := digestFile(f, salt)
		if err != nil {
			return nil, fmt.Errorf("worker: naming %s for the ledger: %w", f.Name(), err)
		}
		id.Names = append(id.Names, name)
	}
	if tested {
		files = slices.Concat(files, s.files)
	}
	var each, parts privacy.Sketch
	var sum []byte
	into := func(k *privacy.Sketch) func() {
		return func() {
			sum = hash.Sum(sum[:0])
			k.Add(sum)
		}
	}
	if err := data.EachRow(s.open, of, hash, into(&each)); err != nil {
		return nil, fmt.Errorf("worker: naming the rows for the ledger: %w", err)
	}
	if err := s.host.Files.Parts(context.Background(), files, s.csv, tested, hash, into(&parts)); err != nil {
		return nil, fmt.Errorf("worker: naming the parts of the files for the ledger: %w", err)
	}
	for _, k := range []*privacy.Sketch{&each, &parts} {
		if text := k.Text(); text != "" {
			id.Marks = append(id.Marks, text)
		}
	}
	id.ID = idOf(*id)
	return id, nil
}

// idOf returns a hash of an identity's names and marks, which are salted.
func idOf(of run.Identity) string {
	h := sha256.New()
	for _, list := range [][]string{of.Names, of.Marks} {
		for _, s := range list {
			fmt.Fprintf(h, "%d|%s", len(s), s)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
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
