package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func ptr[T any](v T) *T { return &v }

func full() Config {
	return Config{
		Data: "digits", CSV: CSV{
			Delimiter: ",", Encoding: "utf-16", Decimal: ",", Thousands: " ", Date: "dmy", Missing: "indicator", BadRows: "skip", Buckets: 16, TestShare: 0.25,
			Columns: map[string]string{"a b": "numeric", "c.d=1&e": "bucketed"}, Bounds: map[string]Bounds{"a b": {Lo: -0.5, Hi: 120}, "n": {Lo: 0, Hi: 1}},
			Fill: map[string]float64{"a.b": 0, "0": 1.5}, Roles: map[string]string{"adult.test": "train", "true": "test"},
		},
		Scaling: Scaling{Kind: "declared", Hi: 255}, Model: Model{Kind: "mlp", Hidden: []int{128, 64}, Activation: "tanh"},
		Method: "psac", Params: map[string]float64{"r": 0.1}, MaxGradNorm: 2, NoiseMultiplier: ptr(1.5), TargetDelta: 1e-5,
		ExpectedBatchSize: 600, Steps: 100, Optimizer: "adam", LearningRate: 1e-3, Seed: ptr(uint64(math.MaxUint64)), NoPrivacy: true, Blind: true,
	}
}

func TestConfigRoundTrips(t *testing.T) {
	for name, c := range map[string]Config{"empty": {}, "full": full(), "defaults": Config{}.WithDefaults()} {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(name, err)
		}
		var back Config
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(c, back) {
			t.Errorf("%s: JSON %s came back as %+v, %v", name, b, back, err)
		}
		h, err := c.Hash()
		if err != nil {
			t.Fatal(name, err)
		}
		if back := ParseHash("#" + h); !reflect.DeepEqual(c, back) {
			t.Errorf("%s: hash %s came back as\n%+v, want\n%+v", name, h, back, c)
		}
	}
}

func TestHashIgnoresWhatItDoesNotKnow(t *testing.T) {
	c := ParseHash("method=psac&steps=oops&wat=is+this&=&&%zz=1&model.hidden=12&model.kind=mlp")
	if c.Method != "psac" || c.Steps != 0 || !reflect.DeepEqual(c.Model.Hidden, []int{12}) || len(c.Params) != 0 {
		t.Errorf("got %+v", c)
	}
}

func TestConfigErrorNamesTheField(t *testing.T) {
	for in, field := range map[string]string{
		`{"steps": "ten"}`:           "steps",
		`{"learning_rat": "x"}`:      "learning_rat",
		`{"model": 3}`:               "model",
		`{"seed": -1}`:               "seed",
		`{"noise_multiplier": "1"}`:  "noise_multiplier",
		`{"max_grad_norm": [1]}`:     "max_grad_norm",
		`{"expected_batch_size":{}}`: "expected_batch_size",
	} {
		var c Config
		err := json.Unmarshal([]byte(in), &c)
		var ce *ConfigError
		if !errors.As(err, &ce) || ce.Field != field {
			t.Errorf("%s: got error %v, want one for %q", in, err, field)
		}
	}
}

func TestNumberIsReadBack(t *testing.T) {
	for _, f := range []float64{0, 1.5, -2e-300, math.Inf(1), math.Inf(-1), math.NaN()} {
		b, err := json.Marshal(Number(f))
		if err != nil {
			t.Fatal(err)
		}
		var back Number
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if object := b[0] == '{'; object != (math.IsNaN(f) || math.IsInf(f, 0)) {
			t.Errorf("%v is written %s", f, b)
		}
		if g := float64(back); g != f && !(math.IsNaN(f) && math.IsNaN(g)) {
			t.Errorf("%v came back as %v through %s", f, g, b)
		}
	}
	for _, no := range []string{`"seven"`, `"Infinity"`, `{}`, `{"$numberDouble":"seven"}`, `{"$numberDouble":"NaN","x":"y"}`, `{"$numberDouble":1}`, `[1]`, `1e999`} {
		n := Number(5)
		if err := json.Unmarshal([]byte(no), &n); err == nil || n != 5 {
			t.Errorf("%s was read as %v, %v", no, n, err)
		}
	}
	var n Number
	if err := json.Unmarshal([]byte("null"), &n); err != nil || !math.IsNaN(float64(n)) {
		t.Errorf("null was read as %v, %v", n, err)
	}
}

