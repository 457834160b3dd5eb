package ui

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// measured holds the figures of the last make figures.
//
//go:embed figures.json
var measured []byte

// figures are measurements with the machine that they are of.
type figures struct {
	Date     time.Time `json:"date"`
	Commit   string    `json:"commit"`
	Cores    int       `json:"cores"`
	Model    string    `json:"model"`
	Chromium string    `json:"chromium"`
	Figures  []struct {
		Name  string  `json:"name"`
		Value float64 `json:"value"`
	} `json:"figures"`
}

// value returns the value of a figure by its name; 0 where it was not measured.
func (f *figures) value(name string) float64 {
	for _, x := range f.Figures {
		if x.Name == name {
			return x.Value
		}
	}
	return 0
}

// speedBars are the bars of each model: a figure's name, and whose it is.
var speedBars = []struct {
	title, ours string
	bars        [][2]string
}{
	{"MLP 784-128-10", "mlp.epoch_seconds", [][2]string{
		{"mlp.epoch_seconds.threads2", "Clipscope, private, two threads"},
		{"mlp.epoch_seconds", "Clipscope, private"},
		{"mlp.epoch_seconds.secure", "Clipscope, private, secure noise"},
		{"mlp.epoch_seconds.plain", "Clipscope, not private"},
		{"mlp.epoch_seconds.jaxjs", "jax-js (WebAssembly), not private"},
		{"mlp.epoch_seconds.tfjs", "TensorFlow.js (WebAssembly), not private"},
	}},
	{"Convolutions, 26,010 parameters (cnn-opacus)", "cnn.epoch_seconds", [][2]string{
		{"cnn.epoch_seconds.threads2", "Clipscope, private, two threads"},
		{"cnn.epoch_seconds", "Clipscope, private"},
		{"cnn.epoch_seconds.plain", "Clipscope, not private"},
		{"cnn.epoch_seconds.jaxjs", "jax-js (WebAssembly), not private"},
	}},
}

// longest bounds the longest bar, in multiples of ours, or ours could not be told
// apart.
const longest = 12

// speed shows the last figures as bars.
func speed() app.UI {
	var f figures
	if err := json.Unmarshal(measured, &f); err != nil {
		return app.P().Class("fault").Text("The figures cannot be read: " + err.Error())
	}
	return app.Section().Body(
		app.H2().ID("speed").Text("How fast it trains"),
		app.P().Text(fmt.Sprintf("Seconds for an epoch of MNIST, 469 steps of 128 rows, one thread where nothing else is said: medians of runs that took turns in one Chromium (%s) on a machine of %d cores (%s), on %s. In the page itself, threads are as many as there are cores.",
			f.Chromium, f.Cores, f.Model, f.Date.Format("2 January 2006"))),
		app.Range(speedBars).Slice(func(i int) app.UI { return speedTable(&f, i) }),
		app.P().Body(
			app.Text("To measure anew, take the source and run "), app.Code().Text("make bench"),
			app.Text("; "), app.Code().Text("make figures"), app.Text(" writes what stands here.")),
	)
}

func speedTable(f *figures, i int) app.UI {
	group := speedBars[i]
	end := 0.0
	for _, b := range group.bars {
		end = max(end, min(f.value(b[0]), longest*f.value(group.ours)))
	}
	return app.Table().Class("speed").Body(
		app.Caption().Text(group.title),
		app.Range(group.bars).Slice(func(j int) app.UI {
			v := f.value(group.bars[j][0])
			text := words.Number(v, 3) + " s"
			if v > end {
				text += " (the bar is cut)"
			}
			return app.Tr().Hidden(v == 0).Body(
				app.Th().Scope("row").Text(group.bars[j][1]),
				app.Td().Class("bar").Body(app.Progress().Aria("hidden", true).Max(end).Value(min(v, end))),
				app.Td().Class("figure").Text(text),
			)
		}),
	)
}
