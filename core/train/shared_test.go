package train

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// hall is an exchange of parties in one process, without masks: what is behind it is package
// together's. A party whose seat is silent in a step makes it void for all.
type hall struct {
	parties int
	silent  func(step int) bool

	mu    sync.Mutex
	meets *sync.Cond
	step  int
	came  int
	sum   []uint32
	last  []uint32 // nil: void
}

func newHall(parties int) *hall {
	h := &hall{parties: parties, silent: func(int) bool { return false }}
	h.meets = sync.NewCond(&h.mu)
	return h
}

func (h *hall) Common() privacy.Key { return privacy.SeededKey(11) }

func (h *hall) Transcript() string { return "ab" }

func (h *hall) Settled(int) bool { return false }

func (h *hall) Present() []int {
	all := make([]int, h.parties)
	for i := range all {
		all[i] = i
	}
	return all
}

func (h *hall) Sum(_ context.Context, step int, words []uint32) ([]uint32, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if step != h.step {
		return nil, errors.New("hall: another step")
	}
	if h.came == 0 {
		h.sum = make([]uint32, len(words))
	}
	for i, w := range words {
		h.sum[i] += w
	}
	if h.came++; h.came < h.parties {
		for h.step == step {
			h.meets.Wait()
		}
		return h.last, nil
	}
	h.came, h.step, h.last = 0, h.step+1, h.sum
	if h.silent(step) {
		h.last = nil
	}
	h.meets.Broadcast()
	return h.last, nil
}

// portion returns the rows lo … hi−1 of a data set's as a data set.
func portion(ds *data.Dataset, lo, hi int) *data.Dataset {
	p := *ds
	t := &p.Train
	t.N = hi - lo
	t.F32 = t.F32[lo*ds.Features : hi*ds.Features]
	t.Y = t.Y[lo*ds.TargetWidth() : hi*ds.TargetWidth()]
	return &p
}

// allTogether plans a run of several parties on all rows of a data set.
func allTogether(method string, parties, tolerance int, ds *data.Dataset) run.Config {
	cfg := base(method)
	cfg.Seed, cfg.NoiseMode, cfg.Model = nil, "", run.Model{Kind: "mlp", Hidden: []int{6}}
	cfg.Scaling.Kind, cfg.Steps, cfg.NumExamples = "none", 4, ds.Train.N
	cfg.Together = run.Together{Parties: parties, Tolerance: tolerance}
	return cfg
}

// joined starts the parties of a run, each on rows of its own.
func joined(t *testing.T, cfg run.Config, ds *data.Dataset, at *hall) (parties []*Run, from []int) {
	t.Helper()
	for i := range at.parties {
		// Shares of very different sizes, of which one has a single row.
		lo, hi := ds.Train.N*i*i/(at.parties*at.parties), ds.Train.N*(i+1)*(i+1)/(at.parties*at.parties)
		r := joinedOn(t, cfg, portion(ds, lo, max(lo+1, hi)), at)
		parties, from = append(parties, r), append(from, lo)
	}
	return parties, from
}

