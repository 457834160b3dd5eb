package lab

import (
	"encoding/json"
	"math"

	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/link"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// What web/lab.js draws. Numbers are finite, as JSON has no others; of a logarithm what is
// not positive is a gap.
type (
	planeSpec struct {
		Lo    float64 `json:"lo"`
		Hi    float64 `json:"hi"`
		Reach float64 `json:"reach"` // the radius's end where it is not logarithmic
		Log   bool    `json:"log"`
		Means []mean  `json:"means"`
	}
	// mean is a thick arrow; from is the other end of the noise that leads to its tip, and
	// off the tip that it should have: what parts the two is bias.
	mean struct {
		X     float64     `json:"x"`
		Y     float64     `json:"y"`
		From  *[2]float64 `json:"from,omitempty"`
		Off   *[2]float64 `json:"off,omitempty"`
		Ink   string      `json:"ink"`
		Label string      `json:"label"`
	}
	uSpec struct {
		Lo     float64   `json:"lo"`
		Hi     float64   `json:"hi"`
		Bottom float64   `json:"bottom"`
		Top    float64   `json:"top"`
		Title  string    `json:"title"`
		Level  string    `json:"level"` // the meaning of 1
		Lines  []line    `json:"lines"`
		Path   []float64 `json:"path"`
		Least  *lowest   `json:"least,omitempty"`
		Band   *band     `json:"band,omitempty"`
	}
	line struct {
		Label string    `json:"label"`
		At    float64   `json:"at"` // the best place for its name, as a share of the axis
		Ink   string    `json:"ink"`
		Width float64   `json:"width"`
		Dash  []float64 `json:"dash,omitempty"`
		Sum   bool      `json:"sum,omitempty"`
		X     []float64 `json:"x"`
		Y     []float64 `json:"y"`
	}
	lowest struct {
		C     float64 `json:"c"`
		Y     float64 `json:"y"`
		Label string  `json:"label"`
	}
	band struct {
		X    []float64 `json:"x"`
		Low  []float64 `json:"low"`
		High []float64 `json:"high"`
	}
)

// overlaid is the inks of the second and third method.
var overlaid = [link.MostWith]string{"second", "third"}

// finite returns x, or 0 where JSON has no such number.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// scaled returns y in units of a squared length, finite.
func scaled(y []float64, unit float64) []float64 {
	s := make([]float64, len(y))
	for i := range y {
		s[i] = finite(y[i] / unit)
	}
	return s
}

// planeNow returns the plane as it is to be drawn.
func (s *state) planeNow() planeSpec {
	b := &s.bench
	p := planeSpec{Lo: b.axis.lo, Hi: b.axis.hi, Log: !b.linear, Reach: 1, Means: []mean{}}
	if b.look == nil {
		return p
	}
	if far := quantile(b.norms, 0.98); far > 0 {
		p.Reach = max(1.1*far, finite(float64(b.look.TrueNorm)))
	}
	// The true mean is drawn last, as the others may lie on it.
	if b.at != nil {
		along, across := finite(float64(b.at.Along)), finite(float64(b.at.Across))
		if n, ok := b.drawn(); ok && !s.course.hidden() && !s.course.noiseless() {
			p.Means = append(p.Means, mean{X: along + n.along, Y: math.Hypot(across, n.across), From: &[2]float64{along, across}, Ink: "released",
				Label: "with noise " + words.Number(math.Hypot(along+n.along, math.Hypot(across, n.across)), 2)})
		}
		tip := [2]float64{finite(float64(b.look.TrueNorm)), 0}
		p.Means = append(p.Means, mean{X: along, Y: across, Off: &tip, Ink: "diagnostic",
			Label: "clipped " + words.Number(math.Hypot(along, across), 2) + ", bias " + words.Number(math.Hypot(tip[0]-along, across), 2)})
	}
	p.Means = append(p.Means, mean{X: finite(float64(b.look.TrueNorm)), Ink: "text", Label: "mean " + words.Number(float64(b.look.TrueNorm), 2)})
	return p
}

// noisePart is a draw of the noise along the mean gradient and across it.
type noisePart struct{ along, across float64 }

// drawn returns the draw that is shown, scaled to the present C and noise: its length follows
// σ, C, B and, across, the root of d.
func (b *bench) drawn() (noisePart, bool) {
	d := b.draws
	if d == nil || len(d.Along) == 0 || len(d.Across) != len(d.Along) {
		return noisePart{}, false
	}
	i := b.shown % len(d.Along)
	wide := math.Sqrt(b.noise.dim / b.drawnAt.dim)
	by := math.Sqrt(b.noise.variance(b.c)/b.drawnAt.variance(b.drawnC)) / wide
	p := noisePart{finite(by * d.Along[i]), finite(by * wide * d.Across[i])}
	return p, true
}

// uNow returns the U as it is to be drawn: shares of the mean gradient's squared length.
func (s *state) uNow() uSpec {
	b := &s.bench
	u := uSpec{Lo: b.axis.lo, Hi: b.axis.hi, Bottom: 0.01, Top: 10, Title: "squared error ÷ squared length of the mean",
		Level: "as wrong as no step", Lines: []line{}, Path: b.path}
	if b.look == nil || len(b.curves) == 0 || s.course.hidden() {
		return u
	}
	unit := math.Pow(float64(b.look.TrueNorm), 2)
	if !(unit > 0) || math.IsInf(unit, 1) {
		return u
	}
	first := b.curves[0]
	cs, sum := first.MaxGradNorm, total(first.ClipReply, b.noise)
	for i := len(b.curves) - 1; i > 0; i-- {
		c := b.curves[i]
		u.Lines = append(u.Lines, line{Label: c.name, At: 0.3 + 0.4*float64(i-1), Ink: overlaid[i-1], Width: 2, X: c.MaxGradNorm, Y: scaled(total(c.ClipReply, b.noise), unit)})
	}
	u.Lines = append(u.Lines,
		line{Label: "noise σ²C²d/B²", At: 0.8, Ink: "released", Width: 2, X: cs, Y: scaled(b.variances(cs), unit)},
		line{Label: "clipping, bias²", At: 0.1, Ink: "diagnostic", Width: 2, Dash: []float64{6, 4}, X: cs, Y: scaled(floats(first.Bias2), unit)})
	if e := b.estimate; e != nil {
		u.Lines = append(u.Lines, line{Label: "bias² as DC estimates it", At: 0.6, Ink: "muted", Width: 1.5, Dash: []float64{1, 4}, X: e.MaxGradNorm, Y: scaled(floats(e.Bias2), unit)})
	}
	name := "both"
	if len(b.curves) > 1 {
		name = first.name
	}
	u.Lines = append(u.Lines, line{Label: name, At: 0.4, Ink: "text", Width: 3.5, Sum: true, X: cs, Y: scaled(sum, unit)})
	c, y := least(cs, sum)
	if c > 0 {
		at := " = "
		switch c { // there it may fall further
		case cs[0]:
			at = " ≤ "
		case cs[len(cs)-1]:
			at = " ≥ "
		}
		u.Least = &lowest{c, y / unit, "least at C" + at + words.Number(c, 2)}
	}
	u.Bottom, u.Top = decades(y/unit/8, max(20*y/unit, 20))
	u.Band = b.band(cs, unit)
	return u
}

// variances returns the noise's variance at each C.
func (b *bench) variances(cs []float64) []float64 {
	v := make([]float64, len(cs))
	for i, c := range cs {
		v[i] = b.noise.variance(c)
	}
	return v
}

// band returns three standard errors about the mean of the draws at every C: as the noise is
// one of length 1 times σC/B, its ratio to the formula is the same at all.
func (b *bench) band(cs []float64, unit float64) *band {
	d := b.draws
	if d == nil || d.Draws < manyDraws || !(d.Formula > 0) {
		return nil
	}
	mean, spread := float64(d.MeanSquare/d.Formula), 3*float64(d.StandardError/d.Formula)
	lines := band{X: cs}
	for _, v := range scaled(b.variances(cs), unit) {
		lines.Low, lines.High = append(lines.Low, v*finite(max(mean-spread, 0))), append(lines.High, v*finite(mean+spread))
	}
	return &lines
}

// show hands a board what it is to draw.
func show(board app.Value, spec any, more ...any) {
	b, err := json.Marshal(spec)
	if err != nil {
		app.Log("ui: lab: ", err)
		return
	}
	board.Call("set", append([]any{string(b)}, more...)...)
}

// factors returns a measurement as the boards take it: undefined where there is none.
func factors(a *client.At) any {
	if a == nil {
		return app.Undefined()
	}
	return a.Arrays
}

// script returns the page's script that draws; nil where there is none.
func script() app.Value {
	if !app.IsClient {
		return nil
	}
	if s := browser.Lab(); s.Truthy() {
		return s
	}
	return nil
}

// board owns one canvas of web/lab.js. It renders the canvas empty and hands it over when it is
// mounted, so that the virtual DOM never touches what is drawn.
type board struct {
	app.Compo
	Kind  string // plane, u or field
	Label string
	Send  sender

	moved app.Func
	js    app.Value
}

// CompoID keeps one board's canvas from being given to another.
func (b *board) CompoID() string { return b.Kind }

func (b *board) Render() app.UI {
	c := app.Canvas().ID("lab-"+b.Kind).Class("lab-board").Aria("label", b.Label)
	if b.Kind == "field" {
		return c.Role("img")
	}
	return c.Role("slider").TabIndex(0)
}

func (b *board) OnMount(app.Context) {
	s := script()
	if s == nil {
		return
	}
	b.moved = app.FuncOf(func(_ app.Value, args []app.Value) any {
		defer browser.Survive()
		b.Send(moveC{args[0].Float()})
		return nil
	})
	b.js = s.Call(b.Kind, b.JSValue(), b.moved)
	b.Send(attach{b.Kind, b.draw})
}

func (b *board) OnDismount() {
	if b.js == nil {
		return
	}
	b.Send(detach{b.Kind})
	b.js.Call("release")
	b.moved.Release()
	b.js = nil
}

// draw draws aspects of the state on the canvas.
func (b *board) draw(s *state, what aspect) {
	on := &s.bench
	switch b.Kind {
	case "plane":
		if what&theBatch != 0 && on.look != nil {
			b.js.Call("show", on.look.Arrays)
		}
		if what&thePlane != 0 {
			show(b.js, s.planeNow(), factors(on.at))
		}
	case "u":
		if what&theU != 0 {
			show(b.js, s.uNow())
		}
	case "field":
		if what&theGround != 0 && on.ground != nil {
			b.js.Call("set", on.ground, factors(on.at))
		}
		if what&theRows != 0 && on.at != nil {
			b.js.Call("clipped", on.at.Arrays)
		}
		return
	}
	if what&theHandles != 0 {
		b.js.Call("move", on.c, "C = "+words.Number(on.c, 3))
	}
}

// write writes the sentences about C and moves the thumb, past the virtual DOM.
func write(s *state, what aspect) {
	js, b := script(), &s.bench
	if js == nil {
		return
	}
	if what&theHandles != 0 {
		js.Call("slide", "lab-threshold", math.Log10(b.c), "C = "+words.Number(b.c, 3))
	}
	if what&theTexts == 0 || b.look == nil {
		return
	}
	sentence, advice, lengths, walk := "Say first what you expect: then this is shown.", "", "", ""
	if !s.course.hidden() {
		w := b.clipped()
		sentence, advice, walk = w.String(), w.Advice(), b.walk()
		if b.at != nil {
			lengths = words.Lengths(float64(b.at.Clipped), quantile(b.norms, 0.5), quantile(b.norms, 1), math.Sqrt(w.Variance), w.Left())
		}
	}
	for _, text := range [][2]string{
		{"lab-lengths", lengths}, {"lab-walk", walk}, {"lab-sentence", sentence}, {"lab-advice", advice},
		{"lab-sigma-now", words.Number(b.noise.sigma, 3) + b.epsilon}, {"lab-batch-now", words.Number(b.noise.batch, 4)}, {"lab-width-now", words.Number(b.noise.dim, 3)},
	} {
		js.Call("say", text[0], text[1])
	}
}
