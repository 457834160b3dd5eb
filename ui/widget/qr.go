package widget

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// QROf is a button that shows a text of another kind in the same way, under a title.
func QROf(text, title string) app.UI {
	return app.Button().Type("button").Class("qr").DataSet("opens", "qr").DataSet("text", text).DataSet("title", title).Text("QR code")
}

// QR is a button that shows the page's address as a code that a room can photograph, as
// text, and to be copied. The code is made on this device (web/qr.mjs).
func QR() app.UI {
	return app.Button().Type("button").Class("qr").DataSet("opens", "qr").Title("This page's address, for cameras").Text("QR code")
}
