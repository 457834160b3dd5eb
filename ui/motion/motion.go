// Package motion sets the pace of runs, changes teaching runs while they go on, and
// replays what they reported.
package motion

import (
	"strconv"

	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Full is the speed of a run that takes as many steps as it can.
const Full = 0

// speeds lists the speeds that can be chosen, in steps a second.
var speeds = []float64{1, 10, 100, Full}

// speed chooses one. what names it for who cannot see where it stands.
func speed(id, what string, now float64, set func(perSecond float64)) app.UI {
	return app.Select().ID(id).Aria("label", what).OnChange(func(ctx app.Context, _ app.Event) {
		v, _ := strconv.ParseFloat(ctx.JSSrc().Get("value").String(), 64)
		set(v)
	}).Body(app.Range(speeds).Slice(func(i int) app.UI {
		text := "full speed"
		if v := speeds[i]; v != Full {
			text = words.Plural(int(v), "step") + " a second"
		}
		return app.Option().Value(strconv.FormatFloat(speeds[i], 'g', -1, 64)).Text(text).Selected(speeds[i] == now)
	}))
}
