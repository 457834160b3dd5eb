package use

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/client"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// fakeModel answers when it is told to.
type fakeModel struct {
	info      *run.ModelInfo
	rows      []any // of every question
	done      []func([]run.Answer, error)
	disposed  bool
	pictures  []func(app.Value, bool, error)
	cancelled int
	kept      func(error)
	line      *run.ClassLine
}

func (m *fakeModel) Draw(line *run.ClassLine) { m.line = line }

func (m *fakeModel) Keep(done func(error)) { m.kept = done }
func (m *fakeModel) Info() *run.ModelInfo  { return m.info }
func (m *fakeModel) Files() app.Value      { return nil }
func (m *fakeModel) Dispose()              { m.disposed = true }
func (m *fakeModel) Predict(rows any, done func([]run.Answer, error)) func() {
	m.rows, m.done = append(m.rows, rows), append(m.done, done)
	return func() { m.cancelled++ }
}
func (m *fakeModel) Picture(_ app.Value, _ *bool, done func(app.Value, bool, error)) func() {
	m.pictures = append(m.pictures, done)
	return func() { m.cancelled++ }
}
func (m *fakeModel) Answer(app.Value, func(source.Progress), func(client.Answers, error)) func() {
	return func() {}
}
func (m *fakeModel) Evaluate(app.Value, func(source.Progress), func(run.Evaluation, error)) func() {
	return func() {}
}

func using(info *run.ModelInfo) (*Use, *fakeModel) {
	u, m := New(nil), &fakeModel{info: info}
	u.settled(u.tries, "m.json", m, nil)
	return u, m
}

