package worker

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data/builtin"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

const salt = "000102030405060708090a0b0c0d0e0f"

// memFile is a file in memory.
type memFile struct {
	name string
	b    []byte
}

func (f memFile) Name() string                 { return f.name }
func (f memFile) Size() int64                  { return int64(len(f.b)) }
func (f memFile) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.b)), nil }
func (f memFile) OpenAt() (source.ReaderAtCloser, error) {
	return closer{bytes.NewReader(f.b)}, nil
}

type closer struct{ *bytes.Reader }

func (closer) Close() error { return nil }

func zipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// names opens files and asks for their identity.
func names(t *testing.T, salt, open string, files ...source.File) run.Identity {
	t.Helper()
	return namesFor(t, run.DigestRequest{Salt: salt}, open, files...)
}

func namesFor(t *testing.T, q run.DigestRequest, open string, files ...source.File) run.Identity {
	t.Helper()
	s := NewSession(Host{Load: load.Load, Post: func(run.Message) {}})
	if _, err := s.answer(context.Background(), Request{Message: run.Message{Type: Open, ID: 1, Text: open}, TrainFiles: files}); err != nil {
		t.Fatal(err)
	}
	r, err := s.answer(context.Background(), Request{Message: run.Message{Type: Digest, ID: 2, Text: jsonOf(t, q)}})
	if err != nil {
		t.Fatal(err)
	}
	return r.(run.DigestReply).Identity
}

// share reports whether a run on a counts for b.
func share(t *testing.T, a, b run.Identity) bool {
	t.Helper()
	records := []run.Record{{Run: "a", Names: a.Names, Entry: run.Entry{Run: "a"}}}
	r, err := privacy.Spent(run.SpentRequest{Account: run.Account{Records: records, Names: b.Names, Marks: b.Marks, Data: []run.Identity{a}}})
	if err != nil {
		t.Fatal(err)
	}
	return len(r.Runs) > 0
}

// The same table is recognised compressed or not and however it is read; another
// table, and the same one under another salt, are not.
func TestDigestRecognisesFiles(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,kind\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i, i*i%7, i%2)
	}
	table := []byte(b.String())
	changed := bytes.Replace(table, []byte("\n7,"), []byte("\n8,"), 1)
	less := bytes.Replace(table, []byte("\n7,0,1"), nil, 1)
	semicolons := bytes.ReplaceAll(table, []byte(","), []byte(";\t "))
	other := regexp.MustCompile(`(?m)^(\d)`).ReplaceAll(table, []byte("9$1"))
	first := names(t, salt, "{}", memFile{"x.csv", table})
	for what, again := range map[string]run.Identity{
		"renamed":                         names(t, salt, "{}", memFile{"y.csv", table}),
		"compressed":                      names(t, salt, "{}", memFile{"x.csv.gz", zipped(t, table)}),
		"another label":                   names(t, salt, `{"csv":{"label":"b"}}`, memFile{"x.csv", table}),
		"other columns":                   names(t, salt, `{"csv":{"columns":{"a":"ignored"}}}`, memFile{"x.csv", table}),
		"another test share":              names(t, salt, `{"csv":{"test_share":0.5}}`, memFile{"x.csv", table}),
		"a test file by name, trained on": names(t, salt, `{"csv":{"roles":{"test.csv":"train"}}}`, memFile{"z.csv", other}, memFile{"test.csv", table}),
		"with a second file":              names(t, salt, "{}", memFile{"x.csv", table}, memFile{"z.csv", other}),
		"another row":                     names(t, salt, "{}", memFile{"x.csv", changed}),
		"a row less":                      names(t, salt, "{}", memFile{"x.csv", less}),
		"one row of it among others":      names(t, salt, "{}", memFile{"x.csv", append(slices.Clone(other), "7,0,1\n"...)}),
		"other delimiters":                names(t, salt, "{}", memFile{"x.csv", semicolons}),
		"Windows' line ends":              names(t, salt, "{}", memFile{"x.csv", bytes.ReplaceAll(less, []byte("\n"), []byte("\r\n"))}),
		"in an archive":                   names(t, salt, "{}", memFile{"x.zip", packed(t, memFile{"x.csv", less})}),
	} {
		if !share(t, first, again) {
			t.Errorf("%s: not recognised", what)
		}
	}
	for what, new := range map[string]run.Identity{
		"for testing":  names(t, salt, "{}", memFile{"z.csv", other}, memFile{"test.csv", table}),
		"other rows":   names(t, salt, "{}", memFile{"x.csv", other}),
		"another salt": names(t, strings.Replace(salt, "0", "f", 1), "{}", memFile{"x.csv", table}),
	} {
		if share(t, first, new) {
			t.Errorf("%s: taken for the same", what)
		}
	}
}

