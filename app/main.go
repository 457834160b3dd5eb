//go:build js && wasm

// Command app runs the page in a document, and the trainer in a worker. It is one file for
// both because they share most of their code, and a visitor fetches it once.
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
