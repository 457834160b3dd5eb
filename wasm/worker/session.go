package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// yieldEvery is how long a run computes before it lets messages in. Each yield
// costs about a tenth of a millisecond in a browser.
const yieldEvery = 8 * time.Millisecond

// Planned is a run whose parts agree: a plan of package plan, or a tuning.
type Planned interface {
	Info() run.PlanInfo
	// Unstarted is the result of a run that was stopped before it began.
	Unstarted() run.Result
	Start(context.Context, *data.Dataset, compute.Backend) (Trainer, error)
	// StepTime is how long a step takes on a back end, on rows that are made up.
	StepTime(context.Context, compute.Backend) (time.Duration, error)
}

// Trainer is a plan under way.
type Trainer interface {
	Steps(ctx context.Context) iter.Seq2[run.Event, error]
	Result(ctx context.Context) (run.Result, error)
	// Continue is the rest of it on another back end, where its own is lost.
	Continue(context.Context, compute.Backend) (Trainer, error)
	Close()
}

// Resumable is a Planned whose runs, each a [Checkpointer], can go on from a state that
// one of them stored. A tuning is not.
type Resumable interface {
	Planned
	// Fits says why a run of this plan cannot go on from a state, and Resume has it go on,
	// where so many steps may have been seen.
	Fits(state []byte) error
	Resume(ctx context.Context, ds *data.Dataset, be compute.Backend, state []byte, released int) (Trainer, error)
}

// Checkpointer is a Trainer that can be stored.
type Checkpointer interface {
	// Checkpoint is a state that another life of the run can go on from, no earlier than
	// the last event, and its step; 0 where there is none.
	Checkpoint(context.Context) (state []byte, step int, err error)
}

// Backend is what a configuration's name for one stands for here.
type Backend struct {
	Name     string
	Warnings []run.Warning // what the owner must know of what was to be had instead
	// Open opens it. The note, if there is one, is a warning that nobody could give
	// before.
	Open func() (be compute.Backend, note string, err error)
	// Instead is what a run goes on with where the memory of this one is lost; nil
	// where that cannot be.
	Instead *Backend
	// Find says why it cannot be had, where that is known without opening it; nil of one
	// that is there.
	Find func() error
	// Rival is tried against this one before a run for which that is worth its while,
	// and taken where it is faster. Its Instead is this one. Nil: there is none.
	Rival *Backend
}

// Host is what the session needs of its surroundings.
type Host struct {
	// Post sends a message to the page.
	Post func(run.Message)
	// Yield lets waiting messages be handled.
	Yield func()
	// Now is the clock of the outbox and the yields.
	Now func() time.Time
	// Backend finds the back end that a configuration names; it opens none.
	Backend func(run.Config) (Backend, error)
	// New plans a run.
	New func(run.Config, data.Meta) (Planned, error)
	// Load reads files.
	Load func(ctx context.Context, train, test []data.File, opt run.CSV, progress func(data.Progress)) (*data.Dataset, *data.Report, error)
	// Files reads the files that a model is to answer.
	Files data.Loader
	// Builtin makes built-in data.
	Builtin func(name string, seed uint64) (*data.Dataset, error)
	// Blob is a new one, for a reply with bytes.
	Blob func() Blob
	// Vault is where runs are stored while they go on.
	Vault Vault
	// Backbones runs models that make features. Features keeps these; nil: nothing does.
	Backbones Backbones
	Features  Features
	// Audit audits the trainer, calling progress after every step.
	Audit func(q run.AuditRequest, progress func(step, steps int) error) (run.AuditReport, error)
}