func joinedOn(t *testing.T, cfg run.Config, ds *data.Dataset, at Exchange) *Run {
	t.Helper()
	p, err := plan.Recall(&accounts, cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Join(t.Context(), p, ds, purego.New(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// whole is the exchange of one run on all rows: the noise of its share is replaced by that of the
// parties' shares.
type whole struct {
	*hall
	alone   *Run
	parties []*Run
}

func (w *whole) Sum(_ context.Context, step int, words []uint32) ([]uint32, error) {
	out := slices.Clone(words)
	s := w.alone.clipping.mech.(*shared)
	add := func(key privacy.Key, sign int64) {
		at := 0
		draw := func(noise *privacy.GridNoise, err error, purpose privacy.Purpose, tensor, n int) {
			if err != nil {
				panic(err)
			}
			src := key.Stream(purpose, uint16(tensor), uint64(step))
			for range n {
				out[at] += uint32(sign * noise.Draw(src))
				at++
			}
		}
		for i, g := range s.grads {
			noise, err := s.shares.Noise(s.terms.GradNoise*s.sensitivity(), s.grid)
			draw(noise, err, privacy.Noise, i, g.Len())
		}
		if s.query != nil {
			noise, err := s.shares.Noise(s.query.NoiseStd, s.unit2)
			draw(noise, err, privacy.Statistic, 0, s.query.Len)
		}
	}
	add(s.key, -1)
	for _, r := range w.parties {
		add(r.work.key, 1)
	}
	return out, nil
}

// batchOf returns the rows that parties sample in a step, as all rows are counted.
func batchOf(parties []*Run, from []int, step int) []int {
	var rows []int
	for i, r := range parties {
		for _, row := range r.sampler.Append(nil, r.work.key.Stream(privacy.Sampling, 0, uint64(step))) {
			rows = append(rows, from[i]+row)
		}
	}
	return rows
}

// stepWith takes a step of r on such rows.
func stepWith(t *testing.T, r *Run, rows []int) {
	t.Helper()
	e := r.beginStep()
	for _, do := range []func() error{
		func() error { return r.addUp(t.Context(), rows, e) },
		func() error { return r.bound(t.Context(), e) },
		func() error { return e.collect(t.Context(), r.work.query) },
		func() error { return r.clipping.mech.release(t.Context(), e.part, r.done) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	r.move(false)
	r.done++
	r.spent(&e.event)
	r.unsettled = e
	if err := r.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func parametersOf(t *testing.T, r *Run) []float32 {
	t.Helper()
	v, err := r.work.parameters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPartiesAreOne: several parties on rows of their own end with the parameters and the threshold,
// bit for bit, that one process has which holds all rows, samples the same and adds the same noise.
func TestPartiesAreOne(t *testing.T) {
	t.Parallel()
	ds := small(t)
	for _, name := range []string{"constant", "quantile", "quantile per-layer", "dc-e", "per-layer", "psac"} {
		method, grouping, _ := strings.Cut(name, " ")
		for _, parties := range []int{2, 3, 5, 30} {
			cfg := allTogether(method, parties, parties/5, ds)
			cfg.Grouping = grouping
			if method == "quantile" {
				cfg.Optimizer, cfg.LearningRate = "adam", 0.01
			}
			at := newHall(parties)
			all, from := joined(t, cfg, ds, at)
			alone := joinedOn(t, cfg, ds, at)
			alone.work.others = &whole{at, alone, all}
			if !slices.Equal(parametersOf(t, alone), parametersOf(t, all[0])) {
				t.Fatalf("%s, %d parties: they begin elsewhere", method, parties)
			}
			first := parametersOf(t, alone)
			var batches [][]int
			for step := range cfg.Steps {
				batches = append(batches, batchOf(all, from, step))
			}
			var done sync.WaitGroup
			for _, r := range all {
				done.Go(func() {
					for range cfg.Steps {
						if err := r.step(t.Context()); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			done.Wait()
			for _, rows := range batches {
				stepWith(t, alone, rows)
			}
			want := parametersOf(t, alone)
			if slices.Equal(want, first) || t.Failed() {
				t.Fatalf("%s, %d parties: nothing moved", method, parties)
			}
			for i, r := range all {
				if got := parametersOf(t, r); !slices.Equal(got, want) {
					t.Fatalf("%s: party %d of %d ends elsewhere than one process does", method, i+1, parties)
				}
				if got, want := r.work.clipper.Rule.C(), alone.work.clipper.Rule.C(); got != want {
					t.Errorf("%s: party %d of %d ends with threshold %v, one process with %v", method, i+1, parties, got, want)
				}
			}
		}
	}
}

// TestVoidStepsMoveNothing and are charged: parameters and threshold stay, ε goes on.
func TestVoidStepsMoveNothing(t *testing.T) {
	t.Parallel()
	ds := small(t)
	cfg := allTogether("quantile", 2, 1, ds)
	cfg.Steps, cfg.Optimizer, cfg.LearningRate = 6, "momentum", 0.1
	at := newHall(2)
	at.silent = func(step int) bool { return step%3 == 1 }
	parties, _ := joined(t, cfg, ds, at)
	events := make([][]run.Event, 2)
	after := make([][][]float32, 2)
	var done sync.WaitGroup
	for i, r := range parties {
		done.Go(func() {
			for e, err := range r.Steps(t.Context()) {
				if err != nil {
					t.Error(err)
					return
				}
				events[i] = append(events[i], e)
				after[i] = append(after[i], parametersOf(t, r))
			}
		})
	}
	done.Wait()
	for i := range parties {
		if len(events[i]) != cfg.Steps {
			t.Fatalf("party %d took %d steps", i+1, len(events[i]))
		}
		for step := 1; step < cfg.Steps; step++ {
			void := at.silent(step)
			if events[i][step].Released.Void != void {
				t.Errorf("step %d of party %d: void is %v", step+1, i+1, !void)
			}
			if n := events[i][step].Released.Parties; (n == 2) == void || (n == 0) != void {
				t.Errorf("step %d of party %d: %d parties in its sum", step+1, i+1, n)
			}
			if stays := slices.Equal(after[i][step], after[i][step-1]); stays != void {
				t.Errorf("step %d of party %d: parameters stay: %v", step+1, i+1, stays)
			}
			if step+1 < cfg.Steps && (events[i][step+1].Released.MaxGradNorm == events[i][step].Released.MaxGradNorm) != void {
				t.Errorf("step %d of party %d: the threshold stays: %v", step+1, i+1, !void)
			}
			if !(events[i][step].Released.Epsilon > events[i][step-1].Released.Epsilon) {
				t.Errorf("step %d of party %d costs nothing", step+1, i+1)
			}
		}
	}
	for i, r := range parties {
		o, err := r.Outcome(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		draft := r.plan.Draft(r.done)
		draft.Together.Transcript = at.Transcript()
		o.State(&accounts, draft)
		var s run.Statement
		if err := json.Unmarshal(o.Statement, &s); err != nil {
			t.Fatal(err)
		}
		alone := r.plan.EpsilonOfShares(1)
		if g := s.Together; g == nil || g.Parties != 2 || g.Tolerance != 1 || g.Quorum != 2 || float64(g.EpsilonAlone) != alone || g.Transcript != "ab" {
			t.Errorf("the statement says of the parties %+v, want ε = %v for one alone", g, alone)
		}
		for _, want := range []string{"ε = " + run.UpText(float64(s.Epsilon), 4) + " holds as long as, in each step, at least 1 party keeps", "trusts no other, ε = " + run.UpText(alone, 4), "has the hash ab"} {
			if !strings.Contains(s.Text, want) {
				t.Errorf("the statement does not say %q: %s", want, s.Text)
			}
		}
		if why := failedCheck(o.Checks); why != "" || len(o.Checks) == 0 {
			t.Errorf("party %d: %s: %+v", i+1, why, o.Checks)
		}
	}
}

// left has the others gone after some steps.
type left struct {
	*hall
	after int
}

func (l left) Sum(_ context.Context, step int, words []uint32) ([]uint32, error) {
	if step == l.after {
		return nil, context.Canceled
	}
	return words, nil
}

// TestWhoWaitsAndStopsKeepsTheGuarantee: noise that was drawn for a step that was never taken is no fault.
func TestWhoWaitsAndStopsKeepsTheGuarantee(t *testing.T) {
	t.Parallel()
	ds := small(t)
	r := joinedOn(t, allTogether("quantile", 2, 1, ds), ds, left{newHall(1), 2})
	var last error
	for _, err := range r.Steps(t.Context()) {
		last = err
	}
	o, err := r.Outcome(t.Context())
	if !errors.Is(last, context.Canceled) || err != nil || r.done != 2 {
		t.Fatalf("%d steps: %v, %v", r.done, last, err)
	}
	if why := failedCheck(o.Checks); why != "" || len(o.Checks) == 0 {
		t.Errorf("%s: %+v", why, o.Checks)
	}
}

// without has no sum for the first two steps.
type without struct{ *hall }

func (w without) Sum(_ context.Context, step int, words []uint32) ([]uint32, error) {
	if step < 2 {
		return nil, nil
	}
	return words, nil
}

// TestAPartyComesBackToARunWithoutASum: its state is that of the beginning, and its steps count.
func TestAPartyComesBackToARunWithoutASum(t *testing.T) {
	t.Parallel()
	ds := small(t)
	at := without{newHall(1)}
	first := joinedOn(t, allTogether("quantile", 2, 1, ds), ds, at)
	for e, err := range first.Steps(t.Context()) {
		if err != nil || !e.Released.Void {
			t.Fatalf("step %d: %+v, %v", e.Step, e.Released, err)
		}
		if e.Step == 2 {
			break
		}
	}
	c, err := first.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c, err = ReadCheckpoint(c.Append(nil)); err != nil || c.Step() != 2 {
		t.Fatalf("the checkpoint of void steps: %v", err)
	}
	again, err := Rejoin(t.Context(), first.plan, ds, purego.New(), at, c)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if events, o := finish(t, again); len(events) != 2 || events[0].Step != 3 || o.Steps != 4 || o.LostSteps != 2 {
		t.Errorf("%d steps more, from %d on; %d in all, %d of them lost", len(events), events[0].Step, o.Steps, o.LostSteps)
	}
}

// TestASharesNoiseIsTested: a party that draws half of its share is told.
func TestASharesNoiseIsTested(t *testing.T) {
	t.Parallel()
	ds := small(t)
	cfg := allTogether("constant", 2, 0, ds)
	cfg.Steps = 20
	at := newHall(2)
	parties, _ := joined(t, cfg, ds, at)
	liar := parties[1].clipping.mech.(*shared)
	liar.shares.Shares = privacy.Shares{Parties: 9, Tolerance: 1}
	checked := *liar
	checked.shares.Shares = privacy.Shares{Parties: 2}
	parties[1].clipping.mech = halved{liar, &checked}
	var done sync.WaitGroup
	for _, r := range parties {
		done.Go(func() {
			for _, err := range r.Steps(t.Context()) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	for i, r := range parties {
		o, err := r.Outcome(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if told := failedCheck(o.Checks) != ""; told != (i == 1) {
			t.Errorf("party %d: told %v: %+v", i+1, told, o.Checks)
		}
	}
}

// halved draws noise as one mechanism and has it tested as another.
type halved struct {
	*shared
	promises *shared
}

func (h halved) release(ctx context.Context, p Part, step int) error {
	noise, err := h.shares.Noise(h.terms.GradNoise*h.sensitivity(), h.grid)
	if err != nil {
		return err
	}
	h.promises.grid = h.grid
	watch := h.watch
	h.watch = nil
	defer func() { h.watch = watch }()
	if err := h.shared.release(ctx, p, step); err != nil {
		return err
	}
	h.watch = watch
	squares := make([]float64, len(p.sums))
	for i, g := range h.grads {
		src := h.key.Stream(privacy.Noise, uint16(i), uint64(step))
		for range g.Len() {
			z := float64(noise.Draw(src))
			squares[i] += z * z
		}
	}
	promised, err := h.promises.shares.Noise(h.terms.GradNoise*h.sensitivity(), h.grid)
	h.promises.checkShare(squares, promised.Deviation())
	return err
}

// TestWordsAreWholeAndWithin: what one row adds to the words, noise aside, is as long as C on the grid
// at most, for rows that are hostile as well.
func TestWordsAreWholeAndWithin(t *testing.T) {
	t.Parallel()
	ds := small(t)
	for _, value := range []float32{1, 1e30, float32(math.NaN()), float32(math.Inf(1))} {
		hostile := portion(ds, 0, 3)
		hostile.Train.F32 = slices.Clone(hostile.Train.F32)
		for i := range ds.Features {
			hostile.Train.F32[ds.Features+i] = value
		}
		for _, method := range []string{"constant", "dc-e", "per-layer"} {
			cfg := allTogether(method, 3, 0, ds)
			r := joinedOn(t, cfg, hostile, newHall(3))
			none, one := wordsOf(t, r, nil), wordsOf(t, r, []int{1})
			m := r.clipping.mech.(*shared)
			square := 0.0
			for i := range r.work.gradient.Len() {
				z := float64(int32(one[i] - none[i]))
				square += z * z
			}
			if c := r.work.clipper.Rule.C() / m.grid; !(math.Sqrt(square) <= c) {
				t.Errorf("%s, value %v: a row adds %v units, C is %v", method, value, math.Sqrt(square), c)
			}
			if square == 0 && value == 1 {
				t.Errorf("%s: a row adds nothing", method)
			}
		}
	}
}

// wordsOf returns the words of the first step on such rows.
func wordsOf(t *testing.T, r *Run, rows []int) []uint32 {
	t.Helper()
	e := r.beginStep()
	if err := errors.Join(r.addUp(t.Context(), rows, e), r.bound(t.Context(), e), e.collect(t.Context(), r.work.query)); err != nil {
		t.Fatal(err)
	}
	m := r.clipping.mech.(*shared)
	if err := m.write(t.Context(), e.part, 0); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(m.words)
}

// TestStartWantsParties: a run of several parties does not begin alone, and one alone not with others.
func TestStartWantsParties(t *testing.T) {
	ds := small(t)
	p := planned(t, allTogether("constant", 2, 0, ds), ds)
	if _, err := Start(t.Context(), p, ds, purego.New()); err == nil {
		t.Error("a run of several parties begins alone")
	}
	if _, err := Join(t.Context(), planned(t, base("constant"), ds), ds, purego.New(), newHall(2)); err == nil {
		t.Error("a run alone begins with others")
	}
}
