package lab

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/series"
)

// runner is a client whose runs end when they are told to.
type runner struct {
	fakeClient
	runs []*fakeRun
	fail error
}

type fakeRun struct {
	client.Run
	cfg      run.Config
	listener client.Listener
	paused   bool
	steps    int
	disposed bool
	stopped  bool
	pace     float64
	changes  []run.Change
	changed  run.ChangeReply // the last
}

func (r *runner) Train(cfg run.Config, _ client.Handle, _ bool, started func(client.Run, error)) {
	if r.fail != nil {
		started(nil, r.fail)
		return
	}
	f := &fakeRun{cfg: cfg}
	r.runs = append(r.runs, f)
	started(f, nil)
}

func (f *fakeRun) Plan() run.PlanInfo {
	return run.PlanInfo{Epsilon: 2, Delta: 1e-5, Steps: 10, NoiseMultiplier: 1}
}
func (f *fakeRun) Watch(l client.Listener) { f.listener = l }
func (f *fakeRun) Pause()                  { f.paused = true }
func (f *fakeRun) Resume()                 { f.paused = false }
func (f *fakeRun) Step()                   { f.steps++ }
func (f *fakeRun) Stop()                   { f.stopped = true }
func (f *fakeRun) Dispose()                { f.disposed = true }

// end is a run's last event and its result, which gets so much right.
func (f *fakeRun) end(accuracy float64) {
	if f.listener.Events != nil {
		f.listener.Events([]run.Event{{Step: 10, Steps: 10, Released: run.Released{MaxGradNorm: f.cfg.MaxGradNorm}, Diag: &run.Diag{ClipFraction: 0.5}}})
	}
	f.listener.Done(run.Result{Steps: 10, PlannedSteps: 10, Epsilon: cmp.Or(f.changed.Epsilon, f.Plan().Epsilon), Changes: f.changed.Changes, TestRows: 100, TestAccuracy: run.Number(accuracy), TrainSeconds: 1,
		TestClasses: []run.ClassScore{{Recall: 0.9}, {Recall: run.Number(accuracy / 2)}, {Recall: nan}}}, nil)
}

// trained is a laboratory on whose runs the test decides, two at a time.
func trained() (*Lab, *runner) {
	r := &runner{fakeClient: fakeClient{bench: newBench()}}
	l := New(r)
	for _, q := range []*queue{&l.laneQueue, &l.sweepQueue} {
		q.width = 2
		q.after = func(_ time.Duration, f func()) func() bool { f(); return nil }
	}
	return l, r
}

func rows(l *Lab) []row { return (&lanesView{section{l.state, l.send}}).rows() }

func told(l *Lab) string { return (&sweepView{section{l.state, l.send}}).status() }

// live are the runs that have neither ended nor been called off.
func (r *runner) live() []*fakeRun {
	return slices.DeleteFunc(slices.Clone(r.runs), func(f *fakeRun) bool { return f.disposed })
}

func TestLanesShareTheCoresAndTheSeed(t *testing.T) {
	l, r := trained()
	l.send(vary{"max_grad_norm", "1,3,10"})
	if len(r.runs) != 2 || r.handles != 2 {
		t.Fatalf("%d runs at once on two cores, in %d workers", len(r.runs), r.handles)
	}
	l.send(pauseLanes{})
	if !r.runs[0].paused || !r.runs[1].paused {
		t.Error("a run goes on though all are paused")
	}
	r.runs[0].end(0.7)
	if len(r.runs) != 2 {
		t.Error("a run starts while all are paused")
	}
	l.send(stepLanes{})
	if r.runs[1].steps != 1 {
		t.Error("no step was taken")
	}
	l.send(pauseLanes{})
	if len(r.runs) != 3 || r.runs[1].paused {
		t.Fatal("they do not go on")
	}
	r.runs[1].end(0.9)
	r.runs[2].end(0.8)
	if l.laneQueue.busy() || len(r.live()) != 0 || r.handles != 0 {
		t.Errorf("%d workers are left", r.handles)
	}
	for i, c := range []float64{1, 3, 10} {
		if cfg := r.runs[i].cfg; cfg.MaxGradNorm != c || cfg.Threads != 1 || *cfg.Seed != 1 || cfg.Method != "constant" || *cfg.TargetEpsilon != 8 {
			t.Errorf("lane %d ran %+v", i, cfg)
		}
	}
	l.send(sortLanes{"accuracy"})
	var order []string
	for _, row := range rows(l) {
		order = append(order, row.look.Label)
	}
	if !slices.Equal(order, []string{"3", "10", "1"}) {
		t.Errorf("sorted by accuracy: %v", order)
	}
	if s := l.lanes.spent(); !strings.Contains(s, "ε = 6.00") || !strings.Contains(s, "3e−5") && !strings.Contains(s, "0.00003") {
		t.Errorf("three runs at ε = 2: %q", s)
	}
	parts(l)
}

