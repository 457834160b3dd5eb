package lab

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

var nan, inf = run.Number(math.NaN()), run.Number(math.Inf(1))

func TestLeastIsTheLowestPoint(t *testing.T) {
	cs := firstAxis().points()
	for _, c := range []struct {
		name string
		f    func(c float64) float64
		at   float64
	}{
		{"bias and noise", func(c float64) float64 { return 1/(c*c) + c*c/9 }, math.Sqrt(3)},
		{"at an end", func(c float64) float64 { return c }, 0.01},
		{"at the other", func(c float64) float64 { return 1 / c }, 100},
		{"flat", func(float64) float64 { return 2 }, 0.01},
		{"nothing", func(float64) float64 { return math.NaN() }, 0},
		{"gaps", func(c float64) float64 {
			if c < 0.5 {
				return math.Inf(1)
			}
			return c
		}, 0.5623413251903491},
	} {
		y := make([]float64, len(cs))
		for i := range cs {
			y[i] = c.f(cs[i])
		}
		at, low := least(cs, y)
		if math.Abs(at-c.at) > 0.01*c.at {
			t.Errorf("%s: least at %v, want %v", c.name, at, c.at)
		}
		if c.at > 0 && math.Abs(low-c.f(c.at)) > 0.02*c.f(c.at) {
			t.Errorf("%s: %v there, want %v", c.name, low, c.f(c.at))
		}
	}
	if c, _ := least(nil, nil); c != 0 {
		t.Errorf("of no points the least is at %v", c)
	}
}

func TestTheAxisHoldsStill(t *testing.T) {
	a := firstAxis()
	for _, c := range []struct {
		median float64
		want   axis
	}{
		{1, a}, {0.1, a}, {10, a}, {math.NaN(), a}, {math.Inf(1), a}, {0, a}, {-1, a},
		{0.02, axis{1e-4, 1}}, {3000, axis{10, 1e5}},
	} {
		got := a.toward(c.median)
		if math.Abs(got.lo/c.want.lo-1) > 1e-9 || math.Abs(got.hi/c.want.hi-1) > 1e-9 {
			t.Errorf("for a median of %v the axis is %v, want %v", c.median, got, c.want)
		}
		cs := got.points()
		if len(cs) != 33 || math.Abs(cs[0]/got.lo-1) > 1e-9 || math.Abs(cs[32]/got.hi-1) > 1e-9 || !slices.IsSorted(cs) {
			t.Errorf("for a median of %v the points are %v", c.median, cs)
		}
	}
}

func TestThinKeepsTheEnds(t *testing.T) {
	long := make([]float64, 1000)
	for i := range long {
		long[i] = float64(i + 1)
	}
	got := thin(long, 100)
	if len(got) > 100 || len(got) < 50 || got[0] != 1 || got[len(got)-1] != 1000 || !slices.IsSorted(got) {
		t.Errorf("%d of 1000: %v", len(got), got)
	}
	if got := thin([]float64{1, math.NaN(), 0, -1, math.Inf(1), 2}, 100); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("kept %v", got)
	}
	if got := thin(nil, 100); len(got) != 0 {
		t.Errorf("of nothing %v", got)
	}
}

func TestOnlyMethodsOfWholeGradientsAreOffered(t *testing.T) {
	for _, name := range []string{"constant", "auto-s", "auto-v", "psac", "dc-p", "dc-e", "quantile"} {
		if !slices.Contains(link.Offered(), name) {
			t.Errorf("%s cannot be looked at", name)
		}
	}
	for _, name := range []string{"none", "value", "coordinate", "adaclip", "per-layer"} {
		if slices.Contains(link.Offered(), name) {
			t.Errorf("%s is offered, of which whole gradients do not tell", name)
		}
	}
	if w := link.Weighing(); !slices.Contains(w, "constant") || slices.Contains(w, "dc-e") || len(w) < 3 {
		t.Errorf("weigh differently: %v", w)
	}
}

// fakeClient opens a bench at once.
type fakeClient struct {
	bench *fakeBench
	err   error
	cfg   run.Config

	handles int // that are open
}

// fakeHandle counts itself away when it is closed.
type fakeHandle struct{ open *int }

func (h fakeHandle) Close() { *h.open-- }

