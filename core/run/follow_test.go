package run

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func p(v float64) *float64 { return &v }

// table is what is known of a table of numbers.
func table(rows, numbers, classes int) Facts {
	return Facts{Rows: rows, Features: numbers, Numbers: numbers, Outputs: classes}
}

// TestFollowGivesTheRulesAnswers has the rule's answers for tables it was measured on, worked out
// by hand from its constants.
func TestFollowGivesTheRulesAnswers(t *testing.T) {
	for _, c := range []struct {
		name                 string
		cfg                  Config
		facts                Facts
		model, optimizer     string
		hidden               []int
		batch, epochs, c, lr float64
	}{
		// κ = 4000/(4.84·√42) = 127; 0.2·√(√127/20) = 0.15.
		{"rare class", Config{}, table(4000, 20, 2), "softmax", "adam", nil, 1000, 75, 2.8, 0.15},
		// κ = 4·143/(4.84·√42) = 18.
		{"tiny", Config{TargetEpsilon: p(4)}, table(143, 13, 3), "softmax", "adam", nil, 36, 76, 2.3, 0.11},
		// κ = 4·2000/(4.84·√162) = 130: enough for a hidden layer on two numbers.
		{"plane", Config{TargetEpsilon: p(4)}, table(2000, 2, 2), "mlp", "adam", []int{32}, 500, 75, 1.3, 0.2},
		{"plane, ε = 0.1", Config{TargetEpsilon: p(0.1)}, table(2000, 2, 2), "softmax", "adam", nil, 500, 75, 1.3, 0.2},
		// Six columns of numbers and eight of categories, as Adult has.
		{"adult", Config{}, Facts{Rows: 32561, Features: 108, Numbers: 6, Categories: 8, Outputs: 2}, "softmax", "adam", nil, 1024, 9, 3.3, 0.089},
		{"numbers", Config{}, Facts{Rows: 10_000, Features: 256, Numbers: 256, Outputs: 1, Numeric: true}, "linear", "sgd", nil, 1024, 31, 1, 0.5},
		// A table's targets are scaled: κ = 8000/(4.84·√6) = 675; 0.2·√(√675/5)/5, and at most 0.2/5.
		{"numbers of a table", Config{TargetEpsilon: p(4)}, Facts{Rows: 2000, Features: 5, Numbers: 5, Outputs: 1, Numeric: true, Table: true}, "linear", "adam", nil, 500, 75, 1, 0.04},
		// κ = 400/(4.84·√41) = 12.9; 0.2·√(√12.9/40)/5 = 0.012.
		{"few rows", Config{TargetEpsilon: p(1)}, Facts{Rows: 400, Features: 40, Numbers: 40, Outputs: 1, Numeric: true, Declared: true}, "linear", "adam", nil, 100, 75, 1, 0.012},
		{"numbers as they are", Config{Scaling: Scaling{Target: "none"}}, Facts{Rows: 2000, Features: 5, Numbers: 5, Outputs: 1, Numeric: true, Table: true}, "linear", "sgd", nil, 500, 75, 1, 0.5},
		{"nothing is scaled", Config{Scaling: Scaling{Kind: "none"}}, Facts{Rows: 2000, Features: 5, Numbers: 5, Outputs: 1, Numeric: true, Table: true}, "linear", "sgd", nil, 500, 75, 1, 0.5},
		{"no noise", Config{Method: "none"}, table(2000, 2, 2), "mlp", "adam", []int{32}, 500, 75, 1.3, 0.2},
		{"rows of length 1", Config{Scaling: Scaling{Kind: "row"}}, table(4000, 20, 2), "softmax", "adam", nil, 1000, 75, 1.4, 0.15},
		{"as they are", Config{Scaling: Scaling{Kind: "none"}}, table(4000, 20, 2), "softmax", "adam", nil, 1000, 75, 1, 0.15},
		// The batch that is set decides the epochs; 300 steps stay.
		{"noise taken out", Config{Optimizer: "adam-bc", TargetEpsilon: p(4)}, table(143, 13, 3), "softmax", "adam-bc", nil, 36, 76, 2.3, 0.11 / 3},
		{"a batch", Config{ExpectedBatchSize: 400}, table(4000, 20, 2), "softmax", "adam", nil, 400, 30, 2.8, 0.15},
		{"tokens", Config{}, Facts{Rows: 4000, Features: 64, Tokens: 4096, Table: true, Outputs: 2}, "layers", "adam", nil, 1000, 75, 1, 0.03},
		{"tokens, other layers", Config{Model: Model{Layers: []string{"embedding:4096:2", "mean", "dense"}}}, Facts{Rows: 4000, Features: 64, Tokens: 4096, Table: true, Outputs: 2}, "layers", "adam", nil, 1000, 75, 1, 0.03},
		{"a transformer", Config{Model: Model{Kind: "transformer"}}, Facts{Rows: 4000, Features: 64, Tokens: 4096, Table: true, Outputs: 2}, "layers", "adam", nil, 1000, 75, 1, 0.01},
		{"cells", Config{Model: Model{Kind: "lstm"}}, Facts{Rows: 4000, Features: 64, Tokens: 4096, Table: true, Outputs: 2}, "layers", "adam", nil, 1000, 75, 1, 0.03},
		{"a transformer of no tokens", Config{Model: Model{Kind: "transformer"}}, table(4000, 20, 2), "transformer", "adam", nil, 256, 19, 1, 0.01},
		{"one row", Config{}, table(1, 1, 2), "softmax", "adam", nil, 1, 300, 1.2, 0.11},
	} {
		got := c.cfg.WithDefaultsFor(c.facts)
		if got.Model.Kind != c.model || !reflect.DeepEqual(got.Model.Hidden, c.hidden) || got.Optimizer != c.optimizer || got.Method == "dc-e" ||
			got.ExpectedBatchSize != c.batch || got.Epochs != c.epochs || got.MaxGradNorm != c.c || got.LearningRate != c.lr {
			t.Errorf("%s: %s %v, batches of %g, %g epochs, C %g, %s at %g", c.name, got.Model.Kind, got.Model.Hidden,
				got.ExpectedBatchSize, got.Epochs, got.MaxGradNorm, got.Optimizer, got.LearningRate)
		}
	}
}

