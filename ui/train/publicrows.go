package train

import (
	"clipscope/core/run"
	"clipscope/ui/cards"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Opener is a client that keeps files of public rows.
type Opener interface {
	PublicRows(file app.Value, done func(run.PublicRows, error)) (cancel func())
}

// publicRows is the file of public rows that runs mix in.
type publicRows struct {
	choice
	client  Opener
	exp     *experiment
	adopted func() // the configuration has been changed
}

// ChoosePublic has runs mix the rows of a file in. A file that the configuration names already keeps its name, and
// what was said of it.
func (p *publicRows) ChoosePublic(file app.Value) {
	var got run.PublicRows
	p.read(func(done func(error)) func() {
		return p.client.PublicRows(file, func(rows run.PublicRows, err error) { got = rows; done(err) })
	}, func() {
		if now := &p.exp.cfg.PublicRows; now.SHA256 != got.SHA256 {
			now.File, now.SHA256, now.Public = got.File, got.SHA256, false
		}
		p.exp.remake()
		p.adopted()
	})
}

// DropPublic has runs mix no public rows in.
func (p *publicRows) DropPublic() {
	p.stop()
	p.Fault = ""
	p.exp.cfg.PublicRows = run.PublicRows{}
	for _, key := range []string{"public", "batch_size", "weight"} {
		p.exp.forget("public_rows." + key)
	}
	p.exp.remake()
	p.adopted()
}

// forgetFault takes back what was said of a file, as other settings are in place.
func (p *publicRows) forgetFault() {
	if p != nil {
		p.Fault = ""
	}
}

// shown returns the card's view of the file.
func (p *publicRows) shown() cards.Choice {
	if p == nil {
		return cards.Choice{}
	}
	return p.Choice
}

// mixer returns the receiver of the card's events; nil where the client keeps no files.
func (p *publicRows) mixer() cards.Mixer {
	if p == nil {
		return nil
	}
	return p
}
