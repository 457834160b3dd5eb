package spent

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// fake is a ledger that answers at once.
type fake struct {
	json    string
	err     error
	watcher func()
	watches int
}

func (f *fake) Ready(done func(error)) { done(nil) }
func (f *fake) Ledger(function string, done func([]byte, error), args ...any) {
	if function != "entries" {
		done(nil, errors.New("the page asked for "+function))
		return
	}
	text := f.json
	if len(args) == 0 { // not to be priced
		text = regexp.MustCompile(`,"price":{[^}]*}`).ReplaceAllString(text, "")
	}
	done([]byte(text), f.err)
}
func (f *fake) WatchLedger(watcher func()) { f.watcher, f.watches = watcher, f.watches+1 }

// TestSpentFollowsTheLedger: the page shows the ledger's runs, the newest first, and follows
// changes, an error and its end.
func TestSpentFollowsTheLedger(t *testing.T) {
	f := &fake{json: `[]`}
	s, drawn := New(f), 0
	s.changed = func() { drawn++ }
	if html := app.HTMLString(s.view()); !strings.Contains(html, "Looking into the ledger") {
		t.Errorf("before it was read: %s", html)
	}
	s.start()
	s.start() // the page is left and visited again
	if html := app.HTMLString(s.view()); !strings.Contains(html, "No run on files") || f.watches != 1 || drawn != 2 {
		t.Errorf("%d watchers, drawn %d times: %s", f.watches, drawn, html)
	}
	f.json = `[{"run":"a","data":1,"label":"old.csv","method":"psac","started":"2026-05-01T10:00:00Z","charged":1200,"state":"closed","price":{"delta":1e-5,"epsilon":2.5,"total":3.4321,"guaranteed":3.4321}},
		{"run":"c","data":1,"label":"older.csv","started":"2026-05-01T11:00:00Z","charged":9,"state":"running","changed":true,"price":{"delta":1e-5,"epsilon":1.5,"total":3.4321,"guaranteed":3.4321}},
		{"run":"b","data":2,"label":"new.csv","started":"2026-05-02T10:00:00Z","charged":7,"unprotected":true,"state":"lost","price":{"delta":1e-5,"guaranteed":0}}]`
	f.watcher()
	html := app.HTMLString(s.view())
	first, second := strings.Index(html, "2: new.csv"), strings.Index(html, "1: older.csv, old.csv")
	if first < 0 || second < first {
		t.Errorf("the newest is not first: %s", html)
	}
	for _, want := range []string{
		">" + time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC).Local().Format("2006-01-02 15:04") + "<", ">psac<", ">–<", ">2.50<", ">1.50<", ">1,200<", ">∞, no guarantee<", ">ended without notice<", ">ended<",
		">running, entry changed: the larger charge counts<", ">ε = 3.44 in all (δ = 1e−5), 2 runs<", ">ε = ∞: the one run has no guarantee.<",
	} {
		if !strings.Contains(strings.Join(strings.Fields(html), ""), strings.Join(strings.Fields(want), "")) {
			t.Errorf("no %s in %s", want, html)
		}
	}
	f.err = errors.New("no storage")
	f.watcher()
	if html := app.HTMLString(s.view()); !strings.Contains(html, "no storage") || strings.Contains(html, "new.csv") {
		t.Errorf("a ledger that cannot be read: %s", html)
	}
}

// TestNamesTurnNothingRound: a file's name whose control would turn its line round is shown with the control's code.
func TestNamesTurnNothingRound(t *testing.T) {
	s := New(&fake{json: "[{\"run\":\"a\",\"data\":1,\"label\":\"\u202Efdp.csv\",\"started\":\"2026-05-01T10:00:00Z\",\"charged\":1,\"state\":\"closed\"}]"})
	s.changed = func() {}
	s.start()
	if html := app.HTMLString(s.view()); !strings.Contains(html, "1: ⟨U+202E⟩fdp.csv") || strings.Contains(html, "\u202E") {
		t.Errorf("%q", html)
	}
}
