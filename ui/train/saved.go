package train

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Recogniser is a client that tells what a file is that the page has saved.
type Recogniser interface {
	Recognise(file app.Value, done func(run.Verdict, error)) (cancel func())
}

// savedFile is a file that was chosen as data and holds a run, a model or a statement.
type savedFile struct {
	file   app.Value
	model  bool
	config *run.Config // the file's settings, which nothing has checked; nil: it has none
}

// recognise looks at a file that could not be read as data: the page's own files hold no rows, and
// what can be done with them is another thing.
func (d *dataSource) recognise(files app.Value) {
	recogniser, ok := d.client.(Recogniser)
	if !ok || files == nil || files.Length() != 1 {
		return
	}
	file, mine := files.Index(0), d.tries
	name := file.Get("name").String()
	if !slices.Contains([]string{".json", ".safetensors", ".zip", ".txt"}, strings.ToLower(path.Ext(name))) {
		return
	}
	waits := true
	d.after(noticeable, func() {
		if waits && mine == d.tries {
			d.looking = true
			d.changed()
		}
	})
	cancel := recogniser.Recognise(file, func(v run.Verdict, err error) {
		if waits = false; mine != d.tries {
			return
		}
		d.looking, d.cancel = false, nil
		defer d.changed()
		if err != nil {
			return
		}
		d.saved = &savedFile{file, strings.HasPrefix(v.Kind, "saved model"), v.Config}
		d.refused, d.refusedReport = nil, nil
		d.fault = fmt.Sprintf("%s has no rows: this page saved it (%s).", data.Shorten(name), v.Kind)
	})
	if waits {
		d.cancel = cancel
	}
}

// StopLooking has a refused file not looked at any further; its refusal stands.
func (d *dataSource) StopLooking() {
	if d.looking {
		d.stop()
		d.changed()
	}
}

// TakeSaved takes the settings of the file that was chosen.
func (d *dataSource) TakeSaved() {
	if s := d.saved; s != nil && s.config != nil {
		d.CancelOpen()
		d.taken(*s.config)
	}
}

// UseSaved has the model that was chosen applied.
func (d *dataSource) UseSaved() {
	if d.saved != nil {
		d.used(d.saved.file)
	}
}

// StartSaved has the next run start from the model that was chosen, on the data that were open before.
func (d *dataSource) StartSaved() {
	if s := d.saved; s != nil && d.startFrom != nil {
		d.CancelOpen()
		d.startFrom(s.file)
	}
}

// CheckSaved has the file that was chosen checked.
func (d *dataSource) CheckSaved() {
	if d.saved != nil {
		d.checked(d.saved.file)
	}
}
