package ui

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// icons are drawn on a 16×16 grid. Each stands beside or instead of a text that
// says the same.
var icons = map[string]string{
	"start": `<path d="M4 2.5v11l9-5.5z"/>`,
	"pause": `<path d="M4 3h3v10H4zM9 3h3v10H9z"/>`,
	"step":  `<path d="M3 3v10l6-5zM10 3h2.5v10H10z"/>`,
	"stop":  `<path d="M3.5 3.5h9v9h-9z"/>`,
	"reset": `<path d="M8 3a5 5 0 1 1-4.6 3.05l1.4.58A3.5 3.5 0 1 0 8 4.5V7L4.5 3.75 8 .5z"/>`,
	"share": `<path d="M5 1.5h8.5V11H12V3H5zM2.5 4.500h8v10h-8zM4 6v7h5V6z" fill-rule="evenodd"/>`,
	"theme": `<path d="M8 1.500a6.500 6.500 0 1 0 0 13zM8 3a5 5 0 0 1 0 10z" fill-rule="evenodd"/>`,
	"setup": `<path d="M2 3.500h6v1.500H2zM11 3.500h3v1.500h-3zM8.500 2.500H10v3.500H8.500zM2 11h3v1.500H2zM8 11h6v1.500H8zM5.500 10H7v3.500H5.500z"/>`,
	"close": `<path d="M3.500 2.400 8 6.900l4.500-4.500 1.100 1.100L9.100 8l4.500 4.500-1.100 1.100L8 9.100l-4.500 4.500-1.100-1.100L6.900 8 2.400 3.500z"/>`,
	"save":  `<path d="M7.250 1.500h1.500v6.700l2.200-2.200 1.050 1.050L8 11 4 7.050 5.050 6l2.200 2.200zM2.500 12.500h11V14h-11z"/>`,
}

func icon(name string) app.UI {
	return app.Raw(`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="currentColor" aria-hidden="true">` + icons[name] + `</svg>`)
}
