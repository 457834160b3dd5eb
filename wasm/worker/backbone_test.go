package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clipscope/core/backbone"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// halves are models whose features are a row's first value and its half; their text says
// what is wrong with them.
type halves struct {
	opened, closed, runs int
	text, tokens         string // of the model's file, and of the tokenizer's
	memory               int64  // that it may take
	reads                bool   // texts, of which the first value is the length
}

func (h *halves) Version() string { return "1" }

func (h *halves) Open(ctx context.Context, f, tokenizer source.File, memory int64) (Backbone, error) {
	h.text, h.tokens = string(f.(memFile).b), ""
	if tokenizer != nil {
		h.tokens = string(tokenizer.(memFile).b)
	}
	if h.text == "broken" {
		return nil, errors.New("protobuf parsing failed")
	}
	if h.text == "never opens" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	h.memory = memory
	h.opened++
	return h, nil
}

func (h *halves) Inputs() []run.BackboneTensor {
	if h.reads {
		return []run.BackboneTensor{{Name: "x", Type: "string", Shape: []int{-1}}}
	}
	return []run.BackboneTensor{{Name: "x", Type: "float32", Shape: []int{-1, -1}}}
}

func (h *halves) Outputs() []run.BackboneTensor {
	return []run.BackboneTensor{{Name: "y", Type: "float32", Shape: []int{-1, 2}}}
}

func (h *halves) Memory() int64 { return 1 << 20 }
func (h *halves) Close()        { h.closed++ }

func (h *halves) Run(ctx context.Context, _ string, x backbone.Values, _ string) (backbone.Values, error) {
	h.runs += x.Calls
	if h.text == "fails" {
		return backbone.Values{}, errors.New("non-zero status code")
	}
	if h.text == "never answers" || h.text == "tires" && x.Calls > 1 {
		<-ctx.Done()
		return backbone.Values{}, ctx.Err()
	}
	if h.text == "panics" {
		panic("a fault of ours")
	}
	y := backbone.Values{Calls: x.Calls, Shape: []int{1, 2}}
	for i := range x.Calls {
		if h.reads {
			v := float32(len(x.Text[i]))
			y.F32 = append(y.F32, v, v/2)
			continue
		}
		v := x.F32[i*len(x.F32)/x.Calls]
		y.F32 = append(y.F32, v, v/2)
	}
	return y, nil
}

// memFeatures is [Features] in memory.
type memFeatures map[string][]byte

func (s memFeatures) Open(name string) (io.ReadCloser, error) {
	if b, ok := s[name]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return nil, nil
}

type leaf struct {
	bytes.Buffer
	size int64
	done func([]byte)
}

func (l *leaf) Close() error {
	if int64(l.Len()) != l.size {
		return fmt.Errorf("%d bytes, and %d were announced", l.Len(), l.size)
	}
	l.done(l.Bytes())
	return nil
}

func (s memFeatures) Create(name string, size int64) (io.WriteCloser, error) {
	return &leaf{size: size, done: func(b []byte) { s[name] = b }}, nil
}

func (s memFeatures) Remove(name string) error { delete(s, name); return nil }

func (s memFeatures) Clear() (n int64, _ error) {
	for name, b := range s {
		n += int64(len(b))
		delete(s, name)
	}
	return n, nil
}

var numbers = memFile{"t.csv", []byte("a,b,kind\n" + strings.Repeat("1,2,x\n3,4,y\n5,7,x\n", 20))}

// opened returns a session with a table open, whose messages post gets.
func opened(t *testing.T, models Backbones, store Features, post func(run.Message)) *Session {
	t.Helper()
	s := NewSession(Host{Load: load.Load, Post: post, Now: time.Now, Backbones: models, Features: store})
	asked[*data.Report](t, s, Open, `{"csv":{"test_share":0.2}}`, numbers)
	return s
}

func ignore(run.Message) {}

// asked is the reply to a request.
func asked[A any](t *testing.T, s *Session, kind, text string, files ...source.File) A {
	t.Helper()
	a, err := s.answer(context.Background(), Request{Message: run.Message{Type: kind, ID: 1, Text: text}, TrainFiles: files})
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return a.(A)
}