func (c *fakeClient) Ready(done func(error)) { done(nil) }
func (c *fakeClient) Open(_ any, _ run.CSV, _ func(source.Progress), done func(client.Opened, error)) func() {
	c.handles++
	done(client.Opened{Handle: fakeHandle{&c.handles}, Report: data.Report{Rows: 1000, Features: 2, Outputs: 2}}, nil)
	return func() {}
}
func (c *fakeClient) Plan(_ run.Config, _ client.Handle, done func(run.PlanInfo, error)) {
	done(run.PlanInfo{Epsilon: 2}, nil)
}
func (c *fakeClient) Train(run.Config, client.Handle, bool, func(client.Run, error)) {}
func (c *fakeClient) Text(string, func([]byte, error))                               {}
func (c *fakeClient) Ask(string, any, func([]byte, error)) (stop func())             { return func() {} }
func (c *fakeClient) Lab(cfg run.Config, done func(client.Lab, error)) func() {
	c.cfg = cfg
	if c.err != nil {
		done(nil, c.err)
	} else {
		done(c.bench, nil)
	}
	return func() {}
}

// fakeBench answers when it is told to.
type fakeBench struct {
	look   client.Look
	asked  []float64 // the C of every At
	answer []func(client.At, error)
	closed bool
	bad    run.Number // what its curves are
	moves  float64    // what C is multiplied by as it trains on; 0: it stands still
}

func newBench() *fakeBench {
	return &fakeBench{bad: 1, look: client.Look{Look: run.Look{Steps: 240, Rows: 3, Parameters: 7850, NoiseMultiplier: 2, BatchSize: 512, TrueNorm: 1, Norms: []float64{1, 2, 3}}}}
}

func (b *fakeBench) Look() *client.Look { return &b.look }
func (b *fakeBench) Close()             { b.closed = true }

func (b *fakeBench) move(steps int, done func(error)) {
	if b.look.Step+steps > b.look.Steps {
		done(errors.New("the run ends after 240 steps"))
		return
	}
	b.look.Step += steps
	if b.moves > 0 && steps > 0 {
		b.look.MaxGradNorm *= b.moves
	}
	done(nil)
}
func (b *fakeBench) Again(done func(error))         { b.move(0, done) }
func (b *fakeBench) On(steps int, done func(error)) { b.move(steps, done) }
func (b *fakeBench) Back(done func(error))          { b.move(-b.look.Step, done) }

func (b *fakeBench) Curve(_ client.Method, cs []float64, done func(run.ClipReply, error)) {
	c := run.ClipReply{}
	for _, x := range cs {
		c.MaxGradNorm, c.Bias2 = append(c.MaxGradNorm, x), append(c.Bias2, b.bad/run.Number(x*x))
	}
	done(c, nil)
}
func (b *fakeBench) Estimate(cs []float64, done func(run.EstimateReply, error)) {
	b.Curve(client.Method{}, cs, func(c run.ClipReply, err error) { done(run.EstimateReply{MaxGradNorm: cs, Bias2: c.Bias2}, err) })
}
func (b *fakeBench) At(_ client.Method, c float64, done func(client.At, error)) {
	b.asked, b.answer = append(b.asked, c), append(b.answer, done)
}
func (b *fakeBench) reply() {
	f, c := b.answer[0], b.asked[len(b.asked)-len(b.answer)]
	b.answer = b.answer[1:]
	f(client.At{MaxGradNorm: run.Number(c), Along: 0.5 * b.bad, Across: 0.1, Bias2: b.bad}, nil)
}
func (b *fakeBench) Draws(_ client.Method, _ float64, n int, done func(run.Draws, error)) {
	done(run.Draws{Draws: n, MeanSquare: b.bad, StandardError: 0.01, Formula: 1, Along: []float64{0.1, float64(b.bad)}, Across: []float64{1, 2}}, nil)
}
func (b *fakeBench) Boundary(int, func(app.Value, error)) {}

func opened(t *testing.T) (*Lab, *fakeBench) {
	t.Helper()
	b := newBench()
	return openedOn(t, b), b
}

func openedOn(t *testing.T, b *fakeBench) *Lab {
	t.Helper()
	l := New(&fakeClient{bench: b})
	l.open(places{})
	if l.remote == nil || l.problem != "" || l.bench.busy != "" {
		t.Fatalf("not open: %q, %q", l.problem, l.bench.busy)
	}
	return l
}

