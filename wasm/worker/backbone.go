package worker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"time"

	"clipscope/core/backbone"
	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// Backbones runs models that the page's visitor brings.
type Backbones interface {
	// Open opens one in whatever format there is; with a tokenizer, which may be nil, one that takes the numbers of its tokens takes
	// texts. Its computation runs apart from this worker, takes so many bytes of memory at most, and ends when the context does.
	Open(ctx context.Context, f, tokenizer source.File, memory int64) (Backbone, error)
	// Version names the runtime: another may give other features.
	Version() string
}

// Backbone is an open model. Run ends when its context does, which closes the model.
type Backbone interface {
	backbone.Runtime
	// Memory returns the number of bytes that its runtime holds.
	Memory() int64
	Close()
}

// mostBackbone bounds a model's file, in bytes. Its runtime may hold three times as much, of
// 4 GB that there are addresses for.
const mostBackbone = 768 << 20

// The phases of making features, as progress has them.
const (
	phaseFile     = "backbone" // bytes of the model's file
	phaseRuntime  = "runtime"  // without a number
	phaseTrial    = "trial"    // of made-up rows, without a number
	phaseFeatures = "features" // rows
)

// The memory that the runtime of a model may hold: leastMemory, of which ONNX Runtime itself takes
// some tens of megabytes, each byte of the file memoryPerByte times (as it is read, as tensors,
// and as tensors in another order), and memoryPerRow for each row of a batch beyond the first.
// mostMemory leaves the browser a quarter of the addresses that there are.
const (
	leastMemory   = 768 << 20
	memoryPerByte = 4
	memoryPerRow  = 16 << 20
	mostMemory    = 3 << 30
	mostRows      = 256 // of a batch, as package backbone has it
)

// memoryFor returns the memory that a model in a file of size bytes may take for a batch of
// rows.
func memoryFor(size int64, batch int) int64 {
	return min(leastMemory+memoryPerByte*size+memoryPerRow*int64(min(max(batch, 1), mostRows)-1), mostMemory)
}

// The time of a call cannot be known beforehand: it depends on the operators and on the sizes
// of their outputs. So a call is given up when it lasts longer than this, and until then a
// message tells the page every second that it goes on.
const (
	patienceOpening = 5 * time.Minute // the runtime comes from the site
	patienceRunning = 2 * time.Minute // one input
	beat            = time.Second
)

// attended is a model whose calls are reported to the page, and given up after a time. It
// belongs to one request.
type attended struct {
	Backbone
	mail mail
	id   int
	p    source.Progress // of the last message to the page
	dead bool            // a call was given up, which closed the model
}

// attend returns the result of do, or gives it up after so long.
func (a *attended) attend(patience time.Duration, what string, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	result := make(chan error, 1)
	go func() {
		var err error
		defer func() { result <- err }()
		defer recovered(&err)
		err = do(ctx)
	}()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case err := <-result:
			if a.dead = ctx.Err() != nil; a.dead {
				return &data.Error{Expected: fmt.Sprintf("a model that takes at most %.0f minutes to %s", patience.Minutes(), what), Got: "one that had not ended by then, and was stopped",
					Fix: "Choose a smaller model, or close what else keeps this device busy."}
			}
			return err
		case <-tick.C:
			a.mail.send(ProgressType, a.id, a.p)
		}
	}
}

// Run implements [backbone.Runtime].
func (a *attended) Run(_ context.Context, input string, x backbone.Values, output string) (y backbone.Values, err error) {
	patience, what := patienceRunning, "answer for a row"
	if x.Calls > 1 {
		patience, what = patience*time.Duration(x.Calls), fmt.Sprintf("answer for %d rows", x.Calls)
	}
	err = a.attend(patience, what, func(ctx context.Context) (err error) {
		y, err = a.Backbone.Run(ctx, input, x, output)
		return err
	})
	return y, err
}

// rows returns the model's rowsDone, which also sets the message that is repeated while a
// call lasts.
func (a *attended) rows() func(done, total int) {
	tell := rowsDone(a.mail, a.id, a.p.File)
	return func(done, total int) {
		a.p.Phase, a.p.Done, a.p.Total = phaseFeatures, int64(done), int64(total)
		tell(done, total)
	}
}

var errNoBackbones = errors.New("worker: nothing here runs a backbone")

// opener opens models and tokenizers that the page's visitor brings.
type opener struct {
	mail      mail
	backbones Backbones // nil: nothing runs one
}

// extraction makes features of the open data's rows by a model.
type extraction struct {
	opener
	data   *openData
	ledger *ledger
	store  featureStore
}

// inspect describes a model's inputs and outputs.
func (x *extraction) inspect(r Request) (any, error) {
	if x.backbones == nil {
		return nil, errNoBackbones
	}
	f, err := x.backboneFiles(r.ID, r.TrainFiles)
	if err != nil {
		return nil, err
	}
	m, err := x.openBackbone(r.ID, f, 1)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return run.BackboneInfo{SHA256: f.sum, Bytes: f.Size(), Inputs: m.Inputs(), Outputs: m.Outputs(), Memory: m.Memory()}, nil
}

