package ui

import (
	"clipscope/ui/calculator"
	"clipscope/ui/check"
	"clipscope/ui/client"
	"clipscope/ui/lab"
	"clipscope/ui/pages"
	"clipscope/ui/spent"
	"clipscope/ui/train"
	"clipscope/ui/use"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// components returns what makes the component of each page, by the page's name. The pages
// share one session.
func components() map[string]func() app.Composer {
	s := train.New(client.JS{})
	k := calculator.New(client.JS{})
	u := use.New(client.JS{})
	s.Used(u.Open)
	v := check.New(client.JS{})
	u.Checked(v.Open)
	s.Checked(v.Open)
	b := lab.New(client.JS{})
	l := spent.New(client.JS{})
	return map[string]func() app.Composer{
		"train":      func() app.Composer { return &train.Page{Session: s} },
		"use":        func() app.Composer { return &use.Page{Around: s, Use: u} },
		"check":      func() app.Composer { return &check.Page{Around: s, Check: v} },
		"lab":        func() app.Composer { return &lab.Page{Around: s, Lab: b} },
		"calculator": func() app.Composer { return &calculator.Page{Around: s, Calculator: k} },
		"spent":      func() app.Composer { return &spent.Page{Around: s, Spent: l} },
		"help":       func() app.Composer { return &helpPage{Session: s} },
		"stories":    func() app.Composer { return &storiesPage{} },
	}
}

// Register makes the pages known to go-app.
func Register() {
	made := components()
	for _, p := range pages.All {
		app.Route(p.Path(), made[p.Name])
	}
}
