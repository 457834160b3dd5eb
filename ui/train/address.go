package train

import (
	"fmt"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/link"
	"clipscope/ui/words"
)

// address keeps the configuration in the URL, after the #.
type address struct {
	*env
	exp  *experiment
	said string // of the last press that was to copy it; "": nothing any more
	room string // of several parties, to which the address leads; empty: to the settings
	lost string // what of the last link or file was not understood, for the person who chose it
}

// inRoom begins an address that leads to a room.
const inRoom = "room="

// invitation is the room that the URL leads to; not ok if to none.
func (a *address) invitation() (in run.Invitation, ok bool) {
	text, ok := strings.CutPrefix(browser.Hash(), inRoom)
	in.Room, in.Secret, _ = strings.Cut(text, ".")
	return in, ok
}

// write puts the configuration in the URL, or the room, without a step in the history.
func (a *address) write() {
	if a.room != "" {
		browser.SetHash(inRoom + a.room)
		return
	}
	if hash, err := a.exp.effective().Hash(); err == nil {
		browser.SetHash(hash)
	}
}

// read is the configuration in the URL; not ok if it holds none, or the present one.
func (a *address) read() (cfg run.Config, ok bool) {
	hash := browser.Hash()
	if mine, err := a.exp.effective().Hash(); hash == "" || err == nil && hash == mine {
		return cfg, false
	}
	cfg, names, more := link.ReadRun(hash)
	a.leaveOut("link", names, more)
	return cfg, true
}

// leaveOut says what of a link or a file was not understood: the names of settings, and how many more.
func (a *address) leaveOut(of string, names []string, more int) {
	a.lost = ""
	if len(names) == 0 {
		return
	}
	a.lost = "Not understood in this " + of + ", and left out: " + strings.Join(names, ", ")
	if more > 0 {
		a.lost += fmt.Sprintf(" and %s more", words.Count(more))
	}
	a.lost += ". Everything else is as the " + of + " says."
}

// share copies the URL.
func (a *address) Share() {
	a.write()
	browser.Copy(browser.Address(), func(ok bool) {
		a.said = map[bool]string{true: "Link copied", false: "Refused: the address has it"}[ok]
		a.changed()
		a.after(3*time.Second, func() {
			a.said = ""
			a.changed()
		})
	})
}
