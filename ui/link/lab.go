package link

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"clipscope/core/clip"
	"clipscope/core/lab"
	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/lesson"
)

// Lab is a state of the laboratory: the experiment as everywhere, and beside it settings
// that begin with "lab." and belong to that page.
type Lab struct {
	Run   run.Config // on built-in data, with a seed, by a method that can be looked at
	C     float64    // the hand's threshold; 0 where nothing is said of it
	With  []string   // methods that are shown beside the experiment's own: at most MostWith
	Step  int        // of the run; at most MostSteps
	Batch int        // how many times the batch was taken again; at most MostBatches
	// Linear has lengths drawn as they are, not their logarithms.
	Linear bool
	Lanes  string // as ParseLanes reads it
	Lesson string // the name of a lesson, which sets all else
	// LessonStep is the lesson's step, from 1; 0, as 1, is the first.
	LessonStep int
}

// The most that a link may ask for: a run's steps are bounded by its plan, and each other
// batch takes as long as the first.
const (
	MostSteps   = 100_000
	MostBatches = 20
	MostWith    = 2
)

const mine = "lab."

// lessonKey begins a link to a lesson, and lessonName is what those are called, with a step
// behind it or none: no list of them is here, as they come with the site.
const lessonKey = "lesson="

var lessonName = regexp.MustCompile(`^([A-Za-z0-9_-]{1,40})(?:\.([1-9][0-9]?))?$`)

// Hash is the state as text, which [ReadLab] reads.
func (s Lab) Hash() string {
	switch {
	case s.Lesson != "" && s.LessonStep > 1:
		return lessonKey + s.Lesson + "." + strconv.Itoa(s.LessonStep)
	case s.Lesson != "":
		return lessonKey + s.Lesson
	}
	var parts []string
	add := func(there bool, key, value string) {
		if there {
			parts = append(parts, mine+key+"="+value)
		}
	}
	add(s.C > 0, "c", form.Format(s.C))
	add(len(s.With) > 0, "with", strings.Join(s.With, ","))
	add(s.Step > 0, "step", strconv.Itoa(s.Step))
	add(s.Batch > 0, "batch", strconv.Itoa(s.Batch))
	add(s.Linear, "linear", "true")
	add(s.Lanes != "", "lanes", s.Lanes)
	if cfg, err := s.Run.Hash(); err == nil {
		parts = append(parts, cfg)
	}
	return strings.Join(parts, "&")
}

// ReadLab reads what Hash wrote, without the '#'. What is no setting, and what the
// laboratory cannot look at, is left out; lost names the first of that.
func ReadLab(hash string) (s Lab, lost []string) {
	if text, ok := strings.CutPrefix(hash, lessonKey); ok {
		m := lessonName.FindStringSubmatch(text)
		if m == nil {
			return Lab{Run: First()}, []string{"lesson"}
		}
		step, _ := strconv.Atoi(m[2]) // 0 of none
		return Lab{Run: First(), Lesson: m[1], LessonStep: step}, nil
	}
	var rest []string
	for pair := range strings.SplitSeq(hash, "&") {
		key, value, _ := strings.Cut(pair, "=")
		key, own := strings.CutPrefix(key, mine)
		if !own {
			rest = append(rest, pair)
		} else if !s.set(key, value) && len(lost) < 20 {
			lost = append(lost, mine+short(key))
		}
	}
	s.Run = First()
	if given := strings.Join(rest, "&"); strings.Contains(given, "=") {
		cfg, names, _ := ReadRun(given)
		lost = append(lost, names...)
		lost = append(lost, take(&cfg)...)
		s.Run = cfg
	}
	return s, lost
}

// short is a key that a message can show.
func short(key string) string {
	const long = 40
	if len(key) > long {
		return strings.ToValidUTF8(key[:long], "") + "…"
	}
	return key
}

// set takes up one setting, and reports whether it is one.
func (s *Lab) set(key, value string) bool {
	whole := func(most int, n *int) bool {
		v, err := strconv.Atoi(value)
		if err != nil || v < 0 || v > most {
			return false
		}
		*n = v
		return true
	}
	switch key {
	case "c":
		c, err := form.Parse(value)
		if err != nil || !(c >= clip.MinThreshold && c <= clip.MaxThreshold) { // as a run's
			return false
		}
		s.C = c
	case "with":
		for name := range strings.SplitSeq(value, ",") {
			if !slices.Contains(Weighing(), name) || len(s.With) == MostWith {
				return false
			}
			s.With = append(s.With, name)
		}
	case "step":
		return whole(MostSteps, &s.Step)
	case "batch":
		return whole(MostBatches, &s.Batch)
	case "linear":
		linear, err := strconv.ParseBool(value) // as other settings that are on or off
		if err != nil {
			return false
		}
		s.Linear = linear
	case "lanes":
		if _, err := ParseLanes(value); err != nil {
			return false
		}
		s.Lanes = value
	default:
		return false
	}
	return true
}

