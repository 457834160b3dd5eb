package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

func sum(text string) string {
	b := sha256.Sum256([]byte(text))
	return hex.EncodeToString(b[:])
}

// reads is the file of a model that was trained on what another made of mails: long where they have more than 5 bytes.
func reads(t *testing.T, by run.Backbone) source.File {
	t.Helper()
	by.Output, by.Column, by.Normalise, by.Batch = "y", "mail", "none", 1
	b, err := json.Marshal(&model.File{
		Format: model.Format, Version: model.Version, Guarantee: "made up", Epsilon: 1,
		Apply: &run.Application{
			Task: "classification", Outputs: 2, Classes: []string{"short", "long"}, Features: 2, FeaturesOf: &by, Table: []run.AppliedColumn{{Name: "kind", Kind: "label", First: -1}, {Name: "mail", Kind: "text", First: -1}},
			Scaling: run.AppliedScaling{Kind: "none"}, Layers: []run.AppliedLayer{{Text: "dense", Shape: []int{2}, Parameters: 6}},
		},
		Parameters: []float32{-1, 1, 0, 0, 5, -5},
	})
	if err != nil {
		t.Fatal(err)
	}
	return source.Bytes("model.json", b)
}

// TestAModelOfTextsIsGivenWhatReadsThem: a model that was trained on what another made of texts opens alone and says what it lacks,
// answers rows and tables with that beside it, and refuses any other file by name. What read texts is closed with it.
func TestAModelOfTextsIsGivenWhatReadsThem(t *testing.T) {
	alone, paired := reads(t, run.Backbone{SHA256: sum("a")}), reads(t, run.Backbone{SHA256: sum("a"), Tokenizer: sum("t")})
	models := &halves{reads: true}
	p := newPage(t, steps(1), func(h *Host) { h.Backbones = models })
	onnx, tokenizer := memFile{"m.onnx", []byte("a")}, memFile{"tokenizer.json", []byte("t")}
	load := func(files ...source.File) run.ModelInfo {
		t.Helper()
		p.send(Model, 1, "", files...)
		return decode[run.ModelInfo](t, p.next(ReplyType, ErrorType))
	}
	if info := load(alone); !strings.Contains(info.Lacks, "the ONNX file with the SHA-256 "+sum("a")) || models.opened != 0 {
		t.Errorf("%+v", info)
	}
	p.send(Predict, 2, `{"rows":[["fine"]]}`)
	if m := p.next(ReplyType, ErrorType); m.Type != ErrorType || !strings.Contains(m.Text, "reads texts through a backbone") {
		t.Errorf("without what reads texts: %s", m.Text)
	}
	if info := load(paired, tokenizer, onnx); info.Lacks != "" || info.Label != "kind" || models.tokens != "t" {
		t.Errorf("%+v", info)
	}
	if info := load(alone, onnx); info.Lacks != "" || models.opened != 2 || models.closed != 1 {
		t.Errorf("%+v, %d opened and %d closed", info, models.opened, models.closed)
	}
	p.send(Predict, 3, `{"rows":[["fine"],{"mail":"excellent"}]}`)
	if a := decode[[]run.Answer](t, p.next(ReplyType)); a[0].Answer != "short" || a[1].Answer != "long" {
		t.Errorf("%+v", a)
	}
	table := source.Bytes("t.csv", []byte("kind,mail\nlong,excellent\nlong,bad\n"))
	p.send(Predict, 4, "{}", table)
	if m := p.next(ReplyType); !strings.HasPrefix(m.Blob.(string), "kind,mail,answer,p(short),p(long),problem\nlong,excellent,long,") || !strings.Contains(m.Blob.(string), "\nlong,bad,short,") {
		t.Errorf("%v", m.Blob)
	}
	p.send(Evaluate, 5, "", table)
	for told := ""; ; {
		m := p.next(ReplyType, ProgressType)
		if m.Type == ProgressType {
			told += m.Text
			continue
		}
		if !strings.Contains(m.Text, `"test_accuracy":0.5`) || !strings.Contains(told, `"phase":"features","file":"m.onnx","done":2`) {
			t.Errorf("%s, after %s", m.Text, told)
		}
		break
	}
	for want, files := range map[string][]source.File{
		"other.onnx: expected the file that the model was trained with, of the SHA-256 " + sum("a") + ", found one of " + sum("b"): {alone, memFile{"other.onnx", []byte("b")}},
		"vocab.txt: expected the file that the model was trained with, of the SHA-256 " + sum("t"):                                 {paired, onnx, memFile{"vocab.txt", []byte("b")}},
		"with the SHA-256 " + sum("t") + ", found one file. Choose both together":                                                  {paired, onnx},
		"alone, found two files":     {alone, onnx, tokenizer},
		"found 3 files":              {paired, onnx, tokenizer, onnx},
		"found a file beside it":     {saved(t), onnx},
		"found an empty file":        {alone, memFile{"m.onnx", nil}},
		"broken.onnx: expected the ": {alone, memFile{"broken.onnx", []byte("broken")}},
	} {
		p.send(Model, 6, "", files...)
		if m := p.next(ReplyType, ErrorType); m.Type != ErrorType || !strings.Contains(strings.ReplaceAll(m.Text, `\"`, `"`), want) {
			t.Errorf("%s, and not %q", m.Text, want)
		}
	}
	p.send(Predict, 7, `{"rows":[["fine"]]}`)
	if a := decode[[]run.Answer](t, p.next(ReplyType)); a[0].Answer != "short" {
		t.Errorf("after what was refused: %+v", a)
	}
	if load(saved(t)); models.closed != models.opened {
		t.Errorf("%d opened and %d closed", models.opened, models.closed)
	}
}

