package worker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// TestRunsGetTheWeightsTheyName: weights are given once, and every plan that names their hash has them; one
// that names others is refused with the file to choose.
func TestRunsGetTheWeightsTheyName(t *testing.T) {
	var got *model.Weights
	p := newPage(t, steps(1), func(h *Host) {
		h.New = func(_ run.Config, _ data.Meta, g Given) (Planned, error) {
			got = g.Start
			return &fake{steps: 1}, nil
		}
	})
	fails := func(kind, text, said string, files ...source.File) {
		t.Helper()
		p.send(kind, 9, text, files...)
		if m := p.next(ErrorType); !strings.Contains(m.Text, said) {
			t.Errorf("%s: %s, want %q", kind, m.Text, said)
		}
	}
	fails(Start, `{}`, "one file")
	fails(Start, `{}`, "rows.csv: ", source.Bytes("rows.csv", []byte("a,b\n")))
	p.send(Start, 1, `{}`, saved(t))
	info := decode[run.StartInfo](t, p.next(ReplyType))
	if info.File != "m.json" || info.Parameters != 4 || info.Private || len(info.SHA256) != 64 {
		t.Fatalf("weights of %+v", info)
	}
	named := fmt.Sprintf(`{"config":{"data":"digits","start":{"file":"m.json","sha256":%q,"public":true}}}`, info.SHA256)
	for config, want := range map[string]bool{named: true, `{"config":{"data":"digits"}}`: false} {
		p.send(Plan, 2, config)
		p.next(ReplyType)
		if (got != nil) != want {
			t.Errorf("%s: planned with %v", config, got)
		}
	}
	other := strings.Repeat("b", 64)
	fails(Plan, strings.ReplaceAll(named, info.SHA256, other), "starts from the weights in m.json (SHA-256 bbbbbbbbbbbb…), and they are not open here")
	fails(Start, fmt.Sprintf(`{"sha256":%q}`, other), "it has been changed since", saved(t))
	p.send(Plan, 3, named) // what was there before stays
	p.next(ReplyType)
}

// TestACheckpointIsOneFileOfWeights: of several files one is made, whose hash is that of those that it is made of, one after
// the other; what is wrong with them is told, and where nothing makes one, several files are refused.
func TestACheckpointIsOneFileOfWeights(t *testing.T) {
	made, err := io.ReadAll(contentOf(t, saved(t)))
	if err != nil {
		t.Fatal(err)
	}
	var given []string
	refused := &data.Error{File: "config.json", Got: "nothing of use", Fix: "Choose another."}
	p := newPage(t, steps(1), func(h *Host) {
		h.Transformer = func(_ context.Context, files []source.File) ([]byte, []source.File, error) {
			given = nil
			for _, f := range files {
				given = append(given, f.Name())
			}
			if len(files) == 2 {
				return nil, nil, refused
			}
			return made, []source.File{files[1], files[2], files[0]}, nil
		}
	})
	config, first, second := source.Bytes("a.json", []byte("{}")), source.Bytes("a.safetensors", []byte("first")), source.Bytes("b.safetensors", []byte("second"))
	p.send(Start, 1, `{}`, second, config, first)
	info := decode[run.StartInfo](t, p.next(ReplyType))
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte("{}firstsecond"))); info.SHA256 != want || info.File != "b.safetensors" || info.Parameters != 4 {
		t.Errorf("weights of %+v, want the hash %s", info, want)
	}
	if want := []string{"b.safetensors", "a.json", "a.safetensors"}; !slices.Equal(given, want) {
		t.Errorf("it was given %v", given)
	}
	p.send(Start, 2, `{}`, config, first)
	if m := p.next(ErrorType); !strings.Contains(m.Text, "nothing of use") {
		t.Errorf("what is wrong is not told: %s", m.Text)
	}
	p.send(Start, 3, `{}`)
	if m := p.next(ErrorType); !strings.Contains(m.Text, "one file") {
		t.Errorf("no file: %s", m.Text)
	}
	without := newPage(t, steps(1), func(h *Host) { h.Transformer = nil })
	without.send(Start, 4, `{}`, config, first)
	if m := without.next(ErrorType); !strings.Contains(m.Text, "one file") {
		t.Errorf("two files where nothing makes one of them: %s", m.Text)
	}
}

