package train

import (
	"time"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// address keeps the configuration in the URL, after the #.
type address struct {
	*env
	exp    *experiment
	copied bool // the clipboard has it
}

// write puts the configuration in the URL without a step in the history.
func (a *address) write() {
	if hash, err := a.exp.cfg.Hash(); err == nil {
		browser.SetHash(hash)
	}
}

// read is the configuration in the URL; not ok if it holds none, or the present one.
func (a *address) read() (cfg run.Config, ok bool) {
	hash := browser.Hash()
	if mine, err := a.exp.cfg.Hash(); hash == "" || err == nil && hash == mine {
		return cfg, false
	}
	cfg = run.ParseHash(hash)
	form.KeepParams(&cfg)
	return cfg, true
}

// share copies the URL.
func (a *address) Share() {
	a.write()
	browser.Copy(app.Window().Get("location").Get("href").String(), func(ok bool) {
		a.copied = ok
		a.changed()
		a.after(3*time.Second, func() {
			a.copied = false
			a.changed()
		})
	})
}
