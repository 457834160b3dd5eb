package train

import (
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/preset"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// shelf is a browser's storage.
type shelf map[string]string

// visit returns a page in the browser of that storage.
func (s shelf) visit(t *testing.T) *bench {
	t.Helper()
	c := &fakeClient{late: true}
	b := benchOf(c, c)
	b.kept = func(key string) string { return s[key] }
	b.keep = func(key, text string) {
		if s[key] = text; text == "" {
			delete(s, key)
		}
	}
	b.restore()
	c.late = false
	for _, ready := range c.ready {
		ready(nil)
	}
	return b
}

// opened answers the newest opening with a table of these columns.
func (b *bench) opened(columns ...string) {
	r := data.Report{Name: "mails.csv", Rows: 500, Task: data.Classification, Outputs: 2}
	for _, name := range columns {
		r.Columns = append(r.Columns, data.Column{Name: name})
	}
	b.client.opens[len(b.client.opens)-1].done(client.Opened{Handle: &fakeHandle{}, Report: r}, nil)
}

func TestThePageOpensWhereItWasLeft(t *testing.T) {
	s := shelf{}
	b := s.visit(t)
	b.load(6000)
	b.tick()
	if len(s) != 0 {
		t.Errorf("nothing was touched, and %v is kept", s)
	}
	b.Set("max_grad_norm", "0.125")
	b.data.choose(filesNamed("mails.csv"))
	b.opened("text", "spam")
	b.Set("csv.label", "spam")
	b.opened("text", "spam")
	b.Set("epochs", "7")

	b = s.visit(t)
	full := b.exp.full()
	if !b.restored || full.Data != form.Files || full.Epochs != 7 || full.CSV.Label != "spam" || !strings.Contains(b.data.fault, "mails.csv") {
		t.Errorf("restored %v: %+v, fault %q", b.restored, full, b.data.fault)
	}
	if html := app.HTMLString(b.firstView()); !b.untouched() || !strings.Contains(html, "from last time") || !strings.Contains(html, "Start afresh") {
		t.Error(html)
	}
	b.Set("epochs", "8") // the name is not lost with an edit
	b = s.visit(t)
	b.data.choose(filesNamed("mails.csv"))
	if n := len(b.client.opens); n != 1 || b.exp.cfg.CSV.Label != "spam" || b.exp.cfg.Epochs != 8 {
		t.Errorf("%d openings, label %q", n, b.exp.cfg.CSV.Label)
	}

	// Other files are not read as those were.
	b = s.visit(t)
	b.data.choose(filesNamed("houses.csv"))
	if b.exp.cfg.CSV.Label != "" {
		t.Errorf("houses.csv is read with the label %q", b.exp.cfg.CSV.Label)
	}

	b = s.visit(t)
	b.startAfresh()
	first := preset.First()
	if len(s) != 0 || b.restored || b.exp.cfg.Epochs != first.Epochs || b.exp.full().Data == form.Files || b.exp.example == nil {
		t.Errorf("afresh: %v is kept, data %s", s, b.exp.full().Data)
	}
	if b = s.visit(t); b.restored {
		t.Error("what was forgotten is restored")
	}
}

// A link that is looked at takes nobody's settings away, and what a preset or a run makes of
// the page is kept.
func TestALinkIsNotWhereThePageWasLeft(t *testing.T) {
	s := shelf{}
	b := s.visit(t)
	b.load(6000)
	b.replace(run.Config{Data: "moons", Method: "constant", MaxGradNorm: 3})
	b.load(400)
	b.tick()
	if len(s) != 0 {
		t.Errorf("of a link %v is kept", s)
	}
	b.trials.start()
	if !strings.Contains(s[leftKey], "moons") {
		t.Errorf("a run was started, and %v is kept", s)
	}
	b.usePreset(preset.All()[1].Name)
	if b = s.visit(t); b.exp.full().Data != preset.All()[1].Config.WithDefaults().Data {
		t.Errorf("the preset left %v, restored %+v", s, b.exp.full())
	}
}

func TestTablesOfTheSameColumnsAreReadAlike(t *testing.T) {
	s := shelf{}
	b := s.visit(t)
	b.load(6000)
	read := func(name string, columns ...string) int {
		before := len(b.client.opens)
		b.data.choose(filesNamed(name))
		b.opened(columns...)
		return len(b.client.opens) - before
	}
	read("january.csv", "age", "income", "left")
	b.Set("csv.label", "left")
	b.opened("age", "income", "left")
	b.Set("csv.bounds.age", "0 … 120")
	b.opened("age", "income", "left")
	if b.exp.cfg.CSV.Bounds["age"] != (run.Bounds{Lo: 0, Hi: 120}) {
		t.Fatalf("bounds %v", b.exp.cfg.CSV.Bounds)
	}
	if kept := s[readingsKey]; strings.Contains(kept, "income") || !strings.Contains(kept, "left") {
		t.Errorf("kept: %s", kept)
	}
	if n := read("other.csv", "income", "age", "left"); n != 1 || b.exp.cfg.CSV.Label != "" || b.data.view().Recalled {
		t.Errorf("columns in another order: %d openings, label %q", n, b.exp.cfg.CSV.Label)
	}
	if n := read("february.csv", "age", "income", "left"); n != 2 || b.exp.cfg.CSV.Label != "left" || b.exp.cfg.CSV.Bounds["age"] != (run.Bounds{Lo: 0, Hi: 120}) || !b.data.view().Recalled {
		t.Errorf("the same columns: %d openings, %+v", n, b.exp.cfg.CSV)
	}
	b.opened("age", "income", "left")
	b.data.ReadAsNew()
	b.opened("age", "income", "left")
	if c := b.exp.cfg.CSV; c.Label != "" || len(c.Bounds) > 0 || b.data.view().Recalled || b.data.handle == nil {
		t.Errorf("read as new: %+v", c)
	}
	if n := read("march.csv", "age", "income", "left"); n != 1 || b.data.view().Recalled {
		t.Errorf("after that: %d openings", n)
	}

	// Where the entries of the open files are deleted this is deleted as well.
	b.Set("csv.missing", "drop")
	b.opened("age", "income", "left")
	if !strings.Contains(s[readingsKey], "drop") {
		t.Errorf("kept: %v", s)
	}
	if b.ledger.OnForget(); len(s) != 0 {
		t.Errorf("forgotten, and %v is kept", s)
	}
}

func TestARefusedTableIsReadAsBefore(t *testing.T) {
	s := shelf{}
	b := s.visit(t)
	b.load(6000)
	columns := []data.Column{{Name: "a"}, {Name: "b"}}
	refuse := func() {
		b.client.opens[len(b.client.opens)-1].done(client.Opened{}, &client.Refusal{Fault: &client.Fault{Message: "a cell is missing"}, Report: &data.Report{Columns: columns}})
	}
	b.data.choose(filesNamed("one.csv"))
	refuse()
	if b.data.fault == "" {
		t.Fatal("nothing is refused")
	}
	b.Set("csv.missing", "drop")
	b.opened("a", "b")
	s[leftKey] = ""
	b = s.visit(t)
	b.load(6000)
	b.data.choose(filesNamed("two.csv"))
	refuse()
	if b.data.fault != "" || b.exp.cfg.CSV.Missing != "drop" || !b.data.loading {
		t.Errorf("fault %q, missing %q", b.data.fault, b.exp.cfg.CSV.Missing)
	}
	refuse()
	if v := b.data.view(); v.Fault == "" || !v.Recalled || !v.Refused {
		t.Errorf("refused again: %+v", v)
	}
}

// TestATableIsReadAsThoseWhoInvitedReadTheirs, also where it was there before, and where another way was chosen.
func TestATableIsReadAsThoseWhoInvitedReadTheirs(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.takeAgreed(run.Agreed{
		Config: run.Config{Method: "constant", Together: run.Together{Parties: 2}}, Columns: []string{"age", "income", "left"}, Classes: []string{"no", "yes"},
		CSV: run.CSV{Label: "left", Columns: map[string]string{"age": "numeric", "income": "numeric"}, Bounds: map[string]run.Bounds{"age": {Lo: 0, Hi: 120}, "income": {Lo: 0, Hi: 9}}},
	})
	if fault := b.data.view().Fault; !strings.Contains(fault, "age, income, left; and the classes no, yes") {
		t.Errorf("of the room's table is said %q", fault)
	}
	b.data.choose(filesNamed("a.csv"))
	b.opened("age", "pay", "left")
	b.opened("age", "pay", "left")
	if c := b.exp.cfg.CSV; c.Label != "left" || len(c.Bounds) != 1 || c.Bounds["age"].Hi != 120 {
		t.Errorf("a table without a column is read as %+v", c)
	}
	b.data.choose(filesNamed("a.csv"))
	b.opened("age", "income", "left")
	b.opened("age", "income", "left")
	if c := b.exp.cfg.CSV; len(c.Bounds) != 2 || c.Bounds["income"].Hi != 9 || b.data.handle == nil {
		t.Errorf("the same file with other columns is read as %+v", c)
	}
}
