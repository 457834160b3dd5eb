package lab

import (
	"encoding/json"
	"math"
	"slices"

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
	// mean is a thick arrow; from is where noise began that leads to its tip.
	mean struct {
		X     float64     `json:"x"`
		Y     float64     `json:"y"`
		From  *[2]float64 `json:"from,omitempty"`
		Ink   string      `json:"ink"`
		Label string      `json:"label"`
	}
	uSpec struct {
		Lo     float64   `json:"lo"`
		Hi     float64   `json:"hi"`
		Bottom float64   `json:"bottom"`
		Top    float64   `json:"top"`
		Title  string    `json:"title"`
		Level  string    `json:"level"` // what 1 means
		Lines  []line    `json:"lines"`
		Path   []float64 `json:"path"`
		Least  *lowest   `json:"least,omitempty"`
		Band   *band     `json:"band,omitempty"`
	}
	line struct {
		Label string    `json:"label"`
		At    float64   `json:"at"` // where its name is best, as a share of the axis
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

// overlaid are the inks of the second and third method.
var overlaid = [link.MostWith]string{"second", "third"}

// finite is x, or 0 where JSON has no such number.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// scaled are y in units of a squared length, finite.
func scaled(y []float64, unit float64) []float64 {
	s := make([]float64, len(y))
	for i := range y {
		s[i] = finite(y[i] / unit)
	}
	return s
}

// ordered are the finite ones among v, the least first.
func ordered(v []float64) []float64 {
	x := slices.DeleteFunc(slices.Clone(v), func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) })
	slices.Sort(x)
	return x
}

// quantile of what is ordered; NaN of nothing.
func quantile(v []float64, share float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return v[int(share*float64(len(v)-1))]
}

// planeNow is the plane as it is to be drawn.
func (h *hands) planeNow() planeSpec {
	p := planeSpec{Lo: h.axis.lo, Hi: h.axis.hi, Log: !h.linear, Reach: 1, Means: []mean{}}
	if h.bench == nil {
		return p
	}
	look := h.bench.Look()
	if far := quantile(h.norms, 0.98); far > 0 {
		p.Reach = max(1.1*far, finite(float64(look.TrueNorm)))
	}
	// The true mean is drawn last, as the others may lie on it.
	if h.at != nil {
		along, across := finite(float64(h.at.Along)), finite(float64(h.at.Across))
		if n, ok := h.drawn(); ok && !h.lab.course.hidden() {
			p.Means = append(p.Means, mean{X: along + n.along, Y: math.Hypot(across, n.across), From: &[2]float64{along, across}, Ink: "released",
				Label: "with noise " + words.Number(math.Hypot(along+n.along, math.Hypot(across, n.across)), 2)})
		}
		p.Means = append(p.Means, mean{X: along, Y: across, Ink: "diagnostic", Label: "clipped " + words.Number(math.Hypot(along, across), 2)})
	}
	p.Means = append(p.Means, mean{X: finite(float64(look.TrueNorm)), Ink: "text", Label: "mean " + words.Number(float64(look.TrueNorm), 2)})
	return p
}

// part is what one draw of the noise is along the mean gradient and across it.
type part struct{ along, across float64 }

// drawn is the draw that is shown, as it is at C and the noise of now: its length follows
// σ, C, B and, across, the root of d.
func (h *hands) drawn() (part, bool) {
	d := h.draws
	if d == nil || len(d.Along) == 0 || len(d.Across) != len(d.Along) {
		return part{}, false
	}
	i := h.shown % len(d.Along)
	wide := math.Sqrt(h.noise.dim / h.drawnAt.dim)
	by := math.Sqrt(h.noise.variance(h.c)/h.drawnAt.variance(h.drawnC)) / wide
	p := part{finite(by * d.Along[i]), finite(by * wide * d.Across[i])}
	return p, true
}

// uNow is the U as it is to be drawn: shares of the mean gradient's squared length.
func (h *hands) uNow() uSpec {
	u := uSpec{Lo: h.axis.lo, Hi: h.axis.hi, Bottom: 0.01, Top: 10, Title: "squared error ÷ squared length of the mean",
		Level: "as wrong as no step", Lines: []line{}, Path: h.run}
	if h.bench == nil || len(h.curves) == 0 || h.lab.course.hidden() {
		return u
	}
	unit := math.Pow(float64(h.bench.Look().TrueNorm), 2)
	if !(unit > 0) || math.IsInf(unit, 1) {
		return u
	}
	first := h.curves[0]
	cs, sum := first.MaxGradNorm, total(first.ClipReply, h.noise)
	for i := len(h.curves) - 1; i > 0; i-- {
		c := h.curves[i]
		u.Lines = append(u.Lines, line{Label: c.name, At: 0.3 + 0.4*float64(i-1), Ink: overlaid[i-1], Width: 2, X: c.MaxGradNorm, Y: scaled(total(c.ClipReply, h.noise), unit)})
	}
	u.Lines = append(u.Lines,
		line{Label: "noise σ²C²d/B²", At: 0.8, Ink: "released", Width: 2, X: cs, Y: scaled(h.variances(cs), unit)},
		line{Label: "clipping, bias²", At: 0.1, Ink: "diagnostic", Width: 2, Dash: []float64{6, 4}, X: cs, Y: scaled(floats(first.Bias2), unit)})
	if e := h.estimate; e != nil {
		u.Lines = append(u.Lines, line{Label: "bias² as DC estimates it", At: 0.6, Ink: "muted", Width: 1.5, Dash: []float64{1, 4}, X: e.MaxGradNorm, Y: scaled(floats(e.Bias2), unit)})
	}
	name := "both"
	if len(h.curves) > 1 {
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
	u.Band = h.band(cs, unit)
	return u
}

func (h *hands) variances(cs []float64) []float64 {
	v := make([]float64, len(cs))
	for i, c := range cs {
		v[i] = h.noise.variance(c)
	}
	return v
}

// band is where three standard errors about the mean of the draws lie at every C: as the
// noise is one of length 1 times σC/B, the ratio to the formula is the same at all.
func (h *hands) band(cs []float64, unit float64) *band {
	d := h.draws
	if d == nil || d.Draws < manyDraws || !(d.Formula > 0) {
		return nil
	}
	mean, spread := float64(d.MeanSquare/d.Formula), 3*float64(d.StandardError/d.Formula)
	b := band{X: cs}
	for _, v := range scaled(h.variances(cs), unit) {
		b.Low, b.High = append(b.Low, v*finite(max(mean-spread, 0))), append(b.High, v*finite(mean+spread))
	}
	return &b
}

// show hands a board what it is to draw.
func show(board app.Value, spec any, more ...any) {
	if board == nil {
		return
	}
	b, err := json.Marshal(spec)
	if err != nil {
		app.Log("ui: lab: ", err)
		return
	}
	board.Call("set", append([]any{string(b)}, more...)...)
}

// factors are a measurement as the boards take it: undefined where there is none.
func factors(a *client.At) any {
	if a == nil {
		return app.Undefined()
	}
	return a.Arrays
}
