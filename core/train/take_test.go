package train

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// TestNothingUnreleasedIsTaken: of cells that only one row has, and of what was measured
// without noise, nothing is in an archive of the model.
func TestNothingUnreleasedIsTaken(t *testing.T) {
	const number, text, ignored = 2718.28125, "Marker Street 77", "marker: nobody"
	var b strings.Builder
	b.WriteString("size,street,note,kind\n")
	for i := range 400 {
		cells := []any{i % 40, fmt.Sprintf("Street %d", i%90), "nothing", []string{"yes", "no"}[i%40/20]}
		if i == 200 {
			cells = []any{number, text, ignored, "no"}
		}
		fmt.Fprintf(&b, "%v,%v,%v,%v\n", cells...)
	}
	files := []source.File{source.Bytes("t.csv", []byte(b.String()))}
	opt := run.CSV{Columns: map[string]string{"street": "bucketed", "note": "ignored"}}
	for _, scaling := range []string{"private", "measured"} {
		ds, _, err := load.Load(t.Context(), files, files, opt, nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg := base("constant")
		cfg.Seed, cfg.Steps, cfg.NoiseMultiplier, cfg.Scaling.Kind, cfg.DiagnosticsEvery = nil, 10, ptr(1.0), scaling, 2
		r := started(t, cfg, ds)
		events, res := finish(t, r)
		statement, err := r.plan.Statement(res.Steps)
		if err != nil {
			t.Fatal(err)
		}
		archive := archived(t, &res, cfg, statement.Text())
		secrets := map[string]string{"a cell's text": text, "an ignored cell": ignored}
		secret := func(name string, v float64) {
			if v == 0 || v == 1 || math.IsNaN(v) {
				return
			}
			secrets[name+" as text"] = fmt.Sprint(v)
			secrets[name+" in float32"] = string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v))))
			secrets[name+" in float64"] = string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
		secret("a cell's number", number)
		secret("test loss", float64(res.TestLoss))
		secret("RMSE of sureness", float64(res.TestScores.CalibrationError))
		for _, e := range events {
			if e.Diag != nil {
				secret(fmt.Sprintf("loss of step %d", e.Step), float64(e.Diag.TrainLoss))
			}
		}
		if scaling == "measured" {
			secret("the mean", mean(ds))
		}
		if len(secrets) < 30 {
			t.Fatalf("only %d secrets", len(secrets))
		}
		for name, content := range archive {
			for what, s := range secrets {
				if strings.Contains(content, s) {
					t.Errorf("%s scaling: %s has %s, %q", scaling, name, what, s)
				}
			}
		}
		// What is looked for would be found.
		if p := fmt.Sprint(res.Released.Parameters[0]); !strings.Contains(archive["model.json"], p) {
			t.Errorf("model.json has no parameter %s", p)
		}
		if p := string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(res.Released.Parameters[0]))); !strings.Contains(archive["model.safetensors"], p) {
			t.Error("model.safetensors has no parameter")
		}
	}
}

// mean is that of the first feature.
func mean(ds *data.Dataset) float64 {
	sum := 0.0
	for i := range ds.Train.N {
		sum += float64(ds.Train.F32[i*ds.Features])
	}
	return sum / float64(ds.Train.N)
}

// archived is what an archive of a run's model has, by name.
func archived(t *testing.T, res *run.Result, cfg run.Config, statement string) map[string]string {
	t.Helper()
	f := &model.File{
		Config: cfg, Guarantee: res.Guarantee, Statement: statement, Epsilon: res.Epsilon, Delta: res.Delta, Accountant: res.Accountant, Steps: res.Steps,
		Apply: res.Released.Apply, Parameters: res.Released.Parameters,
	}
	var b bytes.Buffer
	if err := f.Bundle(&b, nil); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range z.File {
		in, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name] = string(content)
	}
	if have := len(all); have < 4 || slices.Contains([]string{all["model.json"], all["README.txt"]}, "") {
		t.Fatalf("an archive of %d files", have)
	}
	return all
}