// Session is one worker's side of the conversation. Handle may be called from
// any goroutine and never blocks.
type Session struct {
	host Host

	// work is held by whatever computes a reply, so that two requests never
	// interleave; a run does not hold it.
	work   sync.Mutex
	open   *data.Dataset // files or built-in data that the page opened
	files  []data.File   // that open's training rows were read from; nil for built-in data
	tests  []data.File   // and its test rows, where they are not held out
	opened string        // the name of open where that is built-in data as everybody sees it
	csv    run.CSV       // how the files were read
	known  *run.Identity // of open in the ledger, under salt; nil until asked
	tested *run.Identity // of its test rows there
	// testNames are those of its test files there; nil until asked.
	testNames []string
	salt      string
	builtin   *data.Dataset // the built-in data last made for a plan
	made      builtinKey
	model     *held  // nil until one has been loaded
	lab       *bench // nil until one has been opened

	mu  sync.Mutex
	run *running
}

type builtinKey struct {
	name string
	seed uint64
}

// running is the run in progress.
type running struct {
	id   int
	gate *gate
	stop context.CancelFunc
	told time.Time // when a trial was last told of
	keep *keeper   // nil: the run is not stored
	// trainer takes its steps; nil before the first and after the last. It is touched by
	// who takes them, or holds the gate for that.
	trainer Trainer

	mu     sync.Mutex
	out    Outbox
	broken error // why nothing more may be told
}

// why is why nothing more may be told; nil: it may.
func (r *running) why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// breaks ends the run, which tells nothing more.
func (r *running) breaks(why error) {
	r.mu.Lock()
	r.broken = why
	r.mu.Unlock()
	r.stop()
}

// NewSession returns a session that has no data and no run.
func NewSession(h Host) *Session { return &Session{host: h} }

// Greet sends the ready message.
func (s *Session) Greet() {
	r := run.Ready{Protocol: run.ProtocolVersion}
	b, err := s.host.Backend(run.Config{})
	if err != nil {
		r.Note = err.Error()
	}
	for _, w := range b.Warnings {
		r.Note = cmp.Or(r.Note, w.Message)
	}
	r.Backend = b.Name
	s.post(ReadyType, 0, r)
}

// Request is a message to the worker with its files.
type Request struct {
	run.Message
	TrainFiles, TestFiles []data.File
}

// Handle takes one message.
func (s *Session) Handle(r Request) {
	switch r.Type {
	case Pause, Resume, Step, Pace, Stop, Ack, Store:
		s.command(r.Type, r.ID, r.Text)
	default:
		go s.request(r)
	}
}

func (s *Session) command(kind string, id int, text string) {
	s.mu.Lock()
	r := s.run
	s.mu.Unlock()
	if r == nil || r.id != id {
		return // the run ended while the command was under way
	}
	switch kind {
	case Pause:
		r.gate.pause()
		go s.paused(r) // where something has to be written down first, that may take a while
	case Resume:
		r.gate.resume()
		s.post(StateType, id, Running)
	case Step:
		r.gate.step()
	case Pace:
		var perSecond float64
		if json.Unmarshal([]byte(text), &perSecond) == nil { // pages send nothing else
			r.gate.pace(perSecond)
		}
	case Stop:
		r.stop()
	case Store:
		r.keep.hurry()
	case Ack:
		r.mu.Lock()
		r.out.Ack()
		r.mu.Unlock()
	}
}

// paused tells of a pause: a page that hears of it has heard of all steps but the one
// under way.
func (s *Session) paused(r *running) {
	s.send(r, true)
	if r.gate.held() {
		s.post(StateType, r.id, Paused)
	}
}

// request answers one request; a panic in it becomes an error message.
func (s *Session) request(r Request) {
	reply, err := s.answer(r)
	if err != nil {
		s.post(ErrorType, r.ID, failure(err))
		return
	}
	if b, ok := reply.(blobbed); ok {
		s.postBlob(r.ID, b)
		return
	}
	s.post(ReplyType, r.ID, reply)
	if start, ok := reply.(started); ok {
		start.begin()
	}
}

