// Package pages lists the pages of the program.
package pages

import "strings"

// Page is a page of the program.
type Page struct {
	Name  string // of the package in ui that has its component
	Title string // in the browser's tabs and its history
	Word  string // of links that lead to it
	Tab   bool   // such a link stands at the top of every page
	Draft bool   // it is for developing, and no release has it
}

// All lists every page, in the order of the links at the top. What knows of pages reads it
// here: routes, titles, the service worker's list, the page for unknown addresses, and tests.
var All = []Page{
	{Name: "train", Title: "Train", Word: "Train", Tab: true},
	{Name: "use", Title: "Use a model", Word: "Use", Tab: true},
	{Name: "check", Title: "Check a file", Word: "Check"},
	{Name: "lab", Title: "Laboratory", Word: "Lab", Tab: true},
	{Name: "calculator", Title: "Privacy calculator", Word: "Calculator", Tab: true},
	{Name: "spent", Title: "Runs on your files", Word: "Spent"},
	{Name: "help", Title: "Help", Word: "Help", Tab: true},
	{Name: "stories", Title: "Components", Word: "Components", Draft: true},
}

// Path returns the page's address below the site's root. Of train that is the root.
func (p Page) Path() string {
	if p.Name == "train" {
		return "/"
	}
	return "/" + p.Name
}

// Folder returns the address of the folder that has the page's file, with a slash at its end.
func (p Page) Folder() string {
	return strings.TrimSuffix(p.Path(), "/") + "/"
}

// Find returns the page of a name, and the zero Page where there is none.
func Find(name string) Page {
	for _, p := range All {
		if p.Name == name {
			return p
		}
	}
	return Page{}
}
