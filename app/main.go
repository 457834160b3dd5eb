//go:build js && wasm

// Command app is the program: in a document the page, which registers the routes
// of package ui, in a worker the trainer. It is one file for both because they
// share most of what they are made of, and a visitor fetches it once.
package main

import (
	"syscall/js"

	"clipscope/ui"
	"clipscope/wasm"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

func main() {
	if js.Global().Get("document").IsUndefined() {
		wasm.Serve()
	}
	ui.Register()
	app.RunWhenOnBrowser()
}