func TestAHandIsAnsweredOnceAtATimeAndTheNewestWins(t *testing.T) {
	l, b := opened(t)
	b.reply()
	for _, c := range []float64{0.5, 0.6, 0.7, 0.8} {
		l.send(moveC{c})
	}
	if want := []float64{1, 0.5}; !slices.Equal(b.asked, want) {
		t.Fatalf("asked %v while the hand moved, want %v", b.asked, want)
	}
	b.reply()
	if want := []float64{1, 0.5, 0.8}; !slices.Equal(b.asked, want) {
		t.Fatalf("asked %v then, want %v", b.asked, want)
	}
	b.reply()
	if len(b.answer) != 0 || l.bench.at.MaxGradNorm != 0.8 {
		t.Errorf("shown is C = %v, with %d questions open", l.bench.at.MaxGradNorm, len(b.answer))
	}
	l.send(moveC{math.NaN()})
	l.send(moveC{1e9})
	if l.bench.c != 100 {
		t.Errorf("C is %v, beyond the axis", l.bench.c)
	}
}

func TestAnAnswerAboutAnEarlierLookIsDropped(t *testing.T) {
	l, b := opened(t)
	l.send(trainOn{10})
	if l.bench.step != 10 || l.bench.busy != "" {
		t.Fatalf("at step %d, %q", l.bench.step, l.bench.busy)
	}
	b.reply() // about step 0
	if l.bench.at != nil {
		t.Error("an answer about step 0 is shown at step 10")
	}
	b.reply()
	if l.bench.at == nil {
		t.Error("nothing is shown at step 10")
	}
	l.send(trainOn{1000})
	if !strings.Contains(l.problem, "240") || l.bench.step != 10 || l.bench.busy != "" {
		t.Errorf("beyond the plan: %q, step %d, %q", l.problem, l.bench.step, l.bench.busy)
	}
	l.send(backStart{})
	if l.bench.step != 0 || l.problem != "" {
		t.Errorf("back at step %d, %q", l.bench.step, l.problem)
	}
}

// TestAPathIsOfOneRun has the steps taken here gather to one, which another run's, a way
// back and another experiment end.
func TestAPathIsOfOneRun(t *testing.T) {
	b := newBench()
	b.look.MaxGradNorm = 1
	l := openedOn(t, b)
	h := &l.bench
	l.send(trainOn{10})
	if len(h.path) != 0 || h.walk() != "" {
		t.Errorf("C stood still, and its path is %v: %q", h.path, h.walk())
	}
	b.moves = 2
	l.send(trainOn{1})
	l.send(trainOn{1})
	if !slices.Equal(h.path, []float64{1, 2, 4}) || !strings.Contains(h.walk(), "own C went from 1, the ring, to 4, the dot") {
		t.Errorf("C went 1, 2, 4, and its path is %v: %q", h.path, h.walk())
	}
	l.bench.trace("dc-e", []float64{3, 5})
	if !slices.Equal(l.uNow().Path, []float64{3, 5}) || !strings.Contains(h.walk(), "“dc-e” went from 3") {
		t.Errorf("of the lane's run is drawn %v: %q", l.uNow().Path, h.walk())
	}
	l.send(trainOn{1})
	if !slices.Equal(h.path, []float64{4, 8}) {
		t.Errorf("after the lane's, the path of the steps here is %v", h.path)
	}
	l.send(backStart{})
	if len(h.path) != 0 {
		t.Errorf("at the start the path is %v", h.path)
	}
	l.bench.trace("dc-e", []float64{3, 5})
	l.open(places{})
	if len(h.path) != 0 {
		t.Errorf("another experiment shows %v", h.path)
	}
}

func TestWhatIsDrawnIsFinite(t *testing.T) {
	for _, bad := range []run.Number{1, 0, nan, inf, -inf, 1e300} {
		b := newBench()
		b.bad = bad
		b.look.Norms = append(b.look.Norms, float64(bad))
		l := New(&fakeClient{bench: b})
		l.open(places{})
		b.reply()
		l.draw(manyDraws)
		l.bench.trace("dc-e", []float64{float64(bad), 1, 2})
		for _, spec := range []any{l.planeNow(), l.uNow()} {
			if _, err := json.Marshal(spec); err != nil {
				t.Errorf("with %v: %v", bad, err)
			}
		}
		l.bench.look.TrueNorm = bad
		for _, spec := range []any{l.planeNow(), l.uNow()} {
			if _, err := json.Marshal(spec); err != nil {
				t.Errorf("with a mean gradient of length %v: %v", bad, err)
			}
		}
	}
}