// TestNeighboursDifferInWhatIsNoised: of two data sets that differ in one row, with the
// same classes and categories, archives of models with the same noise differ in nothing
// but what noise was added to.
func TestNeighboursDifferInWhatIsNoised(t *testing.T) {
	rows, test := applyRows(1, 400), applyRows(2, 60)
	neighbours := [][][]string{applyRows(1, 400), applyRows(1, 400)}
	copy(neighbours[0][137], []string{"17,50", "44", "03.04.2001", "rot", "Straße 900", "ja"})
	copy(neighbours[1][138], []string{"-98.765.432.109,55", "1e+30", "31.12.9999", "", "Straße, 901", "nein"})
	noised := regexp.MustCompile(`^/(parameters|apply/(scaling/(lo|hi)|pca/directions))(/|$)`)
	for name, tc := range map[string]struct {
		csv  run.CSV
		edit func(*run.Config)
	}{
		"private bounds, histogram": {run.CSV{Missing: "indicator"}, func(c *run.Config) { c.Method, c.Scaling.Kind = "dc-e", "private" }},
		"declared bounds": {run.CSV{Missing: "zero"}, func(c *run.Config) {
			c.Method, c.Scaling = "psac", run.Scaling{Kind: "declared", Lo: -10, Hi: 18_000}
		}},
		"PCA":     {run.CSV{Missing: "indicator"}, func(c *run.Config) { c.Scaling.Kind, c.PCA.Components = "private", 3 }},
		"numbers": {run.CSV{Missing: "zero", Label: "price"}, func(c *run.Config) { c.Model.Kind, c.Scaling.Kind = "linear", "private" }},
	} {
		t.Run(name, func(t *testing.T) {
			tc.csv.Columns = map[string]string{"street": "bucketed"}
			released := func(rows [][]string) map[string]string {
				ds, _, err := load.Load(t.Context(), applyTable(rows), applyTable(test), tc.csv, nil)
				if err != nil {
					t.Fatal(err)
				}
				cfg := base("constant")
				cfg.Steps = 10
				tc.edit(&cfg)
				r := started(t, cfg, ds)
				_, res := finish(t, r)
				statement, err := r.plan.Statement(res.Steps)
				if err != nil {
					t.Fatal(err)
				}
				return archived(t, &res, cfg, statement.Text())
			}
			one := released(rows)
			for i, n := range neighbours {
				other := released(n)
				if len(other) != len(one) {
					t.Errorf("neighbour %d: %d files, and %d", i, len(other), len(one))
				}
				var different []string
				for name, content := range other {
					switch {
					case name == "model.json":
						different = differences(t, one[name], content)
					case strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".py") || strings.HasSuffix(name, "js"):
						if content != one[name] {
							t.Errorf("neighbour %d: %s differs", i, name)
						}
					case len(content) != len(one[name]):
						t.Errorf("neighbour %d: %s has %d bytes, and %d", i, name, len(content), len(one[name]))
					}
				}
				if !slices.ContainsFunc(different, func(at string) bool { return strings.HasPrefix(at, "/parameters/") }) {
					t.Errorf("neighbour %d: the row that differs was in no batch", i)
				}
				for _, at := range different {
					if !noised.MatchString(at) {
						t.Errorf("neighbour %d: model.json differs at %s", i, at)
					}
				}
			}
		})
	}
}

// differences are the places at which two texts of JSON differ.
func differences(t *testing.T, one, other string) []string {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(one), &a), json.Unmarshal([]byte(other), &b)); err != nil {
		t.Fatal(err)
	}
	var all []string
	var compare func(at string, a, b any)
	compare = func(at string, a, b any) {
		fields, ok := a.(map[string]any)
		others, ok2 := b.(map[string]any)
		items, ok3 := a.([]any)
		others3, ok4 := b.([]any)
		switch {
		case ok && ok2:
			for name := range fields {
				compare(at+"/"+name, fields[name], others[name])
			}
			for name := range others {
				if _, ok := fields[name]; !ok {
					all = append(all, at+"/"+name)
				}
			}
		case ok3 && ok4 && len(items) == len(others3):
			for i := range items {
				compare(fmt.Sprint(at, "/", i), items[i], others3[i])
			}
		case !reflect.DeepEqual(a, b):
			all = append(all, at)
		}
	}
	compare("", a, b)
	return all
}

// TestTestRowsLeaveNoTrace: rows that a run is tested on, which nothing protects, change
// nothing of what is told as released, adapts, is stored to go on from or is taken away.
func TestTestRowsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	for _, method := range []string{"constant", "quantile", "dc-e", "adaclip"} {
		var first []string
		for _, tested := range []int{ds.Test.N, 3, 0} {
			other := *ds
			if tested != ds.Test.N {
				other.Test = data.Split{N: tested, F32: slices.Repeat([]float32{1e6}, tested*ds.Features), Y: make([]float32, tested)}
			}
			cfg := base(method)
			cfg.Steps, cfg.Accountant = 6, "rdp"
			r := started(t, cfg, &other)
			var have []string
			tell := func(v any) {
				b, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				have = append(have, string(b))
			}
			for e, err := range r.Steps(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				tell(e.Released)
			}
			c, err := r.Checkpoint(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.seconds, c.data = 0, [32]byte{} // how long it took, and how many test rows there are
			have = append(have, string(c.Append(nil)))
			res, err := r.Result(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tell([]any{res.Released, res.Epsilon, res.EpsilonAtStep, res.Guarantee, res.Statement, res.Notes})
			for name, content := range archived(t, &res, cfg, string(res.Statement)) {
				have = append(have, name+": "+content)
			}
			slices.Sort(have)
			if first == nil {
				first = have
			}
			if !slices.Equal(have, first) {
				t.Errorf("%s: with %d test rows something else is released", method, tested)
			}
		}
	}
}