// TestFollowKeepsWhatIsSet: whatever a link or a hand has set stays, and where nothing
// is known the constants do.
func TestFollowKeepsWhatIsSet(t *testing.T) {
	set := full().WithDefaults()
	set.Threshold, set.Params = "dc-e", map[string]float64{"caution": 0}
	if got := set.WithDefaultsFor(table(4000, 20, 2)); !reflect.DeepEqual(got, set) {
		t.Errorf("%+v became %+v", set, got)
	}
	c := Config{}.WithDefaults()
	if c.ExpectedBatchSize != DefaultBatch || c.Epochs != DefaultEpochs || c.LearningRate != DefaultLearningRate || c.Optimizer != "sgd" || c.MaxGradNorm != 1 || c.Model.Kind != "softmax" {
		t.Errorf("without facts: %+v", c)
	}
	c = Config{LearningRate: 0.3}.WithDefaultsFor(table(4000, 20, 2))
	if c.Optimizer != "sgd" || c.LearningRate != 0.3 {
		t.Errorf("a learning rate alone is SGD's, as ever; got %s at %g", c.Optimizer, c.LearningRate)
	}
	c = Config{Model: Model{Kind: "resnet18"}}.WithDefaultsFor(Facts{Rows: 100, Features: 3072, Outputs: 10, Picture: true})
	if c.ExpectedBatchSize != 25 || c.Epochs != 75 || c.Optimizer != "adam" || c.LearningRate != networkRate {
		t.Errorf("a network by name, few rows: %+v", c)
	}
	c = Config{Model: Model{Kind: "cnn-opacus"}}.WithDefaultsFor(Facts{Rows: 60_000, Features: 784, Outputs: 10, Picture: true})
	if c.ExpectedBatchSize != DefaultBatch || c.Epochs != DefaultEpochs || c.Optimizer != "sgd" {
		t.Errorf("a network by name, many rows: %+v", c)
	}
	if c := (Config{Method: "dc-e"}).WithDefaultsFor(table(4000, 20, 2)); c.Params["caution"] != followCaution {
		t.Errorf("dc-e on a table: %v", c.Params)
	}
	if c := (Config{Method: "dc-e", Model: Model{Layers: []string{"dense:9", "tanh", "dense"}}}).WithDefaultsFor(table(4000, 20, 2)); c.Params["caution"] != followCaution {
		t.Errorf("dc-e with layers on a table: %v", c.Params)
	}
	if c := (Config{Method: "dc-e"}).WithDefaultsFor(Facts{Rows: 6000, Features: 784, Outputs: 10, Picture: true}); c.Params != nil {
		t.Errorf("dc-e on pictures: %v", c.Params)
	}
}