func TestTheNoiseFollowsTheSliders(t *testing.T) {
	l, b := opened(t)
	b.reply()
	h := &l.bench
	before, ok := h.drawn()
	if !ok {
		t.Fatal("no noise is drawn")
	}
	was := h.noise.variance(h.c)
	l.send(slide{"sigma", 2 * h.noise.sigma})
	l.send(slide{"width", 4 * h.noise.dim})
	after, _ := h.drawn()
	if math.Abs(after.along/before.along-2) > 1e-9 || math.Abs(after.across/before.across-4) > 1e-9 {
		t.Errorf("noise %v became %v with twice σ and four times d", before, after)
	}
	if now := h.noise.variance(h.c); math.Abs(now/was-16) > 1e-9 {
		t.Errorf("the variance is %v times what it was, want 16", now/was)
	}
	u := l.uNow()
	for _, l := range u.Lines {
		if l.Ink == "released" && math.Abs(l.Y[8]-h.noise.variance(l.X[8])) > 1e-9*l.Y[8] {
			t.Errorf("the U has %v for the noise at C = %v, not σ²C²d/B²", l.Y[8], l.X[8])
		}
	}
	if l.send(price{}); h.epsilon != ", ε = 2.00" {
		t.Errorf("the sliders come to %q", h.epsilon)
	}
}

func TestALinkRestoresTheState(t *testing.T) {
	b := newBench()
	l := New(&fakeClient{bench: b})
	hash := "lab.c=0.3&lab.with=auto-s,psac&lab.step=30&lab.batch=2&lab.linear=true&" +
		"data=moons&epochs=5&expected_batch_size=64&learning_rate=0.1&max_grad_norm=1&method=dc-e&model.hidden=16&model.kind=mlp&noise_multiplier=1&seed=7"
	to, ok := l.read(hash)
	if !ok || l.lost != "" {
		t.Fatalf("read: %v, %q", ok, l.lost)
	}
	l.open(to)
	if l.bench.step != 30 || l.bench.batch != 2 || l.bench.c != 0.3 || !l.bench.linear || !slices.Equal(l.with, []string{"auto-s", "psac"}) {
		t.Errorf("at step %d, batch %d, C = %v, linear %v, with %v", l.bench.step, l.bench.batch, l.bench.c, l.bench.linear, l.with)
	}
	if got := l.hash(); got != hash {
		t.Errorf("written as\n%s\nwant\n%s", got, hash)
	}
	if _, ok := l.read(l.hash()); ok {
		t.Error("the present state is taken for another")
	}
}

