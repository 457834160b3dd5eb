package train

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute/computetest"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// drawnMails draws a table of mails of two kinds, which twenty phrases tell, ten of each kind: a mail has one to three of them
// among 20 to 79 other words.
func drawnMails(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 7))
	words := make([]string, 2000)
	for i := range words {
		for range 1 + rng.IntN(3) {
			words[i] += string("bcdfghklmnprstvwz"[rng.IntN(17)]) + string("aeiou"[rng.IntN(5)]) + []string{"", "n", "r", "s", "t"}[rng.IntN(5)]
		}
	}
	var phrases [2][10]string
	for k := range phrases {
		for i := range phrases[k] {
			phrases[k][i] = words[rng.IntN(2000)] + " " + words[rng.IntN(2000)]
		}
	}
	var b bytes.Buffer
	b.WriteString("kind,mail\n")
	for range n {
		var mail []string
		for range 20 + rng.IntN(60) {
			mail = append(mail, words[int(math.Pow(2000, rng.Float64()))-1])
		}
		k := rng.IntN(2)
		for range 1 + rng.IntN(3) {
			mail = slices.Insert(mail, rng.IntN(len(mail)), phrases[k][rng.IntN(10)])
		}
		fmt.Fprintf(&b, "%s,\"%s.\"\n", []string{"ham", "spam"}[k], strings.Join(mail, " "))
	}
	return b.Bytes()
}

// TestMailsAreLearned: 2,000 mails, as a table and with no settings but ε = 4, come to an area of 0.95 at least. Here are 40 steps
// of the 300, which would take plain loops minutes; all 300 came to 0.995.
func TestMailsAreLearned(t *testing.T) {
	ds, _, err := load.Load(t.Context(), []source.File{source.Bytes("mails.csv", drawnMails(2000, 1))}, nil, run.CSV{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, res := finish(t, started(t, run.Config{TargetEpsilon: ptr(4.0), Steps: 40, Seed: ptr(uint64(1))}, ds))
	t.Logf("area %v, accuracy %v", res.TestScores.ROCArea, res.TestAccuracy)
	if !(float64(res.TestScores.ROCArea) >= 0.95) {
		t.Errorf("an area of %v under the ROC curve", res.TestScores.ROCArea)
	}
	if c := res.Released.Apply.Columns[1]; c.Kind != "text" || c.Buckets != 1<<14 || res.Released.Apply.Features != 1<<14 {
		t.Errorf("the model has %+v", c)
	}
}

// drawnReviews draws a table of short reviews of which no word by itself says which kind they are: a good word with a no in front
// of it is bad, and a bad one good, and a no behind it means nothing.
func drawnReviews(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 8))
	var b bytes.Buffer
	b.WriteString("stars,review\n")
	for range n {
		var words []string
		for range 2 + rng.IntN(6) {
			words = append(words, fmt.Sprint("w", rng.IntN(30)))
		}
		good, turned := rng.IntN(2), rng.IntN(2)
		part := []string{[]string{"bad", "good"}[good], "no"}
		if turned == 1 {
			slices.Reverse(part)
		}
		words = slices.Insert(words, rng.IntN(len(words)+1), part...)
		fmt.Fprintf(&b, "%d,%s\n", 1+4*(good^turned), strings.Join(words, " "))
	}
	return b.Bytes()
}

// TestWordsInOrderAreLearned: reviews that turn on the order of two words are told apart with no settings but ε, and the model
// answers their cells.
func TestWordsInOrderAreLearned(t *testing.T) {
	opt := run.CSV{Columns: map[string]string{"review": "words"}, Label: "stars", Task: "classification", MaxLength: 12}
	ds, _, err := load.Load(t.Context(), []source.File{source.Bytes("reviews.csv", drawnReviews(3000, 1))}, nil, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, res := finish(t, started(t, run.Config{CSV: opt, TargetEpsilon: ptr(8.0), Epochs: 15, Seed: ptr(uint64(1))}, ds))
	t.Logf("accuracy %v", res.TestAccuracy)
	if !(float64(res.TestAccuracy) >= 0.9) {
		t.Errorf("an accuracy of %v", res.TestAccuracy)
	}
	a := res.Released.Apply
	if c := a.Columns[1]; c.Kind != "words" || c.Tokens != 12 || a.Features != 12 || a.Layers[0].Text != "embedding:4096:16" || a.Scaling.Kind != "none" {
		t.Errorf("the model has %+v, %+v", c, a.Layers)
	}
}

// drawnOrders draws a table of short texts of which the order of two words tells the kind, with up to five other words between
// them and as many of these in each kind.
func drawnOrders(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 4))
	var b bytes.Buffer
	b.WriteString("kind,text\n")
	for range n {
		var words []string
		for range 8 + rng.IntN(5) {
			words = append(words, fmt.Sprint("w", rng.IntN(60)))
		}
		apart, kind := 1+rng.IntN(6), rng.IntN(2)
		at, pair := rng.IntN(len(words)-apart), []string{"never", "good"}
		if kind == 1 {
			slices.Reverse(pair)
		}
		words[at], words[at+apart] = pair[0], pair[1]
		fmt.Fprintf(&b, "%s,%s\n", []string{"no", "yes"}[kind], strings.Join(words, " "))
	}
	return b.Bytes()
}

