package check

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/model"
	"clipscope/core/run"
)

// claims holds a file's claims about its run's privacy. NaN, nil or 0 marks a claim that the
// file does not make.
type claims struct {
	kind, program string
	promised      *bool // whether there is a guarantee
	sentence      string
	text          string // the statement in words
	short         string // the same as a paragraph
	sections      []run.Section
	attacker      *run.Attack
	epsilon       float64
	atStep        float64
	delta         float64
	accountant    string
	steps         int // taken
	planned       int // charged
	rate, sigma   float64
	events        []json.RawMessage
	each          *run.Epsilons
	groups        []run.GroupEpsilon
	curve         []float64 // ε step by step
	config        *run.Config
	start         *run.StartInfo // the weights that it started from, where a field names them
	mixed         bool           // a field names public rows
	checks        []run.Check
	findings      []Finding  // of reading
	ledger        []run.Line // of a ledger
	bare          string     // why there is nothing to check
	_             struct{}   // fields are named
}

// Finding is short for the type that crosses the worker's border.
type Finding = run.Finding

func newClaims(kind string) *claims {
	nan := math.NaN()
	return &claims{kind: kind, epsilon: nan, atStep: nan, delta: nan, rate: nan, sigma: nan}
}

// errUnknown reports a file that the page did not write.
var errUnknown = errors.New("this is not a file that Clipscope writes")

// readFile recognises a file by its content.
func readFile(b []byte) (*claims, error) {
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return nil, errors.New("the file is empty")
	case bytes.HasPrefix(b, []byte(zipMagic)):
		return readZip(b)
	case bytes.HasPrefix(b, []byte(checkpointMagic)):
		return readCheckpoint(b)
	case isTensors(b):
		return readTensors(b)
	case b[0] == 8 && !bytes.HasPrefix(b, []byte("{")):
		c := newClaims("ONNX model")
		c.bare = "An ONNX file has the layers and parameters and no word on privacy. Check the zip, the JSON or the safetensors of the same model."
		return c, nil
	}
	if b = bytes.TrimPrefix(b, byteOrderMark); isJSON(b) {
		return readJSON(b)
	}
	return readText(b)
}

// zipMagic begins a zip.
const zipMagic = "PK\x03\x04"