const featurise = `{"salt":"` + salt + `"}`

func TestFeaturesTakeThePlaceOfRows(t *testing.T) {
	models, store := &halves{}, memFeatures{}
	s := opened(t, models, store, ignore)
	rows := openRows(s)
	before := asked[run.DigestReply](t, s, Digest, featurise).Names
	report := asked[*data.Report](t, s, Featurise, featurise, memFile{"m.onnx", []byte("a")})
	if got := asked[run.DigestReply](t, s, Digest, featurise).Names; !reflect.DeepEqual(got, before) {
		t.Errorf("in the ledger features are %v and their rows %v", got, before)
	}
	b := report.Backbone
	if b == nil || b.File != "m.onnx" || b.Bytes != 1 || len(b.SHA256) != 64 || b.Output != "y" || b.Cached || b.Memory != 1<<20 || report.Features != 2 || report.Rows != rows.Train.N {
		t.Errorf("%+v of %+v", b, report)
	}
	if models.opened != 1 || models.closed != 1 {
		t.Errorf("opened %d times, closed %d", models.opened, models.closed)
	}
	for i := range rows.Train.N {
		v := rows.Train.F32[i*rows.Features]
		if f := openRows(s).Train.F32[2*i:]; f[0] != v || f[1] != v/2 {
			t.Fatalf("row %d: %v", i, f[:2])
		}
	}
	if _, err := s.answer(context.Background(), Request{Message: run.Message{Type: Featurise, Text: featurise}, TrainFiles: []source.File{memFile{"m", []byte("a")}}}); err == nil {
		t.Error("features were made of features")
	}

	// The second time from storage, to the bit; another model, or other rows, not.
	again := opened(t, models, store, ignore)
	report = asked[*data.Report](t, again, Featurise, featurise, memFile{"renamed.onnx", []byte("a")})
	if !report.Backbone.Cached || models.opened != 1 || !reflect.DeepEqual(openRows(again), openRows(s)) || report.Backbone.File != "renamed.onnx" {
		t.Errorf("not from storage: %+v", report.Backbone)
	}
	for name, c := range map[string]struct{ text, model string }{
		"another model":  {featurise, "b"},
		"another output": {`{"salt":"` + salt + `","output":"y"}`, "a"}, // which is not known to be the same
	} {
		if r := asked[*data.Report](t, opened(t, models, store, ignore), Featurise, c.text, memFile{"m", []byte(c.model)}); r.Backbone.Cached {
			t.Errorf("%s: from storage", name)
		}
	}
	if n := asked[int64](t, s, Forget, ""); n == 0 || len(store) != 0 {
		t.Errorf("%d bytes removed, %d files left", n, len(store))
	}
}

// TestFeaturesOfTextsAreMadeAnewForOtherTexts: they are those of the texts, and made anew where a
// text, or what the column is called, is another. In the ledger other texts are other data.
func TestFeaturesOfTextsAreMadeAnewForOtherTexts(t *testing.T) {
	models, store := &halves{reads: true}, memFeatures{}
	names := map[string]bool{}
	for i, c := range []struct {
		column, last string
		cached       bool
	}{{"review", "fine", false}, {"review", "fine", true}, {"review", "film", false}, {"remark", "fine", false}} {
		s := NewSession(Host{Load: load.Load, Post: func(run.Message) {}, Now: time.Now, Backbones: models, Features: store})
		table := memFile{"t.csv", []byte("n," + c.column + ",kind\n" + strings.Repeat("1,bad,x\n2,excellent,y\n", 20) + "3," + c.last + ",y\n")}
		asked[*data.Report](t, s, Open, `{"csv":{"test_share":-1,"columns":{"`+c.column+`":"text"}}}`, table)
		raw := openRows(s)
		report := asked[*data.Report](t, s, Featurise, featurise, memFile{"m.onnx", []byte("a")})
		if report.Backbone.Cached != c.cached || report.Backbone.Column != c.column || !strings.Contains(strings.Join(report.Warnings, " "), "texts in "+c.column+" alone") {
			t.Errorf("%d: %+v, %q", i, report.Backbone, report.Warnings)
		}
		for k, text := range raw.Train.Text {
			if openRows(s).Train.F32[2*k] != float32(len(text)) {
				t.Fatalf("%d: features of %q are %v", i, text, openRows(s).Train.F32[2*k:2*k+2])
			}
		}
		if openRows(s).Train.Text != nil || openRows(s).Columns != nil {
			t.Error("the texts are held beside their features")
		}
		h := sha256.New()
		if err := data.WriteRows(h, raw); err != nil {
			t.Fatal(err)
		}
		names[string(h.Sum(nil))] = true
	}
	if len(names) != 2 {
		t.Errorf("of two lists of texts the ledger knows %d", len(names))
	}
}

