package widget

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// Story is a component in one state, with fixed data and nobody behind it.
type Story struct {
	Name string
	View func() app.UI
}