// TestATransformerLearnsWhatIsFarApart: from rows that pairs of neighbours do not tell apart, with no settings but its name and ε.
func TestATransformerLearnsWhatIsFarApart(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute")
	}
	t.Parallel()
	opt := run.CSV{Columns: map[string]string{"text": "words"}, Label: "kind", Task: "classification", MaxLength: 12}
	ds, _, err := load.Load(t.Context(), []source.File{source.Bytes("orders.csv", drawnOrders(3000, 3))}, nil, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	for kind, right := range map[string]func(accuracy float64) bool{
		"":              func(a float64) bool { return a < 0.8 }, // a sixth of pairs are neighbours
		run.Transformer: func(a float64) bool { return a > 0.9 },
	} {
		_, res := finish(t, startOn(t, run.Config{CSV: opt, Model: run.Model{Kind: kind}, TargetEpsilon: ptr(8.0), Epochs: 25, Seed: ptr(uint64(1))}, ds, computetest.Fast(t)))
		t.Logf("%q: accuracy %v", kind, res.TestAccuracy)
		if !right(float64(res.TestAccuracy)) {
			t.Errorf("%q: an accuracy of %v", kind, res.TestAccuracy)
		}
	}
}

// TestSequencesStandAlone: what is no token is left out beside them or refused, and so are models that take tokens for amounts.
func TestSequencesStandAlone(t *testing.T) {
	table := []source.File{source.Bytes("t.csv", []byte("name,age,kind\nAnna,31,a\nBert,32,b\n"+strings.Repeat("Cleo,40,a\nDora,20,b\n", 20)))}
	read := func(columns map[string]string) (*data.Dataset, error) {
		ds, _, err := load.Load(t.Context(), table, nil, run.CSV{Columns: columns, Label: "kind"}, nil)
		return ds, err
	}
	if _, _, err := load.Load(t.Context(), table, nil, run.CSV{Columns: map[string]string{"age": "ignored", "name": "ignored"}, Label: "kind"}, nil); err == nil || !strings.Contains(err.Error(), "text, words or letters") {
		t.Errorf("no features: %v", err)
	}
	ds, err := read(map[string]string{"name": "letters"})
	if err != nil || ds.Features != 32 || ds.Columns[1].Kind != data.Ignored {
		t.Fatalf("%v, %+v", err, ds)
	}
	if ds, err := read(map[string]string{"kind": "letters"}); err != nil || !ds.Columns[0].Makes() || ds.Columns[2].Kind != data.Label {
		t.Errorf("a label that is declared a sequence: %v, %+v", err, ds)
	}
	if _, err := read(map[string]string{"name": "letters", "age": "numeric"}); err == nil || !strings.Contains(err.Error(), "no features beside") {
		t.Errorf("beside a number: %v", err)
	}
	if _, err := plan.New(run.Config{Model: run.Model{Hidden: []int{4}}}, ds.Meta()); err == nil || !strings.Contains(err.Error(), "first layer, dense:4, would take for amounts") {
		t.Errorf("a hidden layer: %v", err)
	}
	first, _, err := load.Load(t.Context(), table, nil, run.CSV{Columns: map[string]string{"name": "letters"}, Label: "kind", MaxLength: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.New(run.Config{TargetEpsilon: ptr(4.0)}, first.Meta()); err != nil {
		t.Errorf("first letters: %v", err)
	}
	for layers, want := range map[string]string{
		"dense": "would take for amounts; choose layers that begin with embedding:256:16", "embedding:255:4 mean dense": "knows 255; write embedding:256:16", "embedding:256:4 mean dense": "",
	} {
		_, err := plan.New(run.Config{Model: run.Model{Layers: strings.Fields(layers)}}, ds.Meta())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", layers, err, want)
		}
	}
	started := run.Config{Model: run.Model{Layers: strings.Fields("embedding:255:4 mean dense")}, Start: run.Start{SHA256: strings.Repeat("ab", 32), Public: true}}
	if _, err := plan.New(started, ds.Meta()); err == nil || !strings.Contains(err.Error(), "knows 255: have the column read as it was for this model") {
		t.Errorf("a model whose weights are of other tokens: %v", err)
	}
}

// TestTheWrongTokenizerIsTold: tokens that a model would take for others' types are refused, many fewer than it knows are remarked on, and texts
// without tokens are refused before anything else of the run is looked at.
func TestTheWrongTokenizerIsTold(t *testing.T) {
	ds := small(t)
	text := ds.Meta()
	text.Columns = []data.Column{{Name: "mail", Kind: data.Text, Buckets: text.Features}}
	for _, c := range []struct {
		tokens, types int
		start         run.Start
		want, said    string
		known         int // 0: 500
	}{
		{tokens: 500},
		{501, 0, run.Start{}, "the rows have 501 different tokens, and the model's first layer, embedding:500:4:t2, knows 500; choose the tokenizer that came with the model", "", 0},
		{tokens: 1000, types: 2},
		{371, 0, run.Start{SHA256: strings.Repeat("ab", 32), Public: true}, "", "The tokenizer knows 371 tokens, and the model 500: is it the one that came with the model?", 0},
		{tokens: 372, start: run.Start{SHA256: strings.Repeat("ab", 32), Public: true}},
		{8, 0, run.Start{SHA256: strings.Repeat("ab", 32), Public: true}, "", "The tokenizer knows 8 tokens, and the model 27: is it the one that came with the model?", 27},
		{tokens: 371},
	} {
		m := ds.Meta()
		m.Backbone = &run.Backbone{SHA256: "c0ffee", Output: "2 tokens", Normalise: "none", Column: "mail", Batch: 1, Tokens: c.tokens, Types: c.types}
		cfg := run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), Steps: 3, Accountant: "rdp", Model: run.Model{Layers: strings.Fields(fmt.Sprintf("embedding:%d:4:t2 mean dense", cmp.Or(c.known, 500)))}, Start: c.start}
		p, err := plan.New(cfg, m)
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || c.want == "" && err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if err == nil {
			said := fmt.Sprint(p.Info().Warnings)
			if strings.Contains(said, "The tokenizer knows") != (c.said != "") || !strings.Contains(said, c.said) {
				t.Errorf("%+v: %s", c, said)
			}
		}
		if _, err := plan.New(cfg, text); err == nil || !strings.Contains(err.Error(), "takes tokens, and the rows are texts without: under Data") || strings.Contains(err.Error(), "words in order") == (c.start.SHA256 != "") {
			t.Errorf("texts: %v", err)
		}
	}
}