// byteOrderMark may begin a text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// isJSON reports whether a text begins as JSON does.
func isJSON(b []byte) bool {
	t := trimLeft(b)
	return len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

// isTensors reports whether a file begins as safetensors do.
func isTensors(b []byte) bool {
	return len(b) > 8 && b[8] == '{' && binary.LittleEndian.Uint64(b) <= 100<<20
}

// checkpointMagic begins the state of a run that can go on (core/train).
const checkpointMagic = "clipscope state\x02"

// readCheckpoint reads the head of a checkpoint: two hashes, and how many steps there were.
func readCheckpoint(b []byte) (*claims, error) {
	const head = len(checkpointMagic) + 64
	if len(b) < head+8 {
		return nil, errors.New("the checkpoint is cut short")
	}
	n := binary.LittleEndian.Uint64(b[head:])
	if n < 1 || n > mostSteps {
		return nil, fmt.Errorf("the checkpoint is damaged: it is of step %d", n)
	}
	c := newClaims("checkpoint")
	c.bare = fmt.Sprintf("A checkpoint holds the state of a run after step %d and names its plan by a hash: it claims no ε. What the run is charged stands in the ledger.", n)
	return c, nil
}

// readText reads a statement in words, or the series of a run.
func readText(b []byte) (*claims, error) {
	if len(b) > mostText {
		return nil, errUnknown
	}
	if c, err := readSeries(b); c != nil || err != nil {
		return c, err
	}
	if len(b) > mostSaid {
		return nil, fmt.Errorf("the text has %d bytes, over the limit of %d of a statement", len(b), mostSaid)
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	if !strings.Contains(text, "differential privacy") && !strings.Contains(text, "differentially private") && !strings.Contains(text, "guarantee") && !strings.Contains(text, "DP-SGD") {
		return nil, errUnknown
	}
	c := newClaims("privacy statement, text")
	c.text = text
	if at := strings.LastIndex(text, "Made by Clipscope "); at >= 0 {
		c.program, _, _ = strings.Cut(text[at+len("Made by "):], "\n")
		c.program = clipped(strings.TrimSuffix(c.program, "."))
	}
	w, ok := readWords(text)
	if !ok {
		if strings.Contains(text, "no guarantee") || strings.Contains(text, "No guarantee") {
			c.bare = "It says that there is no guarantee, and claims no ε."
			return c, nil
		}
		c.bare = "Its sentences are not those of a statement that the page wrote, or were changed: no ε and δ can be read from them. Check the JSON of the statement."
		return c, nil
	}
	c.epsilon, c.delta, c.accountant, c.planned, c.rate, c.sigma = w.epsilon, w.delta, w.accountant, w.steps, w.rate, w.sigma
	return c, nil
}

// seriesHead begins the table in the CSV of a run.
const seriesHead = "step,max_grad_norm,epsilon,"

// afterRemarks returns a text without the lines of remarks that it begins with.
func afterRemarks(text []byte) []byte {
	for len(text) > 0 && text[0] == '#' {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text
}

// readSeries reads the CSV of a run; nil where the text is none.
func readSeries(b []byte) (*claims, error) {
	b = afterRemarks(b)
	if !bytes.HasPrefix(b, []byte(seriesHead)) {
		return nil, nil
	}
	rows := csv.NewReader(bytes.NewReader(b))
	rows.ReuseRecord = true
	c := newClaims("run, CSV")
	for i := 1; ; i++ {
		row, err := rows.Read()
		switch {
		case err == io.EOF:
			return c, nil
		case err != nil:
			return nil, fmt.Errorf("the table cannot be read: %w", err)
		case i == 1:
			continue
		case i > mostPoints:
			return nil, fmt.Errorf("there are more than %d rows", mostPoints)
		}
		e, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			return nil, fmt.Errorf("row %d: ε is %q, which is no number", i, clipped(row[2]))
		}
		c.curve = append(c.curve, e)
		if c.steps, err = strconv.Atoi(row[0]); err != nil {
			return nil, fmt.Errorf("row %d: the step is %q, which is no number", i, clipped(row[0]))
		}
	}
}

// readJSON reads what the page writes as JSON.
func readJSON(b []byte) (*claims, error) {
	rest, err := plain(b)
	if err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(rest, &keys) != nil {
		return nil, errUnknown
	}
	switch kindOf(keys) {
	case kindModel:
		return readModelJSON(b, rest)
	case kindStatement:
		return readStatement(b)
	case kindRun:
		return readRun(b)
	case kindLedger:
		return readLedger(b)
	case kindChart:
		c := newClaims(kindChart)
		c.bare = "A chart's numbers carry no events: nothing can be worked out again. Check the run’s JSON."
		return c, nil
	}
	return nil, errUnknown
}

// Kinds of files that are JSON.
const (
	kindModel     = "saved model, JSON"
	kindStatement = "privacy statement, JSON"
	kindRun       = "run, JSON"
	kindLedger    = "ledger"
	kindChart     = "chart"
)

// kindOf returns the kind of a JSON file by its outermost keys; empty where the page writes none such.
func kindOf(keys map[string]json.RawMessage) string {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return keys[n] == nil })
	}
	switch {
	case has("format", "version") || has("guarantee", "parameters"):
		return kindModel
	case has("sample_rate", "noise_multiplier", "epsilon", "text"):
		return kindStatement
	case has("config", "series"), has("guarantee", "released", "planned_steps"):
		return kindRun
	case has("made", "runs"):
		return kindLedger
	case has("title", "columns", "rows"):
		return kindChart
	}
	return ""
}