// TestLanesDifferInOneThing has all that follows from the budget be left out.
func TestLanesDifferInOneThing(t *testing.T) {
	l, r := trained()
	l.config = run.Config{Data: "moons", Method: "constant", TargetEpsilon: l.config.TargetEpsilon, Seed: l.config.Seed}
	l.send(vary{"target_epsilon", "0.1,8"})
	a, b := r.runs[0].cfg, r.runs[1].cfg
	if *a.TargetEpsilon != 0.1 || *b.TargetEpsilon != 8 || a.Model.Kind == "" || !(a.LearningRate > 0) {
		t.Fatalf("%+v and %+v", a, b)
	}
	b.TargetEpsilon = a.TargetEpsilon
	one, _ := a.Hash()
	other, _ := b.Hash()
	if one != other {
		t.Errorf("differ in more than ε:\n%s\n%s", one, other)
	}
}

func TestLanesShareTheirSeeds(t *testing.T) {
	l, r := trained()
	l.send(seedLanes{many: true})
	l.send(vary{"method", "constant,dc-e"})
	for i := 0; i < len(r.runs); i++ {
		r.runs[i].end(0.8 + 0.01*float64(i/2))
	}
	if len(r.runs) != 6 {
		t.Fatalf("%d runs of two lanes with three seeds", len(r.runs))
	}
	for i, want := range []uint64{1, 1, 2, 2, 3, 3} {
		if *r.runs[i].cfg.Seed != want {
			t.Errorf("run %d has seed %d, want %d: lanes share them", i, *r.runs[i].cfg.Seed, want)
		}
	}
	out := l.lanes.list[0].outcome(1)
	if math.Abs(float64(out.Accuracy)-0.81) > 1e-9 || math.Abs(out.spread-0.01) > 1e-9 || out.runs != 3 {
		t.Errorf("%v ± %v of %d", out.Accuracy, out.spread, out.runs)
	}
	if l.lanes.pending() {
		t.Error("something is left to start")
	}
}

// TestStoppedLanesKeepWhatTheyHave: a lane that has nothing yet is called off.
func TestStoppedLanesKeepWhatTheyHave(t *testing.T) {
	l, r := trained()
	l.send(vary{"max_grad_norm", "1,3,10"})
	step := []run.Event{{Step: 4, Steps: 10, Released: run.Released{MaxGradNorm: 1}}}
	r.runs[0].listener.Events(step)
	l.send(pauseLanes{})
	l.send(stopLanes{})
	if !r.runs[0].stopped || r.runs[0].disposed || !r.runs[1].disposed || len(r.runs) != 2 {
		t.Fatal("the run with a step is not stopped, or the others are not called off")
	}
	l.course.at = &lesson.Lesson{ID: "x", Steps: []lesson.Step{{Text: "x"}}}
	r.runs[0].listener.Done(run.Result{Steps: 4, PlannedSteps: 10, TestRows: 100, TestAccuracy: 0.6}, nil)
	if _, known := l.course.book.Fact("accuracy:1"); known {
		t.Error("a lesson takes what a stopped run has for what comes of it")
	}
	rows := rows(l)
	if o := rows[0].out; o.state != "stopped at step 4 of 10" || o.Accuracy != 0.6 {
		t.Errorf("it is %q with an accuracy of %v", o.state, o.Accuracy)
	}
	if rows[1].out.state != stopped || rows[2].out.state != stopped || l.laneQueue.busy() || !l.lanes.pending() {
		t.Errorf("the others are %q and %q", rows[1].out.state, rows[2].out.state)
	}
	l.send(startLanes{})
	if len(r.runs) != 4 || r.runs[2].cfg.MaxGradNorm != 3 {
		t.Errorf("started again, %d runs were begun, the third at C = %v", len(r.runs), r.runs[2].cfg.MaxGradNorm)
	}
	r.runs[2].listener.Events(step)
	l.send(stopLanes{})
	l.send(stopLanes{}) // it does not come to its end
	if len(r.live()) != 0 || l.laneQueue.busy() {
		t.Errorf("%d runs go on though they were stopped twice", len(r.live()))
	}
}