// TestLongHashLosesNothing: a table has as many settings as columns, and their
// names have dots.
func TestLongHashLosesNothing(t *testing.T) {
	c := Config{CSV: CSV{Columns: map[string]string{}}}
	for i := range 1000 {
		c.CSV.Columns[fmt.Sprintf("Sepal.Length & co = %d", i)] = "ignored"
	}
	h, err := c.Hash()
	if err != nil || len(h) < 30_000 {
		t.Fatal(len(h), err)
	}
	if back, dropped := ReadHash(h); !reflect.DeepEqual(c, back) || dropped.Keys != nil || dropped.More != 0 {
		t.Errorf("%d of %d columns came back; dropped %+v", len(back.CSV.Columns), len(c.CSV.Columns), dropped)
	}
}

// TestHashSaysWhatItDropped: settings are cut whole, never within a value.
func TestHashSaysWhatItDropped(t *testing.T) {
	long := "method=psac&csv.label=" + strings.Repeat("x", MaxHash-len("method=psac&csv.label=")-len("&steps=1"))
	for s, want := range map[string]struct {
		steps   int
		dropped Dropped
	}{
		long + "&steps=1":                 {1, Dropped{}},
		long + "&steps=12":                {0, Dropped{Keys: []string{"steps"}}},
		"steps=7&wat=is+this&csv.x.y=1&":  {7, Dropped{Keys: []string{"wat", "csv.x.y"}}},
		"steps=7&model.KIND=mlp":          {7, Dropped{Keys: []string{"model.KIND"}}},
		"a.b.c.d.e=1&=&steps=3&page":      {3, Dropped{Keys: []string{"a.b.c.d.e"}}},
		strings.Repeat("k=oops&", 25):     {0, Dropped{Keys: slices.Repeat([]string{"k"}, 20), More: 5}},
		strings.Repeat("é", 60) + "=oops": {0, Dropped{Keys: []string{strings.Repeat("é", 50) + "…"}}},
	} {
		if c, dropped := ReadHash(s); c.Steps != want.steps || !reflect.DeepEqual(dropped, want.dropped) {
			t.Errorf("%.60s…: %d steps, dropped %+v; want %+v", s, c.Steps, dropped, want)
		}
	}
}

