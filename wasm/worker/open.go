package worker

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// openData holds the data that the page opened, and the built-in data last made for a plan.
type openData struct {
	mail mail
	load func(ctx context.Context, train, test []source.File, opt run.CSV, progress func(source.Progress)) (*data.Dataset, *data.Report, error)
	make func(name string, seed uint64) (*data.Dataset, error)

	rows    *data.Dataset // files or built-in data; nil until some are open
	files   fileSet       // that rows were read from; empty for built-in data
	public  string        // the name of rows where they are built-in data as everybody sees it
	builtin *data.Dataset
	key     builtinKey // of builtin
}

// fileSet is the files of the open data.
type fileSet struct {
	train    []source.File // of the training rows
	test     []source.File // of the test rows, where they are not held out
	csv      run.CSV       // how they were read
	identity identities    // of both, in the ledger
}

type builtinKey struct {
	name string
	seed uint64
}

// open replaces the open data, and only when it succeeds.
func (d *openData) open(r Request, q run.OpenRequest) (*data.Report, error) {
	if len(r.TrainFiles)+len(r.TestFiles) == 0 {
		ds, err := d.makeBuiltin(q.Data, q.Seed)
		if err != nil {
			return nil, err
		}
		d.rows, d.files, d.public = ds, fileSet{}, q.Data
		if q.Seed != nil {
			d.public = ""
		}
		return data.Summarize(ds, "built-in"), nil
	}
	r.TrainFiles, r.TestFiles = source.Gather(r.TrainFiles), source.Gather(r.TestFiles)
	ds, report, err := d.load(r.ctx, r.TrainFiles, r.TestFiles, q.CSV, d.mail.progress(r.ID))
	if e := (*fault)(nil); errors.As(err, &e) {
		return nil, &refusal{e, report}
	}
	if err != nil {
		return nil, err
	}
	d.rows, d.builtin, d.public, d.files = ds, nil, "", fileSet{csv: q.CSV}
	d.files.train, d.files.test, _ = source.SplitFiles(r.TrainFiles, r.TestFiles, q.CSV.Roles)
	return report, nil
}

// builtinSeed makes the built-in data that everybody sees.
const builtinSeed = 1

func (d *openData) makeBuiltin(name string, seed *uint64) (*data.Dataset, error) {
	key := builtinKey{name, builtinSeed}
	if seed != nil {
		key.seed = *seed
	}
	if d.builtin != nil && d.key == key {
		return d.builtin, nil
	}
	ds, err := d.make(key.name, key.seed)
	if err != nil {
		return nil, err
	}
	d.builtin, d.key = ds, key
	return ds, nil
}

// of returns the data that a configuration trains on: the open data, or else the
// built-in data that it names.
func (d *openData) of(c run.Config) (*data.Dataset, error) {
	if d.rows != nil {
		return d.rows, nil
	}
	name := c.WithDefaults().Data
	if name == "files" {
		return nil, &run.ConfigError{Field: "data", Message: `no files are open; give files, or name built-in data such as "digits"`}
	}
	ds, err := d.makeBuiltin(name, nil)
	if err != nil {
		return nil, &run.ConfigError{Field: "data", Message: err.Error()}
	}
	return ds, nil
}

// apart returns the data of one of several parties: of built-in data, rows that no other has.
func (d *openData) apart(p prepared) (*data.Dataset, error) {
	name := d.publicName(p.config)
	if name == "" {
		return p.ds, nil
	}
	if p.ds.Backbone != nil {
		return nil, &run.ConfigError{Field: "data", Message: "a backbone made features of this built-in data, which are the same for all parties: open it without a backbone, or open files"}
	}
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("worker: no randomness for rows of its own: %w", err)
	}
	return d.make(name, binary.LittleEndian.Uint64(seed[:]))
}

// publicName returns the name of the built-in data that a configuration trains on, if they
// can be made again from that alone.
func (d *openData) publicName(c run.Config) string {
	if d.rows != nil {
		return d.public
	}
	return c.WithDefaults().Data
}

// fromFiles reports whether the open data was read from files.
func (d *openData) fromFiles() bool { return d.rows != nil && len(d.files.train) > 0 }