func contentOf(t *testing.T, f source.File) io.Reader {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAStartedRunGoesOnWithoutTheFile: what is stored of a run has what is known of the weights that it started from.
func TestAStartedRunGoesOnWithoutTheFile(t *testing.T) {
	v := newMemStore()
	var got *model.Weights
	real := func(h *Host) {
		h.New = func(_ run.Config, _ data.Meta, g Given) (Planned, error) {
			got = g.Start
			return &fake{steps: 100}, nil
		}
	}
	p := storing(t, v, steps(100), real)
	p.send(Start, 1, `{}`, saved(t))
	info := decode[run.StartInfo](t, p.next(ReplyType))
	leftAfterAStep(t, p, v, fmt.Sprintf(`"start":{"file":"m.json","sha256":%q,"public":true}`, info.SHA256))
	other := storing(t, v, steps(100), real)
	got = nil
	other.send(GoOn, 3, `{"id":"0123456789abcdef","program":"1"}`)
	other.next(ReplyType)
	if got == nil || !reflect.DeepEqual(got.Info, info) {
		t.Errorf("it goes on from %+v, want %+v", got, info)
	}
	other.next(DoneType)
}

// leftAfterAStep begins a run with a field of its configuration, and ends its page once it has a stored step.
func leftAfterAStep(t *testing.T, p *page, v *memStore, field string) {
	t.Helper()
	p.send(Train, 2, strings.Replace(keptRequest, `"digits"`, `"digits",`+field, 1))
	p.state(Paused)
	p.send(Step, 2, "")
	p.next(EventsType)
	v.stored(t, anyID, 1)
	v.kill(anyID)
}

// TestRunsGetThePublicRowsTheyName: a file of public rows is given once, and every plan that names its hash has its rows,
// read as those of the open data; one that names another is refused with the file to choose.
func TestRunsGetThePublicRowsTheyName(t *testing.T) {
	var got *model.PublicRows
	p := newPage(t, steps(1), func(h *Host) {
		h.New = func(_ run.Config, _ data.Meta, g Given) (Planned, error) {
			got = g.Public
			return &fake{steps: 1}, nil
		}
		h.Load = load.Load
	})
	fails := func(kind, text, said string, files ...source.File) {
		t.Helper()
		p.send(kind, 9, text, files...)
		if m := p.next(ErrorType); !strings.Contains(m.Text, said) {
			t.Errorf("%s: %s, want %q", kind, m.Text, said)
		}
	}
	table := func(name, columns string) source.File {
		return source.Bytes(name, []byte(columns+"\n"+strings.Repeat("1,no\n2,yes\n", 10)))
	}
	fails(Public, `{}`, "one file")
	p.send(Public, 1, `{}`, table("open.csv", "x,y"))
	named := decode[run.PublicRows](t, p.next(ReplyType))
	if named.File != "open.csv" || len(named.SHA256) != 64 {
		t.Fatalf("rows of %+v", named)
	}
	config := fmt.Sprintf(`{"config":{"data":"files","public_rows":{"file":"open.csv","sha256":%q,"public":true}}}`, named.SHA256)
	for _, columns := range []string{"x,y", "z,y", "x,y"} {
		p.send(Open, 2, `{"csv":{"label":"y"}}`, table("mine.csv", columns))
		p.next(ReplyType)
		if columns == "z,y" {
			fails(Plan, config, "public_rows")
			fails(Plan, config, `open.csv, row 1: expected a column \"z\", as your data has, found`)
			continue
		}
		p.send(Plan, 3, config)
		p.next(ReplyType)
		if got == nil || got.Split.N != 20 || got.Info.SHA256 != named.SHA256 {
			t.Errorf("planned with %+v", got)
		}
		p.send(Plan, 3, `{"config":{"data":"files"}}`)
		if p.next(ReplyType); got != nil {
			t.Error("a plan that names no public rows has some")
		}
	}
	other := strings.Repeat("b", 64)
	fails(Plan, strings.ReplaceAll(config, named.SHA256, other), "mixes in the public rows of open.csv (SHA-256 bbbbbbbbbbbb…), and they are not open here")
	fails(Public, fmt.Sprintf(`{"sha256":%q}`, other), "it has been changed since", table("open.csv", "x,y"))
}

// TestAnInterruptedRunAsksForItsPublicRows: a run that mixes rows in goes on once their file is open, and names it before.
func TestAnInterruptedRunAsksForItsPublicRows(t *testing.T) {
	v := newMemStore()
	var got *model.PublicRows
	real := func(h *Host) {
		h.New = func(_ run.Config, _ data.Meta, g Given) (Planned, error) {
			got = g.Public
			return &fake{steps: 100}, nil
		}
		h.Builtin = func(string, uint64) (*data.Dataset, error) {
			ds, _, err := load.Load(t.Context(), []source.File{source.Bytes("built.csv", []byte("x,y\n"+strings.Repeat("1,no\n2,yes\n", 10)))}, nil, run.CSV{Label: "y"}, nil)
			return ds, err
		}
	}
	public := source.Bytes("open.csv", []byte("x,y\n3,no\n4,yes\n5,yes\n"))
	p := storing(t, v, steps(100), real)
	p.send(Public, 1, `{}`, public)
	named := decode[run.PublicRows](t, p.next(ReplyType))
	leftAfterAStep(t, p, v, fmt.Sprintf(`"public_rows":{"file":"open.csv","sha256":%q,"public":true}`, named.SHA256))
	other := storing(t, v, steps(100), real)
	got = nil
	const on = `{"id":"0123456789abcdef","program":"1"}`
	other.send(GoOn, 3, on)
	if m := other.next(ErrorType); got != nil || !strings.Contains(m.Text, "the public rows of open.csv") {
		t.Fatalf("without the file: %s", m.Text)
	}
	other.send(Public, 4, fmt.Sprintf(`{"sha256":%q}`, named.SHA256), public)
	other.next(ReplyType)
	other.send(GoOn, 5, on)
	other.next(ReplyType)
	if got == nil || got.Split.N != 3 || got.Info.SHA256 != named.SHA256 {
		t.Errorf("it goes on with %+v", got)
	}
	other.next(DoneType)
}