// TestFollowIsUsable: from whatever is known and asked for come numbers that a plan
// can begin with, and the same configuration when it is asked again.
func TestFollowIsUsable(t *testing.T) {
	for _, rows := range []int{1, 2, 3, 143, 4000, 1 << 30} {
		for _, features := range []int{1, 8, 9, 784, 1 << 20} {
			for _, eps := range []float64{math.Inf(-1), -1, 0, 5e-324, 1e-3, 1, 1e300, math.Inf(1), math.NaN()} {
				for _, cfg := range []Config{{TargetEpsilon: &eps}, {NoiseMultiplier: &eps}, {TargetEpsilon: &eps, TargetDelta: 3}, {NoiseMultiplier: &eps, ExpectedBatchSize: 5e-324}, {Model: Model{Kind: "mlp"}, TargetEpsilon: &eps}} {
					for _, f := range []Facts{table(rows, features, 2), {Rows: rows, Features: features, Outputs: 1, Numeric: true}, {Rows: rows, Features: features, Outputs: 1000, Picture: true}} {
						c := cfg.WithDefaultsFor(f)
						if !(c.LearningRate >= leastRate && (c.LearningRate <= mostRate || f.Numeric) && c.MaxGradNorm >= 1 && c.MaxGradNorm < 1e6 && c.Epochs >= 1 && c.Epochs <= followSteps) ||
							cfg.ExpectedBatchSize == 0 && !(c.ExpectedBatchSize >= 1 && c.ExpectedBatchSize <= float64(rows)) {
							t.Fatalf("%+v, ε or σ %v: %+v", f, eps, c)
						}
						if again := c.WithDefaultsFor(f); eps == eps && !reflect.DeepEqual(again, c) {
							t.Fatalf("%+v became %+v", c, again)
						}
					}
				}
			}
		}
	}
}

// TestAListOfLayersThatHasNoEffectHasNone: what follows is what would follow without it, as it is taken out of links.
func TestAListOfLayersThatHasNoEffectHasNone(t *testing.T) {
	for _, f := range []Facts{{}, table(4000, 20, 2), {Rows: 3000, Features: 40, Tokens: 500, Outputs: 2}} {
		for _, kind := range []string{"softmax", "mlp", "cnn-opacus", Transformer, LSTM} {
			with, without := Config{}, Config{}
			with.Model.Kind, without.Model.Kind = kind, kind
			with.Model.Layers = []string{"dense:16", "tanh", "dense:2"}
			if a, b := with.WithDefaultsFor(f), without.WithDefaultsFor(f); !reflect.DeepEqual(a, b) {
				t.Errorf("%s of %+v: %+v, want %+v", kind, f, a, b)
			}
		}
	}
}

// TestFollowKeepsDropout, whatever network follows.
func TestFollowKeepsDropout(t *testing.T) {
	for _, f := range []Facts{{}, table(4000, 20, 2), {Rows: 3000, Features: 40, Tokens: 500, Outputs: 2}} {
		for _, kind := range []string{"", "mlp", "cnn-opacus", Transformer, LSTM} {
			if full := (Config{Model: Model{Kind: kind, Dropout: 0.3}}).WithDefaultsFor(f); full.Model.Dropout != 0.3 {
				t.Errorf("%q of %+v has dropout %v", kind, f, full.Model.Dropout)
			}
		}
	}
}

func TestAListOfLayersBeginsWithWhatFitsTheRows(t *testing.T) {
	for first, f := range map[string]Facts{
		"conv":      {Rows: 1000, Features: 784, Outputs: 10, Picture: true},
		"dense":     {Rows: 1000, Features: 1024, Texts: 1, Hashed: 1024, Outputs: 3, Table: true},
		"embedding": {Rows: 1000, Features: 64, Tokens: 100, Outputs: 3},
	} {
		c := Config{Model: Model{Kind: "layers"}}.WithDefaultsFor(f)
		if l := c.Model.Layers; len(l) == 0 || !strings.HasPrefix(l[0], first) {
			t.Errorf("%+v: %v", f, l)
		}
	}
}
