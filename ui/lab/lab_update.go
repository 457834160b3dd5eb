package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/motion"
	"clipscope/ui/widget"
)

// New makes a laboratory with the drawn digits, on which a run takes a second.
func New(c Client) *Lab {
	l := &Lab{client: c, screens: map[string]screen{}, facts: map[string]run.Facts{}}
	l.config = link.First()
	l.bench = bench{axis: firstAxis(), c: 1, path: []float64{}}
	l.lanes.seeds, l.sweep.guess = 1, 1
	later := func(f func()) func() { return func() { l.update(thePage, f) } }
	l.laneQueue = newQueue(&l.lanes.jobs, c, later(l.lanes.draw), l.laneEnded)
	l.lanes.replay = motion.NewReplay(l.lanes.replayed, later(l.lanes.draw),
		func(d time.Duration, f func()) func() bool { return l.laneQueue.after(d, f) }, time.Now)
	l.sweepQueue = newQueue(&l.sweep.jobs, c, later(l.sweep.draw), func(*attempt) { l.sweptOne() })
	l.sweepQueue.quiet = true
	return l
}

func (c attach) apply(l *Lab) {
	l.screens[c.name] = c.screen
	if c.name == "field" && l.remote != nil {
		l.outline()
	}
	c.screen(&l.state, everything)
	l.touch(theTexts | theHandles)
}

func (c detach) apply(l *Lab) { delete(l.screens, c.name) }

// read takes up a hash; false if it says nothing, or what is there already.
func (l *Lab) read(hash string) (to places, ok bool) {
	if hash == "" || hash == l.hash() {
		return places{}, false
	}
	s, lost := link.ReadLab(hash)
	if l.wanted.lesson, l.wanted.step = s.Lesson, s.LessonStep; s.Lesson != "" {
		return places{}, false
	}
	l.config, l.with, l.bench.linear = s.Run, s.With, s.Linear
	if l.linkC = s.C; s.C > 0 {
		l.bench.c = s.C
	}
	if s.Lanes != "" && l.restoreLanes(s.Lanes) != nil {
		lost = append(lost, "lab.lanes")
	}
	l.lost = ""
	if len(lost) > 0 {
		l.lost = fmt.Sprintf("Not understood in this link, and left out: %s. Everything else is as the link says.", strings.Join(lost, ", "))
	}
	return places{step: s.Step, batch: s.Batch}, true
}

func (c follow) apply(l *Lab) {
	to, ok := l.read(c.hash)
	if ok || l.remote == nil && !l.bench.opening {
		l.open(to)
	}
	if l.wanted.lesson != "" && l.course.list != nil {
		l.openLesson(l.wanted.lesson, l.wanted.step)
	}
	if !ok && l.wanted.lesson == "" {
		l.writeHash()
	}
}

// begin starts anew from another experiment.
func (l *Lab) begin(cfg run.Config) {
	l.config = cfg
	l.open(places{})
	l.writeHash()
}

func (c choose) apply(l *Lab) {
	cfg := l.config
	switch c.key {
	case "seed":
		l.setup.draft = &c.text
		return
	case budget:
		setBudget(&cfg, c.text)
	default:
		if err := form.Set(&cfg, c.key, c.text); err != nil {
			return
		}
	}
	switch c.key {
	case "data": // sets model and learning rate to the defaults for the data, but for the digits
		kept := link.First()
		if c.text != kept.Data {
			cfg.Model, cfg.LearningRate = run.Model{}, 0
		} else {
			cfg.Model, cfg.LearningRate = kept.Model, kept.LearningRate
		}
	case "method":
		cfg.Params = nil
	}
	l.begin(cfg)
}

func (c settle) apply(l *Lab) {
	s := &l.setup
	if c.key != "seed" || s.draft == nil {
		return
	}
	cfg := l.config
	s.fault = ""
	if err := form.Set(&cfg, c.key, *s.draft); err != nil {
		s.fault = err.Error()
		return
	}
	if s.draft = nil; cfg.Seed == nil {
		cfg.Seed = link.First().Seed
	}
	l.begin(cfg)
}

func (c overlay) apply(l *Lab) {
	if i := slices.Index(l.with, c.method); i >= 0 {
		l.with = slices.Delete(slices.Clone(l.with), i, i+1)
	} else if len(l.with) < link.MostWith {
		l.with = append(slices.Clone(l.with), c.method)
	}
	l.measureAgain()
	l.writeHash()
}

func (fetch) apply(l *Lab) {
	l.fetchLessons()
	l.fetchFigures()
}

// fetchLessons fetches the lessons, once.
func (l *Lab) fetchLessons() {
	c := &l.course
	if c.asked {
		return
	}
	c.asked = true
	l.client.Text(widget.Link("/web/assets/lessons.json"), answer(l, func(b []byte, err error) {
		if err == nil {
			c.list, err = lesson.Read(b)
		}
		if err != nil {
			c.fault, c.asked = "The lessons did not come: "+err.Error(), false
		}
		if c.at == nil && l.wanted.lesson != "" {
			l.openLesson(l.wanted.lesson, l.wanted.step)
		}
		l.touch(thePage)
	}))
}

// fetchFigures fetches the papers' figures and their stored results, once.
func (l *Lab) fetchFigures() {
	p := &l.papers
	if p.asked {
		return
	}
	p.asked = true
	l.client.Text(widget.Link("/web/assets/papers.json"), func(figures []byte, err error) {
		done := answer(l, func(stored []byte, err error) {
			if err == nil {
				p.list, err = lesson.ReadFigures(figures, stored)
			}
			if err != nil {
				p.fault, p.asked = "The papers’ figures did not come: "+err.Error(), false
			}
			l.touch(thePage)
		})
		if err != nil {
			done(nil, err)
			return
		}
		l.client.Text(widget.Link("/web/assets/papers-stored.json"), done)
	})
}