// TestDamagedFeaturesAreMadeAgain: a file with any byte gone or changed is not used.
func TestDamagedFeaturesAreMadeAgain(t *testing.T) {
	models, store := &halves{}, memFeatures{}
	first := opened(t, models, store, ignore)
	asked[*data.Report](t, first, Featurise, featurise, memFile{"m", []byte("a")})
	var key string
	for key = range store {
	}
	whole := store[key]
	head := bytes.IndexByte(whole, '}') // JSON may be changed where nobody looks
	for i := 0; i <= len(whole); i += 7 {
		for _, b := range [][]byte{whole[:i], append(bytes.Clone(whole[:i]), append([]byte{whole[min(i, len(whole)-1)] ^ 64}, whole[min(i+1, len(whole)):]...)...)} {
			if i < head && len(b) == len(whole) && i > len(featuresMagic)+4 || bytes.Equal(b, whole) {
				continue
			}
			store[key] = b
			s := opened(t, models, store, ignore)
			if r := asked[*data.Report](t, s, Featurise, featurise, memFile{"m", []byte("a")}); r.Backbone.Cached || !reflect.DeepEqual(openRows(s), openRows(first)) {
				t.Fatalf("%d bytes, damaged at %d: used", len(b), i)
			}
		}
	}
}

func TestBackbonesThatFailLeaveTheData(t *testing.T) {
	for text, says := range map[string]string{"": "an empty file", "broken": "protobuf parsing failed", "fails": "non-zero status code", "panics": "a fault of ours"} {
		models := &halves{}
		s := opened(t, models, nil, ignore)
		rows := openRows(s)
		_, err := s.answer(context.Background(), Request{Message: run.Message{Type: Featurise, Text: featurise}, TrainFiles: []source.File{memFile{"m.onnx", []byte(text)}}})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
		if openRows(s) != rows || models.opened != models.closed {
			t.Errorf("%q: the data are gone, or the model is still open", text)
		}
	}
	if _, err := NewSession(Host{}).answer(context.Background(), Request{Message: run.Message{Type: Featurise, Text: "{}"}}); err == nil {
		t.Error("features of no data")
	}
}

// TestModelsThatDoNotEndAreClosed: until a call is given up the page is told every second that it
// goes on, and the model is closed.
func TestModelsThatDoNotEndAreClosed(t *testing.T) {
	for text, want := range map[string]struct {
		says, phase string
		beats       int
	}{
		"never opens":   {"m.onnx: expected a model that takes at most 5 minutes to be opened", phaseRuntime, 299},
		"never answers": {"m.onnx: expected a model that takes at most 2 minutes to answer for a row", phaseTrial, 119},
		"tires":         {"m.onnx: expected a model that takes at most 96 minutes to answer for 48 rows", phaseTrial, 96*60 - 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			models := &halves{}
			beats := 0
			s := opened(t, models, nil, func(m run.Message) {
				if m.Type == ProgressType && strings.Contains(m.Text, `"phase":"`+want.phase+`"`) {
					beats++
				}
			})
			_, err := s.answer(context.Background(), Request{Message: run.Message{Type: Featurise, Text: featurise}, TrainFiles: []source.File{memFile{"m.onnx", []byte(text)}}})
			if err == nil || !strings.Contains(err.Error(), want.says) {
				t.Errorf("%s: %v", text, err)
			}
			if beats < want.beats || beats > want.beats+2 || models.opened != models.closed {
				t.Errorf("%s: %d beats, opened %d times, closed %d", text, beats, models.opened, models.closed)
			}
		})
	}
}