// TestAFilesClaimsAreShownAsClaims: a file's ε, δ and words are shown as what it claims, in plain
// ink, and in part where they are long.
func TestAFilesClaimsAreShownAsClaims(t *testing.T) {
	info := exampleInfo()
	info.Epsilon, info.Guarantee, info.Statement = 0.001, "Clipscope has checked this. "+strings.Repeat("x", 1<<20), strings.Repeat("y", 1<<20)
	html := app.HTMLString(about("m.json", info, func(app.Context) {}))
	for _, want := range []string{"ε, claimed", "δ, claimed", "The file claims: ", "Check this file", "has not worked it out again", "<q>"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(html, "value-released") || len(html) > 1<<18 {
		t.Errorf("%d bytes; claims in the ink of what is released: %v", len(html), strings.Contains(html, "value-released"))
	}
	info.Guarantee = run.NoGuarantee
	if html := app.HTMLString(about("m.json", info, func(app.Context) {})); !strings.Contains(html, "ε, no guarantee, claimed") {
		t.Error("a file without a guarantee does not say so")
	}
}

// TestTypingAsksOneQuestionAtATime: nothing is asked before every field has something, one
// question is under way at a time, and the newest row is the one that is answered in the end.
func TestTypingAsksOneQuestionAtATime(t *testing.T) {
	u, m := using(exampleInfo())
	u.set(0, "31")
	if len(m.rows) != 0 || u.lack() != 1 || !strings.Contains(rowHint(u.lack()), "1 field to go") {
		t.Fatalf("%v asked, %d to go", m.rows, u.lack())
	}
	u.set(1, "red")
	u.set(0, "3")
	u.set(0, "32")
	if len(m.rows) != 1 {
		t.Fatalf("%d questions at once", len(m.rows))
	}
	m.done[0]([]run.Answer{{Answer: "<=50K"}}, nil)
	if len(m.rows) != 2 {
		t.Fatalf("%d questions, want the newest asked", len(m.rows))
	}
	if row := m.rows[1].([]any)[0].([]any); row[0] != "32" || row[1] != "red" || row[2] != "" {
		t.Errorf("asked %q", row)
	}
	m.done[1]([]run.Answer{{Answer: ">50K"}}, nil)
	if u.row.answer == nil || u.row.answer.Answer != ">50K" || u.row.busy {
		t.Errorf("%+v", u.row)
	}
	u.clear()
	u.fill()
	if row := m.rows[2].([]any)[0].([]any); row[0] != "56" || row[1] != "blue" {
		t.Errorf("filled in with %q", row)
	}
	m.done[2](nil, errors.New("out of memory"))
	if u.row.fault != "out of memory" || u.row.answer != nil {
		t.Errorf("%+v", u.row)
	}
}

// TestAnotherModelForgetsTheQuestion: what was asked of the model before says nothing of the next,
// and a file that is no model changes nothing.
func TestAnotherModelForgetsTheQuestion(t *testing.T) {
	u, m := using(exampleInfo())
	u.set(0, "31")
	u.set(1, "red")
	next := &fakeModel{info: exampleInfo()}
	u.settled(u.tries, "n.json", next, nil)
	m.done[0]([]run.Answer{{Answer: "<=50K"}}, nil)
	if u.row.answer != nil || !m.disposed || u.name != "n.json" || len(u.row.cells) > 0 {
		t.Errorf("%+v", u.row)
	}
	u.settled(u.tries, "bad.json", nil, errors.New("no model"))
	if u.model != client.Saved(next) || u.fault != "no model" {
		t.Errorf("%q", u.fault)
	}
	late := &fakeModel{info: exampleInfo()}
	u.settled(u.tries-1, "late.json", late, nil)
	if u.name != "n.json" || !late.disposed {
		t.Errorf("a model that was called off is used")
	}
}

// TestAWrongTokenizerLeavesTheModelOpen: of a model that is opened by itself, as what lay beside it was refused, that is told where the
// right one is chosen. One that needs nothing beside it is not opened.
func TestAWrongTokenizerLeavesTheModelOpen(t *testing.T) {
	for _, lacks := range []string{"It reads texts through a tokenizer.", ""} {
		loader := &loads{}
		u, m := New(loader), &fakeModel{info: exampleInfo()}
		m.info.Lacks = lacks
		u.openAlone(nil, "m.zip", errors.New("vocab.txt is another"))
		loader.done(m, nil)
		if opened := lacks != ""; (u.model != nil) != opened || u.joined != opened || m.disposed == opened || u.fault != "vocab.txt is another" {
			t.Errorf("lacks %q: open %t, fault %q beside the model %t, put away %t", lacks, u.model != nil, u.fault, u.joined, m.disposed)
		}
	}
}

// loads is a client that loads models when it is told to.
type loads struct {
	Client
	done func(client.Saved, error)
}

func (l *loads) LoadModel(_ app.Value, done func(client.Saved, error)) func() {
	l.done = done
	return func() {}
}

// TestAModelOfTextsAsksForWhatReadsThem: without that it is asked nothing, and says which file is missing; with it the texts of a row are
// typed, and labels are compared where the file names their column.
func TestAModelOfTextsAsksForWhatReadsThem(t *testing.T) {
	info := exampleInfo()
	info.FeaturesOf = &run.Backbone{SHA256: strings.Repeat("ab", 32), Tokens: 100, Column: "mail"}
	info.Columns = []run.AppliedColumn{{Name: "mail", Kind: "text", Buckets: 1}, {Name: "kind", Kind: "label", First: -1}}
	info.Lacks = "It reads texts through a tokenizer. Choose that."
	u, _ := using(info)
	draw := func() (html string) {
		for _, part := range append(u.parts(), about("m.json", info, func(app.Context) {})) {
			html += app.HTMLString(part)
		}
		return html
	}
	if html := draw(); len(u.parts()) != 1 || !strings.Contains(html, info.Lacks) || !strings.Contains(html, "Choose the tokenizer") || !strings.Contains(html, "a tokenizer, SHA-256 abababababab…") {
		t.Errorf("%d parts: %s", len(u.parts()), html)
	}
	info.Lacks = ""
	if html := draw(); strings.Contains(html, "part-lack") || !strings.Contains(html, "part-exam") || !strings.Contains(html, "textarea") {
		t.Errorf("%s", html)
	}
	info.Columns = info.Columns[:1] // of an earlier version
	if html := draw(); strings.Contains(html, "part-exam") || !strings.Contains(html, "part-table") {
		t.Errorf("%s", html)
	}
}

// TestASavedModelIsToldByItsName: what makes its features may be chosen before it, or behind it.
func TestASavedModelIsToldByItsName(t *testing.T) {
	for name, want := range map[string]int{"m.zip": 3, "M.SafeTensors": 3, "clipscope-model.json": 2, "mails.json": 1, "bert-model-tokenizer.json": 0, "VOCAB.txt": 0, "model.onnx": 0} {
		if got := likelyModel(name); got != want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

func TestMisplacedFilesAreTold(t *testing.T) {
	for name, k := range map[string]kind{"Rows.CSV": pictures, "rows.xlsx": pictures} {
		if why := misplaced(name, k); !strings.Contains(why, name+" is a table, and this model takes pictures") {
			t.Errorf("%s: %q", name, why)
		}
	}
	for name, k := range map[string]kind{"rows.csv": tables, "t10k-images-idx3-ubyte.gz": pictures, "test_batch.bin": pictures, "x.npz": numbers} {
		if why := misplaced(name, k); why != "" {
			t.Errorf("%s: %q", name, why)
		}
	}
}

func TestDroppedFilesAreToldByName(t *testing.T) {
	for _, tt := range []struct {
		name string
		k    kind
		want content
	}{
		{"m.json", tables, aModel}, {"m.safetensors", pictures, aModel}, {"clipscope-model.zip", tables, aModel}, {"anything", nothing, aModel},
		{"tokenizer.json", nothing, aModel}, {"rows.csv", tables, aTable}, {"rows.csv.gz", tables, aTable}, {"rows.txt", tables, aTable},
		{"7.PNG", pictures, aPicture}, {"7.jpeg", pictures, aPicture}, {"t10k-images-idx3-ubyte.gz", pictures, labels}, {"rows.csv", numbers, labels},
	} {
		if got := whatIs(tt.name, tt.k); got != tt.want {
			t.Errorf("%s for %v is %v, want %v", tt.name, tt.k, got, tt.want)
		}
	}
}

// TestEveryColumnThatIsReadHasAField: a field for each column that is read, with what is known of
// it.
func TestEveryColumnThatIsReadHasAField(t *testing.T) {
	zero := 0.0
	info := &run.ModelInfo{Task: "regression", Outputs: 1, Scaling: run.AppliedScaling{Lo: []float64{0}, Hi: []float64{20000}}, Columns: []run.AppliedColumn{
		{Name: "day", Kind: "numeric", Date: "dmy", IfMissing: &zero}, {Name: "price", Kind: "numeric", First: 1, Decimal: ",", Thousands: "."},
		{Name: "kind", Kind: "categorical", Categories: []string{"a", "b", data.MissingCategory}}, {Name: "street", Kind: "categorical", Buckets: 8},
		{Name: "y", Kind: "label"}, {Name: "note", Kind: "ignored"},
	}}
	got := fieldsOf(info)
	if len(got) != 4 || got[0].usual != "19.05.1997" || !got[0].missing || got[1].hint != "1.234,5" || !slices.Equal(got[2].choices, []string{"a", "b"}) || !got[2].missing || got[3].choices != nil {
		t.Errorf("%+v", got)
	}
	if f := fieldsOf(&run.ModelInfo{Features: 3}); len(f) != 3 || f[2].label != "x3" {
		t.Errorf("%+v", f)
	}
	if f := fieldsOf(&run.ModelInfo{Features: 5000}); f != nil {
		t.Errorf("%d fields", len(f))
	}
}

// TestThePageSaysWhatAModelIs: what the page says of models and answers.
func TestThePageSaysWhatAModelIs(t *testing.T) {
	html := app.HTMLString(about("m.json", exampleInfo(), nil))
	for _, want := range []string{"income: one of 2 classes, &lt;=50K, &gt;50K", "reads 2 columns", "10 parameters", "numbers, about 16 to 96; may be missing", "Everything that the run may say"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in %s", want, html)
		}
	}
	multi := &run.ModelInfo{Task: "multi-label"}
	if s := answerText(multi, &run.Answer{Answer: []any{}}); s != "none" {
		t.Errorf("%q", s)
	}
	if s := answerText(multi, &run.Answer{Answer: []any{"a", "b"}}); s != "a, b" {
		t.Errorf("%q", s)
	}
	if s := answersName("rows.csv.gz"); s != "rows-answers.csv" {
		t.Errorf("%q", s)
	}
}

func TestTheOwnAnswerStandsFirst(t *testing.T) {
	for _, c := range []struct {
		own, all int
		want     []int
	}{{2, 5, []int{2, 0, 1, 3, 4}}, {0, 2, []int{0, 1}}, {2, 2, []int{0, 1}}, {0, 0, []int{}}} {
		if got := answerFirst(c.own, c.all); !slices.Equal(got, c.want) {
			t.Errorf("answerFirst(%d, %d) = %v, want %v", c.own, c.all, got, c.want)
		}
	}
}

// fakeStore is a client that has kept a model, or was told to forget it.
type fakeStore struct {
	Client
	found  []func(app.Value, error) // of whoever asked
	loads  int
	forgot int
}

func (s *fakeStore) Ready(f func(error))                   { f(nil) }
func (s *fakeStore) KeptModel(done func(app.Value, error)) { s.found = append(s.found, done) }
func (s *fakeStore) ForgetModel(done func(error))          { s.forgot++; done(nil) }
func (s *fakeStore) LoadModel(app.Value, func(client.Saved, error)) func() {
	s.loads++
	return func() {}
}

// file is that of a model.
type file struct{ app.Value }

func (file) Truthy() bool         { return true }
func (file) Get(string) app.Value { return file{} }
func (file) Length() int          { return 1 }
func (file) Index(int) app.Value  { return file{} }
func (file) String() string       { return "m.json" }

// TestAModelStaysOpen: one that was open before is opened again, once, unless there is
// another by then; what cannot be kept says so, and what is closed is forgotten.
func TestAModelStaysOpen(t *testing.T) {
	s := &fakeStore{}
	u := New(s)
	u.Restore()
	u.Restore()
	if len(s.found) != 1 {
		t.Fatalf("the model of before was looked for %d times", len(s.found))
	}
	s.found[0](file{nil}, nil)
	if s.loads != 1 || u.loading != "m.json" {
		t.Fatalf("%d loaded, %q", s.loads, u.loading)
	}
	m := &fakeModel{info: exampleInfo()}
	u.settled(u.tries, "m.json", m, nil)
	if html := app.HTMLString(u.keptView()); m.kept == nil || !strings.Contains(html, "until you close it") {
		t.Errorf("it says %s", html)
	}
	m.kept(errors.New("it is full"))
	if html := app.HTMLString(u.keptView()); !strings.Contains(html, "gone when this page is closed or loaded again: it is full") {
		t.Errorf("of one that is not kept it says %s", html)
	}
	u.Close()
	if u.model != nil || !m.disposed || s.forgot != 1 || u.unkept != "" {
		t.Errorf("after it was closed: %+v, forgotten %d times", u, s.forgot)
	}

	s = &fakeStore{}
	u = New(s)
	u.Restore()
	u.Open(file{nil})
	s.found[0](file{nil}, nil)
	if s.loads != 1 {
		t.Error("the model of before took the place of one that was chosen since")
	}
}

// TestAnExamOnTheTrainingFileSaysSo: figures on a file that runs of this browser were trained on
// say so, and what that means; others do not.
func TestAnExamOnTheTrainingFileSaysSo(t *testing.T) {
	e := &run.Evaluation{Rows: 10, Accuracy: 0.9, Scores: &run.Scores{}}
	if html := app.HTMLString(examView("a.csv", e)); strings.Contains(html, "trained on") {
		t.Errorf("of a file that nothing is known of: %s", html)
	}
	e.TrainedOn = []run.Recognised{{Label: "first.csv"}, {Label: "people.csv", Started: "2026-01-02T03:04:05Z"}}
	html := app.HTMLString(examView("a.csv", e))
	for _, want := range []string{"does better on rows that it was trained on", "2 runs", "people.csv, 2 Jan", "flatter"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in %s", want, html)
		}
	}
}

// TestFieldsSpeakTheColumnsUnits: placeholders and bounds of a column are in its unit, and those of times are dates.
func TestFieldsSpeakTheColumnsUnits(t *testing.T) {
	info := &run.ModelInfo{Features: 5, Scaling: run.AppliedScaling{Lo: []float64{0, 0, -365, 7305, 0}, Hi: []float64{0.5, 64, 365, 7670, 1}}, Columns: []run.AppliedColumn{
		{Name: "share", Kind: "numeric", First: 0, Units: []string{"%"}, Decimal: ","},
		{Name: "price", Kind: "numeric", First: 1, Units: []string{"$"}},
		{Name: "t", Kind: "numeric", First: 2, Units: []string{""}, Time: "ms", Offset: data.Millennium},
		{Name: "day", Kind: "numeric", First: 3, Units: []string{""}, Time: data.YearMonthDay, Offset: data.Millennium},
		{Name: "when", Kind: "numeric", First: 2, Date: "dmy", Offset: data.Millennium + 365},
	}}
	fields := fieldsOf(info)
	for i, want := range []struct{ hint, usual, holds string }{
		{"1234,5%", "25%", "numbers with “%”, about 0% to 50%"},
		{"$12", "$32", "numbers with “$”, about $0 to $64"},
		{"time (ms) such as 946684800000", "946684800000", "times (ms), about 1999-01-01 to 2000-12-31"},
		{"time (yyyymmdd) such as 20000101", "20200701", "times (yyyymmdd), about 2020-01-01 to 2020-12-31"},
		{"31.12.1990", "31.12.2000", "dates, day first, about 01.01.2000 to 31.12.2001"},
	} {
		c, f := &info.Columns[i], fields[i]
		if have := holds(c, info); f.hint != want.hint || f.usual != want.usual || have != want.holds {
			t.Errorf("%s: %q, %q, %q", c.Name, f.hint, f.usual, have)
		}
	}
}

// TestAnAnswerThatWasTakenBackStaysAway: an answer under way is not shown once its input is gone, or another's, and
// does not keep what is asked then.
func TestAnAnswerThatWasTakenBackStaysAway(t *testing.T) {
	ask := func(u *Use) {
		u.set(1, "red")
		u.set(0, "32")
	}
	for name, goes := range map[string]func(u *Use){
		"cleared":    (*Use).clear,
		"incomplete": func(u *Use) { u.set(0, "") },
		"another":    func(u *Use) { u.set(0, "33") },
	} {
		u, m := using(exampleInfo())
		ask(u)
		goes(u)
		m.done[0]([]run.Answer{{Answer: "<=50K"}}, nil)
		if u.row.answer != nil {
			t.Errorf("%s: %+v is shown", name, u.row.answer)
		}
		ask(u)
		last := len(m.done) - 1
		if m.done[last]([]run.Answer{{Answer: ">50K"}}, nil); u.row.busy { // what was asked meanwhile
			m.done[len(m.done)-1]([]run.Answer{{Answer: ">50K"}}, nil)
		}
		if u.row.answer == nil || u.row.answer.Answer != ">50K" || u.row.busy {
			t.Errorf("%s: then %+v", name, u.row)
		}
	}
	// Another model's answer is waited for, and shown for nothing of its own.
	u, m := using(exampleInfo())
	ask(u)
	other := &fakeModel{info: exampleInfo()}
	u.settled(u.tries, "n.json", other, nil)
	ask(u)
	m.done[0]([]run.Answer{{Answer: "<=50K"}}, nil)
	if u.row.answer != nil || len(other.done) != 1 {
		t.Fatalf("%+v is shown, and the other model asked %d times", u.row.answer, len(other.done))
	}
	if other.done[0]([]run.Answer{{Answer: ">50K"}}, nil); u.row.answer == nil {
		t.Error("the other model's answer is not shown")
	}
	// What was drawn is wiped while its answer is under way.
	u, m = using(exampleInfo())
	u.show(app.ValueOf("x"))
	u.wipe()
	m.done[0]([]run.Answer{{Answer: "1"}}, nil)
	if u.picture.answer != nil {
		t.Errorf("%+v is shown of an empty pad", u.picture.answer)
	}
}

// TestOnlyTheNewestPictureIsSeen: what a picture chosen before another comes to is not shown, whichever is read first; one that
// is read or asked about is called off by another, by Clear and by another model.
func TestOnlyTheNewestPictureIsSeen(t *testing.T) {
	u, m := using(&run.ModelInfo{Shape: []int{2, 2}})
	u.see(nil)
	u.see(nil)
	m.pictures[0](nil, false, errors.New("the first"))
	if u.picture.fault != "" || m.cancelled != 1 {
		t.Errorf("%q is said of a picture that another replaced; %d were called off", u.picture.fault, m.cancelled)
	}
	u.wipe()
	m.pictures[1](nil, false, errors.New("the second"))
	if u.picture.fault != "" || m.cancelled != 2 {
		t.Errorf("%q is said of a picture that was cleared; %d were called off", u.picture.fault, m.cancelled)
	}
	u.see(nil)
	m.pictures[2](nil, false, errors.New("the third"))
	if u.picture.fault != "the third" {
		t.Errorf("%q", u.picture.fault)
	}
	u.ask(&u.picture.asked, func() any { return nil })
	u.see(nil)
	u.replace("", nil)
	if m.cancelled != 4 {
		t.Errorf("%d were called off", m.cancelled)
	}
}

// TestALineIsReadAndDrawn: what was typed for the line between two classes reaches the model, or is refused in words.
func TestALineIsReadAndDrawn(t *testing.T) {
	info := exampleInfo()
	info.Classes, info.Outputs = []string{"well", "ill"}, 2
	for _, c := range []struct {
		text string
		want *run.ClassLine
		ok   bool
	}{
		{"12", &run.ClassLine{Class: "ill", From: 0.12}, true}, {" 12,5 % ", &run.ClassLine{Class: "ill", From: 0.125}, true}, {"", nil, true},
		{"0", nil, false}, {"100", nil, false}, {"much", nil, false}, {"NaN", nil, false},
	} {
		u, m := using(info)
		u.draw(1, c.text)
		if (m.line == nil) != (c.want == nil) || m.line != nil && *m.line != *c.want || (u.line.fault == "") != c.ok {
			t.Errorf("%q: %+v, %q; want %+v", c.text, m.line, u.line.fault, c.want)
		}
	}
	u, m := using(info)
	u.draw(1, "12")
	if u.draw(1, "x"); m.line == nil || u.line.said() != "“ill” is answered from 12.0 % on." {
		t.Error("what cannot be read takes the line away")
	}
	info.Outputs = 3
	if hasLine(info) {
		t.Error("three classes have a line")
	}
}
