//go:build js && wasm

// Command app is the page: it registers the routes of package ui and runs them
// in the browser.
package main

import (
	"clipscope/ui"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

func main() {
	ui.Register()
	app.RunWhenOnBrowser()
}