// featurise replaces the rows of the open data by their features, and only when that
// succeeds. In the ledger they keep their identity.
func (x *extraction) featurise(r Request, q run.BackboneRequest) (*data.Report, error) {
	switch {
	case x.backbones == nil:
		return nil, errNoBackbones
	case x.data.rows == nil:
		return nil, errors.New("worker: no data is open here: open it first")
	case x.data.rows.Backbone != nil:
		return nil, errors.New("worker: the rows are features already: open the data again")
	}
	began := x.mail.now()
	f, err := x.backboneFiles(r.ID, r.TrainFiles)
	if err != nil {
		return nil, err
	}
	if x.data.fromFiles() {
		if _, err := x.ledger.digest(run.DigestRequest{Salt: q.Salt, Tested: true}); err != nil {
			return nil, err
		}
	}
	key, err := featuresKey(x.data.rows, f.sum+f.tokenizerSum, x.backbones.Version(), q)
	if err != nil {
		return nil, err
	}
	made, info, err := x.store.load(x.data.rows, key, rowsDone(x.mail, r.ID, f.Name()))
	if made == nil && err == nil {
		made, info, err = x.makeFeatures(r.ID, f, key, q)
	}
	if err != nil {
		return nil, inFile(f, err)
	}
	info.File, info.Bytes, info.Seconds = f.Name(), f.Size(), x.mail.now().Sub(began).Seconds()
	report := data.Summarize(made, "features")
	report.Backbone = &info.Backboned
	if info.Odd > 0 {
		report.Warnings = append(report.Warnings, fmt.Sprintf("%d numbers that the model gave are not finite, and became 0. Is the input scaled as in its training?", info.Odd))
	}
	if info.Column != "" && x.data.rows.Features > 0 {
		of := info.Column
		if info.Second != "" {
			of += " and " + info.Second
		}
		report.Warnings = append(report.Warnings, fmt.Sprintf("Features are made of the texts in %s alone; the other columns are left out.", of))
	}
	x.data.rows = made
	return report, nil
}

// featured describes features.
type featured struct {
	data.Backboned
	Width int `json:"width"`
	Odd   int `json:"odd,omitempty"` // numbers that were not finite
}

// makeFeatures runs the model, and stores its features.
func (x *extraction) makeFeatures(id int, f backboneFiles, key string, q run.BackboneRequest) (*data.Dataset, featured, error) {
	var info featured
	m, err := x.openBackbone(id, f, q.Batch)
	if err != nil {
		return nil, info, err
	}
	defer m.Close()
	ctx := context.Background()
	m.p.Phase = phaseTrial
	x.mail.send(ProgressType, id, m.p)
	e, err := backbone.New(ctx, m, x.data.rows.Meta(), q)
	if err != nil {
		return nil, info, err
	}
	info.Backbone, info.Input, info.Width = e.Made(), e.Input(), e.Width()
	info.SHA256, info.Tokenizer = f.sum, f.tokenizerSum
	made, odd, err := data.Featured(ctx, x.data.rows, e, info.Backbone, m.rows())
	if err != nil {
		return nil, info, err
	}
	info.Odd, info.Memory = odd, m.Memory()
	x.store.save(key, made, info) // where they cannot be, they are made again
	return made, info, nil
}

// rowsDone returns a function that tells the page how many rows are done, now and then.
func rowsDone(m mail, id int, name string) func(done, total int) {
	progress := m.throttle(trialEvery)
	return func(done, total int) {
		if progress.open() || done == total {
			m.send(ProgressType, id, source.Progress{Phase: phaseFeatures, File: name, Done: int64(done), Total: int64(total)})
		}
	}
}

func (x *opener) openBackbone(id int, f backboneFiles, batch int) (*attended, error) {
	a := &attended{mail: x.mail, id: id, p: source.Progress{Phase: phaseRuntime, File: f.Name()}}
	x.mail.send(ProgressType, id, a.p)
	err := a.attend(patienceOpening, "be opened", func(ctx context.Context) (err error) {
		a.Backbone, err = x.backbones.Open(ctx, f.File, f.tokenizer, memoryFor(f.Size(), batch))
		return err
	})
	if own := (*data.Error)(nil); errors.As(err, &own) {
		return nil, inFile(f, err)
	}
	if err != nil {
		got, fix := "a model that cannot be run", "Choose an ONNX file that is complete in itself, for onnxruntime's WebAssembly."
		switch {
		case f.tokenizer != nil:
			got, fix = "a model that cannot be run with this tokenizer", "Choose the model together with the tokenizer.json or vocab.txt that came with it."
		case run.IsTokenizer(f.Name()):
			got, fix = "a tokenizer that cannot be read", "Choose tokenizer.json as Hugging Face’s libraries save it, or vocab.txt."
		}
		return nil, &data.Error{File: f.Name(), Got: got, Err: err, Fix: fix}
	}
	return a, nil
}