// TestASeedThatTellsNothingLeavesTheOthers: what they measured stays, whether the seed still
// waits or failed.
func TestASeedThatTellsNothingLeavesTheOthers(t *testing.T) {
	var measured attempt
	measured.squares.addValue(3)
	measured.cosine.addValue(0.5)
	one := lane{runs: []*attempt{&measured, {}, {fault: "no worker"}}}
	if out := one.outcome(1); out.Error != 3 || out.Cosine != 0.5 {
		t.Errorf("squared error %v and cosine %v, want 3 and 0.5", out.Error, out.Cosine)
	}
	one.runs = one.runs[1:]
	if out := one.outcome(1); !math.IsNaN(float64(out.Error)) || !math.IsNaN(float64(out.Cosine)) {
		t.Errorf("of no measurement: squared error %v and cosine %v", out.Error, out.Cosine)
	}
}

func TestWhatIsKeptStaysUntilItIsRemoved(t *testing.T) {
	l, r := trained()
	l.send(vary{"max_grad_norm", "1,3"})
	r.runs[0].end(0.7)
	l.send(keepLane{"3"}) // which has reported nothing
	l.send(keepLane{"1"})
	l.send(keepLane{"1"})
	l.send(vary{"expected_batch_size", "64,256"})
	if len(r.live()) != 2 {
		t.Errorf("%d runs go on, of which two are wanted", len(r.live()))
	}
	var labels []string
	for _, look := range l.lanes.looks() {
		labels = append(labels, look.Label)
	}
	if want := []string{"kept: 1", "kept: 1 (2)", "64", "256"}; !slices.Equal(labels, want) {
		t.Errorf("shown are %v, want %v", labels, want)
	}
	l.send(forgetLane{"kept: 1"})
	l.send(removeLane{l.lanes.list[0].Label})
	if len(l.lanes.looks()) != 2 || len(r.live()) != 1 {
		t.Errorf("%v are left, and %d runs", l.lanes.looks(), len(r.live()))
	}
	parts(l)
}

