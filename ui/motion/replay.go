package motion

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/series"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Replay shows runs as they stood after a step that lies back, from what is kept of them.
// It holds no numbers of its own.
type Replay struct {
	runs  func() []Run // that are shown, as they are now
	shown func()       // draws them, and shows what is said of them
	after func(time.Duration, func()) (stop func() bool)
	now   func() time.Time

	open  bool
	step  int // that is shown; 0: the last
	speed float64
	rest  func() bool // calls off the next tick; nil: it does not play
	since time.Time   // when it began to play
	from  int         // at which step
}

// Run is a run that is replayed. A name tells it from the others.
type Run struct {
	Name   string
	Record *series.Record // nil or empty: it has told nothing
}

// NewReplay returns a closed replay.
func NewReplay(runs func() []Run, shown func(), after func(time.Duration, func()) (stop func() bool), now func() time.Time) *Replay {
	return &Replay{runs: runs, shown: shown, after: after, now: now, speed: 100}
}

// At is a record as it is to be shown.
func (p *Replay) At(r *series.Record) *series.Record {
	if p.step == 0 || r.Len() == 0 {
		return r
	}
	return r.Until(p.step)
}

// ends are the first and the last step of all runs; 0 where there is none.
func (p *Replay) ends() (first, last int) {
	for _, r := range p.runs() {
		if r.Record.Len() > 0 {
			at := int(r.Record.Points()[0][series.Step])
			first, last = min(cmp.Or(first, at), at), max(last, r.Record.Last.Step)
		}
	}
	return first, last
}

// Some reports whether there is something to replay.
func (p *Replay) Some() bool {
	first, last := p.ends()
	return last > first
}

// Close shows what there is by now.
func (p *Replay) Close() {
	p.pause()
	p.open, p.step = false, 0
}

// Open opens it, and closes it when it is open.
func (p *Replay) Open() {
	open := !p.open
	p.Close()
	p.open = open
	p.shown()
}

func (p *Replay) pause() {
	if p.rest != nil {
		p.rest()
	}
	p.rest = nil
}

const (
	// tick is the interval between drawings while it plays, as of a run that goes on.
	tick = 50 * time.Millisecond
	// whole is the duration of a run at full speed.
	whole = 4.0 // seconds
)

// play goes on from the step that is shown; at the end, from the beginning.
func (p *Replay) play() {
	first, _ := p.ends()
	p.step = cmp.Or(p.step, first)
	p.since, p.from = p.now(), p.step
	p.next()
	p.shown()
}

func (p *Replay) next() { p.rest = p.after(tick, p.move) }

func (p *Replay) move() {
	_, last := p.ends()
	perSecond := p.speed
	if perSecond == Full {
		perSecond = float64(last) / whole
	}
	p.rest = nil
	if to := float64(p.from) + perSecond*p.now().Sub(p.since).Seconds(); to < float64(last) {
		moved := int(to) != p.step
		p.step = int(to)
		p.next()
		if !moved {
			return
		}
	} else {
		p.step = 0
	}
	p.shown()
}

// Seek shows a step, from which it plays on if it does.
func (p *Replay) Seek(step int) {
	if _, last := p.ends(); step >= last {
		step = 0
	}
	p.step = step
	if p.rest != nil && step > 0 {
		p.since, p.from = p.now(), step
	} else {
		p.pause()
	}
	p.shown()
}

func (p *Replay) pace(perSecond float64) {
	p.speed, p.since, p.from = perSecond, p.now(), p.step
	p.shown()
}

// Button opens and closes it.
func (p *Replay) Button() app.UI {
	return app.Button().Type("button").ID("replay-open").Aria("expanded", p.open).Aria("controls", "replay").Text("Replay").
		OnClick(func(app.Context, app.Event) { p.Open() })
}

// View is the handle with which it is moved; nothing while it is closed.
func (p *Replay) View() app.UI {
	return app.If(p.open && p.Some(), func() app.UI {
		first, last := p.ends()
		step := cmp.Or(p.step, last)
		text := fmt.Sprintf("Step %s of %s", words.Count(step), words.Count(last))
		said := p.figures()
		label, icon, press := "Play", "start", p.play
		if p.rest != nil {
			label, icon, press = "Pause", "pause", func() {
				p.pause()
				p.shown()
			}
		}
		return app.Div().Class("replay").ID("replay").Role("group").Aria("label", "Replay of what was recorded").Body(
			app.Button().Type("button").ID("replay-play").Class("act").Aria("label", label).Body(widget.Icon(icon)).
				OnClick(func(app.Context, app.Event) { press() }, app.EventScope(label)),
			&widget.Range{ID: "replay-step", Label: "Step that is shown", Text: text + ": " + said, Min: float64(first), Max: float64(last), Step: 1, Now: float64(step),
				Moved: func(now float64) { p.Seek(int(now)) }},
			speed("replay-speed", "Speed of the replay", p.speed, p.pace),
			app.P().Class("replay-said figure").ID("replay-said").Body(app.Strong().Text(text), app.Text(" "+said)),
		)
	})
}

// figures returns the figures of each run at the step that is shown.
func (p *Replay) figures() string {
	var all []string
	runs := p.runs()
	for _, r := range runs {
		if r.Record.Len() == 0 {
			continue
		}
		said := Figures(p.At(r.Record), len(runs) > 1)
		if r.Name != "" {
			said = r.Name + ": " + said
		}
		all = append(all, said)
	}
	return strings.Join(all, "; ")
}

// Figures are the newest of a run; brief, without those that differ little between runs.
func Figures(r *series.Record, brief bool) string {
	m := r.Moment()
	var all []string
	add := func(format string, v float64, text string) {
		if !math.IsNaN(v) {
			all = append(all, fmt.Sprintf(format, text))
		}
	}
	if m.Test != nil {
		if a := float64(m.Test.Accuracy); !math.IsNaN(a) {
			add("accuracy %s", a, words.Percent(a, 1))
		} else {
			add("test loss %s", float64(m.Test.Loss), words.Number(float64(m.Test.Loss), 3))
		}
	}
	c := m.Event.Released.MaxGradNorm
	add("C %s", c, words.Number(c, 3))
	if brief {
		return strings.Join(all, ", ")
	}
	share := run.Number(math.NaN())
	if d := m.Event.Diag; d != nil {
		share = d.ClipFraction
	}
	add("%s clipped", float64(share), words.Percent(float64(share), 0))
	e := float64(m.Event.Released.Epsilon)
	if m.Unbacked {
		add("ε %s without guarantee", e, words.Epsilon(e))
	} else {
		add("ε %s", e, words.Epsilon(e))
	}
	return strings.Join(all, ", ")
}
