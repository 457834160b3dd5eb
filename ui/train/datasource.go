package train

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/cards"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// dataSource opens the data of an experiment. The data opened last stay until others open without
// an error, but no run begins on them while the page names other data.
type dataSource struct {
	*env
	client Client
	exp    *experiment
	// show is called when the card of the data is to be looked at.
	show func()
	// adopted is called when other data is in use, or none, with whether that
	// changed the configuration.
	adopted func(edited bool)

	ready       bool   // data can be opened
	wanted      string // what the page names: name, what is being read, or could not be
	name        string // name of built-in data, or form.Files
	handle      client.Handle
	report      *data.Report
	files       app.Value // the File objects behind it, for reading them again
	chosenFiles app.Value // the files that were chosen last, which the page says how to read; nil: none
	csv         run.CSV   // how they were read
	early       app.Value // files chosen before anything can read them

	// refused are files that could not be read as they are, and what was
	// understood of them: another way of reading them may do.
	refused       app.Value
	refusedReport *data.Report

	saved   *savedFile // what was chosen, where it is a file of the page’s own
	looking bool       // whether it is one takes long enough to find out to be shown
	// taken is called with a file's settings, which are to take the place of the present ones.
	taken func(run.Config)
	// startFrom has the next run start from the model in a file; nil: nothing reads models.
	startFrom func(file app.Value)
	agreed    *run.Agreed // what the room is for to which one is invited; nil: none
	lost      string      // name of the files of those settings, which are to be chosen again
	left      bool        // those settings are of an earlier visit

	fresh       bool   // the files were just chosen, and nothing says how they are read
	recalled    bool   // they are read as others of the same columns were
	columnNames string // of their table, as it was first read

	loading  bool
	slow     bool // it takes long enough to show progress
	progress reading
	cancel   func()
	fault    string
	suited   []string // what was changed to go with the data
	backbone *backbone
	tries    int
}

// openFirst opens the first data: what has been chosen meanwhile, or the experiment's.
func (d *dataSource) openFirst() {
	d.ready = true
	if early := d.early; early != nil {
		d.early = nil
		d.open(form.Files, early)
	} else {
		d.openNamed(d.exp.full().Data)
	}
}

// openNamed opens built-in data by name, or the files that were open last.
func (d *dataSource) openNamed(name string) {
	switch {
	case name != form.Files:
		d.open(name, nil)
	case d.files != nil:
		d.open(name, d.files)
	default:
		d.stop()
		d.wanted = name
		before, after := "Local files are kept neither by a link nor over a reload. Choose ", " here again."
		if d.left {
			before, after = "Choose ", " again to go on with your settings from last time. This browser keeps no rows."
		}
		d.fault = cmp.Or(d.needs(), before+cmp.Or(words.Brief(d.lost, mostOfLabel), "them")+after)
		d.adopted(false)
		d.show()
	}
}

// lack returns the reason why no run can begin on the data that the page names; empty where one can.
func (d *dataSource) lack() string {
	switch {
	case !d.ready || d.loading:
		return "The data is still being read."
	case d.fault != "" || d.handle == nil:
		return "There is no data to train on yet: see Data."
	}
	return ""
}

// OpenFiles opens an array of File objects.
func (d *dataSource) OpenFiles(files app.Value) {
	if !files.Truthy() || files.Length() == 0 {
		return
	}
	d.choose(app.Window().Get("Array").Call("from", files))
}

// choose opens a list of files.
func (d *dataSource) choose(list app.Value) {
	other := d.chosenFiles != nil && !shares(d.chosenFiles, list) || d.left && d.chosenFiles == nil && !named(list, d.lost)
	if c := &d.exp.cfg.CSV; other {
		// How the last table was read says nothing about the next, but of the same beside
		// another: rows to test on, for instance.
		csv := run.CSV{Missing: c.Missing, TestShare: c.TestShare, HoldOut: c.HoldOut}
		if d.left { // a folder of pictures is not known by the names of its files
			csv.Image = c.Image
		}
		*c = csv
		d.exp.forgetReading()
	}
	c := d.exp.cfg.CSV
	d.fresh = reflect.DeepEqual(c, run.CSV{Missing: c.Missing, TestShare: c.TestShare, HoldOut: c.HoldOut})
	d.left, d.recalled, d.columnNames = false, false, ""
	if c := &d.exp.cfg; c.NumExamples > 0 && c.CSV.HoldOut == "" {
		c.CSV.HoldOut = "row"
	}
	d.chosenFiles = list
	d.show()
	d.open(form.Files, list)
}

