//go:build !js

package site

import (
	"fmt"
	"html"
	"strings"

	"clipscope/app/headers"
	"clipscope/ui/widget"
)

// alone is a page without the program: a guide, or what a host shows.
type alone struct {
	title string
	at    string // its address below the site's root
	main  string // what it says, in HTML
}

// html is the whole page, whose top leads to the program and to the guides.
func (a alone) html(prefix string) []byte {
	var tabs strings.Builder
	for _, tab := range [][2]string{{"", "Train"}, {guides, "Guides"}, {"help/", "Help"}} {
		current := ""
		switch {
		case tab[0] == a.at:
			current = ` aria-current="page"`
		case tab[0] == guides && strings.HasPrefix(a.at, guides):
			current = ` aria-current="true"`
		}
		fmt.Fprintf(&tabs, `<a href="%s/%s"%s>%s</a>`, prefix, tab[0], current, tab[1])
	}
	return []byte(strings.NewReplacer(
		"{{prefix}}", prefix, "{{policy}}", headers.Policy, "{{title}}", html.EscapeString(a.title),
		"{{mark}}", widget.Mark, "{{tabs}}", tabs.String(), "{{main}}", a.main,
	).Replace(aloneHTML))
}

const aloneHTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{{policy}}">
<title>{{title}} · Clipscope</title>
<link rel="icon" href="{{prefix}}/web/assets/icon.svg">
<link rel="stylesheet" href="{{prefix}}/web/css/clipscope.css">
<script src="{{prefix}}/web/theme.js"></script>
<div class="page prose">
<header class="top alone"><a class="brand" href="{{prefix}}/">{{mark}}<span>Clipscope</span></a><nav aria-label="Pages">{{tabs}}</nav></header>
<main class="article guide">
{{main}}</main>
</div>
</html>
`
