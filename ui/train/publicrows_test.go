package train

import (
	"errors"
	"testing"

	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// opening is a client that names files of public rows when the test says so.
type opening struct {
	*fakeClient
	done *func(run.PublicRows, error)
}

func (c opening) PublicRows(_ app.Value, done func(run.PublicRows, error)) func() {
	*c.done = done
	return func() {}
}

// TestAddPublicRows: a file that is read is mixed in by the next run; the same file once more keeps what was said of it,
// and another is not public before that is declared; a bad file leaves all as it was.
func TestAddPublicRows(t *testing.T) {
	fake := &fakeClient{}
	var done func(run.PublicRows, error)
	b := benchOf(opening{fake, &done}, fake)
	b.load(6000)
	p := b.public
	read := func(rows run.PublicRows, err error) {
		t.Helper()
		p.ChoosePublic(filesNamed("open.csv").Index(0))
		if !p.Working {
			t.Error("nothing says that the file is read")
		}
		done(rows, err)
	}
	now := func(want run.PublicRows) {
		t.Helper()
		if b.exp.cfg.PublicRows != want {
			t.Errorf("it mixes in %+v, want %+v", b.exp.cfg.PublicRows, want)
		}
	}
	read(run.PublicRows{}, errors.New("open.csv: it could not be read"))
	if now(run.PublicRows{}); p.Fault == "" {
		t.Error("nothing is said of a bad file")
	}
	rows := run.PublicRows{File: "open.csv", SHA256: "c0ffee"}
	read(rows, nil)
	if now(rows); p.Fault != "" || p.Working {
		t.Errorf("%+v", p.Choice)
	}
	b.Set("public_rows.public", "true")
	b.Set("public_rows.weight", "0.2")
	rows.Public, rows.Weight = true, 0.2
	read(run.PublicRows{File: "renamed.csv", SHA256: "c0ffee"}, nil)
	now(rows)
	read(run.PublicRows{File: "renamed.csv", SHA256: "decaf"}, nil)
	now(run.PublicRows{File: "renamed.csv", SHA256: "decaf", Weight: 0.2})
	p.ChoosePublic(filesNamed("open.csv").Index(0))
	late := done
	p.DropPublic()
	late(rows, nil)
	now(run.PublicRows{})
}