func (s *Session) answer(r Request) (reply any, err error) {
	s.work.Lock()
	defer s.work.Unlock()
	defer recovered(&err)
	switch r.Type {
	case Methods:
		return clip.Methods(), nil
	case Datasets:
		return data.Builtins(), nil
	case Open:
		return decoded(r.Text, func(q run.OpenRequest) (any, error) { return s.openData(r, q) })
	case Plan:
		return decoded(r.Text, s.plan)
	case Train:
		return decoded(r.Text, func(q run.TrainRequest) (any, error) { return s.train(r.ID, q) })
	case Change:
		return decoded(r.Text, s.change)
	case Memory:
		return memory(), nil
	case Model:
		return s.loadModel(r)
	case Predict:
		return decoded(r.Text, func(q run.PredictRequest) (any, error) { return s.predict(r, q) })
	case Evaluate:
		return s.evaluate(r)
	case Audit:
		return decoded(r.Text, func(q run.AuditRequest) (any, error) { return s.audit(r.ID, q) })
	case Convert:
		return decoded(r.Text, func(q run.ConvertRequest) (any, error) { return s.convert(r, q) })
	case Check:
		return s.check(r)
	case Inspect:
		return s.inspect(r)
	case Featurise:
		return decoded(r.Text, func(q run.BackboneRequest) (any, error) { return s.features(r, q) })
	case Forget:
		return s.forget()
	case Digest:
		return decoded(r.Text, s.digest)
	case Recognise:
		return decoded(r.Text, func(q run.RecogniseRequest) (any, error) { return s.recognise(r, q) })
	case Interrupted:
		return s.interrupted()
	case GoOn:
		return decoded(r.Text, func(q run.GoOnRequest) (any, error) { return s.goOnWith(r.ID, q) })
	case Discard:
		return decoded(r.Text, s.discard)
	case Lab:
		return decoded(r.Text, s.openLab)
	case Look:
		return onBench(s, r.Text, func(b *bench, q run.LookRequest) (any, error) { return s.look(r.ID, b, q) })
	case Clipping:
		return onBench(s, r.Text, (*bench).clipping)
	case Estimate:
		return onBench(s, r.Text, (*bench).estimate)
	case Draws:
		return onBench(s, r.Text, (*bench).draws)
	case Boundary:
		return onBench(s, r.Text, (*bench).boundary)
	}
	if f, ok := questions[r.Type]; ok {
		return f(r.Text)
	}
	return nil, fmt.Errorf("worker: no request %q in protocol version %d", r.Type, run.ProtocolVersion)
}

// questions need nothing that a session holds.
var questions = map[string]func(text string) (any, error){
	Epsilon:    question(epsilon),
	Calibrate:  question(calibrate),
	Delta:      question(delta),
	Report:     question(report),
	Curve:      question(curve),
	Tuning:     question(tuning),
	Group:      question(group),
	Attack:     question(attack),
	Enter:      question(privacy.Enter),
	Close:      question(sure(privacy.Close)),
	Reopen:     question(privacy.Reopen),
	Spent:      question(privacy.Spent),
	Entries:    question(privacy.Lines),
	Recognised: question(privacy.Recognise),
	Limit:      question(sure(run.Limit.WithDefaults)),
	Statement:  question(privacy.Conclude),
}

func question[Q, A any](f func(Q) (A, error)) func(string) (any, error) {
	return func(text string) (any, error) { return decoded(text, f) }
}

// sure is f as a function that may fail.
func sure[Q, A any](f func(Q) A) func(Q) (A, error) {
	return func(q Q) (A, error) { return f(q), nil }
}

// decoded reads a request and answers it.
func decoded[Q, A any](text string, f func(Q) (A, error)) (any, error) {
	var q Q
	if err := read(text, &q); err != nil {
		return nil, err
	}
	return f(q)
}

// read fills a request, and refuses what its type refuses. It is apart from
// decoded, which is compiled anew for every type.
func read(text string, request any) error {
	if err := json.Unmarshal([]byte(text), request); err != nil {
		if ce := (*run.ConfigError)(nil); errors.As(err, &ce) {
			return ce
		}
		if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) && te.Field != "" {
			return &run.ConfigError{Field: key(te.Field), Message: fmt.Sprintf("%s is not what goes here: give %s", te.Value, run.KindName(te.Type))}
		}
		return fmt.Errorf("worker: request: %w", err)
	}
	if c, ok := request.(interface{ Check() error }); ok {
		return c.Check()
	}
	return nil
}