func TestLinksFromElsewhereSayWhatIsLost(t *testing.T) {
	for _, c := range []struct{ hash, lost string }{
		{"data=files&method=value", "data, method"},
		{"lab.c=-1", "lab.c"},
		{"lab.c=NaN&lab.step=1e9&lab.batch=21&lab.with=nobody", "lab.c, lab.step, lab.batch, lab.with"},
		{"lab.with=auto-s,psac,constant", "lab.with"},
		{"lab.unknown=1", "lab.unknown"},
		{"lab." + strings.Repeat("x", 1000) + "=1", "lab." + strings.Repeat("x", 40) + "…"},
		{"lab.c=1e308", "left out: lab.c"},
		{"lab.c=1000", "C = 1000 of this link lies beyond the curves: here it is 100"},
		{"lab.c=1e-3&lab.step=x", "left out: lab.step. Everything else is as the link says. C = 0.001 of this link lies"},
		{"lab.c=2", ""},
		{"seed=3", ""},
	} {
		l := New(&fakeClient{bench: newBench()})
		to, _ := l.read(c.hash)
		l.open(to)
		if (c.lost == "") != (l.lost == "") || !strings.Contains(l.lost, c.lost) {
			t.Errorf("%.60s: lost %q, want %q", c.hash, l.lost, c.lost)
		}
		if l.config.Seed == nil || l.config.Data == "files" || !slices.Contains(link.Offered(), l.config.Method) || len(l.with) > link.MostWith {
			t.Errorf("%.60s: %+v with %v", c.hash, l.config, l.with)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("lab.c=0.3&lab.with=auto-s&lab.step=3&data=moons&method=dc-e")
	f.Add("lab.=&lab.c=1e400&=&&lab.with=,&%")
	f.Fuzz(func(t *testing.T, hash string) {
		l := New(&fakeClient{bench: newBench()})
		to, ok := l.read(hash)
		if to.step < 0 || to.step > link.MostSteps || to.batch < 0 || to.batch > link.MostBatches || !(l.bench.c > 0) || len(l.with) > link.MostWith || l.config.Seed == nil {
			t.Fatalf("%q became %+v, C = %v, %v", hash, to, l.bench.c, l.with)
		}
		if !ok {
			return
		}
		// What was understood is written so that it is understood again.
		written := l.hash()
		m := New(&fakeClient{bench: newBench()})
		m.bench.c = -1 // so that no state is the present one
		m.read(written)
		m.bench.step, m.bench.batch = l.bench.step, l.bench.batch
		if got := m.hash(); got != written {
			t.Fatalf("%q came back as %q", written, got)
		}
	})
}

func TestAProblemIsShownAndTheNextTryClearsIt(t *testing.T) {
	c := &fakeClient{err: errors.New("no such method")}
	l := New(c)
	l.open(places{})
	if l.problem != "no such method" || l.bench.busy != "" || l.bench.opening {
		t.Fatalf("%q, %q", l.problem, l.bench.busy)
	}
	c.err, c.bench = nil, newBench()
	l.send(choose{budget, link.Unbounded})
	if l.problem != "" || l.remote == nil || !c.cfg.NoPrivacy || c.cfg.TargetEpsilon != nil {
		t.Errorf("%q, %+v", l.problem, c.cfg)
	}
	old := c.bench
	c.bench = newBench()
	l.send(choose{"data", "moons"})
	if !old.closed || c.cfg.Model.Kind != "" || l.config.Data != "moons" {
		t.Errorf("the bench of before is open, or the model is kept: %+v", c.cfg)
	}
	l.send(choose{"seed", "x"})
	if l.send(settle{"seed"}); l.setup.fault == "" || *l.config.Seed != 1 {
		t.Errorf("a seed of x: %q, %d", l.setup.fault, *l.config.Seed)
	}
	l.send(choose{"seed", "5"})
	if l.send(settle{"seed"}); l.setup.fault != "" || *c.cfg.Seed != 5 {
		t.Errorf("a seed of 5: %q, %d", l.setup.fault, *c.cfg.Seed)
	}
}

func TestALessonIsToldWhatIsSeen(t *testing.T) {
	l, b := opened(t)
	l.course.list = []lesson.Lesson{{ID: "x", Steps: []lesson.Step{
		{As: "one", Set: map[string]any{"max_grad_norm": 10.0, "expected_batch_size": 1024.0}},
		{As: "two", Hide: true, Ask: &lesson.Question{Text: "?", Fact: "best_c@one", Factor: 2}},
	}}}
	l.wanted.lesson = "x"
	l.send(openLesson{"x"})
	if l.bench.c != 10 || l.config.ExpectedBatchSize != 1024 {
		t.Fatalf("the lesson's C is %v, its batch %v", l.bench.c, l.config.ExpectedBatchSize)
	}
	for len(b.answer) > 0 {
		b.reply()
	}
	for name, want := range map[string]float64{"median_norm@one": 2, "stretch@one": 1.5, "bias@one": 1, "noise@one": 2 * 10 / 512. * math.Sqrt(7850)} {
		if got, ok := l.course.book.Fact(name); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, %v, want %v", name, got, ok, want)
		}
	}
	if got := l.hash(); got != "lesson=x" {
		t.Errorf("the link is %q", got)
	}
	l.send(nextStep{})
	if u := l.uNow(); len(u.Lines) != 0 || u.Least != nil {
		t.Error("the U shows what the person is to expect")
	}
	for _, typed := range []string{"abc", "1,000", "2 3 x %"} {
		l.course.typed = typed
		l.send(checkAnswer{})
		if u := l.uNow(); len(u.Lines) != 0 || !strings.Contains(l.course.lacks, "“") {
			t.Errorf("%q is taken for an answer, %q", typed, l.course.lacks)
		}
	}
	l.course.typed = "1"
	l.send(checkAnswer{})
	if l.course.lacks != "" {
		t.Errorf("an answer lacks something: %s", l.course.lacks)
	}
	if u := l.uNow(); len(u.Lines) == 0 {
		t.Error("the U shows nothing after the answer")
	}
}

func TestThePlaneShowsTheBiasAndInLessonsBeforeItNoNoise(t *testing.T) {
	l, b := opened(t)
	for len(b.answer) > 0 {
		b.reply()
	}
	l.course.list = []lesson.Lesson{{ID: "x", Noiseless: true, Steps: []lesson.Step{{Set: map[string]any{}}}}}
	means := l.planeNow().Means
	if len(means) != 3 || means[0].Ink != "released" {
		t.Fatalf("without a lesson the plane shows %v", means)
	}
	l.send(openLesson{"x"})
	means = l.planeNow().Means
	if len(means) != 2 || means[0].Ink != "diagnostic" || means[1].Ink != "text" {
		t.Fatalf("a lesson before noise shows %v", means)
	}
	bias := math.Hypot(means[1].X-means[0].X, means[0].Y)
	if off := means[0].Off; off == nil || off[0] != means[1].X || off[1] != 0 || !strings.HasSuffix(means[0].Label, ", bias "+words.Number(bias, 2)) {
		t.Errorf("a bias of %v is shown as %v, %q", bias, off, means[0].Label)
	}
}

// slow opens a bench when it is told to.
type slow struct {
	*fakeClient
	open func()
}

func (s *slow) Lab(cfg run.Config, done func(client.Lab, error)) func() {
	s.open = func() { s.fakeClient.Lab(cfg, done) }
	return func() {}
}

// What is shown goes with the text of a step, which speaks of an experiment whose bench is
// yet to be opened.
func TestThePictureGoesWithTheText(t *testing.T) {
	b := newBench()
	s := &slow{fakeClient: &fakeClient{bench: b}}
	l := New(s)
	l.course.list = []lesson.Lesson{{ID: "x", Steps: []lesson.Step{
		{Set: map[string]any{"max_grad_norm": 10.0}},
		{Set: map[string]any{"max_grad_norm": 0.01}},
		{Set: map[string]any{"expected_batch_size": 64.0}},
		{Set: map[string]any{"max_grad_norm": 3.0}},
	}}}
	l.send(openLesson{"x"})
	if l.bench.void {
		t.Error("what is not there yet is taken away")
	}
	s.open()
	for len(b.answer) > 0 {
		b.reply()
	}
	l.send(nextStep{})
	if l.bench.void || l.bench.c != 0.01 || b.asked[len(b.asked)-1] != 0.01 {
		t.Errorf("while the text speaks of C = 0.01 the picture is void (%v), or of %v", l.bench.void, b.asked)
	}
	if b.reply(); l.bench.at.MaxGradNorm != 0.01 {
		t.Errorf("it is drawn for %v", l.bench.at.MaxGradNorm)
	}
	if s.open(); l.bench.at == nil || l.bench.at.MaxGradNorm != 0.01 {
		t.Error("the same gradients are drawn unclipped until there is an answer")
	}
	l.send(nextStep{})
	if !l.bench.void || l.bench.title() != "Looking at the first batch …" {
		t.Errorf("the picture of another batch stays (%v), under %q", !l.bench.void, l.bench.title())
	}
	if s.open(); l.bench.void {
		t.Error("the new picture is not shown")
	}
	b.reply()
	l.config.Method = "auto-s"
	l.open(places{})
	if s.open(); l.bench.at != nil {
		t.Error("what one method does is drawn of another")
	}
	l.send(trainOn{10})
	l.send(nextStep{})
	if !l.bench.void {
		t.Error("the picture of step 10 stays for one of the start")
	}
}

func TestFrequentCountsTheRareDigit(t *testing.T) {
	look := client.Look{}
	for i := range 160 {
		look.Norms, look.Labels = append(look.Norms, float64(i)), append(look.Labels, 1)
	}
	look.Labels[159], look.Labels[158], look.Labels[0], look.Labels[1] = builtin.RareDigit, builtin.RareDigit, builtin.RareDigit, builtin.RareDigit
	all, long := frequent(&look, quantile(ordered(look.Norms), 15./16))
	if all != 4./160 || math.Abs(long-2./11) > 0.02 {
		t.Errorf("%v of all, %v of the longest", all, long)
	}
	if all, long := frequent(&client.Look{}, math.NaN()); all != 0 || long != 0 {
		t.Errorf("of nothing %v and %v", all, long)
	}
}
