package lab

import (
	"errors"
	"math"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/lesson"
)

// track is a client whose runs end when they are told to.
type track struct {
	fake
	began []*racer
	fails bool
}

func (c *track) Train(cfg run.Config, _ client.Handle, _ bool, started func(client.Run, error)) {
	if c.fails {
		started(nil, errors.New("no worker"))
		return
	}
	r := &racer{config: cfg}
	c.began = append(c.began, r)
	started(r, nil)
}

type racer struct {
	client.Run
	config   run.Config
	listener client.Listener
	disposed bool
}

func (r *racer) Watch(l client.Listener) { r.listener = l }
func (r *racer) Dispose()                { r.disposed = true }

// end has it tell of one step and of its end.
func (r *racer) end(accuracy float64) {
	r.listener.Events([]run.Event{{Step: 5, Steps: 10, Released: run.Released{MaxGradNorm: r.config.MaxGradNorm}, Diag: &run.Diag{ClipFraction: 0.5}}})
	res := run.Result{TestAccuracy: run.Number(accuracy), Epsilon: 2, TestClasses: []run.ClassScore{{Class: "a", Rows: 3, Recall: 0.9}, {Class: "b", Rows: 3, Recall: run.Number(accuracy / 2)}}}
	res.Released.MaxGradNorm = []float64{1, r.config.MaxGradNorm}
	r.listener.Done(res, nil)
}

func TestLanes(t *testing.T) {
	c := &track{}
	l := New(c)
	l.lanes.compare("Vary C", l.config, listOf("max_grad_norm", []any{1.0, 3.0, 10.0}))
	if len(c.began) != 2 || !l.lanes.pool.busy() {
		t.Fatalf("%d runs on two cores", len(c.began))
	}
	for i := 0; i < len(c.began); i++ {
		r := c.began[i]
		if r.config.Threads != 1 || *r.config.Seed != *l.config.Seed || r.config.LearningRate != l.config.LearningRate {
			t.Errorf("run %d differs in more than C: %+v", i, r.config)
		}
		r.end(0.5 + float64(i)/10)
		if !r.disposed {
			t.Error("its worker goes on")
		}
	}
	if len(c.began) != 3 || l.lanes.pool.busy() || l.lanes.waits() {
		t.Fatalf("%d runs in the end", len(c.began))
	}
	l.lanes.sort(1)
	if all := l.lanes.ordered(); all[0].label != "10" || all[2].label != "1" {
		t.Errorf("the most accurate is %s", all[0].label)
	}
	l.lanes.sort(1)
	if all := l.lanes.ordered(); all[0].label != "1" {
		t.Errorf("the least accurate is %s", all[0].label)
	}
	if recall, class := l.lanes.list[1].worst(); class != "b" || math.Abs(recall-0.3) > 1e-9 {
		t.Errorf("the worst class is %s, %v", class, recall)
	}
	if e := l.lanes.epsilon(); e == "" {
		t.Error("nothing is said of what they spent together")
	}
	if l.lanes.list[2].curves[threshold][50] != 10 || l.lanes.list[2].curves[accuracy][samples] != 0.7 {
		t.Errorf("what was seen: %v", l.lanes.list[2].curves)
	}
	l.lanes.view()

	// What is kept stays behind the next comparison, and is not run again.
	l.lanes.keep(l.lanes.list[0])
	l.lanes.compare("Vary ε", l.config, listOf("target_epsilon", []any{0.5, 8.0}))
	if len(l.lanes.list) != 3 || l.lanes.list[0].label != "1" || l.lanes.list[0].result == nil || len(c.began) != 5 {
		t.Errorf("%d lanes, %d runs", len(l.lanes.list), len(c.began))
	}
	// A stopped run says nothing any more, and its lane can be started again.
	late := c.began[4]
	l.lanes.stop()
	if !late.disposed || l.lanes.pool.busy() || !l.lanes.waits() {
		t.Error("it goes on")
	}
	late.end(0.9)
	if l.lanes.list[2].result != nil {
		t.Error("a stopped run has a result")
	}
	l.lanes.start()
	if len(c.began) != 7 {
		t.Errorf("%d runs after another start", len(c.began))
	}
	for len(l.lanes.list) > 0 {
		l.lanes.remove(l.lanes.list[0])
	}
	l.lanes.view()
}

func TestLanesThatFail(t *testing.T) {
	c := &track{fails: true}
	l := New(c)
	l.lanes.compare("Vary C", l.config, listOf("max_grad_norm", []any{1.0, 3.0, 10.0}))
	if l.lanes.pool.busy() || l.lanes.list[2].state != "no worker" {
		t.Errorf("%+v", l.lanes.list[2])
	}
	l.lanes.compare("", l.config, []lesson.Lane{{Label: "wrong", Set: map[string]any{"max_grad_norm": "much"}}})
	if l.lanes.fault == "" {
		t.Error("a text is a threshold")
	}
	l.lanes.view()
}

func TestReadLanes(t *testing.T) {
	title, list, err := readLanes("max_grad_norm=1,3,10")
	if err != nil || title != "max_grad_norm" || len(list) != 3 || list[1].Label != "3" || list[1].Set["max_grad_norm"] != 3.0 {
		t.Errorf("%q %v %v", title, list, err)
	}
	if _, list, err = readLanes("method=constant,dc-e"); err != nil || list[1].Label != "dc-e" {
		t.Errorf("%v %v", list, err)
	}
	for _, text := range []string{"", "method", "method=", "a=1,2,3,4,5,6,7"} {
		if _, _, err := readLanes(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestSweep(t *testing.T) {
	c := &track{}
	l := New(c)
	l.sweep.start(math.Inf(1))
	for i := 0; i < len(c.began); i++ {
		cfg := c.began[i].config
		if !cfg.NoPrivacy || *cfg.NoiseMultiplier != 0 || cfg.TargetEpsilon != nil {
			t.Fatalf("no noise: %+v", cfg)
		}
		c.began[i].end(0.5 + 0.1*math.Exp(-math.Abs(math.Log(cfg.MaxGradNorm/3))) + float64(*cfg.Seed)/1000)
	}
	if len(c.began) != 27 || l.sweep.pool.busy() {
		t.Errorf("%d runs", len(c.began))
	}
	best, accuracy := l.sweep.curves[0].best()
	if best != 3 || math.Abs(accuracy-0.602) > 1e-9 {
		t.Errorf("best at %v: %v", best, accuracy)
	}
	l.sweep.view()
	l.sweep.start(2)
	if *c.began[27].config.TargetEpsilon != 2 || c.began[27].config.NoiseMultiplier != nil || l.config.NoPrivacy {
		t.Errorf("ε = 2: %+v", c.began[27].config)
	}
	l.sweep.hidden = true
	l.sweep.view()
	l.sweep.stop()
	l.sweep.clear()
	if l.sweep.pool.busy() || len(l.sweep.curves) > 0 {
		t.Error("it goes on")
	}
}

func TestMeanOf(t *testing.T) {
	if m, s := meanOf([]float64{1, 2, 3}); m != 2 || s != 1 {
		t.Error(m, s)
	}
	if m, _ := meanOf(nil); !math.IsNaN(m) {
		t.Error("nothing has a mean")
	}
}