// named reports whether a list of files has one of that name.
func named(list app.Value, name string) bool {
	for i := range list.Length() {
		if list.Index(i).Get("name").String() == name {
			return true
		}
	}
	return false
}

// shares reports whether two lists of files have one of the same name.
func shares(a, b app.Value) bool {
	if a == nil || !a.Truthy() {
		return false
	}
	names := map[string]bool{}
	for i := range a.Length() {
		names[a.Index(i).Get("name").String()] = true
	}
	for i := range b.Length() {
		if names[b.Index(i).Get("name").String()] {
			return true
		}
	}
	return false
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
func (d *dataSource) reopen() {
	if d.refused != nil {
		d.open(form.Files, d.refused)
	} else if d.name == form.Files && d.files != nil {
		d.open(form.Files, d.files)
	}
}

// noticeable is the duration of work after which its progress is shown.
const noticeable = 300 * time.Millisecond

func (d *dataSource) open(name string, files app.Value) {
	if !d.ready {
		d.early = files
		return
	}
	d.stop()
	d.loading, d.slow, d.fault, d.wanted, d.progress = true, false, "", name, reading{}
	mine := d.tries
	d.after(noticeable, func() {
		if mine == d.tries && d.loading {
			d.slow = true
			d.changed()
		}
	})
	var from any = name
	if files != nil {
		from = files
	}
	csv := d.exp.cfg.CSV
	d.cancel = d.client.Open(from, csv, d.loaded(mine), func(o client.Opened, err error) {
		if mine != d.tries {
			if err == nil {
				o.Handle.Close()
			}
			return
		}
		d.settled(name, files, csv, o, err)
	})
	d.changed()
}

// loaded shows progress, at most ten times a second.
func (d *dataSource) loaded(mine int) func(source.Progress) {
	var last time.Time
	return func(p source.Progress) {
		if mine != d.tries {
			return
		}
		d.progress.add(p)
		if time.Since(last) > 100*time.Millisecond {
			last = time.Now()
			d.changed()
		}
	}
}

func (d *dataSource) settled(name string, files app.Value, csv run.CSV, o client.Opened, err error) {
	d.loading, d.slow, d.cancel = false, false, nil
	d.refused, d.refusedReport = nil, nil
	if err == nil && d.recall(files, &o.Report) {
		o.Handle.Close()
		return
	}
	if err != nil {
		if !errors.Is(err, client.ErrAborted) {
			d.refuseFiles(files, err)
		}
		d.changed()
		return
	}
	if d.handle != nil {
		d.handle.Close()
	}
	edited := d.name != name || d.exp.cfg.Data != name || !reflect.DeepEqual(d.csv, csv)
	d.handle, d.report, d.name, d.files, d.csv = o.Handle, &o.Report, name, files, csv
	if d.backbone != nil {
		d.backbone.view.Fault = "" // it was of the rows before
	}
	d.exp.cfg.Data, d.exp.facts, d.suited = name, o.Report.Facts(), nil
	if name == form.Files {
		d.suited = d.exp.unset()
		if len(d.report.Columns) > 0 {
			d.columnNames = cmp.Or(d.columnNames, namesOf(d.report.Columns))
			d.remember(csv)
		}
	}
	d.suited = append(d.suited, d.exp.suit(&o.Report)...)
	d.adopted(edited || len(d.suited) > 0)
}

func (d *dataSource) refuseFiles(files app.Value, err error) {
	if files != nil && tables(files) {
		if r := (*client.Refusal)(nil); errors.As(err, &r) {
			if d.recall(files, r.Report) {
				return
			}
			d.refusedReport = r.Report
		}
		d.refused = files
	}
	d.fault = err.Error()
	if files != nil {
		d.fault += ofTransformer(files)
	}
	d.adopted(false)
	d.show()
	d.recognise(files)
}

// ofTransformer says where files belong that cannot be read as data, where some are parts of a transformer; "" where none is.
func ofTransformer(files app.Value) string {
	var others []string
	for i := range files.Length() {
		if name := nameOf(files.Index(i)); !isOfTransformer(name) {
			others = append(others, name)
		}
	}
	said := " Of a transformer, tokenizer.json or vocab.txt is chosen below, under “Use a backbone (ONNX) or a tokenizer”, once a table is open, and config.json with its tensors under Model, “Start from a saved model”."
	switch {
	case len(others) == files.Length():
		return ""
	case len(others) == 1:
		return " Choose " + data.Shown(others[0]) + " by itself here." + said
	}
	return said
}

// isOfTransformer reports whether a file is part of a transformer, by its name.
func isOfTransformer(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "vocab.json", "merges.txt"}, name) || strings.HasSuffix(name, ".safetensors")
}