// key is the path of a JSON value without the names of embedded Go types, which
// encoding/json puts there too: keys of ours begin with a small letter.
func key(path string) string {
	parts := strings.Split(path, ".")
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p != "" && unicode.IsUpper(rune(p[0])) }), ".")
}

func memory() run.MemoryReply {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return run.MemoryReply{HeapBytes: m.HeapAlloc, SystemBytes: m.Sys}
}

// openData replaces the open data, and only when it succeeds.
func (s *Session) openData(r Request, q run.OpenRequest) (any, error) {
	if len(r.TrainFiles)+len(r.TestFiles) == 0 {
		ds, err := s.builtinData(q.Data, q.Seed)
		if err != nil {
			return nil, err
		}
		s.open, s.files, s.tests, s.opened = ds, nil, nil, q.Data
		s.known, s.tested, s.testNames = nil, nil, nil
		if q.Seed != nil {
			s.opened = ""
		}
		return data.Summarize(ds, "built-in"), nil
	}
	r.TrainFiles, r.TestFiles = data.Gather(r.TrainFiles), data.Gather(r.TestFiles)
	ds, report, err := s.host.Load(context.Background(), r.TrainFiles, r.TestFiles, q.CSV, s.progress(r.ID))
	if e := (*fault)(nil); errors.As(err, &e) {
		return nil, &refusal{e, report}
	}
	if err != nil {
		return nil, err
	}
	s.open, s.builtin, s.opened = ds, nil, ""
	s.files, s.tests, _ = data.SplitFiles(r.TrainFiles, r.TestFiles, q.CSV.Roles)
	s.csv = q.CSV
	s.known, s.tested, s.testNames = nil, nil, nil
	return report, nil
}

// builtinSeed makes the built-in data that everybody sees.
const builtinSeed = 1

func (s *Session) builtinData(name string, seed *uint64) (*data.Dataset, error) {
	key := builtinKey{name, builtinSeed}
	if seed != nil {
		key.seed = *seed
	}
	if s.builtin != nil && s.made == key {
		return s.builtin, nil
	}
	ds, err := s.host.Builtin(key.name, key.seed)
	if err != nil {
		return nil, err
	}
	s.builtin, s.made = ds, key
	return ds, nil
}

// dataFor is what a configuration trains on: the open data, or else the built-in
// data that it names.
func (s *Session) dataFor(c run.Config) (*data.Dataset, error) {
	if s.open != nil {
		return s.open, nil
	}
	name := c.WithDefaults().Data
	if name == "files" {
		return nil, &run.ConfigError{Field: "data", Message: `no files are open; give files, or name built-in data such as "digits"`}
	}
	ds, err := s.builtinData(name, nil)
	if err != nil {
		return nil, &run.ConfigError{Field: "data", Message: err.Error()}
	}
	return ds, nil
}

// builtinName is the name of the built-in data that a configuration trains on, if they
// can be made again from that alone.
func (s *Session) builtinName(c run.Config) string {
	if s.open != nil {
		return s.opened
	}
	return c.WithDefaults().Data
}

// prepared is a plan with all that it takes to start it.
type prepared struct {
	plan Planned
	ds   *data.Dataset
	on   Backend
	from *found // what it goes on from; nil: the beginning
}

func (s *Session) prepare(c run.Config) (p prepared, err error) {
	if p.ds, err = s.dataFor(c); err != nil {
		return p, err
	}
	if p.on, err = s.host.Backend(c); err != nil {
		return p, &run.ConfigError{Field: "backend", Message: err.Error()}
	}
	p.plan, err = s.host.New(c, p.ds.Meta())
	return p, err
}

func (p prepared) info() run.PlanInfo {
	info := p.plan.Info()
	info.Backend = p.on.Name
	info.Warnings = append(slices.Clone(p.on.Warnings), info.Warnings...)
	return info
}

func (s *Session) plan(q run.TrainRequest) (any, error) {
	p, err := s.prepare(q.Config)
	if err != nil {
		return nil, err
	}
	return p.info(), nil
}