// TestInnerFieldsAreNamedExactly: what an object within the configuration has no field for is
// refused as in the configuration itself, and so is a field that is written otherwise.
func TestInnerFieldsAreNamedExactly(t *testing.T) {
	for text, want := range map[string]string{
		`{"model": {"KIND": "mlp"}}`:                             "model.KIND",
		`{"csv": {"lable": "y"}}`:                                "csv.lable",
		`{"csv": {"bounds": {"age": {"lo": 1, "hi": 2}}}}`:       "",
		`{"csv": {"image": {"size": 32, "Channels": 1}}}`:        "csv.image.Channels",
		`{"model": {"kind": "mlp"}, "scaling": {"kind": "row"}}`: "",
	} {
		var c Config
		err := json.Unmarshal([]byte(text), &c)
		var wrong *ConfigError
		if want == "" && err != nil || want != "" && (!errors.As(err, &wrong) || wrong.Field != want || !strings.Contains(wrong.Message, "there is no such field")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseHash(f *testing.F) {
	h, _ := full().Hash()
	f.Add(h)
	f.Add("model.hidden=1,2,x&seed=18446744073709551616&r=NaN")
	f.Add("model.layers=conv:16:8:s2:p3,relu,skip,add,dense&model.kind=layers")
	f.Fuzz(func(t *testing.T, s string) {
		c := ParseHash(s)
		h, err := c.Hash()
		if err != nil {
			t.Fatalf("%q gives a configuration that cannot be written: %v", s, err)
		}
		back, dropped := ReadHash(h)
		if len(dropped.Keys) > 0 && len(h) <= MaxHash {
			t.Fatalf("%q: of hash %q %v was dropped", s, h, dropped)
		}
		if again, _ := back.Hash(); again != h && len(h) <= MaxHash {
			t.Fatalf("%q: hash %q is read back as %q", s, h, again)
		}
	})
}

// TestALinkByHandDoesNotTurnBlindOff: a link written by hand does not turn blind off.
func TestALinkByHandDoesNotTurnBlindOff(t *testing.T) {
	for _, yes := range []string{"true", "TRUE", "1", "t"} {
		if !ParseHash("blind=" + yes).Blind {
			t.Errorf("blind=%s is read as false", yes)
		}
	}
	if ParseHash("blind=0").Blind || ParseHash("blind=false").Blind {
		t.Error("blind=0 is read as true")
	}
}

// TestLayersStandInTheAddressAsTyped: a list of layers stands in the address as it is typed, and
// names its kind.
func TestLayersStandInTheAddressAsTyped(t *testing.T) {
	c := Config{Model: Model{Layers: []string{"conv:16:8:s2:p3", "relu", "dense"}}}
	hash, err := c.Hash()
	if err != nil || hash != "model.layers=conv:16:8:s2:p3,relu,dense" {
		t.Fatalf("%q, %v", hash, err)
	}
	for _, h := range []string{hash, "model.layers=conv%3A16%3A8%3As2%3Ap3,relu,dense"} {
		if got := ParseHash(h); !slices.Equal(got.Model.Layers, c.Model.Layers) || got.WithDefaults().Model.Kind != "layers" {
			t.Errorf("%q reads %+v", h, got.Model)
		}
	}
	if got := ParseHash("model.layers=dense").Model.Layers; !slices.Equal(got, []string{"dense"}) {
		t.Errorf("one layer reads %q", got)
	}
}

// TestEveryKindOfNetworkHasItsOwnList: every kind has layers, and they are the caller's own.
func TestEveryKindOfNetworkHasItsOwnList(t *testing.T) {
	for _, n := range Networks() {
		list := Model{Kind: n.Kind}.List()
		if len(list) < 4 || list[len(list)-1] != "dense" || n.Title == "" || n.About == "" {
			t.Errorf("%+v: %q", n, list)
		}
		list[0] = "x"
		if (Model{Kind: n.Kind}).List()[0] == "x" {
			t.Errorf("%s: the list is shared", n.Kind)
		}
	}
	if (Model{Kind: "gpt"}).List() != nil {
		t.Error("an unknown kind has layers")
	}
}

// TestUnusedLayersAreNowhere: a list of layers beside another kind of model has no effect, and
// stands neither in an address nor in a file nor in a run's configuration.
func TestUnusedLayersAreNowhere(t *testing.T) {
	for kind, used := range map[string]bool{"": true, "layers": true, "mlp": false, "softmax": false, "cnn-opacus": false} {
		c := Config{Model: Model{Kind: kind, Layers: []string{"conv:16:99", "dense"}}}
		hash, err := c.Hash()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(hash, "conv"); got != used {
			t.Errorf("kind %q: the address is %s", kind, hash)
		}
		if got := len(c.WithDefaults().Model.Layers) > 0; got != used {
			t.Errorf("kind %q with its defaults has %q", kind, c.WithDefaults().Model.Layers)
		}
		if got := len(ParseHash("model.kind="+kind+"&model.layers=conv:16:99,dense").Model.Layers) > 0; got != used {
			t.Errorf("a link of kind %q has layers: %v", kind, got)
		}
		if len(c.Model.Layers) != 2 {
			t.Errorf("kind %q: the caller's own list is gone", kind)
		}
	}
}

func TestComingRunsAreOneOrAList(t *testing.T) {
	for text, want := range map[string]int{`null`: 0, ` {"steps":3}`: 1, `[{"steps":3},{"steps":3}]`: 2, `[]`: 0} {
		var c Coming
		if err := json.Unmarshal([]byte(text), &c); err != nil || len(c) != want || want > 0 && c[want-1].Steps != 3 {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
	for _, text := range []string{`3`, `"x"`, `{"steps":"many"}`} {
		if json.Unmarshal([]byte(text), new(Coming)) == nil {
			t.Errorf("no error for %s", text)
		}
	}
}