// CancelOpen goes back to what was open before, as it was read, from what is being
// read or could not be.
func (d *dataSource) CancelOpen() {
	d.stop()
	d.fault, d.refused, d.refusedReport = "", nil, nil
	c := &d.exp.cfg
	switch name := d.exp.full().Data; {
	case d.handle != nil:
		d.wanted, c.Data, c.CSV, d.chosenFiles = d.name, d.name, d.csv, d.files
		d.exp.remake()
		d.adopted(true)
	case d.wanted != name:
		d.openNamed(name)
	default:
		d.adopted(false)
	}
}

func (d *dataSource) stop() {
	if d.cancel != nil {
		d.cancel()
	}
	d.tries++
	d.backbone.interrupt()
	d.loading, d.slow, d.cancel, d.saved, d.looking = false, false, nil, nil, false
}

// columns returns the columns of the table, if there is one.
func (d *dataSource) columns() []data.Column {
	if t := d.view().Table; t != nil {
		return t.Columns
	}
	return nil
}

// holdOutByRow has rows held out each by itself where their number has been declared, and reports
// whether that is a change: a shuffle of all rows would tell how many there are.
func (d *dataSource) holdOutByRow() bool {
	c := &d.exp.cfg
	if c.NumExamples == 0 || c.CSV.HoldOut != "" || c.CSV.TestShare < 0 || d.name != form.Files || d.report == nil {
		return false
	}
	if slices.ContainsFunc(d.report.Files, func(f data.FileRole) bool { return f.Role == "test" }) {
		return false
	}
	c.CSV.HoldOut = "row"
	return true
}

// rows is the number of training rows, 0 while there are none.
func (d *dataSource) rows() int {
	if d.report == nil {
		return 0
	}
	return d.report.Rows
}

func (d *dataSource) view() cards.DataView {
	v := cards.DataView{Source: d.wanted, Report: d.report, Loading: d.loading, Slow: d.slow, Progress: d.progress.Progress, Share: d.progress.Share, Fault: d.fault, Suited: d.suited, Looking: d.looking, Recalled: d.recalled && d.wanted == form.Files}
	if d.fault != "" {
		v.Report = nil
		if d.handle != nil {
			v.Before = d.report.Name
		}
	}
	if d.saved != nil {
		v.Saved, v.Model, v.Settings = true, d.saved.model, d.saved.config != nil
		v.Startable = v.Model && d.startFrom != nil
	}
	if d.backbone != nil {
		v.Backbone = d.backbone.shown()
	}
	switch {
	case d.refused != nil:
		v.Refused, v.Table = true, d.refusedReport
	case v.Report != nil && v.Report.IsTable():
		v.Table = v.Report
	}
	return v
}
