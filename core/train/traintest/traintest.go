// Package traintest has the data and backends that tests of training share.
package traintest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// Rare draws a table of 5,000 rows of which some 6.5 % are of the class that is sought.
func Rare(seed uint64) *data.Dataset { return seldom(seed, 1, 5000, 0.9, 1.514) }

// Scarce draws a table of 10,000 rows of which 2.5 % are of the class that is sought,
// nearly all of them by a straight line.
func Scarce(seed uint64) *data.Dataset { return seldom(seed, 3, 10_000, 0.98, 1.96) }

// seldom draws a table of n rows and 20 columns of different size, of which those above a
// cut are of the class that is sought: by a straight line, and the less so the weaker the
// signal is.
func seldom(seed, stream uint64, n int, signal, cut float64) *data.Dataset {
	const d = 20
	rng := rand.New(rand.NewPCG(seed, stream))
	w, norm := make([]float64, d), 0.0
	for j := range w {
		w[j] = rng.NormFloat64()
		norm += w[j] * w[j]
	}
	return Drawn(n, d, []string{"no", "yes"}, func(x []float32) int {
		s := 0.0
		for j := range x {
			z := rng.NormFloat64()
			s += w[j] * z
			x[j] = float32(10*float64(j%5+1) + 3*float64(j%3+1)*z)
		}
		if signal*s/math.Sqrt(norm)+math.Sqrt(1-signal*signal)*rng.NormFloat64() > cut {
			return 1
		}
		return 0
	})
}

// Drawn makes a table of numbers, of which a fifth is held out.
func Drawn(n, d int, classes []string, row func(x []float32) int) *data.Dataset {
	ds := &data.Dataset{Name: "drawn", Task: data.Classification, Features: d, Outputs: len(classes), Classes: classes}
	for j := range d {
		ds.Columns = append(ds.Columns, data.Column{Name: fmt.Sprint("x", j), Kind: data.Numeric, First: j})
	}
	ds.Columns = append(ds.Columns, data.Column{Name: "y", Kind: data.Label, First: -1, Categories: classes})
	for i := range n {
		split := &ds.Train
		if i >= n-n/5 {
			split = &ds.Test
		}
		x := make([]float32, d)
		y := row(x)
		split.N, split.F32, split.Y = split.N+1, append(split.F32, x...), append(split.Y, float32(y))
	}
	return ds
}

// Published loads one of the optional tables, or skips.
func Published(t *testing.T, name string) *data.Dataset {
	t.Helper()
	root := os.Getenv("CLIPSCOPE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(root, "data", "tabular", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s: not tested on the Published table", path)
	}
	ds, _, err := load.Load(t.Context(), []source.File{Local(path)}, nil, run.CSV{Missing: "zero"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// Local is a source.File of the file system.
type Local string

func (f Local) Name() string { return filepath.Base(string(f)) }

func (f Local) Open() (io.ReadCloser, error) { return os.Open(string(f)) }

func (f Local) Size() int64 {
	info, err := os.Stat(string(f))
	if err != nil {
		return -1
	}
	return info.Size()
}

// Fragile is a backend whose memory is lost at the life-th fetch, with all that nobody
// has waited for. What is fetched comes when so much more has been.
type Fragile struct {
	compute.Backend
	Fetched, Life int // fetches until now, and the one at which memory is lost
	Err           error
}

const onTheWay = 5

type fragileRead struct {
	compute.Pending
	of *Fragile
	at int
}

func (b *Fragile) Lost() error { return b.Err }

func (b *Fragile) Fetch(x compute.Buffer) compute.Pending {
	b.Fetched++
	if b.Fetched == b.Life {
		b.Err = fmt.Errorf("fragile: %w: it fell", compute.ErrLost)
	}
	return &fragileRead{b.Backend.Fetch(x), b, b.Fetched}
}

func (p *fragileRead) Done() bool { return p.of.Err == nil && p.at+onTheWay <= p.of.Fetched }

func (p *fragileRead) Wait(ctx context.Context, dst []float32) error {
	if p.of.Err != nil {
		return p.of.Err
	}
	return p.Pending.Wait(ctx, dst)
}

// Told returns an event as JSON, without its durations.
func Told(t *testing.T, e run.Event) string {
	t.Helper()
	if e.Diag != nil {
		d := *e.Diag
		d.StepSeconds = 0
		e.Diag = &d
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