// started is the reply to a train request and the run that follows it.
type started struct {
	run.PlanInfo
	begin func()
}

func (s *Session) train(id int, q run.TrainRequest) (any, error) {
	if err := s.free(); err != nil {
		return nil, err
	}
	if len(s.files) > 0 {
		q.Config.CSV = s.csv // how they were read is a part of what the run is
	}
	p, err := s.prepare(q.Config)
	if err != nil {
		return nil, err
	}
	var k *keeper
	_, can := p.plan.(Resumable)
	if name := s.builtinName(q.Config); can && q.Keep != nil && (name != "" || len(s.files) > 0) {
		about, err := s.stored(p, q)
		if err != nil {
			return nil, err
		}
		k = newKeeper(&s.host, q.Keep.ID, about)
	}
	return s.begin(id, p, k, q.Paused), nil
}

// stored returns what a run is kept with beside its state: all that it takes to have the
// same rows again, and to know them.
func (s *Session) stored(p prepared, q run.TrainRequest) (about run.Stored, err error) {
	info := p.plan.Info()
	about = run.Stored{
		Program: q.Keep.Program, Data: p.ds.Name, Builtin: s.builtinName(q.Config), Started: s.host.Now().UTC().Format(time.RFC3339),
		Steps: info.Steps, Config: q.Config, Backbone: p.ds.Backbone,
	}
	if len(s.files) == 0 || q.Keep.Salt == "" {
		return about, nil
	}
	r := &run.Record{Run: q.Keep.ID, Label: about.Data, Entry: info.Entry(), Salt: q.Keep.Salt}
	r.Entry.Run, r.Entry.Label, r.Entry.Started = r.Run, r.Label, about.Started
	about.Record = r
	about.Trained, about.Tested, err = s.hashes(q.Keep.Salt)
	return about, err
}

// free says that there is a run in progress.
func (s *Session) free() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil {
		return errors.New("worker: a run is in progress here; stop it first or use another worker")
	}
	return nil
}

// begin makes a run the one in progress.
func (s *Session) begin(id int, p prepared, k *keeper, paused bool) started {
	ctx, stop := context.WithCancel(context.Background())
	r := &running{id: id, gate: newGate(paused), stop: stop, keep: k}
	s.mu.Lock()
	s.run = r
	s.mu.Unlock()
	return started{p.info(), func() { s.conduct(ctx, r, p) }}
}

// conduct is a run from its first step to its last message.
func (s *Session) conduct(ctx context.Context, r *running, p prepared) {
	state := Running
	if r.gate.closed() {
		state = Paused
	}
	s.post(StateType, r.id, state)
	result, err := s.steps(ctx, r, p)
	s.send(r, true)
	r.stop()
	if why := r.why(); why != nil {
		err = why
	}
	if err != nil {
		r.keep.leave()
	} else {
		err = r.keep.end() // before anybody sees the result, of which there must be one
	}
	s.mu.Lock()
	s.run = nil
	s.mu.Unlock()
	r.gate.end()
	if err != nil {
		s.post(StateType, r.id, Failed)
		s.post(FailedType, r.id, failure(err))
		return
	}
	for _, w := range slices.Backward(p.on.Warnings) {
		result.Notes = slices.Insert(result.Notes, 0, w.Message)
	}
	if note := r.keep.note(); note != "" {
		result.Notes = append(result.Notes, note)
	}
	s.post(StateType, r.id, Done)
	s.postResult(r.id, result)
}