// take makes an experiment that came from elsewhere one of the laboratory: built-in data,
// a seed, and a method that can be looked at.
func take(cfg *run.Config) (lost []string) {
	if cfg.Data == form.Files || cfg.Data == "" {
		if cfg.Data != "" {
			lost = append(lost, "data")
		}
		cfg.Data = First().Data
	}
	if cfg.Seed == nil {
		cfg.Seed = First().Seed
	}
	if cfg.Method == "" || !slices.Contains(Offered(), cfg.Method) {
		if cfg.Method != "" {
			lost = append(lost, "method")
		}
		cfg.Method, cfg.Params = First().Method, nil
	}
	if cfg.NoiseMultiplier == nil && cfg.TargetEpsilon == nil && !cfg.NoPrivacy {
		cfg.TargetEpsilon = First().TargetEpsilon
	}
	return lost
}

// First is the laboratory's experiment where a link names none: the drawn digits, on which
// the best C is known (docs/reproductions.md), at an ε where the U has two sides that are
// seen: at 2 its left one is all but flat.
func First() run.Config {
	epsilon, seed := 8.0, uint64(1)
	return run.Config{
		Data: "digits", Model: run.Model{Kind: "softmax"}, Method: "constant", MaxGradNorm: 1,
		TargetEpsilon: &epsilon, ExpectedBatchSize: 512, Epochs: 20, LearningRate: 0.3, Seed: &seed,
	}
}

// Offered are the methods whose doing follows from the norms of whole gradients, by name.
var Offered = sync.OnceValue(func() []string {
	var names []string
	for _, m := range clip.Methods() {
		if _, ok := Weight(m.Name); ok {
			names = append(names, m.Name)
		}
	}
	return names
})

// Weighing returns the methods that weigh gradients differently at one threshold: of those
// that only move it, the first.
var Weighing = sync.OnceValue(func() []string {
	var names []string
	var seen [][]float64
	for _, name := range Offered() {
		w, _ := Weight(name)
		var factors []float64
		for _, n := range []float64{0, 0.1, 0.5, 1, 2, 10} {
			factors = append(factors, w.Factor(n, 1), w.Factor(n, 3))
		}
		if !slices.ContainsFunc(seen, func(f []float64) bool { return slices.Equal(f, factors) }) {
			seen, names = append(seen, factors), append(names, name)
		}
	}
	return names
})

// Weight is the weight function of a method that the laboratory can look at.
func Weight(method string) (clip.Weight, bool) {
	c, err := lab.Clipper(method, nil)
	if err != nil || c.NonPrivate || c.Source != clip.Exact {
		return nil, false
	}
	return c.Weight, true
}

// Unbounded is the text of ε where there is no noise.
const Unbounded = "∞"

// Varied are the fields in which lanes of a link or of a lesson may differ.
var Varied = []string{"max_grad_norm", "target_epsilon", "noise_multiplier", "method", "weight", "threshold", "expected_batch_size", "learning_rate", "optimizer", "epochs"}

// laneValue matches the text of a lane's value: a number or a name that stands in an
// address as it is. Longer ones have no room at a line's end.
var laneValue = regexp.MustCompile(`^[A-Za-z0-9.+-]{1,20}$`)

// MostSet limits the fields that a lane of ParseLanes sets.
const MostSet = 3

// ParseLanes makes runs side by side of text such as "max_grad_norm=1,3,10".
func ParseLanes(text string) ([]lesson.Lane, error) {
	key, values, _ := strings.Cut(text, "=")
	if !slices.Contains(Varied, key) {
		return nil, fmt.Errorf("lanes cannot differ in %q", short(key))
	}
	all := strings.SplitN(values, ",", lesson.MostLanes+1)
	if len(all) > lesson.MostLanes {
		return nil, fmt.Errorf("at most %d lanes are shown", lesson.MostLanes)
	}
	var list []lesson.Lane
	for _, value := range all {
		if !laneValue.MatchString(value) || slices.ContainsFunc(list, func(l lesson.Lane) bool { return l.Label == value }) {
			return nil, fmt.Errorf("%q is no value of a lane, or one twice", short(value))
		}
		one := lesson.Lane{Label: value, Set: map[string]any{key: value}}
		v, err := strconv.ParseFloat(value, 64)
		switch {
		case err == nil && key == "target_epsilon" && math.IsInf(v, 1):
			one = lesson.Lane{Label: Unbounded, Set: map[string]any{"target_epsilon": nil, "noise_multiplier": nil, "no_privacy": true}}
		case err == nil && (math.IsInf(v, 0) || math.IsNaN(v)):
			return nil, fmt.Errorf("%s is no value of a lane", value)
		case err == nil:
			one.Set[key] = v
		}
		if _, noiseless := one.Set["no_privacy"]; !noiseless && (key == "target_epsilon" || key == "noise_multiplier") {
			one.Set["no_privacy"] = nil
		}
		list = append(list, one)
	}
	return list, nil
}