// refusing opens nothing while it refuses.
type refusing struct {
	*halves
	refuses bool
}

func (r *refusing) Open(ctx context.Context, f, tokenizer source.File, memory int64) (Backbone, error) {
	if r.refuses {
		return nil, errors.New("no memory left")
	}
	return r.halves.Open(ctx, f, tokenizer, memory)
}

// TestWhatReadsTextsIsOpenedAgain: where a call was given up, which ends what reads texts, the next question opens it again, or the one after
// that; and where the model cannot be opened, it is closed.
func TestWhatReadsTextsIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		models, fails := &refusing{halves: &halves{reads: true}}, false
		p := newPage(t, steps(1), func(h *Host) {
			h.Backbones = models
			was := h.Backend
			h.Backend = func(c run.Config) (Backend, error) {
				if fails {
					panic("out of memory")
				}
				return was(c)
			}
		})
		file, onnx := reads(t, run.Backbone{SHA256: sum("a")}), memFile{"m.onnx", []byte("a")}
		p.send(Model, 1, "", file, onnx)
		p.next(ReplyType)
		models.text = "never answers"
		p.send(Predict, 2, `{"rows":[["fine"]]}`)
		m := <-p.got
		for ; m.Type == ProgressType; m = <-p.got { // one a second
		}
		if m.Type != ErrorType || !strings.Contains(m.Text, "at most 2 minutes") {
			t.Fatalf("%+v", m)
		}
		models.refuses = true
		p.send(Predict, 5, `{"rows":[["fine"]]}`)
		if m := p.next(ReplyType, ErrorType); m.Type != ErrorType || !strings.Contains(m.Text, "no memory left") || models.opened != 1 || models.closed != 0 {
			t.Errorf("%s, %d opened and %d closed", m.Text, models.opened, models.closed)
		}
		models.refuses = false
		p.send(Predict, 3, `{"rows":[["fine"],["excellent"]]}`)
		if a := decode[[]run.Answer](t, p.next(ReplyType, ErrorType)); a[0].Answer != "short" || a[1].Answer != "long" || models.opened != 2 || models.closed != 1 {
			t.Errorf("%+v, %d opened and %d closed", a, models.opened, models.closed)
		}
		fails = true
		p.send(Model, 4, "", file, onnx)
		if m := p.next(ReplyType, ErrorType); m.Type != ErrorType || models.opened != 3 || models.closed != 2 {
			t.Errorf("%s, %d opened and %d closed", m.Text, models.opened, models.closed)
		}
	})
}
