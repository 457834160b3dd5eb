package client

import (
	"encoding/json"
	"fmt"
	"math"

	"clipscope/core/run"
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Lab is a model that stands still on a batch, in a worker of its own. All that it says
// is diagnostic.
type Lab interface {
	// Look is the batch that is looked at now.
	Look() *Look
	// Again takes another batch, On trains on, and Back goes to the first parameters; each
	// looks anew.
	Again(done func(error))
	On(steps int, done func(error))
	Back(done func(error))
	// Curve is what a method does at each of the thresholds cs, At at one of them.
	Curve(m Method, cs []float64, done func(run.ClipReply, error))
	At(m Method, c float64, done func(At, error))
	// Estimate is the bias as DC-SGD estimates it, from a histogram of norms without noise.
	Estimate(cs []float64, done func(run.EstimateReply, error))
	// Draws draws the mechanism's noise n times.
	Draws(m Method, c float64, n int, done func(run.Draws, error))
	// Boundary is what the model answers in the plane of data with two features, as the
	// page's script draws it.
	Boundary(size int, done func(app.Value, error))
	Close()
}

// Method names a clipping method with its own parameters.
type Method struct {
	Name   string
	Params map[string]float64
}

func (m Method) js() map[string]any {
	o := map[string]any{"method": m.Name}
	for name, v := range m.Params {
		o[name] = v
	}
	return o
}

// Look describes a batch. Values that are only drawn stay with Arrays.
type Look struct {
	run.Look
	Arrays app.Value `json:"-"`
}

// At is the effect of clipping at one threshold. The factors, one for each example, stay with Arrays.
type At struct {
	MaxGradNorm run.Number `json:"max_grad_norm"`
	Along       run.Number `json:"along"`
	Across      run.Number `json:"across"`
	Bias2       run.Number `json:"bias2"`
	Cosine      run.Number `json:"cosine"`
	Clipped     run.Number `json:"clipped"`

	Arrays app.Value `json:"-"`
}

// Lab looks at a model as a configuration begins with it, on built-in data, and returns
// what cancels that.
func (JS) Lab(cfg run.Config, done func(Lab, error)) func() {
	if err := complete(); err != nil {
		done(nil, err)
		return func() {}
	}
	signal, cancel := canceller()
	options := map[string]any{"signal": signal}
	await(api().Call("lab", toJS(cfg), jsOf(nil), options), func(v app.Value, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		l := &jsLab{lab: v}
		if err := l.see(v.Get("look")); err != nil {
			l.Close()
			done(nil, err)
			return
		}
		done(l, nil)
	})
	return cancel
}

type jsLab struct {
	lab  app.Value
	look Look
}

func (l *jsLab) Look() *Look { return &l.look }
func (l *jsLab) Close()      { l.lab.Call("close") }

// see takes up a look.
func (l *jsLab) see(v app.Value) error {
	look := Look{Arrays: v}
	if err := json.Unmarshal([]byte(drawing().Call("head", v).String()), &look); err != nil {
		return fmt.Errorf("client: a look: %w", err)
	}
	l.look = look
	return nil
}

func (l *jsLab) Again(done func(error))         { l.move(done, "again") }
func (l *jsLab) On(steps int, done func(error)) { l.move(done, "on", steps) }
func (l *jsLab) Back(done func(error))          { l.move(done, "back") }

// move calls what ends with another look.
func (l *jsLab) move(done func(error), method string, args ...any) {
	await(l.lab.Call(method, args...), func(v app.Value, err error) {
		if err == nil {
			err = l.see(v)
		}
		done(err)
	})
}

func (l *jsLab) Curve(m Method, cs []float64, done func(run.ClipReply, error)) {
	await(l.lab.Call("curve", m.js(), toJS(cs)), decoded(done))
}

func (l *jsLab) Estimate(cs []float64, done func(run.EstimateReply, error)) {
	await(l.lab.Call("estimate", toJS(cs)), decoded(done))
}

func (l *jsLab) Draws(m Method, c float64, n int, done func(run.Draws, error)) {
	await(l.lab.Call("draws", m.js(), c, n), decoded(done))
}

func (l *jsLab) At(m Method, c float64, done func(At, error)) {
	await(l.lab.Call("at", m.js(), c), func(v app.Value, err error) {
		if err != nil {
			done(At{}, err)
			return
		}
		// Field by field, as this is asked many times a second.
		number := func(name string) run.Number {
			if x := v.Get(name); x.Type() == app.TypeNumber {
				return run.Number(x.Float())
			}
			return run.Number(math.NaN())
		}
		done(At{number("max_grad_norm"), number("along"), number("across"), number("bias2"), number("cosine"), number("clipped"), v}, nil)
	})
}

func (l *jsLab) Boundary(size int, done func(app.Value, error)) {
	await(l.lab.Call("boundary", size), done)
}

// decoded makes of done what takes a value of JavaScript's.
func decoded[T any](done func(T, error)) func(app.Value, error) {
	return func(v app.Value, err error) {
		var t T
		if err == nil {
			err = decode(v, &t)
		}
		done(t, err)
	}
}

// drawing is the page's script that draws what a lab shows.
func drawing() app.Value { return browser.Lab() }
