package worker

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"

	"clipscope/core/clip"
	"clipscope/core/data/builtin"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Session speaks a worker's side of the conversation. Handle may be called from
// any goroutine and never blocks.
type Session struct {
	mail     mail
	backend  func(run.Config) (Backend, error)
	runs     *runs
	handlers map[string]handler

	// work is held while a reply is computed, so that two requests never interleave; a run
	// does not hold it.
	work sync.Mutex

	mu      sync.Mutex
	cancels map[int]context.CancelFunc // of requests under way, by their ids
}

// NewSession returns a session that has no data and no run.
func NewSession(h Host) *Session {
	m := mail{h.Post, h.Yield, h.Now}
	open := &openData{mail: m, load: h.Load, make: h.Builtin}
	plans := &planner{data: open, backend: h.Backend, plan: h.New, files: h.Files, transformer: h.Transformer}
	names := &ledger{data: open, files: h.Files}
	runs := &runs{mail: m, plans: plans, ledger: names, store: h.Checkpoints}
	kept := &keptRuns{store: h.Checkpoints, runs: runs}
	others := opener{m, h.Backbones}
	feats := &extraction{opener: others, data: open, ledger: names, store: featureStore{h.Features}}
	model := &models{opener: others, backend: h.Backend, files: h.Files, blob: h.Blob}
	lab := &laboratory{mail: m, plans: plans}
	meet := rooms{plans, h.Agreement}
	return &Session{mail: m, backend: h.Backend, runs: runs, cancels: map[int]context.CancelFunc{}, handlers: map[string]handler{
		Methods:  plain(clip.Methods),
		Datasets: plain(builtin.All),
		Memory:   plain(memory),
		Open:     request(open.open),

		Start:   request(plans.readWeights),
		Public:  plans.readPublic,
		Plan:    question(plans.info),
		Train:   request(runs.train),
		Invite:  request(meet.invite),
		Invited: request(meet.invited),
		Change:  question(runs.change),

		Interrupted: kept.list,
		GoOn:        request(kept.continueRun),
		Discard:     question(kept.discard),

		Inspect:   feats.inspect,
		Featurise: request(feats.featurise),
		Forget:    feats.store.clear,

		Model:    model.load,
		Predict:  request(model.predict),
		Picture:  request(model.picture),
		Evaluate: model.evaluate,

		Audit:   audit(m, h.Audit),
		Convert: convert(m, h.Blob, h.Restore),
		Check:   request(examine),

		Lab:      question(lab.open),
		Look:     request(lab.look),
		Clipping: onBench(lab, (*bench).clipping),
		Estimate: onBench(lab, (*bench).estimate),
		Draws:    onBench(lab, (*bench).draws),
		Boundary: onBench(lab, (*bench).boundary),

		Epsilon:   question(epsilon),
		Calibrate: question(calibrate),
		Delta:     question(delta),
		Report:    question(report),
		Curve:     question(curve),
		Tuning:    question(tuning),
		Group:     question(group),
		Attack:    question(attack),

		Digest:     question(names.digest),
		Recognise:  request(names.recognise),
		Enter:      question(privacy.Enter),
		Close:      question(sure(privacy.Close)),
		Reopen:     question(privacy.Reopen),
		Restore:    question(privacy.Restore),
		Spent:      question(privacy.Spent),
		Entries:    question(privacy.Lines),
		Recognised: question(privacy.Recognise),
		Limit:      question(sure(run.Limit.WithDefaults)),
		Statement:  question(privacy.Conclude),
	}}
}

// Greet sends the ready message.
func (s *Session) Greet() {
	r := run.Ready{Protocol: run.ProtocolVersion}
	b, err := s.backend(run.Config{})
	if err != nil {
		r.Note = err.Error()
	}
	for _, w := range b.Warnings {
		r.Note = cmp.Or(r.Note, w.Message)
	}
	r.Backend = b.Name
	s.mail.send(ReadyType, 0, r)
}

// Handle takes one message.
func (s *Session) Handle(r Request) {
	if do, ok := commands[r.Type]; ok {
		if current := s.runs.find(r.ID); current != nil { // or it ended while the command was under way
			do(current, r.Text)
		}
		return
	}
	if r.Type == Cancel {
		s.cancel(r.ID)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	s.cancels[r.ID] = cancel
	s.mu.Unlock()
	go s.request(ctx, r)
}

// cancel ends the context of a request, if that is still under way.
func (s *Session) cancel(id int) {
	s.mu.Lock()
	cancel := s.cancels[id]
	delete(s.cancels, id)
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// request answers one request; a panic in it becomes an error message.
func (s *Session) request(ctx context.Context, r Request) {
	reply, err := s.answer(ctx, r)
	s.cancel(r.ID) // before the answer leaves: the next request may have its id
	if err != nil {
		s.mail.send(ErrorType, r.ID, failure(err))
		return
	}
	if b, ok := reply.(blobbed); ok {
		s.mail.write(run.Message{Type: ReplyType, ID: r.ID, Blob: b.blob.Sent()}, b.reply)
		return
	}
	s.mail.send(ReplyType, r.ID, reply)
	if start, ok := reply.(started); ok {
		start.beginRun()
	}
}

func (s *Session) answer(ctx context.Context, r Request) (reply any, err error) {
	s.work.Lock()
	defer s.work.Unlock()
	defer recovered(&err)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("worker: %s: %w", r.Type, err)
	}
	r.ctx = ctx
	if f, ok := s.handlers[r.Type]; ok {
		return f(r)
	}
	return nil, fmt.Errorf("worker: no request %q in protocol version %d", r.Type, run.ProtocolVersion)
}

func memory() run.MemoryReply {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return run.MemoryReply{HeapBytes: m.HeapAlloc, SystemBytes: m.Sys}
}