func TestLanesAreReadBackFromText(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
	}{
		{"max_grad_norm=1,3,10", 3}, {"method=constant,dc-e,quantile", 3}, {"target_epsilon=0.5,2,inf", 3},
		{"max_grad_norm=", 0}, {"max_grad_norm", 0}, {"max_grad_norm=1,1", 0}, {"max_grad_norm=NaN", 0}, {"max_grad_norm=inf", 0},
		{"seed=1,2", 0}, {"data=files", 0}, {"", 0}, {"max_grad_norm=1,2,3,4,5,6,7", 0}, {"method=" + strings.Repeat("x", 30), 0},
	} {
		list, err := link.ParseLanes(c.text)
		if len(list) != c.n || (err == nil) != (c.n > 0) {
			t.Errorf("%q: %d lanes, %v", c.text, len(list), err)
		}
		if c.n == 0 {
			continue
		}
		l, r := trained()
		if err := l.restoreLanes(c.text); err != nil || l.lanes.text() != c.text {
			t.Errorf("%q comes back as %q, %v", c.text, l.lanes.text(), err)
		}
		if len(r.runs) != 0 || !l.lanes.pending() {
			t.Errorf("%q: what a link says has started", c.text)
		}
	}
	l, _ := trained()
	l.send(vary{"max_grad_norm", "1,3"})
	l.send(addLane{})
	if s := l.lanes.text(); s != "" || len(l.lanes.list) != 3 {
		t.Errorf("lanes that differ in more are written as %q", s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("max_grad_norm=1,3,10")
	f.Add("target_epsilon=inf,2")
	f.Add("target_epsilon=m")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := link.ParseLanes(text)
		if err != nil {
			return
		}
		if len(list) == 0 || len(list) > lesson.MostLanes {
			t.Fatalf("%q: %d lanes", text, len(list))
		}
		base := link.First()
		for _, one := range list {
			var e *run.ConfigError // such as of a text where a number belongs
			if _, err := base.With(one.Set); err != nil && (!errors.As(err, &e) || e.Field == "") {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

func TestAnExperimentIsAddedAsItIs(t *testing.T) {
	l, _ := trained()
	l.lanes.base = link.First()
	sigma := 3.0
	cfg := link.First()
	cfg.TargetEpsilon, cfg.NoiseMultiplier, cfg.Method = nil, &sigma, "quantile"
	base := link.First()
	set, err := changesBetween(&base, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	got, err := base.With(set)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := got.Hash()
	b, _ := cfg.Hash()
	if a != b {
		t.Errorf("became %s, want %s", a, b)
	}
}

func TestLanesThatCannotStartSayWhy(t *testing.T) {
	l, r := trained()
	r.fail = errors.New("no worker")
	l.send(vary{"max_grad_norm", "1,3"})
	for _, one := range l.lanes.list {
		if one.outcome(1).state != "no worker" {
			t.Errorf("lane %s says %q", one.Label, one.outcome(1).state)
		}
	}
	if !l.lanes.pending() || l.laneQueue.busy() {
		t.Error("they cannot be started again")
	}
	parts(l)
}

func TestLanesOfALessonNoteTheirResults(t *testing.T) {
	l, r := trained()
	l.course.at = &lesson.Lesson{ID: "x", Steps: []lesson.Step{{Text: "x"}}}
	l.course.book.Open(&lesson.Step{As: "runs"})
	l.stage(map[string]any{"lanes": "max_grad_norm=1,3"}, 0)
	if l.fault != "" || len(r.runs) != 0 || len(l.lanes.list) != 2 {
		t.Fatalf("%q, %d runs, %d lanes", l.fault, len(r.runs), len(l.lanes.list))
	}
	l.send(startLanes{})
	r.runs[1].end(0.8)
	for name, want := range map[string]float64{"accuracy:3@runs": 0.8, "threshold:3@runs": 3, "recall:3@runs": 0.4} {
		if got, _ := l.course.book.Fact(name); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestASweepFindsTheBestC has accuracy fall from C = 3 to both sides.
func TestASweepFindsTheBestC(t *testing.T) {
	l, r := trained()
	s := &l.sweep
	l.course.at = &lesson.Lesson{ID: "x", Steps: []lesson.Step{{Text: "x"}}}
	l.course.book.Open(&lesson.Step{})
	l.send(predict{true})
	l.send(guessC{1})
	l.send(sweepOver{"2"})
	l.send(sweepOver{"8"})
	l.send(sweepOver{"8"})
	l.send(sweepOver{link.Unbounded})
	l.send(startSweep{})
	for i := 0; i < len(r.runs); i++ {
		f := r.runs[i]
		d := math.Log10(f.cfg.MaxGradNorm / 3)
		f.end(0.9 - 0.1*d*d + 0.01*float64(*f.cfg.Seed))
		parts(l)
		if said := s.said(); s.jobs.busy() && strings.HasSuffix(said, " left.") != (i >= s.jobs.width) {
			t.Errorf("of what is left, %d runs say %q", i+1, said)
		}
	}
	if len(r.runs) != 2*len(grid)*manySeeds || s.jobs.busy() {
		t.Fatalf("%d runs", len(r.runs))
	}
	if f := r.runs[0]; !f.cfg.Blind || f.listener.Events != nil {
		t.Error("a sweep's run shows what nobody looks at")
	}
	if !r.runs[len(grid)].cfg.NoPrivacy || r.runs[0].cfg.NoPrivacy {
		t.Error("ε is not as it was chosen")
	}
	if c, _ := l.course.book.Fact("sweep_c"); c != 3 {
		t.Errorf("noted is C = %v", c)
	}
	if a, _ := l.course.book.Fact("sweep_accuracy"); math.Abs(a-0.92) > 1e-9 {
		t.Errorf("noted is an accuracy of %v", a)
	}
	if !l.sweepHidden() || strings.Contains(told(l), "best C =") {
		t.Errorf("nobody has guessed yet, and is told %q", told(l))
	}
	l.send(showSweep{})
	if told := told(l); l.sweepHidden() || !strings.Contains(told, "C = 1: 89.7 %, which is 2.3 points less than the best, at C = 3") {
		t.Errorf("told is %q", told)
	}
	l.send(guessC{3})
	if told := told(l); !strings.Contains(told, "You chose C = 3: 92.0 %, and no other is better.") {
		t.Errorf("of the best C is told %q", told)
	}
	parts(l)
}

// TestASweepOfAnEarlierExperimentSaysSo: curves of another experiment than what is set now say so,
// but not where C or ε alone was changed.
func TestASweepOfAnEarlierExperimentSaysSo(t *testing.T) {
	l, r := trained()
	s := &l.sweep
	l.send(startSweep{})
	for i := 0; i < len(r.runs); i++ {
		r.runs[i].end(0.5)
	}
	l.config.MaxGradNorm *= 2
	if s.old(l.config) {
		t.Error("a sweep has values of C of its own")
	}
	l.config.ExpectedBatchSize /= 2
	if !s.old(l.config) {
		t.Error("batches are of another size now")
	}
	l.send(startSweep{})
	if s.old(l.config) {
		t.Error("it was swept again")
	}
}

func TestAStoppedSweepKeepsWhatItHas(t *testing.T) {
	l, r := trained()
	s := &l.sweep
	l.send(startSweep{})
	r.runs[0].end(0.5)
	l.send(stopSweep{})
	if s.jobs.busy() || len(r.live()) != 0 || r.handles != 0 {
		t.Error("it goes on")
	}
	if told := told(l); !strings.HasPrefix(told, "Stopped: of the runs that ended so far, ") || !strings.Contains(told, "C = 0.01, 50") {
		t.Errorf("told is %q", told)
	}
	l.send(startSweep{})
	if done, of := s.progress(); done != 0 || of != len(grid)*manySeeds {
		t.Errorf("anew: %d of %d", done, of)
	}
}

func (f *fakeRun) Pace(perSecond float64) { f.pace = perSecond }
func (f *fakeRun) Change(c run.Change, done func(run.ChangeReply, error)) {
	if c["max_grad_norm"] < 0 {
		done(run.ChangeReply{}, errors.New("max_grad_norm: it is not in the range"))
		return
	}
	f.changes = append(f.changes, c)
	f.changed = run.ChangeReply{Changes: []run.Changed{{Step: 5, Field: "max_grad_norm", From: 1, To: c["max_grad_norm"]}}, Steps: 10, Epsilon: 3}
	done(f.changed, nil)
}

// Lanes keep one pace, those that wait too; a change is of one of them, or of all that go on.
func TestLanesAreSteered(t *testing.T) {
	l, r := trained()
	l.send(vary{"max_grad_norm", "1,3,10"})
	l.send(paceLanes{10})
	l.send(changeRuns{run.Change{"max_grad_norm": 5}})
	l.send(steerLane{"3"})
	l.send(changeRuns{run.Change{"max_grad_norm": 7}})
	if len(r.runs[0].changes) != 1 || len(r.runs[1].changes) != 2 || r.runs[0].pace != 10 {
		t.Errorf("told were %v and %v", r.runs[0].changes, r.runs[1].changes)
	}
	l.send(changeRuns{run.Change{"max_grad_norm": -1}})
	if l.lanes.refuse == "" {
		t.Error("why a change was refused is not said")
	}
	r.runs[1].listener.Events([]run.Event{{Step: 4, Steps: 10, Released: run.Released{MaxGradNorm: 1}}})
	r.runs[1].end(0.8)
	if len(r.runs) != 3 || r.runs[2].pace != 10 || len(r.runs[2].changes) != 0 {
		t.Fatalf("the one that follows has the pace %v", r.runs[2].pace)
	}
	if state := l.lanes.list[1].outcome(1).state; state != "done, changed on its way" {
		t.Errorf("of the lane that was changed it says %q", state)
	}
	if s := l.lanes.spent(); !strings.Contains(s, "ε = 8.00") {
		t.Errorf("two runs that changes brought to ε = 3, and one at 2: %q", s)
	}
	parts(l) // the lane that was chosen has ended
	if l.lanes.target != "" || l.lanes.still() {
		t.Error("the lane that has ended is changed, or replayed while others go on")
	}
	l.send(pauseLanes{})
	if !l.lanes.still() {
		t.Fatal("lanes that rest are not replayed")
	}
	l.lanes.replay.Open()
	l.lanes.replay.Seek(4)
	if n := l.lanes.charts[0].Feed.Numbers; n[1] != 1 || n[2] < 10 {
		t.Errorf("drawn are %v steps, on an axis to %v", n[1], n[2])
	}
}

// TestLanesRoundBoundsUp: ε and δ of several runs together are upper bounds as they are
// written.
func TestLanesRoundBoundsUp(t *testing.T) {
	l := &lanes{}
	for range 3 {
		r := &series.Record{}
		r.Plan.Epsilon, r.Plan.Delta = 1.3371, 1.34e-6
		l.list = append(l.list, &lane{runs: []*attempt{{record: r}}})
	}
	if s := l.spent(); !strings.Contains(s, "ε = 4.02 ") || !strings.Contains(s, "δ = 4.1e−6:") { // 4.0113 and 4.02e-6
		t.Errorf("three runs at ε = 1.3371, δ = 1.34e-6: %q", s)
	}
	l.list[1].runs[0].record.Plan.Epsilon = run.Number(math.Inf(1))
	if s := l.spent(); !strings.Contains(s, "no bound") {
		t.Errorf("one of them without noise: %q", s)
	}
}
