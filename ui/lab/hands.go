package lab

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// hands is what is moved by hand: the plane of a batch's gradients, and the U.
type hands struct{ lab *Lab }

func (h *hands) view() app.UI {
	return app.Section().Class("lab-hands").ID("hands").Aria("label", "A batch's gradients")
}