// namesOf has how many names of each of 18 languages NAMES has (PyTorch’s tutorial “Classifying names with a character-level RNN”).
var namesOf = []int{9408, 3668, 2000, 991, 724, 709, 519, 298, 297, 277, 268, 232, 203, 139, 100, 94, 74, 73}

// drawnNames draws a table of names of 18 languages, as rare as those of NAMES: chains of letters, of which a language has its
// own beside what is common to all.
func drawnNames(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 5))
	const letters = 26
	var common [letters + 1][letters]float64 // the last line is that of the first letter
	for i := range common {
		for j := range letters {
			common[i][j] = 1.2 * rng.NormFloat64()
		}
	}
	chains := make([][letters + 1][letters]float64, len(namesOf))
	for k := range chains {
		for i := range common {
			for j, c := range common[i] {
				chains[k][i][j] = math.Exp(c + 1.4*rng.NormFloat64())
			}
		}
	}
	draw := func(weights []float64) int {
		all := 0.0
		for _, w := range weights {
			all += w
		}
		at := all * rng.Float64()
		for i, w := range weights {
			if at -= w; at < 0 {
				return i
			}
		}
		return len(weights) - 1
	}
	shares := make([]float64, len(namesOf))
	for k, many := range namesOf {
		shares[k] = float64(many)
	}
	var b bytes.Buffer
	b.WriteString("language,name\n")
	for range n {
		k, last := draw(shares), letters
		var name []byte
		for range 4 + rng.IntN(7) {
			last = draw(chains[k][last][:])
			name = append(name, byte('a'+last))
		}
		fmt.Fprintf(&b, "l%d,%s\n", k, name)
	}
	return b.Bytes()
}

// TestCellsLearnNames: cells tell languages that the largest one alone does not, with no settings but ε and steps.
func TestCellsLearnNames(t *testing.T) {
	opt := run.CSV{Columns: map[string]string{"name": "letters"}, Label: "language", Task: "classification", MaxLength: 10}
	ds, _, err := load.Load(t.Context(), []source.File{source.Bytes("names.csv", drawnNames(4000, 1))}, nil, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	model := run.Model{Layers: strings.Fields("embedding:256:8 lstm:8 lstm:8 mean dense")}
	_, res := finish(t, started(t, run.Config{CSV: opt, Model: model, TargetEpsilon: ptr(8.0), Steps: 80, LearningRate: 0.1, Optimizer: "adam", Seed: ptr(uint64(1))}, ds))
	most := 0
	for _, c := range res.TestClasses {
		most = max(most, c.Rows)
	}
	t.Logf("accuracy %v, of which the largest has %d of %d", res.TestAccuracy, most, res.TestRows)
	// 800 rows have a standard deviation of 1.8 points.
	if share := float64(most) / float64(res.TestRows); !(float64(res.TestAccuracy) > share+0.06) {
		t.Errorf("an accuracy of %v, and %v are the largest class", res.TestAccuracy, share)
	}
}
