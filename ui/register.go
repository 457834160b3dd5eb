package ui

import (
	"clipscope/ui/calculator"
	"clipscope/ui/check"
	"clipscope/ui/client"
	"clipscope/ui/lab"
	"clipscope/ui/train"
	"clipscope/ui/use"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Register makes the pages known to go-app: / trains, /calculator relates ε,
// noise and steps, /use applies saved models, /check checks saved files, /lab shows what clipping does, /help explains, /stories shows every component alone. The
// pages share one session.
func Register() {
	s := train.New(client.JS{})
	app.Route("/", func() app.Composer { return &train.Page{Session: s} })
	k := calculator.New(client.JS{})
	app.Route("/calculator", func() app.Composer { return &calculator.Page{Around: s, Calculator: k} })
	u := use.New(client.JS{})
	s.Used(u.Open)
	app.Route("/use", func() app.Composer { return &use.Page{Around: s, Use: u} })
	v := check.New(client.JS{})
	u.Checked(v.Open)
	app.Route("/check", func() app.Composer { return &check.Page{Around: s, Check: v} })
	b := lab.New(client.JS{})
	app.Route("/lab", func() app.Composer { return &lab.Page{Around: s, Lab: b} })
	app.Route("/help", func() app.Composer { return &helpPage{Session: s} })
	app.Route("/stories", func() app.Composer { return &storiesPage{} })
}