// backboneFiles holds a model's file, and its tokenizer's where there is one, each with its SHA-256 in hexadecimal.
type backboneFiles struct {
	source.File
	sum          string
	tokenizer    source.File // nil: none
	tokenizerSum string
}

// backboneFiles tells the files of a request apart: a model or a tokenizer, or a model with its tokenizer, in any order.
func (x *opener) backboneFiles(id int, files []source.File) (all backboneFiles, err error) {
	if len(files) == 0 {
		return all, errors.New("worker: the file of a model is what this request takes")
	}
	for _, f := range files {
		if strings.HasSuffix(strings.ToLower(f.Name()), ".safetensors") {
			return all, &data.Error{File: f.Name(), Expected: "a model in ONNX’s form, or a tokenizer (tokenizer.json or vocab.txt)", Got: "tensors without a network",
				Fix: "Under Model, “Start from a saved model” takes a transformer: config.json and its tensors together."}
		}
	}
	all.File = files[0]
	if len(files) > 1 {
		i := slices.IndexFunc(files, func(f source.File) bool { return run.IsTokenizer(f.Name()) })
		if len(files) != 2 || i < 0 || run.IsTokenizer(files[1-i].Name()) {
			return all, &data.Error{File: files[0].Name(), Expected: "a model alone, or with its tokenizer: model.onnx and tokenizer.json", Got: fmt.Sprintf("%d files", len(files)), Fix: "Choose these two together."}
		}
		all.File, all.tokenizer = files[1-i], files[i]
		if all.tokenizerSum, err = x.hashOf(id, all.tokenizer); err != nil {
			return all, err
		}
	}
	all.sum, err = x.hashOf(id, all.File)
	return all, err
}

// hashOf returns the hash of a file, in hexadecimal, that is neither empty nor too large.
func (x *opener) hashOf(id int, f source.File) (sum string, err error) {
	switch {
	case f.Size() == 0 && run.IsTokenizer(f.Name()):
		return "", &data.Error{File: f.Name(), Expected: "a tokenizer", Got: "an empty file", Fix: "Choose tokenizer.json or vocab.txt."}
	case f.Size() == 0:
		return "", &data.Error{File: f.Name(), Expected: "a model", Got: "an empty file", Fix: "Choose an ONNX file."}
	case f.Size() > mostBackbone:
		return "", &data.Error{File: f.Name(), Expected: fmt.Sprintf("a model of at most %d MB", mostBackbone>>20), Got: fmt.Sprintf("%d MB", f.Size()>>20), Fix: "Choose a smaller model."}
	}
	rc, err := f.Open()
	if err == nil {
		defer rc.Close()
		h := sha256.New()
		if _, err = io.Copy(h, &hashing{r: rc, mail: x.mail, id: id, p: source.Progress{Phase: phaseFile, File: f.Name(), Total: f.Size()}}); err == nil {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
	}
	return "", &data.Error{File: f.Name(), Got: "the file could not be read", Err: err, Fix: "Choose the file again; it may have been moved or changed since."}
}

// hashing is a reader that tells the page how many bytes have been read.
type hashing struct {
	r    io.Reader
	mail mail
	id   int
	p    source.Progress
}

// hashedEvery is the number of bytes between two messages: about a fifth of a second.
const hashedEvery = 16 << 20

func (t *hashing) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	before := t.p.Done / hashedEvery
	if t.p.Done += int64(n); t.p.Done/hashedEvery > before {
		t.mail.send(ProgressType, t.id, t.p)
	}
	return n, err
}

// inFile adds the name of the model's file to an error.
func inFile(f source.File, err error) error {
	e := (*data.Error)(nil)
	if !errors.As(err, &e) {
		return &data.Error{File: f.Name(), Got: "a model that cannot be run on these rows", Err: err, Fix: "Choose a model for such rows, or another output."}
	}
	named := *e
	named.File = f.Name()
	return &named
}

// featuresKey names features by all that decides them.
func featuresKey(ds *data.Dataset, sum, version string, q run.BackboneRequest) (string, error) {
	h := sha256.New()
	q.Salt, q.Batch = "", max(q.Batch, 1)
	q.Resize = cmp.Or(q.Resize, "bilinear")
	if err := errors.Join(writeKey(h, sum, version, q), data.WriteInputs(h, ds)); err != nil {
		return "", fmt.Errorf("worker: naming the features: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func writeKey(h hash.Hash, sum, version string, q run.BackboneRequest) error {
	b, err := json.Marshal(q)
	if err != nil {
		return err
	}
	_, err = io.WriteString(h, strings.Join([]string{featuresMagic, sum, version, string(b), ""}, "\n"))
	return err
}
