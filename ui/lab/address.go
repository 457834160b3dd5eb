package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/form"
)

// address keeps what is tried in the URL, after the #: the experiment as everywhere, and
// beside it settings that begin with "lab." and belong to this page.
type address struct {
	lab  *Lab
	lost string // what of the last link was not understood
	// lanes are those that a link asks for, until its experiment is known.
	lanes string
}

const mine = "lab."

// lessonKey begins a link to a lesson.
const lessonKey = "lesson="

// The most that a link may ask for: a run's steps are bounded by its plan, and each other
// batch takes as long as the first.
const (
	mostSteps   = 100_000
	mostBatches = 20
)

// hash is the state as text.
func (a *address) hash() string {
	l, h := a.lab, &a.lab.hands
	if id := l.course.id(); id != "" {
		return lessonKey + id // which sets all else
	}
	parts := []string{mine + "c=" + form.Format(h.c)}
	add := func(there bool, key, value string) {
		if there {
			parts = append(parts, mine+key+"="+value)
		}
	}
	add(len(l.with) > 0, "with", strings.Join(l.with, ","))
	add(h.step > 0, "step", strconv.Itoa(h.step))
	add(h.batch > 0, "batch", strconv.Itoa(h.batch))
	add(h.linear, "linear", "true")
	lanes := l.lanes.state()
	add(lanes != "", "lanes", lanes)
	if cfg, err := l.config.Hash(); err == nil {
		parts = append(parts, cfg)
	}
	return strings.Join(parts, "&")
}

// write puts the state in the URL without a step in the history.
func (a *address) write() { browser.SetHash(a.hash()) }

// read takes up a hash; false if it says nothing, or what is there already.
func (a *address) read(hash string) (to places, ok bool) {
	if hash == "" || hash == a.hash() {
		return places{}, false
	}
	l, h := a.lab, &a.lab.hands
	if id, ok := strings.CutPrefix(hash, lessonKey); ok {
		l.wanted = id
		return places{}, false
	}
	l.wanted = ""
	var rest, lost []string
	l.with, h.linear, a.lanes = nil, false, ""
	for pair := range strings.SplitSeq(hash, "&") {
		key, value, _ := strings.Cut(pair, "=")
		key, own := strings.CutPrefix(key, mine)
		if !own {
			rest = append(rest, pair)
		} else if !a.set(key, value, &to) && len(lost) < 20 {
			lost = append(lost, mine+short(key))
		}
	}
	l.config = first()
	if given := strings.Join(rest, "&"); strings.Contains(given, "=") {
		cfg, dropped := run.ReadHash(given)
		lost = append(lost, dropped.Keys...)
		lost = append(lost, form.Understood(&cfg)...)
		lost = append(lost, l.take(cfg)...)
	}
	if a.lanes != "" && l.lanes.restore(a.lanes) != nil {
		lost = append(lost, mine+"lanes")
	}
	a.lost = ""
	if len(lost) > 0 {
		a.lost = fmt.Sprintf("Not understood in this link, and left out: %s. Everything else is as the link says.", strings.Join(lost, ", "))
	}
	return to, true
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
func (a *address) set(key, value string, to *places) bool {
	l, h := a.lab, &a.lab.hands
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
		if err != nil || !(c > 0) {
			return false
		}
		h.c = c
	case "with":
		for name := range strings.SplitSeq(value, ",") {
			if !slices.Contains(weighing(), name) || len(l.with) == len(overlaid) {
				return false
			}
			l.with = append(l.with, name)
		}
	case "step":
		return whole(mostSteps, &to.step)
	case "batch":
		return whole(mostBatches, &to.batch)
	case "linear":
		h.linear = value == "true"
	case "lanes": // once the experiment is known
		_, err := parse(value)
		a.lanes = value
		return err == nil
	default:
		return false
	}
	return true
}

// take makes an experiment that came from elsewhere one of this page: built-in data, a
// seed, and a method that can be looked at.
func (l *Lab) take(cfg run.Config) (lost []string) {
	if cfg.Data == form.Files || cfg.Data == "" {
		if cfg.Data != "" {
			lost = append(lost, "data")
		}
		cfg.Data = first().Data
	}
	if cfg.Seed == nil {
		cfg.Seed = first().Seed
	}
	if cfg.Method == "" || !slices.Contains(offered(), cfg.Method) {
		if cfg.Method != "" {
			lost = append(lost, "method")
		}
		cfg.Method, cfg.Params = first().Method, nil
	}
	if cfg.NoiseMultiplier == nil && cfg.TargetEpsilon == nil && !cfg.NoPrivacy {
		cfg.TargetEpsilon = first().TargetEpsilon
	}
	l.config = cfg
	return lost
}