// steps starts the plan and pulls events until the run ends or is stopped. Not to
// pull is to pause.
func (s *Session) steps(ctx context.Context, r *running, p prepared) (result run.Result, err error) {
	defer recovered(&err)
	opening := ctx
	if p.from != nil { // also one that is stopped now has a result
		opening = context.WithoutCancel(ctx)
	}
	if !s.await(ctx, r) && p.from == nil {
		return s.unstarted(p), nil
	}
	on, err := s.choose(opening, r.id, p)
	if err != nil {
		return result, err
	}
	defer on.be.Close()
	defer func() {
		if on.tried {
			result.Chosen = on.why
		}
		if on.note != "" {
			result.Notes = append(result.Notes, on.note)
		}
	}()
	s.place(r.id, on.be, on.why)
	t, err := p.start(opening, on.be)
	if err == nil && p.from != nil {
		p.from.state.state = nil // which may be large
	}
	goOn := func(ctx context.Context, be compute.Backend) (Trainer, error) { return t.Continue(ctx, be) }
	if err == nil {
		result, err = s.rest(ctx, r, t)
	} else {
		goOn = func(ctx context.Context, be compute.Backend) (Trainer, error) { return p.start(ctx, be) }
	}
	if instead := on.Instead; instead != nil && errors.Is(err, compute.ErrLost) {
		result, err = s.goOn(ctx, r, *instead, goOn, err)
	}
	if t == nil && err != nil && ctx.Err() != nil && p.from == nil {
		return s.unstarted(p), nil
	}
	return result, err
}

// start starts the plan, or has it go on.
func (p prepared) start(ctx context.Context, be compute.Backend) (Trainer, error) {
	if p.from == nil {
		return p.plan.Start(ctx, p.ds, be)
	}
	return p.plan.(Resumable).Resume(ctx, p.ds, be, p.from.state.state, p.from.released)
}

// rest pulls a run's events and works out its result.
func (s *Session) rest(ctx context.Context, r *running, t Trainer) (run.Result, error) {
	defer t.Close()
	r.trainer = t
	defer func() { r.trainer = nil }()
	if err := s.pull(ctx, r, t); err != nil && ctx.Err() == nil {
		return run.Result{}, err
	}
	s.send(r, true)
	s.host.Yield()
	// The test rows are evaluated after a stop too, so not under ctx.
	return t.Result(context.WithoutCancel(ctx))
}

// goOn has a run whose back end is lost go on with another: the same steps with the same
// noise, and a note that says so.
func (s *Session) goOn(ctx context.Context, r *running, on Backend, begin func(context.Context, compute.Backend) (Trainer, error), lost error) (run.Result, error) {
	be, note, err := on.Open()
	if err != nil {
		return run.Result{}, errors.Join(lost, err)
	}
	defer be.Close()
	s.place(r.id, be, "")
	// Also a run that was stopped has a result.
	t, err := begin(context.WithoutCancel(ctx), be)
	if err != nil {
		return run.Result{}, errors.Join(lost, err)
	}
	result, err := s.rest(ctx, r, t)
	result.Notes = append(result.Notes, fmt.Sprintf("The run went on with %s: %v. Its steps and its ε are those of one run.", on.Name, lost))
	if note != "" {
		result.Notes = append(result.Notes, note)
	}
	return result, err
}

// trialEvery is how often a page hears how far a run is that is tried, or a step that takes
// long.
const trialEvery = 250 * time.Millisecond

func (s *Session) trial(r *running, t *run.Trial) {
	if now := s.host.Now(); now.Sub(r.told) >= trialEvery {
		r.told = now
		s.post(TrialType, r.id, t)
	}
}

func (s *Session) unstarted(p prepared) run.Result {
	result := p.plan.Unstarted()
	result.Backend = p.on.Name
	return result
}

// pull sends a run's events until it ends or is stopped. The error after a stop is
// that of the step that it broke into.
func (s *Session) pull(ctx context.Context, r *running, t Trainer) error {
	yielded := s.host.Now()
	told := yielded // how far a step is: a short one needs no telling
	turn := func(share float64) {
		now := s.host.Now()
		if share > 0 && now.Sub(told) >= trialEvery {
			told = now
			s.post(WithinType, r.id, run.Within{Share: run.Number(share)})
		}
		if now.Sub(yielded) >= yieldEvery {
			s.host.Yield()
			yielded = s.host.Now()
		}
	}
	for event, err := range t.Steps(run.WithPauses(ctx, turn)) {
		if err != nil {
			return err
		}
		if event.Trial != nil {
			s.trial(r, event.Trial)
		} else {
			r.mu.Lock()
			r.out.Add(event)
			r.mu.Unlock()
			s.send(r, false)
		}
		turn(0)
		if err := r.keep.see(ctx, t, r.gate.closed()); err != nil {
			r.breaks(err)
			return err
		}
		if !s.await(ctx, r) {
			break
		}
	}
	return nil
}

