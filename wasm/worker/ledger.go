package worker

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// ledger names the open files, and others, for the ledger.
type ledger struct {
	data  *openData
	files load.Loader
}

// identities holds the identities of the open files in the ledger under a salt, each once it
// has been asked for. A featurised data set keeps those of its rows.
type identities struct {
	salt        string
	train, test *run.Identity // of the training and of the test rows
	testNames   []string      // of the test files
}

func (l *ledger) digest(q run.DigestRequest) (reply run.DigestReply, _ error) {
	salt, err := hex.DecodeString(q.Salt)
	if err != nil {
		return reply, fmt.Errorf("worker: the ledger's salt: %w", err)
	}
	if !l.data.fromFiles() {
		return reply, errors.New("worker: no files are open: built-in data are public and have no ledger")
	}
	rows, files := l.data.rows, &l.data.files
	known := &files.identity
	if known.salt != q.Salt && rows.Backbone != nil && known.train != nil {
		return reply, errors.New("worker: the ledger was deleted since a backbone made these features, and rows are recognised as they were before: open the data again")
	}
	if known.salt != q.Salt {
		*known = identities{salt: q.Salt}
	}
	if known.train == nil {
		if known.train, err = l.identify(&rows.Train, files.train, salt, false); err != nil {
			return reply, err
		}
	}
	if !q.Tested {
		return run.DigestReply{Identity: *known.train}, nil
	}
	if known.test == nil && rows.Test.N > 0 {
		if known.test, err = l.identify(&rows.Test, files.test, salt, true); err != nil {
			return reply, err
		}
	}
	both := *known.train
	if known.test != nil {
		both.Names, both.Marks = slices.Concat(both.Names, known.test.Names), slices.Concat(both.Marks, known.test.Marks)
	}
	both.ID = idOf(both)
	return run.DigestReply{Identity: both}, nil
}

// hashes returns a hash of the names that the open data for training have in the ledger under
// a salt, and one of those of the test files. They may be very many.
func (l *ledger) hashes(salt string) (train, test string, err error) {
	reply, err := l.digest(run.DigestRequest{Salt: salt})
	if err != nil {
		return "", "", err
	}
	known := &l.data.files.identity
	if known.testNames == nil {
		key, _ := hex.DecodeString(salt) // as digest did
		if known.testNames, err = namesOf(l.data.files.test, key); err != nil {
			return "", "", err
		}
	}
	return hashOf(reply.Names), hashOf(known.testNames), nil
}

// identify makes the identity of some rows of the open data and of the files that they
// come from. For rows that are tested on, the pictures held for testing among the other
// files count as well.
func (l *ledger) identify(of *data.Split, files []source.File, salt []byte, tested bool) (*run.Identity, error) {
	hash, name, err := privacy.Digest(salt)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	rows := *l.data.rows
	rows.Train = *of
	if err := data.WriteRows(hash, &rows); err != nil {
		return nil, fmt.Errorf("worker: naming the data for the ledger: %w", err)
	}
	id := &run.Identity{Names: []string{name()}, Marks: []string{}}
	var each privacy.Sketch
	if err := data.EachRow(l.data.rows, of, hash, into(&each, hash)); err != nil {
		return nil, fmt.Errorf("worker: naming the rows for the ledger: %w", err)
	}
	if text := each.Text(); text != "" {
		id.Marks = append(id.Marks, text)
	}
	parts := files
	if tested {
		parts = slices.Concat(files, l.data.files.train)
	}
	if err := l.identifyFiles(id, files, parts, l.data.files.csv, tested, salt); err != nil {
		return nil, err
	}
	id.ID = idOf(*id)
	return id, nil
}

// identifyFiles adds to an identity the names of files, and a mark of the parts of others.
func (l *ledger) identifyFiles(id *run.Identity, files, parts []source.File, csv run.CSV, tested bool, salt []byte) error {
	names, err := namesOf(files, salt)
	if err != nil {
		return err
	}
	id.Names = append(id.Names, names...)
	hash, _, err := privacy.Digest(salt)
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	var mark privacy.Sketch
	if err := l.files.Parts(context.Background(), parts, csv, tested, hash, into(&mark, hash)); err != nil {
		return fmt.Errorf("worker: naming the parts of the files for the ledger: %w", err)
	}
	if text := mark.Text(); text != "" {
		id.Marks = append(id.Marks, text)
	}
	return nil
}

// namesOf names files by their content; of no files, an empty list.
func namesOf(files []source.File, salt []byte) ([]string, error) {
	names := make([]string, len(files))
	for i, f := range files {
		var err error
		if names[i], err = digestFile(f, salt); err != nil {
			return nil, fmt.Errorf("worker: naming %s for the ledger: %w", f.Name(), err)
		}
	}
	return names, nil
}

// into returns a function that adds the sum of h to a sketch.
func into(k *privacy.Sketch, h hash.Hash) func() {
	var sum []byte
	return func() {
		sum = h.Sum(sum[:0])
		k.Add(sum)
	}
}

// recognise returns the identity of files that are not open.
func (l *ledger) recognise(r Request, q run.RecogniseRequest) (reply run.DigestReply, _ error) {
	salt, err := hex.DecodeString(q.Salt)
	if err != nil {
		return reply, fmt.Errorf("worker: the ledger's salt: %w", err)
	}
	files := source.Gather(append(r.TrainFiles, r.TestFiles...))
	id := run.Identity{Names: []string{}, Marks: []string{}}
	if err := l.identifyFiles(&id, files, files, run.CSV{}, true, salt); err != nil {
		return reply, err
	}
	id.ID = idOf(id)
	return run.DigestReply{Identity: id}, nil
}

// idOf returns a hash of an identity's names and marks, which are salted.
func idOf(of run.Identity) string { return hashOf(of.Names, of.Marks) }

// hashOf returns a hash of lists of names.
func hashOf(lists ...[]string) string {
	h := sha256.New()
	for _, list := range lists {
		for _, s := range list {
			fmt.Fprintf(h, "%d|%s", len(s), s)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// digestFile names a file by its content, compressed or not.
func digestFile(f source.File, salt []byte) (name string, err error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	h, sum, err := privacy.Digest(salt)
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
	if _, err := io.Copy(h, content); err != nil {
		return "", err
	}
	return sum(), nil
}