// A column that was ignored is missed by nobody: without it the rows are the same.
func TestDigestIgnoresAnIgnoredColumn(t *testing.T) {
	var wide, narrow strings.Builder
	for i := range 60 {
		fmt.Fprintf(&wide, "%d,%d,%d.5,%d\n", i, i*i, i, i%2)
		if i != 7 {
			fmt.Fprintf(&narrow, "%d;%d.50;%d\n", i, i, i%2)
		}
	}
	w, n := memFile{"w.csv", []byte("a,b,c,kind\n" + wide.String())}, memFile{"n.csv", []byte("a;c;kind\n" + narrow.String())}
	if !share(t, names(t, salt, `{"csv":{"columns":{"b":"ignored"}}}`, w), names(t, salt, `{"csv":{"test_share":0.5}}`, n)) {
		t.Error("the table saved anew without the column that was ignored is not recognised")
	}
	// What the guide says is missed.
	if share(t, names(t, salt, `{}`, w), names(t, salt, `{}`, n)) {
		t.Error("a column less is recognised: correct docs/scripting.md and docs/threats.md")
	}
}

// pictures are n pictures in two folders, with pixels of their own from first on.
func pictures(t *testing.T, first, n int) []source.File {
	t.Helper()
	var files []source.File
	for i := first; i < first+n; i++ {
		img := image.NewGray(image.Rect(0, 0, 8, 8))
		for k := range img.Pix {
			img.Pix[k] = byte(i*31 + k*k*(i+1))
		}
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		files = append(files, memFile{fmt.Sprintf("all/%s/%d.png", []string{"cat", "dog"}[i%2], i), b.Bytes()})
	}
	return files
}

