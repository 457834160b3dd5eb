package lab

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// lanes are runs side by side, which differ in one thing.
type lanes struct{ lab *Lab }

func (l *lanes) view() app.UI {
	return app.Section().Class("lab-lanes").ID("lanes").Aria("label", "Runs side by side")
}
