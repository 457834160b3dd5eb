package ui

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// Register makes the pages known to go-app: / trains, /calculator relates ε,
// noise and steps, /help explains, /stories shows every component alone. The
// pages share one session.
func Register() {
	s := newSession(jsClient{})
	app.Route("/", func() app.Composer { return &trainPage{Session: s} })
	k := newCalculator(jsClient{})
	app.Route("/calculator", func() app.Composer { return &calculatorPage{Around: s, Calculator: k} })
	app.Route("/help", func() app.Composer { return &helpPage{Session: s} })
	app.Route("/stories", func() app.Composer { return &storiesPage{} })
}
