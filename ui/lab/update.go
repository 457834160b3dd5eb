package lab

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/form"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/motion"
	"clipscope/ui/widget"
	"clipscope/ui/words"
)

// New makes a laboratory with the drawn digits, on which a run takes a second.
func New(c Client) *Lab {
	l := &Lab{client: c, screens: map[string]screen{}, facts: map[string]run.Facts{}}
	l.config = link.First()
	l.bench = bench{axis: firstAxis(), c: 1, path: []float64{}}
	l.lanes.seeds, l.sweep.guess = 1, 1
	later := func(f func()) func() { return func() { l.update(thePage, f) } }
	l.laneQueue = newQueue(&l.lanes.jobs, c, later(l.lanes.draw), func(a *attempt) { l.lanes.facts(a, l.note) })
	l.lanes.replay = motion.NewReplay(l.lanes.replayed, later(l.lanes.draw),
		func(d time.Duration, f func()) func() bool { return l.laneQueue.after(d, f) }, time.Now)
	l.sweepQueue = newQueue(&l.sweep.jobs, c, later(l.sweep.draw), func(*attempt) { l.sweep.ended(l.note) })
	l.sweepQueue.quiet = true
	return l
}

func (c attach) apply(l *Lab) {
	l.screens[c.name] = c.screen
	if c.name == "field" && l.remote != nil {
		l.outline()
	}
	c.screen(&l.state, everything)
	l.touched |= theTexts | theHandles
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

// openExperiment starts anew from another experiment.
func (l *Lab) openExperiment(cfg run.Config) {
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
			kept = run.Config{}
		}
		cfg.Model, cfg.LearningRate = kept.Model, kept.LearningRate
	case "method":
		cfg.Params = nil
	}
	l.openExperiment(cfg)
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
	l.openExperiment(cfg)
}

func (c overlay) apply(l *Lab) {
	if with := toggled(l.with, c.method); len(with) <= link.MostWith {
		l.with = with
	}
	if l.remote != nil {
		l.turn++
		l.asking = false
		l.measure()
		l.ask()
	}
	l.writeHash()
}

func (fetchLessons) apply(l *Lab) {
	c := &l.course
	if c.requested {
		return
	}
	c.requested = true
	l.client.Text(widget.Link("/web/assets/lessons.json"), answer(l, thePage, func(b []byte, err error) {
		if err == nil {
			c.list, err = lesson.Read(b)
		}
		if err != nil {
			c.fault, c.requested = "The lessons did not come: "+err.Error(), false
		}
		if c.at == nil && l.wanted.lesson != "" {
			l.openLesson(l.wanted.lesson, l.wanted.step)
		}
	}))
}

func (fetchFigures) apply(l *Lab) {
	p := &l.papers
	if p.requested {
		return
	}
	p.requested = true
	l.client.Text(widget.Link("/web/assets/papers.json"), func(figures []byte, err error) {
		done := answer(l, thePage, func(stored []byte, err error) {
			if err == nil {
				p.list, err = lesson.ReadFigures(figures, stored)
			}
			if err != nil {
				p.fault, p.requested = "The papers’ figures did not come: "+err.Error(), false
			}
		})
		if err != nil {
			done(nil, err)
			return
		}
		l.client.Text(widget.Link("/web/assets/papers-stored.json"), done)
	})
}

func (c openLesson) apply(l *Lab) {
	l.openLesson(c.id, 1)
	browser.Focus("lesson-next") // the list is gone
}

// openLesson opens a lesson at one of its steps, from 1, or the nearest step that there is.
// The experiment becomes what the steps so far set. An unknown lesson closes the open one.
func (l *Lab) openLesson(id string, step int) {
	c := &l.course
	c.at, c.step, c.answer, c.book = nil, 0, map[string]verdict{}, lesson.Book{}
	i := slices.IndexFunc(c.list, func(o lesson.Lesson) bool { return o.ID == id })
	if i < 0 {
		if id != "" {
			l.lost = fmt.Sprintf("This link leads to a lesson that is not here: %q.", id)
		}
		l.enter(nil, 0)
		return
	}
	c.at = &c.list[i]
	c.step = min(max(step, 1), len(c.at.Steps)) - 1
	from := 0
	if c.step > 0 {
		from = c.at.Steps[c.step-1].From
	}
	l.enter(c.setSoFar(), from)
}

// enter begins the open step, in the experiment that it is about. Where that is opened anew, it is trained by so many steps.
func (l *Lab) enter(set map[string]any, trained int) {
	c := &l.course
	c.typed, c.chosen, c.lacks = "", -1, ""
	if s := c.now(); s != nil {
		c.book.Open(s)
		c.recall(s)
	}
	l.stage(set, trained)
	l.writeHash()
	l.showStep()
}