// packed is a zip archive.
func packed(t *testing.T, files ...source.File) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.Name())
		if err == nil {
			_, err = w.Write(f.(memFile).b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// 60 pictures and 59 of them are one data set, as are those with a picture in common in
// another folder, class, archive or size. What is held for testing in both makes nothing one.
func TestDigestRecognisesSharedPictures(t *testing.T) {
	all := pictures(t, 0, 60)
	first := names(t, salt, "{}", all...)
	one := all[7].(memFile)
	for what, again := range map[string]run.Identity{
		"59 of them":              names(t, salt, "{}", all[1:]...),
		"another test share":      names(t, salt, `{"csv":{"test_share":0.5}}`, all[1:]...),
		"in an archive":           names(t, salt, "{}", memFile{"all.zip", packed(t, all[1:]...)}),
		"one among others":        names(t, salt, "{}", append(pictures(t, 100, 20), memFile{"all/cat/x.png", one.b})...),
		"one, of another class":   names(t, salt, "{}", append(pictures(t, 100, 20), memFile{"all/fox/x.png", one.b})...),
		"brought to another size": names(t, salt, `{"csv":{"image":{"size":[4]}}}`, all[30:]...),
	} {
		if !share(t, first, again) {
			t.Errorf("%s: not recognised", what)
		}
	}
	if share(t, first, names(t, salt, "{}", pictures(t, 100, 60)...)) {
		t.Error("other pictures are taken for the same")
	}
	held := func(train []source.File) []source.File {
		var files []source.File
		for i, f := range append(slices.Clone(train), all[:10]...) {
			role := "train"
			if i >= len(train) {
				role = "test"
			}
			files = append(files, memFile{role + "/" + strings.TrimPrefix(f.Name(), "all/"), f.(memFile).b})
		}
		return files
	}
	a, b := held(pictures(t, 100, 20)), held(pictures(t, 200, 20))
	if share(t, names(t, salt, "{}", a...), names(t, salt, "{}", b...)) {
		t.Error("the same pictures for testing make two data sets one")
	}
	tuned := run.DigestRequest{Salt: salt, Tested: true}
	if !share(t, namesFor(t, tuned, "{}", a...), namesFor(t, tuned, "{}", b...)) {
		t.Error("tuned on the same pictures: not recognised")
	}
}

// TestAPictureLessIsTheSameData is a case that was counted as new data: ε = 1 of 60 pictures, and
// once more of 59 of them. The composition is that of both, and a limit of 1.2 refuses it.
func TestAPictureLessIsTheSameData(t *testing.T) {
	all := pictures(t, 0, 60)
	first, second := names(t, salt, "{}", all...), names(t, salt, "{}", all[1:]...)
	sigma, err := privacy.Budget{Accountant: privacy.PLD, Epsilon: 1, Delta: 1e-5}.NoiseMultiplier(0.5, 30)
	if err != nil {
		t.Fatal(err)
	}
	event, err := privacy.MarshalEvent(privacy.PoissonSampled{SampleRate: 0.5, Of: privacy.Gaussian{NoiseMultiplier: sigma}})
	if err != nil {
		t.Fatal(err)
	}
	plan := run.PlanInfo{Steps: 30, Private: true, Events: run.Events{PerStep: event}}
	var earlier run.Record
	if earlier, err = privacy.Enter(run.EnterRequest{Account: run.Account{Names: first.Names, Marks: first.Marks}, Run: "a", Plan: plan}); err != nil {
		t.Fatal(err)
	}
	account := run.Account{Records: []run.Record{earlier}, Names: second.Names, Marks: second.Marks, Data: []run.Identity{first}}
	next := plan.Entry()
	spent, err := privacy.Spent(run.SpentRequest{Account: account, Next: run.Coming{next}})
	if err != nil || math.Abs(float64(spent.Epsilon)-1) > 0.01 || !(*spent.NextEpsilon > 1.35 && *spent.NextEpsilon < 1.5) {
		t.Errorf("spent %+v (%v), want ε = 1, and 1.42 with the next run", spent, err)
	}
	account.Limit = &run.Limit{Epsilon: 1.2}
	var over *run.OverLimit
	if _, err := privacy.Enter(run.EnterRequest{Account: account, Run: "b", Plan: plan}); !errors.As(err, &over) {
		t.Errorf("a limit of 1.2 lets it pass: %v", err)
	}
}

// idxPair is images and labels of n rows as IDX files.
func idxPair(n int, seed byte) (images, labels memFile) {
	images = memFile{"train-images-idx3-ubyte", []byte{0, 0, 8, 3, 0, 0, 0, byte(n), 0, 0, 0, 2, 0, 0, 0, 2}}
	labels = memFile{"train-labels-idx1-ubyte", []byte{0, 0, 8, 1, 0, 0, 0, byte(n)}}
	for i := range n {
		images.b = append(images.b, byte(i)*seed, byte(i*i), seed, byte(3*i))
		labels.b = append(labels.b, (byte(i)+seed)%3)
	}
	return images, labels
}

// fewer is an IDX file without its last row.
func fewer(f memFile) memFile {
	n := int(f.b[7])
	head := 4 + 4*int(f.b[3])
	b := slices.Clone(f.b[:len(f.b)-(len(f.b)-head)/n])
	b[7]--
	return memFile{f.name, b}
}

// cifarBatch is n records of CIFAR-10.
func cifarBatch(name string, n int, seed byte) memFile {
	f := memFile{name, nil}
	for i := range n {
		record := bytes.Repeat([]byte{byte(i) * seed}, 3073)
		record[0] = byte(i) % 10
		f.b = append(f.b, record...)
	}
	return f
}

// Images are recognised by their files too: with other rows held out, and where a
// file that was one of several comes alone. Files that are for testing alone do
// not make two data sets one.
func TestDigestRecognisesImages(t *testing.T) {
	images, labels := idxPair(60, 5)
	first := names(t, salt, "{}", images, labels)
	one, two := cifarBatch("data_batch_1.bin", 20, 3), cifarBatch("data_batch_2.bin", 20, 7)
	both := names(t, salt, "{}", one, two)
	zip := memFile{"train-images-idx3-ubyte.gz", zipped(t, images.b)}
	for what, pair := range map[string][2]run.Identity{
		"another test share": {first, names(t, salt, `{"csv":{"test_share":0.5}}`, images, labels)},
		"compressed":         {first, names(t, salt, `{"csv":{"test_share":0.3}}`, zip, labels)},
		"fewer images":       {first, names(t, salt, "{}", fewer(images), fewer(labels))},
		"one batch of two":   {both, names(t, salt, "{}", one)},
		"the other batch":    {both, names(t, salt, "{}", two)},
		"in the other order": {both, names(t, salt, "{}", two, one)},
		"with a test file":   {names(t, salt, "{}", one), names(t, salt, "{}", one, memFile{"test_batch.bin", two.b})},
	} {
		if !share(t, pair[0], pair[1]) {
			t.Errorf("%s: not recognised", what)
		}
	}
	otherImages, otherLabels := idxPair(60, 12)
	test := memFile{"test_batch.bin", cifarBatch("", 20, 9).b}
	for what, pair := range map[string][2]run.Identity{
		"other images":       {first, names(t, salt, "{}", otherImages, otherLabels)},
		"another batch":      {names(t, salt, "{}", one), names(t, salt, "{}", two)},
		"the same test file": {names(t, salt, "{}", one, test), names(t, salt, "{}", two, test)},
	} {
		if share(t, pair[0], pair[1]) {
			t.Errorf("%s: taken for the same", what)
		}
	}
}

// A tuning spends on its test rows, too: two that are tested on the same are found to be
// about one data set, as is a run that trains on what a tuning was tested on. Runs that
// only test on the same stay apart.
func TestDigestRecognisesTestRowsOfATuning(t *testing.T) {
	one, two := cifarBatch("data_batch_1.bin", 20, 3), cifarBatch("data_batch_2.bin", 20, 7)
	test := memFile{"test_batch.bin", cifarBatch("", 20, 9).b}
	tuned := run.DigestRequest{Salt: salt, Tested: true}
	first := namesFor(t, tuned, "{}", one, test)
	for what, again := range map[string]run.Identity{
		"tuned on the same test rows":       namesFor(t, tuned, "{}", two, test),
		"compressed":                        namesFor(t, tuned, "{}", two, memFile{"test_batch.bin.gz", zipped(t, test.b)}),
		"trained on them":                   names(t, salt, `{"csv":{"test_share":-1}}`, memFile{"data_batch_3.bin", test.b}),
		"trained on some of that file":      names(t, salt, "{}", memFile{"data_batch_3.bin", test.b}),
		"the same training rows, not tuned": names(t, salt, "{}", one, test),
	} {
		if !share(t, first, again) {
			t.Errorf("%s: not recognised", what)
		}
	}
	for what, other := range map[string]run.Identity{
		"tested on them alone": names(t, salt, "{}", two, test),
		"other test rows":      namesFor(t, tuned, "{}", two, memFile{"test_batch.bin", cifarBatch("", 20, 11).b}),
		"no test rows":         namesFor(t, tuned, `{"csv":{"test_share":-1}}`, two),
	} {
		if share(t, first, other) {
			t.Errorf("%s: taken for the same", what)
		}
	}
	none := namesFor(t, tuned, `{"csv":{"test_share":-1}}`, one)
	if share(t, none, namesFor(t, tuned, `{"csv":{"test_share":-1}}`, two)) {
		t.Error("what has no test rows is taken for the same")
	}
	// In any order of asking.
	s := NewSession(Host{Load: load.Load, Post: func(run.Message) {}})
	if _, err := s.answer(context.Background(), Request{Message: run.Message{Type: Open, ID: 1, Text: "{}"}, TrainFiles: []source.File{one, test}}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []run.DigestRequest{tuned, {Salt: salt}, tuned} {
		r, err := s.answer(context.Background(), Request{Message: run.Message{Type: Digest, ID: 2, Text: jsonOf(t, q)}})
		want := first
		if !q.Tested {
			want = names(t, salt, "{}", one, test)
		}
		if err != nil || !reflect.DeepEqual(r.(run.DigestReply).Identity, want) {
			t.Errorf("%+v: %v (%v), want %v", q, r, err, want)
		}
	}
}

func TestDigestRefusesDataWithoutFiles(t *testing.T) {
	s := NewSession(Host{Builtin: builtin.Make})
	for _, text := range []string{`{"salt":"00"}`, `{"salt":"x"}`, `{"salt":"` + salt + `"}`} {
		if _, err := s.answer(context.Background(), Request{Message: run.Message{Type: Digest, ID: 1, Text: text}}); err == nil {
			t.Errorf("no error for %s without files", text)
		}
	}
	if _, err := s.answer(context.Background(), Request{Message: run.Message{Type: Open, ID: 1, Text: `{"data":"moons"}`}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.answer(context.Background(), Request{Message: run.Message{Type: Digest, ID: 2, Text: `{"salt":"` + salt + `"}`}}); err == nil {
		t.Error("built-in data has a name")
	}
}

func record(t *testing.T, name string, steps int, closed bool, names ...string) run.Record {
	t.Helper()
	b, err := privacy.MarshalEvent(privacy.PoissonSampled{SampleRate: 0.01, Of: privacy.Gaussian{NoiseMultiplier: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return run.Record{Run: name, Names: names, Entry: run.Entry{Run: name, Events: run.Events{PerStep: b}, Steps: steps, Closed: closed}}
}

func askSpent(t *testing.T, q run.SpentRequest) (run.SpentReply, error) {
	t.Helper()
	var r run.SpentReply
	err := ask(t, Spent, jsonOf(t, q), &r)
	return r, err
}

func TestSpentComposesRunsOnTheSameData(t *testing.T) {
	unprotected := record(t, "e", 0, true, "rows-1")
	unprotected.Entry.Unprotected, unprotected.Entry.PerStep = true, nil
	records := []run.Record{
		record(t, "a", 100, true, "rows-1", "file-1"),
		record(t, "b", 200, false, "rows-2", "file-1"), // the same file, read otherwise
		record(t, "c", 400, true, "rows-3"),
		record(t, "d", 800, true, "rows-4", "file-2"),
		unprotected,
	}
	cost := func(steps int) float64 {
		e, err := privacy.Epsilon(privacy.PLD, 1e-5, dpsgd(run.Mechanism{SampleRate: 0.01, NoiseMultiplier: 1, Steps: steps}))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, c := range []struct {
		names []string
		runs  string
		steps int
	}{
		{[]string{"rows-1"}, "aeb", 300}, {[]string{"file-1"}, "abe", 300}, {[]string{"rows-2", "x"}, "bae", 300}, // e has no guarantee
		{[]string{"rows-3"}, "c", 400}, {[]string{"unknown"}, "", 0}, {[]string{"rows-3", "file-2"}, "cd", 1200}, {nil, "", 0},
	} {
		r, err := askSpent(t, run.SpentRequest{Account: run.Account{Records: records, Names: c.names}})
		if err != nil {
			t.Fatal(err)
		}
		got, want := slices.Sorted(slices.Values(r.Runs)), slices.Sorted(slices.Values(strings.Split(c.runs, "")))
		if c.runs == "" {
			want = nil
		}
		if !slices.Equal(got, want) || math.Abs(float64(r.GuaranteedEpsilon)-cost(c.steps)) > 2e-3*cost(c.steps) || math.IsInf(float64(r.Epsilon), 1) != slices.Contains(want, "e") {
			t.Errorf("%v: runs %v, ε = %v and %v; want %v, %v", c.names, r.Runs, r.Epsilon, r.GuaranteedEpsilon, want, cost(c.steps))
		}
		if len(c.names) == 1 && c.runs == "abe" && (r.Open != 1 || r.Unprotected != 1 || !strings.Contains(r.Text, "1 of its 3 runs has no guarantee") || !strings.Contains(r.Text, "planned steps") || !strings.Contains(r.Text, "1 of them has not ended")) {
			t.Errorf("%+v", r)
		}
	}
	next := record(t, "f", 400, false, "x").Entry
	r, err := askSpent(t, run.SpentRequest{Account: run.Account{Records: records, Names: []string{"rows-3"}}, Next: run.Coming{next}})
	if err != nil || r.NextEpsilon == nil || math.Abs(float64(*r.NextEpsilon)-cost(800)) > 2e-3*cost(800) || len(r.Runs) != 1 {
		t.Errorf("%+v, %v; want %v with the next run", r, err, cost(800))
	}
	// Two runs of half the steps cost what one of all costs.
	half := next
	half.Steps /= 2
	r, err = askSpent(t, run.SpentRequest{Account: run.Account{Records: records, Names: []string{"rows-3"}}, Next: run.Coming{half, half}})
	if err != nil || r.NextEpsilon == nil || math.Abs(float64(*r.NextEpsilon)-cost(800)) > 2e-3*cost(800) {
		t.Errorf("%+v, %v; want %v with the next runs", r, err, cost(800))
	}
	// A run without a guarantee may tell anything, with noise or without.
	for _, per := range []json.RawMessage{nil, next.PerStep} {
		next := run.Entry{Run: "g", Events: run.Events{PerStep: per}, Unprotected: true}
		r, err := askSpent(t, run.SpentRequest{Account: run.Account{Records: records, Names: []string{"rows-3"}}, Next: run.Coming{next}})
		if err != nil || r.NextEpsilon == nil || !math.IsInf(float64(*r.NextEpsilon), 1) {
			t.Errorf("%+v, %v; want ε = ∞ with a run without a guarantee", r, err)
		}
	}
}

// A record that nobody can price is refused, not left out.
func TestSpentRefusesDamage(t *testing.T) {
	good := jsonOf(t, record(t, "a", 100, true, "n"))
	for _, bad := range []string{
		strings.Replace(good, `"poisson_sampled"`, `"magic"`, 1), strings.Replace(good, `0.01`, `7`, 1),
		strings.Replace(good, `"steps":100`, `"steps":-1`, 1), `{"names":["n"],"entry":{"run":"a","steps":3}}`,
	} {
		var r run.SpentReply
		if err := ask(t, Spent, `{"names":["n"],"records":[`+bad+`]}`, &r); err == nil {
			t.Errorf("no error for %s", bad)
		}
	}
	var r run.SpentReply
	if err := ask(t, Spent, `{"names":["n"],"records":[`+good+`]}`, &r); err != nil || !json.Valid([]byte(good)) {
		t.Error(err)
	}
}

// A run over the limit is refused with the figures, the infinite one too.
func TestEnterRefusesInFields(t *testing.T) {
	p := newPage(t, steps(1))
	for _, c := range []struct{ plan, want string }{
		{`{"steps":10,"private":true,"events":{"per_step":{"kind":"gaussian","noise_multiplier":1}}}`, "more than your limit of 0.1"},
		{`{"steps":10}`, "carries no guarantee"},
	} {
		p.send(Enter, 1, `{"run":"a","names":["n"],"records":[],"limit":{"epsilon":0.1},"plan":`+c.plan+`}`)
		f := decode[struct {
			Message string
			Detail  run.OverLimit
		}](t, p.next(ErrorType))
		if !strings.Contains(f.Message, c.want) || f.Detail.Kind != "limit" || f.Detail.Limit != 0.1 || f.Detail.Delta != 1e-5 || !(f.Detail.NextEpsilon > 1) {
			t.Errorf("%+v, want %q", f, c.want)
		}
	}
	p.send(Enter, 2, `{"run":"a","names":["n"],"plan":{"steps":10,"private":true,"events":{"per_step":{"kind":"gaussian","noise_multiplier":1}}}}`)
	if r := decode[run.Record](t, p.next(ReplyType)); r.Run != "a" || r.Entry.Steps != 10 || r.Names[0] != "n" {
		t.Errorf("entered %+v", r)
	}
}

func TestLimitRefusesBadNumbers(t *testing.T) {
	var l run.Limit
	if err := ask(t, Limit, `{"epsilon":2}`, &l); err != nil || l != (run.Limit{Epsilon: 2, Delta: 1e-5}) {
		t.Errorf("%+v, %v", l, err)
	}
	for _, bad := range []string{`{}`, `{"epsilon":0}`, `{"epsilon":-1}`, `{"epsilon":null}`, `{"epsilon":2,"delta":1}`, `{"epsilon":2,"delta":-1}`, `{"epsilon":"2"}`} {
		if err := ask(t, Limit, bad, &l); err == nil {
			t.Errorf("no error for %s", bad)
		}
	}
}