// decode is like json.Unmarshal, with errors that a person understands.
func decode(b []byte, into any) error {
	err := json.Unmarshal(b, into)
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: a %s is not what goes there", clipped(strings.TrimPrefix(e.Field, "File.")), clippedAt(e.Value, mostQuoted))
	}
	if err != nil {
		return errors.New(reason(err))
	}
	return nil
}

func readStatement(b []byte) (*claims, error) {
	var s run.Statement
	if err := decode(b, &s); err != nil {
		return nil, err
	}
	c := newClaims(kindStatement)
	c.state(&s)
	return c, nil
}

// state takes over a statement's claims.
func (c *claims) state(s *run.Statement) {
	c.promised, c.text = &s.Guarantee, s.Text
	c.epsilon, c.atStep, c.delta, c.accountant = float64(s.Epsilon), float64(s.EpsilonAtStep), s.Delta, s.Accountant
	c.steps, c.planned, c.rate, c.sigma = s.Steps, s.Planned, s.SampleRate, float64(s.NoiseMultiplier)
	c.events, c.groups, c.checks = s.Events, s.Groups, s.Checks
	c.short, c.sections, c.attacker, c.start, c.mixed = s.Short, s.Sections, s.Attacker, s.Start, s.PublicRows != nil
	if s.Epsilons != (run.Epsilons{}) {
		c.each = &s.Epsilons
	}
	if v := s.Versions["clipscope"]; v != "" {
		c.program = "Clipscope " + clipped(v)
	}
}

// readRun reads a run as it is exported, or the result of one.
func readRun(b []byte) (*claims, error) {
	v := struct {
		Config     *run.Config       `json:"config"`
		Guarantee  string            `json:"guarantee"`
		Epsilon    *run.Number       `json:"epsilon"`
		Delta      *float64          `json:"delta"`
		Accountant string            `json:"accountant"`
		Steps      int               `json:"steps"`
		Planned    int               `json:"planned_steps"`
		AtStep     *run.Number       `json:"epsilon_at_step"`
		Events     []json.RawMessage `json:"events"`
		Statement  *run.Statement    `json:"statement"`
		Checks     []run.Check       `json:"checks"`
		Released   struct {
			NoiseMultiplier *float64 `json:"noise_multiplier"`
			SampleRate      *float64 `json:"sample_rate"`
		} `json:"released"`
		Series struct {
			Epsilon curve `json:"epsilon"`
		} `json:"series"`
	}{}
	if err := decode(b, &v); err != nil {
		return nil, err
	}
	c := newClaims(kindRun)
	if v.Statement != nil { // of a result, which has it whole
		c.state(v.Statement)
	}
	c.config, c.sentence, c.accountant, c.steps, c.planned = v.Config, v.Guarantee, v.Accountant, v.Steps, v.Planned
	set(&c.epsilon, (*float64)(v.Epsilon))
	set(&c.atStep, (*float64)(v.AtStep))
	set(&c.delta, v.Delta)
	set(&c.sigma, v.Released.NoiseMultiplier)
	set(&c.rate, v.Released.SampleRate)
	if v.Events != nil {
		c.events = v.Events
	}
	if v.Checks != nil {
		c.checks = v.Checks
	}
	c.curve = v.Series.Epsilon
	if math.IsNaN(c.epsilon) && c.sentence == "" {
		c.bare = "The run had not ended when it was saved: it claims no ε."
	}
	return c, nil
}

// mostPoints is the most points of a run's series. The page writes four series or more of one length,
// of which each value counts as one of mostScalars.
const mostPoints = mostScalars / 4

// curve is a series without its missing values. Package json takes 1 µs to read a number and 10 in a browser: a
// file may hold millions.
type curve []float64

