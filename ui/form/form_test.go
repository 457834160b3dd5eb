package form

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

// others are keys that no row of the table is for.
var others = []string{"csv.columns.a b", "csv.columns.", "csv.columns.a.b", "csv.roles.a.csv", "csv.fill.a.b", "csv.bounds.a.b", "r"}

// sample is a text that a field takes, by the type that it has.
func sample(t *testing.T, key string) string {
	t.Helper()
	field, name := locate(new(run.Config), key)
	switch field.(type) {
	case *string, *map[string]string:
		return "some"
	case *map[string]float64:
		if name == "" {
			return "ham: 1; spam: 5"
		}
		return "0.25"
	case *float64, **float64, nil:
		return "0.25"
	case *map[string]run.Bounds:
		return "-3 to 0.5"
	case *int, **uint64:
		return "42"
	case *bool:
		return "true"
	case *[]int:
		return "128, 64"
	case *[]float64:
		return "0.05; 12"
	case *[]string:
		return "conv:16:8:s2:p3, relu, dense"
	}
	t.Fatalf("%s is of type %T, which no control writes", key, field)
	return ""
}

func TestGetReturnsWhatWasSet(t *testing.T) {
	keys := others
	for _, f := range fields {
		if f.Key != Plan && f.Now == nil {
			keys = append(keys, f.Key)
		}
	}
	for _, key := range keys {
		text := sample(t, key)
		var c run.Config
		if err := Set(&c, key, text); err != nil {
			t.Errorf("%s = %q: %v", key, text, err)
			continue
		}
		if reflect.DeepEqual(c, run.Config{}) {
			t.Errorf("%s = %q changed nothing", key, text)
		}
		if got := Get(&c, key); got != text {
			t.Errorf("%s = %q came back as %q", key, text, got)
		}
		if err := Set(&c, key, ""); err != nil || Get(&c, key) != "" {
			t.Errorf("%s cannot be emptied: %q, %v", key, Get(&c, key), err)
		}
	}
}

// elsewhere are the fields that have no row: what is said of single columns stands in
// the preview of a table, and of files in a list of them. The names of the files that a run starts from, and mixes in, come with their hashes.
var elsewhere = []string{"csv.columns", "csv.bounds", "csv.fill", "csv.roles", "start.file", "public_rows.file"}

// Every field of a configuration but these stands on the page, and every row of the table
// is a field or a choice between fields, once.
func TestTheTableIsTheConfiguration(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range fields {
		field, _ := locate(new(run.Config), f.Key)
		if choice := f.Now != nil || f.Key == Plan; choice == (field != nil) {
			t.Errorf("%s is a field: %t, a choice: %t", f.Key, field != nil, choice)
		}
		if seen[f.Key] {
			t.Errorf("%s stands twice in the table", f.Key)
		}
		seen[f.Key] = true
		if f.Label == "" && f.Kind != Notice && f.Key != Plan {
			t.Errorf("%s has no label", f.Key)
		}
		if choosing := f.Kind == Menu || f.Kind == Segments; choosing != (len(f.Options) > 0) {
			t.Errorf("%s has %d options", f.Key, len(f.Options))
		}
		for _, other := range f.Resets {
			if Find(other).Card != f.Card || row(other) < 0 {
				t.Errorf("%s resets %s, which stands elsewhere or nowhere", f.Key, other)
			}
		}
	}
	for key := range paths {
		if seen[key] == slices.Contains(elsewhere, key) {
			t.Errorf("%s has a row: %t, and is said to be set elsewhere: %t", key, seen[key], seen[key])
		}
	}
	for _, key := range elsewhere {
		if _, ok := paths[key]; !ok {
			t.Errorf("there is no field %s", key)
		}
	}
}

// The menus are what the registries have.
func TestMenusAreTheRegistries(t *testing.T) {
	for _, b := range builtin.All() {
		if !slices.Contains(Find("data").Options, Option{Value: b.Name, Text: b.Title}) {
			t.Errorf("%s is not offered as %q", b.Name, b.Title)
		}
	}
	for _, m := range clip.Methods() {
		if Find("method").HelpAt(m.Name) != m.Idea {
			t.Errorf("%s is not explained", m.Name)
		}
	}
}

