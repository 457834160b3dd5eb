package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
	"clipscope/core/train/traintest"
)

// checkpoints are runs of all that a checkpoint has to hold, short ones on few rows.
func checkpoints(t *testing.T, visit func(name string, cfg run.Config)) {
	add := func(name string, cfg run.Config) {
		if cfg.Model.Kind == "" {
			cfg.Model = run.Model{Kind: "mlp", Hidden: []int{5}}
		}
		if cfg.Method == "norm-bound" {
			cfg.Model = run.Model{Kind: "softmax"}
		}
		cfg.ExpectedBatchSize, cfg.Steps, cfg.LearningRate, cfg.Accountant = 24, 7, 0.1, "rdp"
		if cfg.Method != "none" && !cfg.NoPrivacy {
			cfg.NoiseMultiplier = ptr(0.7)
		}
		t.Run(name, func(t *testing.T) { visit(name, cfg) })
	}
	for _, m := range clip.Methods() {
		for _, optimizer := range []string{"sgd", "momentum", "adam", "adam-bc"} {
			for _, iterate := range []string{"last", "ema", "random"} {
				if optimizer != "sgd" && iterate != "last" && m.Name != "dc-e" && m.Name != "adaclip" {
					continue // these parts know nothing of each other
				}
				if optimizer == "adam-bc" && m.Name == "adaclip" {
					continue // which is refused
				}
				add(strings.Join([]string{m.Name, optimizer, iterate}, " "), run.Config{Method: m.Name, Optimizer: optimizer, Iterate: iterate})
			}
		}
	}
	for _, rule := range clip.Rules() {
		add("psac "+rule, run.Config{Method: "psac", Threshold: rule})
	}
	add("secure", run.Config{Method: "quantile", NoiseMode: "secure", Optimizer: "adam-bc"})
	add("thresholds of layers", run.Config{Method: "quantile", Grouping: "per-layer", Model: run.Model{Kind: "mlp", Hidden: []int{5}}})
	add("pca", run.Config{Method: "constant", PCA: run.PCA{Components: 1}})
	add("pca without noise", run.Config{Method: "constant", PCA: run.PCA{Components: 1}, NoPrivacy: true})
	add("private bounds", run.Config{Method: "constant", Scaling: run.Scaling{Kind: "private"}, Iterate: "ema"})
	add("private bounds without noise", run.Config{Method: "constant", Scaling: run.Scaling{Kind: "private"}, NoPrivacy: true})
	add("measured", run.Config{Method: "constant", Scaling: run.Scaling{Kind: "measured"}})
	add("dropout", run.Config{Method: "constant", Model: run.Model{Kind: "mlp", Hidden: []int{5}, Dropout: 0.4}})
	add("blind", run.Config{Method: "dc-p", Blind: true})
	add("diagnostics", run.Config{Method: "constant", DiagnosticsEvery: 2})
}

