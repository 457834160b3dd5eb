package widget

import (
	"strings"
	"testing"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

func TestLinksStayInTheSite(t *testing.T) {
	html := app.HTMLString(&Header{Page: "train"})
	if !strings.Contains(html, `href="/help"`) {
		t.Errorf("no link to the help:\n%s", html)
	}
}