// UnmarshalJSON reads a list of numbers.
func (c *curve) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if b[0] != '[' {
		return errors.New("series.epsilon: a list of numbers is what goes here")
	}
	n := bytes.Count(b, []byte(",")) + 1
	if n > mostPoints {
		return fmt.Errorf("series.epsilon: there are %d values, over the limit of %d", n, mostPoints)
	}
	*c = make(curve, 0, min(n, len(b)/2))
	for b = trimLeft(b[1:]); b[0] != ']'; b = trimLeft(b) {
		if b[0] == ',' {
			b = b[1:]
			continue
		}
		n := extent(b)
		x, known, err := point(b[:n])
		if err != nil {
			return fmt.Errorf("series.epsilon: %s is no number", clippedAt(string(b[:n]), mostQuoted))
		}
		if known {
			*c = append(*c, x)
		}
		b = b[n:]
	}
	return nil
}

// point returns a value of a series, and whether it is not missing.
func point(b []byte) (x float64, known bool, err error) {
	switch b[0] {
	case 'n':
		return 0, false, nil
	case '{':
		var n run.Number
		err = n.UnmarshalJSON(b)
		return float64(n), true, err
	}
	x, err = strconv.ParseFloat(string(b), 64)
	return x, true, err
}

func set(to, from *float64) {
	if from != nil {
		*to = *from
	}
}

// readModelJSON reads a saved model, also one of 0.1.0, which cannot be applied. rest is its text
// without parameters.
func readModelJSON(b, rest []byte) (*claims, error) {
	f, err := model.Read(b)
	if err == nil {
		return ofModel(f, kindModel), nil
	}
	v := struct {
		model.File
		Apply      json.RawMessage `json:"apply"` // in the places of the file's own: they are not looked into
		Parameters json.RawMessage `json:"parameters"`
	}{}
	if err := decode(rest, &v); err != nil {
		return nil, err
	}
	c := ofModel(&v.File, kindModel)
	c.findings = append(c.findings, Finding{Claim: "the model’s parts", File: "they do not fit together", Verdict: run.Differs, Why: reason(err)})
	if v.Apply == nil && v.Format == "" {
		c.program = oldest
		c.findings[0] = Finding{Claim: "the model’s parts", File: "parameters alone", Verdict: run.Unchecked, Why: "0.1.0 saved no more than that"}
	}
	return c, nil
}

// oldest is the program that wrote models which do not name it.
const oldest = "Clipscope 0.1.0"

// mostQuoted bounds the bytes of a word that a message quotes from the file.
const mostQuoted = 40

// reason returns an error of another package in words for the person who dropped the file.
func reason(err error) string {
	s := err.Error()
	for _, p := range []string{"model: ", "privacy: "} {
		s = strings.ReplaceAll(s, p, "")
	}
	words := strings.SplitN(s, " ", 100) // 240 bytes have no more that are read
	for i, w := range words {
		words[i] = clippedAt(w, mostQuoted)
	}
	return clippedAt(strings.Join(words, " "), 240)
}

func clippedAt(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func readTensors(b []byte) (*claims, error) {
	text, err := headerOf(b)
	if err != nil {
		return nil, err
	}
	if err := strict(text); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	var header struct {
		Metadata map[string]string `json:"__metadata__"`
	}
	_ = json.Unmarshal(text, &header) // or model.Read says what is wrong
	for _, name := range []string{"config", "epsilon", "delta", "steps", "planned_steps", "events", "apply"} {
		if text := header.Metadata[name]; text != "" {
			if err := strict([]byte(text)); err != nil {
				return nil, fmt.Errorf("the header: %s: %w", name, err)
			}
		}
	}
	f, err := model.Read(b)
	if err != nil {
		return nil, errors.New(reason(err))
	}
	return ofModel(f, "saved model, safetensors"), nil
}

// headerOf returns the header of a safetensors file.
func headerOf(b []byte) ([]byte, error) {
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(b)-8) {
		return nil, errors.New("the safetensors file is cut short")
	}
	return b[8 : 8+n], nil
}

