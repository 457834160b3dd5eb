package ui

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// dataState is the data of the experiment. What was opened last stays until
// something else was opened without an error.
type dataState struct {
	source string // name of built-in data, or form.Files
	handle handle
	report *data.Report
	files  app.Value // the File objects behind it, for reading them again
	early  app.Value // files chosen before anything can read them

	// refused are files that could not be read as they are, and what was
	// understood of them: another way of reading them may do.
	refused       app.Value
	refusedReport *data.Report

	loading  bool
	slow     bool // it takes long enough to show progress
	wanted   string
	progress data.Progress
	cancel   func()
	fault    string
	suited   []string // what was changed to go with the data
	tries    int
}

// openBuiltin opens built-in data by name.
func (s *session) openBuiltin(name string) {
	if name == form.Files {
		if s.data.files == nil {
			s.data.wanted = name
			s.data.fault = "This link was made with local files, which a link never holds. Choose them here."
			s.show(form.Data)
			s.touch()
			return
		}
		s.open(name, s.data.files)
		return
	}
	s.open(name, nil)
}

// openFiles opens an array of File objects.
func (s *session) openFiles(files app.Value) {
	if !files.Truthy() || files.Length() == 0 {
		return
	}
	list := app.Window().Get("Array").Call("from", files)
	if s.data.source == form.Files {
		// How the last table was read says nothing about the next.
		s.cfg.CSV = run.CSV{Missing: s.cfg.CSV.Missing, TestShare: s.cfg.CSV.TestShare}
	}
	s.show(form.Data)
	s.open(form.Files, list)
}

// tables reports whether files may be tables, by their names.
func tables(files app.Value) bool {
	for i := range files.Length() {
		name := strings.ToLower(files.Index(i).Get("name").String())
		for _, other := range []string{"ubyte", "idx", ".bin", "_batch"} {
			if strings.Contains(name, other) {
				return false
			}
		}
	}
	return true
}

// reopen reads the same files again, after a change of how to read them.
func (s *session) reopen() {
	if s.data.refused != nil {
		s.open(form.Files, s.data.refused)
		return
	}
	if s.data.source == form.Files && s.data.files != nil {
		s.open(form.Files, s.data.files)
	}
}

// noticeable is how long work may take before its progress is shown.
const noticeable = 300 * time.Millisecond

func (s *session) open(name string, files app.Value) {
	if !s.ready {
		s.data.early = files
		return
	}
	s.cancelOpen()
	d := &s.data
	d.loading, d.slow, d.fault, d.wanted, d.progress = true, false, "", name, data.Progress{}
	d.tries++
	mine := d.tries
	s.after(noticeable, func() {
		if mine == d.tries && d.loading {
			d.slow = true
			s.changed()
		}
	})
	var source any = name
	if files != nil {
		source = files
	}
	d.cancel = s.client.Open(source, s.cfg.CSV, s.loaded(mine), func(o opened, err error) {
		if mine != d.tries {
			if err == nil {
				o.Handle.Close()
			}
			return
		}
		s.dataOpened(name, files, o, err)
	})
	s.touch()
}

// loaded shows progress, at most ten times a second.
func (s *session) loaded(mine int) func(data.Progress) {
	var last time.Time
	return func(p data.Progress) {
		if mine != s.data.tries {
			return
		}
		s.data.progress = p
		if time.Since(last) > 100*time.Millisecond {
			last = time.Now()
			s.changed()
		}
	}
}

func (s *session) dataOpened(name string, files app.Value, o opened, err error) {
	d := &s.data
	d.loading, d.slow, d.cancel = false, false, nil
	s.watchRequests()
	d.refused, d.refusedReport = nil, nil
	if err != nil {
		if !errors.Is(err, errAborted) {
			s.refuseFiles(files, err)
		}
		s.touch()
		return
	}
	if d.handle != nil {
		d.handle.Close()
	}
	changed := d.source != name || s.cfg.Data != name
	d.handle, d.report, d.source, d.files = o.Handle, &o.Report, name, files
	s.cfg.Data = name
	s.suit(&o.Report)
	if changed || len(d.suited) > 0 {
		s.writeHash()
	}
	s.replan()
	s.touch()
}

func (s *session) refuseFiles(files app.Value, err error) {
	d := &s.data
	d.fault = err.Error()
	if files != nil && tables(files) {
		d.refused = files
		if r := (*refusal)(nil); errors.As(err, &r) {
			d.refusedReport = r.Report
		}
	}
	if d.handle == nil && s.cfg.Data != form.Files {
		s.openBehind()
	}
	s.show(form.Data)
}

// openBehind opens the built-in data that files were chosen instead of before it
// was there, now that they cannot be read. What is said of them stays.
func (s *session) openBehind() {
	d, mine := &s.data, s.data.tries
	d.cancel = s.client.Open(s.cfg.Data, s.cfg.CSV, func(data.Progress) {}, func(o opened, err error) {
		switch {
		case err != nil:
		case mine != d.tries:
			o.Handle.Close()
		default:
			d.handle, d.report, d.source, d.cancel = o.Handle, &o.Report, s.cfg.Data, nil
			s.replan()
			s.touch()
		}
	})
}

// suit changes what cannot work with the data just opened, and says so: a model
// for another task, batches of more rows than there are.
func (s *session) suit(r *data.Report) {
	full, said := s.full(), []string{}
	model := func(kind, why string) {
		s.cfg.Model.Kind = kind
		said = append(said, fmt.Sprintf("The model is now %s regression: %s.", kind, why))
	}
	switch {
	case r.Task == data.Regression && full.Model.Kind == "softmax":
		model("linear", "the labels are numbers")
	case r.Task != data.Regression && full.Model.Kind == "linear":
		model("softmax", "the labels are classes")
	}
	if full.ExpectedBatchSize > float64(r.Rows) {
		s.cfg.ExpectedBatchSize = math.Ceil(float64(r.Rows) / 10)
		said = append(said, fmt.Sprintf("Batches of %s were more than all rows: expected_batch_size is now %s, a tenth of them.",
			form.Format(full.ExpectedBatchSize), form.Format(s.cfg.ExpectedBatchSize)))
	}
	if s.data.suited = said; len(said) > 0 {
		s.epoch++
	}
}

// cancelOpen ends opening; what was open before stays.
func (s *session) cancelOpen() {
	d := &s.data
	if d.cancel != nil {
		d.cancel()
	}
	d.tries++
	d.loading, d.slow, d.cancel = false, false, nil
}