// stage sets the page to what a lesson's step sets, trained by so many steps; nothing where it sets nothing, or where
// the lesson has been left.
func (l *Lab) stage(set map[string]any, trained int) {
	l.fault = ""
	own := maps.Clone(set) // of the configuration, not of a part of the page
	delete(own, "lanes")
	delete(own, "game")
	cfg, err := l.config.With(own)
	if err != nil {
		l.fault = err.Error()
		return
	}
	if len(own) > 0 {
		l.foresee(&cfg)
		l.config, l.bench.c = cfg, cfg.MaxGradNorm
		l.open(places{step: trained})
	}
	l.noteBench()
	l.touched |= theBoards
	l.sweep.again(l.config, l.note)
	if text, sets := set["lanes"].(string); sets {
		if err := l.restoreLanes(text); err != nil {
			l.fault = err.Error()
		}
	}
	if noise, sets := set["game"].(float64); sets {
		l.play(noise)
	}
}

func (nextStep) apply(l *Lab) {
	c := &l.course
	switch {
	case c.step < len(c.at.Steps)-1: // in the experiment as it stands, but for what the step sets
		c.step++
		l.enter(c.now().Set, 0)
	case c.number() < len(c.list):
		l.openLesson(c.list[c.number()].ID, 1)
	default:
		leaveLesson{listed: true}.apply(l)
	}
}

func (backStep) apply(l *Lab) {
	c := &l.course
	c.step--
	l.enter(c.setSoFar(), c.now().From) // as far as it was left
}

func (c leaveLesson) apply(l *Lab) {
	l.course.listed = c.listed
	l.openLesson("", 1)
	browser.Focus("lesson-list")
}

func (c typeAnswer) apply(l *Lab) { l.course.typed = c.text }
func (c pickAnswer) apply(l *Lab) { l.course.chosen = c.option }

func (checkAnswer) apply(l *Lab) {
	c, s := &l.course, l.course.now()
	if s == nil || s.Ask == nil || !c.book.Ready(s.Ask) {
		return
	}
	q := s.Ask
	c.lacks = ""
	if c.typed == "" && c.byHandle(q) {
		c.typed = words.Number(l.bench.c, 3)
	}
	switch {
	case len(q.Options) > 0 && c.chosen < 0:
		c.lacks = "Choose an answer first."
		return
	case len(q.Options) == 0 && strings.TrimSpace(c.typed) == "":
		c.lacks = "Type a number first."
		return
	case len(q.Options) == 0:
		guess, err := c.guess()
		if err != nil { // the answer stays to be corrected
			c.lacks = err.Error() + "."
			return
		}
		fact, _ := c.book.Fact(q.Fact)
		c.judge(guess, fact, words.Number(fact, 3))
	default:
		i := c.book.Option(q) // the book is ready
		c.judge(float64(c.chosen), float64(i), q.Options[i])
	}
	l.touched |= theBoards           // hidden until then
	browser.Reveal("lesson-verdict") // on a phone it is below what is shown of the lesson
}

func (c nameCard) apply(l *Lab) { l.course.name = c.name }

func (saveCard) apply(l *Lab) {
	browser.Save("answers-"+l.course.id()+".txt", "text/plain", l.course.card().Text()+"\n")
}

func (c pasteCards) apply(l *Lab) {
	l.course.class.pasted = c.text + "\n"
	l.course.class.read(l.course.list)
}

func (c fileCards) apply(l *Lab) {
	l.course.class.files += c.text + "\n"
	l.course.class.read(l.course.list)
}

// play begins the game, and asks for the ε of its release.
func (l *Lab) play(noise float64) {
	l.game.restart(noise)
	const delta = 1e-5 // as everywhere on the page at first
	l.client.Ask("epsilon", map[string]any{"noise_multiplier": noise, "sample_rate": 1, "steps": 1, "target_delta": delta}, answer(l, thePage, func(b []byte, err error) {
		var epsilon run.Number
		if err == nil && json.Unmarshal(b, &epsilon) == nil && l.game.noise == noise {
			l.game.epsilon = fmt.Sprintf(": one such release has ε = %s at δ = 1e−5", words.Epsilon(float64(epsilon)))
		}
	}))
}

func (c guessIn) apply(l *Lab) {
	browser.KeepPlace()
	l.game.guess(c.in)
	l.game.facts(l.note)
}

func (playBest) apply(l *Lab) {
	browser.KeepPlace()
	l.game.play(100)
	l.game.facts(l.note)
}

func (c openFigure) apply(l *Lab) {
	l.papers.at = c.figure
	browser.Scroll("figure")
}

func (c reproduce) apply(l *Lab) {
	f := c.figure
	l.config = f.Base
	if f.Base.Seed == nil {
		l.config.Seed = link.First().Seed
	}
	l.open(places{})
	if len(f.Lanes) == 0 {
		l.papers.shown = f
		browser.Scroll("lab-claim")
		return
	}
	l.startIf(l.fillLanes(l.config, f.Lanes, f.Watch))
	l.lanes.about = f
}