// ofModel returns the claims of a saved model.
func ofModel(f *model.File, kind string) *claims {
	c := newClaims(kind)
	c.program, c.sentence, c.text = clipped(f.Program), f.Guarantee, f.Statement
	c.epsilon, c.delta, c.accountant, c.steps, c.planned, c.events = float64(f.Epsilon), f.Delta, f.Accountant, f.Steps, f.Planned, f.Events
	c.config = &f.Config
	if f.Format == "" {
		c.config = nil // 0.1.0 had none
	}
	return c
}

// errNoModel reports a zip without a model.
var errNoModel = errors.New("the zip has neither model.safetensors nor model.json: it is no saved model")

// readZip reads the model of a zip, and compares its forms and its statement.
func readZip(b []byte) (*claims, error) {
	files, err := model.Entries(b)
	if err != nil {
		return nil, err
	}
	entries := map[string][]byte{}
	for _, name := range []string{"model.safetensors", "model.json", "statement.txt"} {
		f, ok := files[name]
		if !ok {
			continue
		}
		if entries[name], err = model.Unpack(f, len(b)); err != nil {
			return nil, fmt.Errorf("%s in the zip: %w", name, err)
		}
	}
	var c *claims
	whole, other := entries["model.safetensors"], entries["model.json"]
	switch {
	case len(whole) > 8:
		if c, err = readTensors(whole); err != nil {
			return nil, fmt.Errorf("model.safetensors in the zip: %w", err)
		}
		if other != nil {
			c.findings = append(c.findings, sameModel(whole, other))
		}
	case other != nil:
		if c, err = readJSON(other); err != nil {
			return nil, fmt.Errorf("model.json in the zip: %w", err)
		}
	default:
		return nil, errNoModel
	}
	c.kind = "saved model, zip"
	if text, ok := entries["statement.txt"]; ok {
		said := c.text
		if said == "" {
			said = c.sentence + "\n"
		}
		f := Finding{Claim: "statement.txt", File: "as in the model", Verdict: run.Agrees}
		if string(text) != said {
			f = Finding{Claim: "statement.txt", File: "another text than in the model", Verdict: run.Differs, Why: "the page writes the same into both"}
		}
		c.findings = append(c.findings, f)
	}
	return c, nil
}

// sameModel compares the two forms of a model in a zip.
func sameModel(tensors, text []byte) Finding {
	f := Finding{Claim: "model.json and model.safetensors", File: "the same", Verdict: run.Agrees}
	differ := func(what string) Finding {
		return Finding{Claim: f.Claim, File: what, Verdict: run.Differs, Why: "the page writes the same into both"}
	}
	if err := strict(text); err != nil {
		return differ(err.Error())
	}
	a, err := model.Read(tensors)
	if err != nil {
		return differ(reason(err))
	}
	b, err := model.Read(text)
	if err != nil {
		return differ("model.json: " + reason(err))
	}
	same := func(x, y float32) bool { return x == y || x != x && y != y }
	switch {
	case !slices.EqualFunc(a.Parameters, b.Parameters, same):
		return differ("their parameters differ")
	case a.Epsilon != b.Epsilon || a.Delta != b.Delta || a.Steps != b.Steps || a.Accountant != b.Accountant || a.Guarantee != b.Guarantee || a.Statement != b.Statement || len(a.Events) != len(b.Events):
		return differ("their claims differ")
	}
	return f
}

// readLedger reads an exported ledger.
func readLedger(b []byte) (*claims, error) {
	var v struct {
		Runs []run.Line `json:"runs"`
	}
	if err := decode(b, &v); err != nil {
		return nil, err
	}
	c := newClaims(kindLedger)
	if c.ledger = v.Runs; len(c.ledger) == 0 {
		c.bare = "The ledger has no runs."
	}
	if len(c.ledger) > mostEvents {
		return nil, fmt.Errorf("%d runs are more than the %d that are read", len(c.ledger), mostEvents)
	}
	return c, nil
}