func planned(t *testing.T, cfg run.Config, ds *data.Dataset) *plan.Plan {
	t.Helper()
	p, err := plan.Recall(&accounts, cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// encoded is the run's checkpoint as it would be stored.
func encoded(t *testing.T, r *Run) []byte {
	t.Helper()
	c, err := r.Checkpoint(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		return nil
	}
	return c.Append(nil)
}

// resumed is another life of the plan, from a stored checkpoint.
func resumed(t *testing.T, p *plan.Plan, ds *data.Dataset, be compute.Backend, b []byte, released int) *Run {
	t.Helper()
	c, err := ReadCheckpoint(b)
	if err != nil {
		t.Fatal(err)
	}
	if again := c.Append(nil); !bytes.Equal(again, b) {
		t.Fatal("a checkpoint that is read and written is another")
	}
	r, err := Resume(context.Background(), p, ds, be, c, released)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A run with a fixed seed that is killed after any step tells and ends with what an
// undisturbed one does, to the bit.
func TestResumeOfASeededRunChangesNoBit(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	checkpoints(t, func(_ string, cfg run.Config) {
		cfg.Seed = ptr(uint64(9))
		p := planned(t, cfg, ds)
		r, err := Start(context.Background(), p, ds, purego.New())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if b := encoded(t, r); b != nil {
			t.Fatal("a run that has not begun has a checkpoint")
		}
		var want []string
		var kept [][]byte
		for e, err := range r.Steps(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			want, kept = append(want, traintest.Told(t, e)), append(kept, encoded(t, r))
		}
		end, err := r.Outcome(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range kept {
			n := resumed(t, p, ds, purego.New(), b, 7)
			if !slices.Equal(n.thresholds.values, end.Released.MaxGradNorm[:i+1]) {
				t.Errorf("after step %d: thresholds %v", i+1, n.thresholds.values)
			}
			for e, err := range n.Steps(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				if got := traintest.Told(t, e); got != want[e.Step-1] {
					t.Fatalf("killed after step %d, step %d tells\n%s\nwant\n%s", i+1, e.Step, got, want[e.Step-1])
				}
			}
			res, err := n.Outcome(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(res.Released.Parameters, end.Released.Parameters) || res.Steps != 7 || res.LostSteps != 0 || res.Epsilon != end.Epsilon {
				t.Fatalf("killed after step %d: other parameters, %d steps, %d lost, ε %v", i+1, res.Steps, res.LostSteps, res.Epsilon)
			}
			if !slices.Equal(res.Released.MaxGradNorm, end.Released.MaxGradNorm) {
				t.Errorf("killed after step %d: thresholds %v, want %v", i+1, res.Released.MaxGradNorm, end.Released.MaxGradNorm)
			}
			n.Close()
		}
	})
}

// However often a run is killed, at whatever moment: with all its lives together it
// releases no more steps than planned, each counted once; no two lives have a key in
// common; and what a life starts from is the state of the checkpoint.
func TestResumeCountsEveryStepOnce(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	rng := rand.New(rand.NewPCG(31, 32))
	checkpoints(t, func(_ string, cfg run.Config) {
		p := planned(t, cfg, ds)
		private := p.Terms().NoiseMultiplier > 0
		for range 6 {
			keys := map[privacy.Key]bool{}
			var stored []byte // durable, of a step within stored's journal
			journal, seen, lost, last := 0, 0, 0, 0
			for life := 1; ; life++ {
				var r *Run
				if stored == nil {
					if life > 1 {
						break // nothing to go on from: the run is lost, and charged
					}
					r = start(t, p, ds)
				} else {
					r = resumed(t, p, ds, purego.New(), stored, journal)
					c, _ := ReadCheckpoint(stored)
					want := max(journal, c.Step())
					if !private {
						want = c.Step()
					}
					if last = want; r.done != want || r.done-r.lost != c.Step()-c.state.lost {
						t.Fatalf("life %d begins at step %d with %d lost, want %d of a state of step %d", life, r.done, r.lost, want, c.Step())
					}
					lost = r.lost
				}
				if keys[r.work.key] {
					t.Fatal("a key was used twice")
				}
				keys[r.work.key] = true
				dies := 1 + rng.IntN(5)
				if life == 5 {
					dies = 100
				}
				for e, err := range r.Steps(context.Background()) {
					if err != nil {
						t.Fatal(err)
					}
					if dies--; dies == 0 {
						break
					}
					if e.Step != last+1 {
						t.Fatalf("step %d follows step %d", e.Step, last)
					}
					if journal < e.Step { // before the event is seen
						journal = min(p.Terms().Steps, e.Step+rng.IntN(3))
					}
					last = e.Step
					seen++
					if rng.IntN(2) == 0 {
						stored = encoded(t, r)
					}
				}
				if private && (seen > p.Terms().Steps || last > journal) {
					t.Fatalf("%d steps were seen of %d, the last %d is beyond the journal's %d", seen, p.Terms().Steps, last, journal)
				}
				if r.done < p.Terms().Steps || dies == 0 {
					r.Close()
					continue
				}
				res, err := r.Outcome(context.Background())
				r.Close()
				if err != nil {
					t.Fatal(err)
				}
				if res.Steps != p.Terms().Steps || res.LostSteps != lost || res.Epsilon != run.Number(p.Epsilon(p.Terms().Steps)) || !private && lost > 0 {
					t.Fatalf("%d steps, %d lost, ε %v after %d lives", res.Steps, res.LostSteps, res.Epsilon, life)
				}
				if len(res.Released.MaxGradNorm) != res.Steps-res.LostSteps {
					t.Fatalf("%d thresholds of %d steps", len(res.Released.MaxGradNorm), res.Steps-res.LostSteps)
				}
				if notes := len(slices.DeleteFunc(res.Notes, func(n string) bool { return !strings.Contains(n, "interrupted") })); notes > life-1 || notes == 0 && life > 1 {
					t.Errorf("%d lives, and %d notes of them", life, notes)
				}
				break
			}
		}
	})
}

func start(t *testing.T, p *plan.Plan, ds *data.Dataset) *Run {
	t.Helper()
	r, err := Start(context.Background(), p, ds, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A run goes on from a checkpoint on a backend that is lost, and from one that was
// taken there.
func TestResumeGoesOnThroughALostBackend(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	cfg := run.Config{
		Method: "dc-e", Model: run.Model{Kind: "mlp", Hidden: []int{5}}, NoiseMultiplier: ptr(0.7), Optimizer: "adam", Iterate: "random",
		ExpectedBatchSize: 24, Steps: 12, LearningRate: 0.1, Seed: ptr(uint64(4)), Accountant: "rdp",
	}
	want, end, _ := survived(t, cfg, ds)
	p := planned(t, cfg, ds)
	for _, life := range []int{2, 9, 20, 33, 50} {
		r, err := Start(context.Background(), p, ds, &traintest.Fragile{Backend: purego.New(), Life: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		var stored []byte
		for e := range r.Steps(context.Background()) {
			if e.Step == 5 {
				stored = encoded(t, r)
				break
			}
		}
		r.Close()
		n := resumed(t, p, ds, &traintest.Fragile{Backend: purego.New(), Life: life}, stored, 0)
		if n.done < 5 {
			t.Fatalf("the checkpoint is of step %d, and step 5 was reported", n.done)
		}
		for n.reported < n.work.terms.Steps {
			for e, err := range n.Steps(context.Background()) {
				if err != nil {
					if n, err = n.Continue(context.Background(), purego.New()); err != nil {
						t.Fatal(err)
					}
					break
				}
				if got := traintest.Told(t, e); got != want[e.Step-1] {
					t.Fatalf("lost at %d: step %d tells\n%s\nwant\n%s", life, e.Step, got, want[e.Step-1])
				}
			}
		}
		if res, err := n.Outcome(context.Background()); err == nil && !slices.Equal(res.Released.Parameters, end) {
			t.Fatalf("lost at %d: other parameters", life)
		}
		n.Close()
	}
}

// What is no checkpoint of the plan on its data is refused, by name.
func TestResumeRefusesOtherPlansByName(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	cfg := run.Config{Method: "quantile", Model: run.Model{Kind: "mlp", Hidden: []int{5}}, NoiseMultiplier: ptr(0.7), Optimizer: "adam", ExpectedBatchSize: 24, Steps: 9, LearningRate: 0.1, Accountant: "rdp"}
	p := planned(t, cfg, ds)
	r := start(t, p, ds)
	defer r.Close()
	for range r.Steps(context.Background()) {
		break
	}
	good := encoded(t, r)
	refused := func(name string, p *plan.Plan, ds *data.Dataset, b []byte, released int, want error) {
		t.Helper()
		c, err := ReadCheckpoint(b)
		if err == nil {
			_, err = Resume(context.Background(), p, ds, purego.New(), c, released)
		}
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	for name, change := range map[string]func(*run.Config){
		"another seed's place":  func(c *run.Config) { c.Seed = ptr(uint64(1)) },
		"another rate":          func(c *run.Config) { c.LearningRate = 0.2 },
		"more steps":            func(c *run.Config) { c.Steps = 10 },
		"less noise":            func(c *run.Config) { c.NoiseMultiplier = ptr(0.69) },
		"another rule":          func(c *run.Config) { c.Threshold = "dc-p" },
		"another model":         func(c *run.Config) { c.Model.Hidden = []int{6} },
		"a parameter of a rule": func(c *run.Config) { c.Params = map[string]float64{"gamma": 0.4} },
	} {
		other := cfg
		change(&other)
		refused(name, planned(t, other, ds), ds, good, 1, ErrOtherPlan)
	}
	fewer := firstRows(t)
	fewer.Train.N--
	refused("a row less", planned(t, cfg, fewer), fewer, good, 1, ErrOtherData)
	refused("more steps than planned", p, ds, good, 10, nil)
	refused("a byte more", p, ds, append(slices.Clone(good), 0), 1, ErrFormat)
	version := slices.Clone(good)
	version[len(checkpointMagic)-1]++
	refused("another version", p, ds, version, 1, ErrFormat)
	for i := range good {
		refused("cut short", p, ds, good[:i], 1, ErrFormat)
	}
	at := len(checkpointMagic) + 64
	step := slices.Clone(good)
	binary.LittleEndian.PutUint64(step[at:], 3)
	refused("a step that the thresholds have not seen", p, ds, step, 1, ErrFormat)
	binary.LittleEndian.PutUint64(step[at:], 1<<63)
	refused("a step that is no number", p, ds, step, 1, ErrFormat)
	c, err := ReadCheckpoint(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(c *Checkpoint){
		"a rule without state":  func(c *Checkpoint) { c.state.rule = nil },
		"a threshold below 0":   func(c *Checkpoint) { c.state.rule = []float64{-1, 0.5} },
		"bounds nobody paid":    func(c *Checkpoint) { c.bounds = make([]data.Bound, ds.Features) },
		"directions":            func(c *Checkpoint) { c.directions = make([]float32, 2) },
		"frozen layers":         func(c *Checkpoint) { c.frozen = make([]float32, 2) },
		"a part too few":        func(c *Checkpoint) { c.state.parts = c.state.parts[1:] },
		"a part that is longer": func(c *Checkpoint) { c.state.parts[0] = append(slices.Clone(c.state.parts[0]), 1) },
	} {
		bad := *c
		bad.state.parts = slices.Clone(c.state.parts)
		change(&bad)
		refused(name, p, ds, bad.Append(nil), 1, nil)
	}
}

// A checkpoint has no key and no row.
func TestCheckpointHasNoKeyAndNoRow(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	checkpoints(t, func(_ string, cfg run.Config) {
		r := start(t, planned(t, cfg, ds), ds)
		defer r.Close()
		for e := range r.Steps(context.Background()) {
			if e.Step == 3 {
				break
			}
		}
		b := encoded(t, r)
		for i := range r.work.key[1:] {
			words := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, r.work.key[i]), r.work.key[i+1])
			if bytes.Contains(b, words) {
				t.Fatal("two words of the key are in the checkpoint")
			}
		}
		for i := range ds.Train.N {
			row := ds.Train.F32[i*ds.Features : (i+1)*ds.Features]
			if bytes.Contains(b, run.FloatBytes(row)) {
				t.Fatalf("row %d is in the checkpoint", i)
			}
		}
	})
}

// A checkpoint that is nothing but lists of nothing is refused before it takes more memory
// than it has bytes.
func TestReadCheckpointAllocates(t *testing.T) {
	const many = 1 << 20
	c := Checkpoint{state: checkpointState{step: 1, thresholds: series{values: []float64{1}, added: 1}}}
	whole := func(c Checkpoint) []byte { return c.Append(nil) }
	parts, notes := c, c
	parts.state.parts = make([][]float32, many)
	notes.notes = make([]string, many)
	for name, b := range map[string][]byte{"parts": whole(parts), "notes": whole(notes)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadCheckpoint(b)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrFormat) || took > uint64(len(b)) {
			t.Errorf("%s: %d bytes take %d (%v)", name, len(b), took, err)
		}
	}
}

func FuzzReadCheckpoint(f *testing.F) {
	c := &Checkpoint{state: checkpointState{step: 3, lost: 1, parts: [][]float32{{1, 2}, nil}, rule: []float64{1}, thresholds: series{values: []float64{1, 2}, added: 2}}, notes: []string{"a", ""}, bounds: []data.Bound{{Lo: 0, Hi: 1}}, directions: []float32{3}, frozen: []float32{4, 5}}
	f.Add(c.Append(nil))
	c.seen = &seen{sum: 1, before: 2, steps: 3, blocks: 4}
	f.Add(c.Append(nil))
	c.seen.why = "at rest"
	f.Add(c.Append(nil))
	f.Add((&Checkpoint{state: checkpointState{step: 2, lost: 2}}).Append(nil))
	f.Add([]byte(checkpointMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ReadCheckpoint(b)
		if err != nil {
			return
		}
		if !bytes.Equal(c.Append(nil), b) {
			t.Fatal("what was read is not what is written")
		}
	})
}

// TestCheckpointTellsNoCount: two tables that differ in a row which is left out, as one of
// its cells is missing, have the same name in checkpoints.
func TestCheckpointTellsNoCount(t *testing.T) {
	named := func(more string) [32]byte {
		var b strings.Builder
		b.WriteString("a,b,y\n,1,0\n")
		for i := range 100 {
			fmt.Fprintf(&b, "%d,%d,%d\n", i%10, i%7, i%2)
		}
		file := source.Bytes("t.csv", []byte(b.String()+more))
		ds, _, err := load.Load(t.Context(), []source.File{file}, []source.File{file}, run.CSV{Missing: "drop"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, of, err := planned(t, base("constant"), ds).Names()
		if err != nil || ds.Train.N != 100 {
			t.Fatal(ds.Train.N, err)
		}
		return of
	}
	if named("") != named(",3,1\n") {
		t.Error("it tells how many cells are missing")
	}
}

// TestResumeChangesNoBitTheSecondTime: a run with a fixed seed that is killed, goes on and is
// killed again tells and ends with what an undisturbed one does, whatever its axes, views and
// layers are.
func TestResumeChangesNoBitTheSecondTime(t *testing.T) {
	t.Parallel()
	type kind struct {
		name string
		ds   *data.Dataset
		cfg  run.Config
	}
	rows, digits := firstRows(t), builtin.Digits(3, 60, 20)
	network := run.Model{Kind: "layers", Layers: strings.Fields("conv:3:5:s3 groupnorm:3 relu skip wsconv:3:3:p1 tanh add maxpool:2 flatten dense")}
	var all []kind
	for i, m := range []string{"quantile", "dc-e", "per-layer", "adaclip"} {
		all = append(all, kind{"views, " + m, digits, run.Config{
			Method: m, Model: network, Optimizer: "adam", Iterate: "ema", Augmentation: run.Augmentation{Kind: []string{"crop", "crop-flip"}[i%2], Multiplicity: 1 + i%3},
			LearningRateSchedule: run.Schedules()[i], WarmupSteps: i % 2, WeightDecay: 0.1 * float64(i), LabelSmoothing: 0.2 * float64(i%2),
		}})
	}
	for i, rule := range clip.Rules() {
		for j, weight := range clip.Weights() {
			all = append(all, kind{rule + ", " + weight, rows, run.Config{
				Method: "constant", Threshold: rule, Weight: weight, Grouping: []string{"flat", "per-layer"}[(i+j)%2],
				Model: run.Model{Kind: "mlp", Hidden: []int{4}}, Optimizer: "momentum", Nesterov: j%2 == 1, Iterate: "random",
			}})
		}
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			cfg := c.cfg
			cfg.ExpectedBatchSize, cfg.Steps, cfg.LearningRate, cfg.Accountant, cfg.Seed, cfg.NoiseMultiplier = 12, 6, 0.1, "rdp", ptr(uint64(9)), ptr(0.7)
			p := planned(t, cfg, c.ds)
			// live takes a run's steps, or the first of them.
			live := func(r *Run, steps int) (events []string) {
				for e, err := range r.Steps(context.Background()) {
					if err != nil {
						t.Fatal(err)
					}
					if events = append(events, traintest.Told(t, e)); len(events) == steps {
						break
					}
				}
				return events
			}
			whole := start(t, p, c.ds)
			defer whole.Close()
			want := live(whole, 0)
			end, err := whole.Outcome(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, p, c.ds)
			have := live(r, 1)
			for _, steps := range []int{3, 0} {
				b := encoded(t, r)
				r.Close()
				r = resumed(t, p, c.ds, purego.New(), b, 6)
				have = append(have[:r.done], live(r, steps)...)
			}
			defer r.Close()
			res, err := r.Outcome(context.Background())
			if err != nil || !slices.Equal(have, want) || !slices.Equal(res.Released.Parameters, end.Released.Parameters) {
				t.Errorf("other steps, or parameters: %v", err)
			}
		})
	}
}