// TestMemoryOfModelsGrowsWithFileAndBatch: it grows with what the file and the batch ask for, and
// no further.
func TestMemoryOfModelsGrowsWithFileAndBatch(t *testing.T) {
	for _, c := range []struct {
		size  int64
		batch int
		want  int64
	}{{0, 0, 768 << 20}, {100, 1, 768<<20 + 400}, {100 << 20, 1, 1168 << 20}, {0, 11, 928 << 20}, {mostBackbone, 256, 3 << 30}, {1, 1 << 62, 3 << 30}, {1, -1 << 62, 768<<20 + 4}} {
		if got := memoryFor(c.size, c.batch); got != c.want {
			t.Errorf("%d bytes, %d rows: %d, want %d", c.size, c.batch, got, c.want)
		}
	}
	models := &halves{}
	asked[*data.Report](t, opened(t, models, nil, ignore), Featurise, featurise, memFile{"m", []byte("abc")})
	if models.memory != memoryFor(3, 1) {
		t.Errorf("a model may take %d bytes", models.memory)
	}
}

func TestInspectNamesInputsAndOutputs(t *testing.T) {
	s := NewSession(Host{Post: func(run.Message) {}, Backbones: &halves{}})
	info := asked[run.BackboneInfo](t, s, Inspect, "", memFile{"m", []byte("a")})
	if info.Bytes != 1 || info.Outputs[0].Name != "y" || info.Inputs[0].Name != "x" || len(info.SHA256) != 64 {
		t.Errorf("%+v", info)
	}
}

// FuzzReadFeatures: no file of features ends the worker, or has it take more than there
// is.
func FuzzReadFeatures(f *testing.F) {
	f.Add([]byte(featuresMagic + "\x02\x00\x00\x00{}"))
	f.Add([]byte(featuresMagic + "\x0d\x00\x00\x00{\"width\":1e9}abcdefgh"))
	f.Add([]byte(featuresMagic + "\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, info, err := readFeatures(bytes.NewReader(b))
		if err != nil {
			return
		}
		ds := dataset("d")
		if out, _, err := data.Featured(t.Context(), ds, x, info.Backbone, nil); err == nil && len(out.Train.F32) != info.Width {
			t.Errorf("%d features, %d announced", len(out.Train.F32), info.Width)
		}
		x.end()
	})
}

// TestModelIsOpenedWithItsTokenizer gives both files in either order: both hashes are reported, another tokenizer makes new features,
// and other pairs are refused.
func TestModelIsOpenedWithItsTokenizer(t *testing.T) {
	models, store := &halves{}, memFeatures{}
	m, tok, other := memFile{"model.onnx", []byte("a")}, memFile{"tokenizer.json", []byte("{}")}, memFile{"vocab.txt", []byte("x")}
	sum := func(f memFile) string { return fmt.Sprintf("%x", sha256.Sum256(f.b)) }
	first := asked[*data.Report](t, opened(t, models, store, ignore), Featurise, featurise, m, tok)
	if b := first.Backbone; b.SHA256 != sum(m) || b.Tokenizer != sum(tok) || b.File != "model.onnx" || models.tokens != "{}" {
		t.Errorf("%+v, opened with %q", b, models.tokens)
	}
	for _, tt := range []struct {
		files  []source.File
		cached bool
		with   string
	}{{[]source.File{tok, m}, true, sum(tok)}, {[]source.File{m, other}, false, sum(other)}, {[]source.File{m}, false, ""}} {
		if b := asked[*data.Report](t, opened(t, models, store, ignore), Featurise, featurise, tt.files...).Backbone; b.Cached != tt.cached || b.Tokenizer != tt.with || b.SHA256 != sum(m) {
			t.Errorf("%v: %+v", tt.files, b)
		}
	}
	for _, files := range [][]source.File{{m, m}, {tok, other}, {m, tok, other}, {m, memFile{"tokenizer.json", nil}}} {
		_, err := opened(t, models, store, ignore).answer(context.Background(), Request{Message: run.Message{Type: Featurise, Text: featurise}, TrainFiles: files})
		if !errors.As(err, new(*data.Error)) {
			t.Errorf("%v: %v", files, err)
		}
	}
}