func TestEveryNameHasItsCard(t *testing.T) {
	for name, want := range map[string]struct {
		card Card
		key  string
	}{
		"data": {Data, "data"}, "scaling": {Data, "scaling.kind"}, "csv": {Data, "csv.label"}, "pca": {Data, "pca.components"},
		"csv.columns.a": {Data, "csv.label"}, "model": {Model, "model.kind"}, "model.hidden": {Model, "model.hidden"},
		"target_delta": {Privacy, "target_delta"}, "blind": {Privacy, "blind"}, "plan": {Privacy, "plan"}, "no_privacy": {Privacy, "no_privacy"},
		"backend": {Optimiser, "backend"}, "seed": {Foot, "seed"}, "r": {Clipping, "r"}, "max_grad_norm": {Clipping, "max_grad_norm"},
	} {
		if f := Find(name); f.Card != want.card || f.Key != want.key {
			t.Errorf("%s stands on %q as %s", name, f.Card, f.Key)
		}
	}
}

func TestSortedFollowsThePage(t *testing.T) {
	m := map[string]int{"seed": 0, "beta1": 0, "r": 0, "k": 0, "target_delta": 0, "model.kind": 0, "csv.label": 0, "grouping": 0}
	want := []string{"csv.label", "model.kind", "k", "r", "grouping", "target_delta", "beta1", "seed"}
	if got := Sorted(m); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// Fields come and go with their meaning.
func TestFieldsComeAndGoWithTheirMeaning(t *testing.T) {
	for _, c := range []struct {
		cfg           run.Config
		shown, hidden string
	}{
		{run.Config{Optimizer: "adam"}, "beta1 beta2 eps", "momentum ema_decay"},
		{run.Config{Optimizer: "momentum", Iterate: "ema"}, "momentum ema_decay", "beta1 beta2 eps"},
		{run.Config{Steps: 5, NoiseMultiplier: new(float64)}, "steps noise_multiplier", "epochs target_epsilon no_privacy"},
		{run.Config{Method: "none"}, "epochs no_privacy", "steps noise_multiplier target_epsilon"},
		{run.Config{Scaling: run.Scaling{Kind: "declared"}}, "scaling.lo scaling.hi", "scaling.share pca.share"},
		{run.Config{PCA: run.PCA{Components: 3}, Model: run.Model{Kind: "mlp"}}, "pca.share model.hidden model.activation", "scaling.lo model.layers"},
		{run.Config{Model: run.Model{Layers: []string{"dense"}}}, "model.layers", "model.hidden model.activation"},
	} {
		full := c.cfg.WithDefaults()
		for keys, want := range map[string]bool{c.shown: true, c.hidden: false} {
			for key := range strings.FieldsSeq(keys) {
				if Find(key).When(&full) != want {
					t.Errorf("%+v: %s is shown: %t", c.cfg, key, !want)
				}
			}
		}
	}
}

func TestMethodsWithoutPrivacyAreUnbounded(t *testing.T) {
	for _, m := range clip.Methods() {
		if c := (run.Config{Method: m.Name}); unbounded(&c) == m.Private {
			t.Errorf("%s, private %t, is unbounded: %t", m.Name, m.Private, unbounded(&c))
		}
	}
}

func TestAnErrorChangesNothing(t *testing.T) {
	for _, c := range []struct{ key, text string }{
		{"max_grad_norm", "one"}, {"max_grad_norm", "NaN"}, {"target_epsilon", "inf"}, {"steps", "1.5"}, {"steps", "1e300"},
		{"model.hidden", "128, x"}, {"model.hidden", "0"}, {"seed", "-1"}, {"seed", "9007199254740993"}, {"r", "a"}, {"epochs", "1,000"}, {"blind", "perhaps"},
		{"csv.bounds.a", "3"}, {"csv.bounds.a", "3 to"}, {"csv.bounds.a", "3 to 3"}, {"csv.bounds.a", "5 to 3"}, {"csv.bounds.a", "0 to 1,000"}, {"csv.fill.a", "some"},
	} {
		cfg := run.Config{MaxGradNorm: 2, Steps: 7, Params: map[string]float64{"r": 0.5}, Model: run.Model{Hidden: []int{3}}}
		before := cfg
		if err := Set(&cfg, c.key, c.text); err == nil {
			t.Errorf("%s = %q was taken", c.key, c.text)
		}
		if !reflect.DeepEqual(cfg, before) {
			t.Errorf("%s = %q left %+v", c.key, c.text, cfg)
		}
	}
}

func TestParseReadsPlainNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"0.1": 0.1, "0,1": 0.1, "−2": -2, "1e-5": 1e-5, "1e−5": 1e-5, "1 000": 1000, "12,34": 12.34, "0,125": 0.125,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1,000", "12,345,678", "-1,000", "Inf", "NaN", "0x", "1e999"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestParseBoundsReadsPairs(t *testing.T) {
	for text, want := range map[string]run.Bounds{
		"0 to 120": {Lo: 0, Hi: 120}, "-1,5 … 2": {Lo: -1.5, Hi: 2}, "1..2": {Lo: 1, Hi: 2}, "1970-01-02 to 2024-12-31": {Lo: 1, Hi: 20088},
		"02.01.1970 to 31.12.2024": {Lo: 1, Hi: 20088}, "0 – 60000,50": {Lo: 0, Hi: 60000.5}, "-3 — −1": {Lo: -3, Hi: -1}, "0.125 to 2.125": {Lo: 0.125, Hi: 2.125}, "1.000.000 to 2e6": {Lo: 1e6, Hi: 2e6},
		"0% to 12,5 %": {Hi: 0.125}, "1970-01-02 06:00 to 1970-01-02 12:00:00": {Lo: 1.25, Hi: 1.5}, "1.1.1970 18:00 to 2.1.1970": {Lo: 0.75, Hi: 1},
	} {
		if got, err := ParseBounds(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"0 to 60.000": "“60.000” can be read two ways; write 60000 or 60", "0 to 12.500": "write 12500 or 12.5", "0 to 60,000": "“60,000” can be read two ways",
		"60000 to 0": "the first has to be less than the second", "3 to 3": "the first has to be less", "0% to 60.000%": "can be read two ways", "3": "is not two bounds", "a to 3": "“a” is not a number",
	} {
		if got, err := ParseBounds(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v, %v; want %q", text, got, err, want)
		}
	}
}

// Sets must not reach into a configuration that was handed out before.
// TestZeroIsNoDefault: a 0 that would silently be the usual value is refused, and nothing changes;
// one that is a value of its own is taken.
func TestZeroIsNoDefault(t *testing.T) {
	for _, key := range positive {
		c := run.Config{TargetDelta: 1e-6, ExpectedBatchSize: 5, Epochs: 5, MaxGradNorm: 5, LearningRate: 5, MaxPhysicalBatchSize: 5}
		was := c
		for _, zero := range []string{"0", "0.0", "-0", "0e5"} {
			if err := Set(&c, key, zero); err == nil || !reflect.DeepEqual(c, was) {
				t.Errorf("%s = %s: %v", key, zero, err)
			}
		}
		if err := Set(&c, key, ""); err != nil || reflect.DeepEqual(c, was) {
			t.Errorf("%s emptied: %v", key, err)
		}
	}
	var c run.Config
	for _, key := range []string{"momentum", "threads", "noise_multiplier", "steps"} {
		if err := Set(&c, key, "0"); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestSetCopiesMaps(t *testing.T) {
	a := run.Config{Params: map[string]float64{"r": 1}, CSV: run.CSV{Columns: map[string]string{"a": "numeric"}}}
	b := a
	for key, text := range map[string]string{"r": "2", "csv.columns.a": "ignored"} {
		if err := Set(&b, key, text); err != nil {
			t.Fatal(err)
		}
	}
	KeepParams(&b)
	if a.Params["r"] != 1 || a.CSV.Columns["a"] != "numeric" {
		t.Errorf("the earlier configuration became %+v", a)
	}
	if len(b.Params) != 0 {
		t.Errorf("parameters left: %v", b.Params)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0.1", "1e-5", "1,000", "−3", "", "∞", "0x1p-2", "1_000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := Parse(s)
		if err != nil {
			return
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%q was read as %v", s, v)
		}
		if back, err := Parse(Format(v)); err != nil || back != v {
			t.Fatalf("%v is written as %q, which is read as %v, %v", v, Format(v), back, err)
		}
	})
}

// The cards on which two configurations differ: those of the fields, of what the
// method declares, and of how tables are read.
func TestDifferingNamesTheCards(t *testing.T) {
	a := run.Config{Params: map[string]float64{"r": 0.1}}.WithDefaults()
	for _, c := range []struct {
		change func(*run.Config)
		want   []Card
	}{
		{func(*run.Config) {}, nil},
		{func(b *run.Config) { b.MaxGradNorm = 5 }, []Card{Clipping}},
		{func(b *run.Config) { b.Params = map[string]float64{"r": 0.2} }, []Card{Clipping}},
		{func(b *run.Config) { b.CSV.Columns = map[string]string{} }, nil},
		{func(b *run.Config) { b.CSV.Columns = map[string]string{"a": "ignored"} }, []Card{Data}},
		{func(b *run.Config) { b.Seed = new(uint64) }, []Card{Foot}},
		{func(b *run.Config) { b.Data, b.Model.Kind, b.Steps, b.Eps = "moons", "mlp", 7, 1 }, []Card{Data, Model, Privacy, Optimiser}},
	} {
		b := a
		c.change(&b)
		if got := Differing(&a, &b); !slices.Equal(got, c.want) {
			t.Errorf("%v differ, want %v", got, c.want)
		}
	}
}

// What follows anyway is left out, whatever else is set, and comes back as it was.
func TestShortestLosesNothing(t *testing.T) {
	facts := run.Facts{Rows: 500}
	sigma, eps, seed := 1.5, 3.0, uint64(7)
	for _, c := range []struct {
		cfg  run.Config
		most int // of the address
	}{
		{run.Config{}, 60},
		{run.Config{Data: "moons", Method: "dc-e", Params: map[string]float64{"hist_noise_multiplier": 9}}, 120},
		{run.Config{Data: "files", Method: "psac", NoiseMultiplier: &sigma, Steps: 60, Seed: &seed, MaxGradNorm: 2, CSV: run.CSV{Label: "kind", Columns: map[string]string{"a.b": "ignored"}}}, 200},
		{run.Config{Model: run.Model{Kind: "mlp", Hidden: []int{5, 5}}, Optimizer: "adam", TargetEpsilon: &eps, Epochs: 2, Momentum: 0.5}, 200},
	} {
		full := c.cfg.WithDefaultsFor(facts)
		short := Shortest(full, facts)
		if back := short.WithDefaultsFor(facts); !reflect.DeepEqual(back, full) {
			t.Errorf("%+v comes back as %+v", full, back)
		}
		hash, err := short.Hash()
		if err != nil || len(hash) > c.most {
			t.Errorf("%q (%v) is longer than %d", hash, err, c.most)
		}
	}
}

func TestValuesPartsTextByTheFieldsKind(t *testing.T) {
	for _, c := range []struct {
		key, text string
		want      []string
	}{
		{"target_epsilon", "1; 4", []string{"1", "4"}},
		{"target_epsilon", " 0,5 2;; 2, 8 ", []string{"0,5", "2", "8"}},
		{"r", "0.1 0.2", []string{"0.1", "0.2"}}, // a method's parameter
		{"steps", "10,20", []string{"10,20"}},    // one number, which Set refuses or reads
		{"method", "constant;psac;constant", []string{"constant", "psac"}},
		{"model.hidden", "128, 64; 32", []string{"128, 64", "32"}},
		{"method", " ; ", nil},
	} {
		if got := Values(c.key, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, not %q", c.key, c.text, got, c.want)
		}
	}
}