// await holds the run while it is paused, with everything sent so far. It
// reports false once the run is stopped.
func (s *Session) await(ctx context.Context, r *running) bool {
	if r.gate.closed() || r.gate.slow() {
		s.send(r, true)
	}
	return r.gate.wait(ctx)
}

// send posts what waits in the outbox, if it is time or if it must go.
func (s *Session) send(r *running, must bool) {
	now := s.host.Now()
	r.mu.Lock()
	var events []run.Event
	if must || r.out.Ready(now) {
		events = r.out.Take(now)
	}
	r.mu.Unlock()
	if len(events) == 0 || r.why() != nil {
		return
	}
	if err := r.keep.cover(events[len(events)-1].Step); err != nil {
		r.breaks(err)
		return
	}
	s.postStep(EventsType, r.id, events[len(events)-1].Step, events)
}

func (s *Session) post(kind string, id int, body any) { s.postStep(kind, id, 0, body) }

// postStep sends body as JSON. What cannot be written is a fault of ours and
// reaches the page as an error instead of nothing.
func (s *Session) postStep(kind string, id, step int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		if kind == DoneType || kind == EventsType {
			kind = FailedType
		} else {
			kind = ErrorType
		}
		text, _ = json.Marshal(run.Failure{Message: fmt.Sprintf("worker: reply: %v", err)})
	}
	s.host.Post(run.Message{Type: kind, ID: id, Step: step, Text: string(text)})
}

// postResult sends the parameters beside the JSON: as text, those of a large
// model would hold up the page's thread.
func (s *Session) postResult(id int, result run.Result) {
	parameters := result.Released.Parameters
	result.Released.Parameters = nil
	text, err := json.Marshal(result)
	if err != nil {
		s.post(FailedType, id, run.Failure{Message: fmt.Sprintf("worker: result: %v", err)})
		return
	}
	s.host.Post(run.Message{Type: DoneType, ID: id, Text: string(text), Parameters: parameters})
}

// postBlob sends a reply with bytes beside it.
func (s *Session) postBlob(id int, b blobbed) {
	text, err := json.Marshal(b.reply)
	if err != nil {
		s.post(ErrorType, id, run.Failure{Message: fmt.Sprintf("worker: reply: %v", err)})
		return
	}
	s.host.Post(run.Message{Type: ReplyType, ID: id, Text: string(text), Blob: b.blob.Sent()})
}

// recovered turns a panic into an error, so that one bad request or run does not
// end the worker.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = &panicError{p, debug.Stack()}
	}
}

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("the trainer failed in a way it should not (%v); what was open before is still open", e.value)
}

// refusal is why files cannot be read, with what was understood of them.
type refusal struct {
	*fault
	Report *data.Report `json:"report"`
}

type fault = data.Error

// failure is an error for the page, which shows its message.
func failure(err error) run.Failure {
	f := run.Failure{Message: brief(err.Error(), 1000)}
	var config *run.ConfigError
	var over *run.OverLimit
	var file *refusal
	var place *data.Error
	var internal *panicError
	switch {
	case errors.As(err, &config):
		f.Detail = run.ConfigError{Field: brief(config.Field, 100), Message: brief(config.Message, 1000)}
	case errors.As(err, &over):
		f.Detail = over
	case errors.As(err, &file):
		f.Detail = file
	case errors.As(err, &place):
		f.Detail = place
	case errors.As(err, &internal):
		f.Detail = map[string]string{"stack": string(internal.stack)}
	}
	return f
}

// brief leaves out the middle of what has more bytes than most: a request may have
// put any text into a message, and what to do stands at its end.
func brief(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most*2/3], "") + " … " + strings.ToValidUTF8(s[len(s)-most/3:], "")
}
