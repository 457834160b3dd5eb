// Package cards draws the steps of an experiment, one card each, from data to optimiser,
// and the foot under them. A card shows the fields that the table of package form has for
// it, and draws itself only what is peculiar to it.
package cards

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Loader receives the data card's events.
type Loader interface {
	OpenFiles(files app.Value)
	CancelOpen()
	StopLooking()
	TakeSaved()
	UseSaved()
	StartSaved()
	CheckSaved()
	ReadAsNew()
}

// DataView is the state of the data card besides the form.
type DataView struct {
	Source   string       // what the page names, be it there or not
	Report   *data.Report // of it; nil while it is not there, and may not soon be
	Loading  bool
	Slow     bool
	Progress source.Progress
	Share    float64 // that is read of all, over all passes
	Fault    string
	Before   string   // what can be gone back to where Source cannot be read
	Suited   []string // what was changed to go with the data
	// Refused says that files wait to be read in another way; Table is what is
	// known of the table at hand, theirs or the one in use.
	Refused bool
	// Saved says that the file has no rows but is one that the page saves; Model and Settings, what it has.
	Saved, Model, Settings bool
	Startable              bool // a run can start from it
	// Looking says that whether the page saved the file is not known yet.
	Looking bool
	// Recalled says that the table is read as one of the same columns was before.
	Recalled bool
	Table    *data.Report
	// Backbone is a model that makes features of the rows.
	Backbone BackboneView
}

// Data is the first card: where the rows come from and how they are read.
type Data struct {
	app.Compo
	Form   *widget.Form
	View   DataView
	Loader Loader
	// Features is where a backbone is chosen; nil: none can be.
	Features Featurer
	Shows    Shower
	hovered  bool // a file is held over the drop zone
}

func (c *Data) CompoID() string { return "data-" + strconv.Itoa(c.Form.Epoch) }

func (c *Data) Render() app.UI {
	head := widget.Card{ID: form.Data, Number: "1", Title: "Data", Line: dataLine(c.View)}
	return head.View(c.Form,
		c.source(),
		c.drop(),
		c.progress(),
		widget.Message("data-fault", "fault", c.View.Fault),
		c.recalled(),
		c.gaps(),
		c.skips(),
		c.looking(),
		c.saved(),
		c.back(),
		c.doubts(),
		c.files(),
		c.reading(),
		c.summary(),
		c.scaling(),
		c.backbone(),
	)
}

// dataLine says in one line what the data is.
func dataLine(v DataView) string {
	switch {
	case v.Slow || v.Report == nil && v.Loading:
		return "reading…"
	case v.Report == nil && v.Refused:
		return "cannot be read as it is"
	case v.Report == nil:
		return "none yet"
	}
	r := v.Report
	name := v.Source
	if name == form.Files {
		name = shortName(r.Name)
	}
	return fmt.Sprintf("%s, %s × %s%s", name, words.Count(r.Rows), words.Count(r.Features), outputs(r))
}

// shortName keeps what tells a file from its neighbours.
func shortName(file string) string {
	for _, suffix := range []string{".gz", "-ubyte", "-idx3", "-idx1"} {
		file = strings.TrimSuffix(file, suffix)
	}
	return words.Brief(file, 20)
}

// mostOfName limits the letters that are shown of a column's name, or a file's.
const mostOfName = 60

func outputs(r *data.Report) string {
	switch r.Task {
	case data.Classification:
		return ", " + words.Count(r.Outputs) + " classes"
	case data.MultiLabel:
		return ", " + words.Plural(r.Outputs, "label")
	default:
		return ", regression"
	}
}

func (c *Data) source() app.UI {
	now := c.View.Source
	d := form.Find("data")
	if now == form.Files {
		d.Help = "Read in this tab. The list also has built-in data."
		d.Options = append([]form.Option{{Value: form.Files, Text: "Your files"}}, d.Options...)
	}
	return c.Form.Menu(d, now)
}

func (c *Data) drop() app.UI {
	class := "drop"
	if c.hovered {
		class += " over"
	}
	return app.Div().Class(class).
		OnDragEnter(c.dragged).OnDragOver(c.dragged).OnDragLeave(c.left).OnDrop(c.left).
		Body(
			app.Label().Class("button").For("files").Text("Choose files"),
			app.Input().Type("file").ID("files").Class("visually-hidden").Multiple(true).
				Aria("describedby", "files-help").OnChange(c.chosen),
			app.Label().Class("button").For("folder").Text("A folder"),
			app.Input().Type("file").ID("folder").Class("visually-hidden").Attr("webkitdirectory", true).
				Aria("describedby", "files-help").OnChange(c.chosen),
			app.P().ID("files-help").Class("help").Text("or drop them on the page. Pictures: PNG or JPEG in a folder for each class, or in a zip or tar archive; IDX, CIFAR, NumPy, SVHN’s .mat. Tables: CSV, Excel (.xlsx), Parquet, NumPy. Also gzipped. Test files are told by their names. They never leave this device."),
		)
}

func (c *Data) dragged(_ app.Context, e app.Event) {
	e.PreventDefault()
	c.hovered = true
}

// left ends the highlight; what is dropped is taken by the page, on which a
// file may be dropped anywhere.
func (c *Data) left(app.Context, app.Event) { c.hovered = false }

// chosen empties the picker afterwards, so that the same file can be chosen again.
func (c *Data) chosen(ctx app.Context, _ app.Event) {
	list := app.Window().Get("Array").Call("from", ctx.JSSrc().Get("files"))
	ctx.JSSrc().Set("value", "")
	c.Loader.OpenFiles(list)
}

func (c *Data) progress() app.UI {
	v, l := c.View, c.Loader
	if !v.Slow {
		return app.Div().Class("loading").Hidden(true)
	}
	bar := app.Progress().Aria("label", "Reading the data")
	label := "Generating " + v.Source + "…"
	if v.Source == form.Files {
		label = "Opening the files…"
	}
	if p := v.Progress; p.Total > 0 {
		bar = bar.Max(100).Value(int(100 * v.Share))
		does := "reading its rows"
		if p.Phase == source.PhaseScan {
			does = "learning what it holds"
		}
		label = fmt.Sprintf("%d %%: %s (%s of %s), %s", int(100*v.Share), words.Brief(p.File, mostOfName), words.Bytes(p.Done), words.Bytes(p.Total), does)
	}
	return app.Div().Class("loading").Body(
		app.P().Text(label), bar,
		app.Button().Type("button").Text("Cancel").OnClick(func(app.Context, app.Event) {
			l.CancelOpen()
			browser.Focus("f-data")
		}),
	)
}

// recalled offers to read a table otherwise than those of the same columns before.
func (c *Data) recalled() app.UI {
	l := c.Loader
	return app.P().ID("recalled").Class("note").Hidden(!c.View.Recalled || c.View.Loading).Body(
		app.Text("Read as you read these columns before. "),
		app.Button().Type("button").ID("read-as-new").Text("Read it as new").OnClick(func(app.Context, app.Event) {
			l.ReadAsNew()
			browser.Focus("f-data")
		}),
	)
}

// gaps offers what can be done with missing cells, where they are why the files cannot
// be read. First what loses nothing: a model of rows without gaps answers none with them.
func (c *Data) gaps() app.UI {
	t, ed := c.View.Table, c.Form.Editor
	if !c.View.Refused || t == nil || t.Missing == 0 || c.Form.Full.CSV.Missing != "" {
		return app.Div().Hidden(true)
	}
	choose := func(value, text string) app.UI {
		return app.Button().Type("button").ID("missing-"+value).Text(text).OnClick(func(app.Context, app.Event) {
			ed.Set("csv.missing", value)
			ed.Settle("csv.missing")
			browser.Focus("show-table") // the button goes
		}, app.EventScope(value))
	}
	return app.Div().Class("buttons gaps").Body(choose("indicator", "Keep them, marked as missing"), choose("drop", "Leave those rows out"))
}

// skips offers to leave out rows that cannot be read, where one of them is why the files cannot be.
func (c *Data) skips() app.UI {
	ed := c.Form.Editor
	if !c.View.Refused || !strings.Contains(c.View.Fault, data.SkipRows) || c.Form.Full.CSV.BadRows != "" {
		return app.Div().Hidden(true)
	}
	return app.Div().Class("buttons gaps").Body(app.Button().Type("button").ID("bad-rows-skip").Text("Skip such rows").OnClick(func(app.Context, app.Event) {
		ed.Set("csv.bad_rows", "skip")
		ed.Settle("csv.bad_rows")
		browser.Focus("show-table")
	}))
}

// looking shows that a file without rows is still looked at.
func (c *Data) looking() app.UI {
	l := c.Loader
	return app.Div().ID("data-looking").Class("loading").Hidden(!c.View.Looking).Body(
		app.P().Text("Checking whether this page saved the file…"),
		app.Progress().Aria("label", "Checking whether this page saved the file"),
		app.Button().Type("button").Text("Cancel").OnClick(func(app.Context, app.Event) {
			l.StopLooking()
			browser.Focus("f-data")
		}),
	)
}

// saved offers what can be done with a file that the page saves.
func (c *Data) saved() app.UI {
	l := c.Loader
	return app.Div().Class("buttons gaps").Hidden(!c.View.Saved).Body(
		app.Button().Type("button").ID("take-saved").Hidden(!c.View.Settings).Text("Take its settings").OnClick(func(app.Context, app.Event) {
			l.TakeSaved()
			browser.Focus("f-data")
		}),
		app.Button().Type("button").ID("use-saved").Hidden(!c.View.Model).Text("Use it").OnClick(func(ctx app.Context, _ app.Event) {
			l.UseSaved()
			ctx.Navigate(widget.Link("/use"))
		}),
		app.Button().Type("button").ID("start-saved").Hidden(!c.View.Startable).Text("Start from it").OnClick(func(app.Context, app.Event) {
			l.StartSaved()
			browser.Focus("start-file")
		}),
		app.Button().Type("button").ID("check-saved").Text("Check it").OnClick(func(ctx app.Context, _ app.Event) {
			l.CheckSaved()
			ctx.Navigate(widget.Link("/check"))
		}),
	)
}

// back offers what was open before in place of what cannot be read.
func (c *Data) back() app.UI {
	l := c.Loader
	return app.Div().Hidden(c.View.Before == "").Body(
		app.Button().Type("button").ID("data-back").Text("Go on with " + shortName(c.View.Before)).OnClick(func(app.Context, app.Event) {
			l.CancelOpen()
			browser.Focus("f-data")
		}),
	)
}

func (c *Data) summary() app.UI {
	r := c.View.Report
	if r == nil {
		return app.Div().Class("summary")
	}
	return app.Div().Class(widget.Stale("summary", c.View.Loading)).Body(
		app.P().Text(reportLine(r)),
		app.If(len(r.Preview.ClassRows) > 0, func() app.UI { return app.P().ID("class-rows").Text(classLine(r)) }),
		app.If(len(r.Preview.Images) > 0 && len(r.Shape) >= 2, func() app.UI { return thumbs(r) }),
		app.Range(c.View.Suited).Slice(func(i int) app.UI { return app.P().Class("note suited").Text(c.View.Suited[i]) }),
		app.If(c.View.Table == nil, func() app.UI {
			notes := settled(r)
			return app.Div().Class("notes").Body(app.Range(notes).Slice(func(i int) app.UI { return app.P().Class("note").Text(notes[i]) }))
		}),
	)
}

// doubts lists what the owner is to settle, above the choices by which that is done.
func (c *Data) doubts() app.UI {
	var list []string
	if r := c.View.Report; r != nil {
		list = r.Doubts
	}
	return app.Div().Class(widget.Stale("notes", c.View.Loading)).ID("data-doubts").Hidden(len(list) == 0).
		Body(app.Range(list).Slice(func(i int) app.UI { return app.P().Class("warning").Text(list[i]) }))
}

// settled are a report's warnings that are no doubts.
func settled(r *data.Report) []string {
	return slices.DeleteFunc(slices.Clone(r.Warnings), func(s string) bool { return slices.Contains(r.Doubts, s) })
}

func reportLine(r *data.Report) string {
	s := fmt.Sprintf("%s to train on", words.Plural(r.Rows, "row"))
	if r.TestRows > 0 {
		s += fmt.Sprintf(", %s to test on", words.Count(r.TestRows))
	} else {
		s += ", none to test on"
	}
	s += fmt.Sprintf("; %s", words.Plural(r.Features, "feature"))
	if len(r.Shape) >= 2 {
		s += " ("
		for i, n := range r.Shape {
			if i > 0 {
				s += "×"
			}
			s += strconv.Itoa(n)
		}
		s += ")"
	}
	return s + "."
}

// classLine says how many training rows the classes have, of many the first ones.
func classLine(r *data.Report) string {
	const most = 12
	var parts []string
	for i, n := range r.Preview.ClassRows[:min(most, len(r.Preview.ClassRows))] {
		parts = append(parts, data.Shown(r.Classes[i])+": "+words.Count(n))
	}
	if more := len(r.Preview.ClassRows) - most; more > 0 {
		what := "classes"
		if r.Task == data.MultiLabel {
			what = "labels"
		}
		parts = append(parts, fmt.Sprintf("and %s more %s", words.Count(more), what))
	}
	if r.Task == data.MultiLabel {
		return "Training rows with each label: " + strings.Join(parts, ", ") + "."
	}
	return "Training rows by class: " + strings.Join(parts, ", ") + "."
}

func thumbs(r *data.Report) app.UI {
	h, w := r.Shape[len(r.Shape)-2], r.Shape[len(r.Shape)-1]
	class := "thumbs"
	if slices.ContainsFunc(r.Preview.Labels, func(l string) bool { return len(l) > 2 }) {
		class += " named" // digits have room in ten columns, words do not
	}
	return app.Ul().Class(class).Aria("label", "First training rows").Body(
		app.Range(r.Preview.Images).Slice(func(i int) app.UI {
			label := ""
			if i < len(r.Preview.Labels) {
				label = r.Preview.Labels[i]
			}
			return app.Li().Body(&widget.Picture{Pixels: base64.StdEncoding.EncodeToString(r.Preview.Images[i]), Height: h, Width: w, Text: label, Label: "an image of class " + label})
		}))
}

// files are the files of a table, where they are several, and what they are for.
func (c *Data) files() app.UI {
	r := c.View.Table
	if r == nil {
		return app.Div().Hidden(true)
	}
	show := c.Shows
	return app.Div().Body(
		app.Button().Type("button").ID("show-table").Hidden(len(r.Columns) == 0).Text("Show how it is read").
			OnClick(func(app.Context, app.Event) { show.ShowTable(true) }),
		app.If(len(r.Files) > 1, func() app.UI {
			return app.Table().Class("files").Body(
				app.Caption().Text("What each file is for"),
				app.TBody().Body(app.Range(r.Files).Slice(func(i int) app.UI {
					f := r.Files[i]
					d := form.Field{Key: "csv.roles." + f.Name, Options: roles}
					return app.Tr().Body(
						app.Th().Scope("row").Title(data.Shown(f.Name)).Text(shortName(f.Name)),
						app.Td().Body(c.Form.Select(d, f.Role).ID("role-"+strconv.Itoa(i)).Aria("label", "What "+data.Shown(f.Name)+" is for")),
					)
				})),
			)
		}),
	)
}

// roles lists the uses of a file.
var roles = []form.Option{{Value: "train", Text: "train"}, {Value: "test", Text: "test"}}

// reading describes how a table is read: that of the files which were refused, or else
// of the data at hand.
func (c *Data) reading() app.UI {
	rows := slices.DeleteFunc(form.On(form.Data), func(d form.Field) bool { return !form.Reads(d.Key) })
	if !slices.ContainsFunc(rows, func(d form.Field) bool { return c.asks(d.Key) }) {
		return app.Div().Hidden(true)
	}
	for i, d := range rows {
		when := d.When
		rows[i].When = func(cfg *run.Config) bool { // what is set has its field, to be taken back
			return c.Form.Text(d.Key) != "" || c.asks(d.Key) && (when == nil || when(cfg))
		}
	}
	rows, own := c.questions(rows)
	own = append(own,
		app.Div().Hidden(!c.asks("csv.label")).Body(c.label()),
		app.Div().Hidden(!c.asks("csv.task")).Body(c.task()),
		app.Div().Hidden(!c.asks("csv.sheet")).Body(c.sheet()),
	)
	return app.Div().Body(append(append(own, c.Form.Plain(rows)...), c.Form.Advanced(rows))...)
}

// questions draws the advanced fields that settle a doubt, or did, each at its own place, and returns the other rows.
func (c *Data) questions(rows []form.Field) (others []form.Field, list []app.UI) {
	for _, d := range rows {
		question := d.Key == "csv.header" || d.Key == "csv.decimal"
		r := c.View.Report
		if r == nil {
			r = c.View.Table
		}
		if !question || c.Form.Text(d.Key) == "" && (r == nil || !slices.Contains(r.Asks, d.Key)) {
			others = append(others, d)
			if question {
				list = append(list, app.Div().Hidden(true))
			}
			continue
		}
		if r != nil && c.Form.Text(d.Key) == "" { // each has two values
			d.Options = slices.Clone(d.Options)
			found := d.Options[2]
			if d.Key == "csv.header" && r.Header || d.Key == "csv.decimal" && r.Decimal == "." {
				found = d.Options[1]
			}
			d.Options[0].Text = "detected: " + found.Text
		}
		list = append(list, app.Div().Body(c.Form.Field(d)))
	}
	return others, list
}

// asks reports whether a way of reading files matters to those at hand.
func (c *Data) asks(key string) bool {
	r, picture := c.View.Report, strings.HasPrefix(key, "csv.image.")
	switch {
	case c.View.Table != nil:
		return !picture && key != "csv.labels" && (key != "csv.sheet" || len(c.View.Table.Sheets) > 1)
	case c.View.Refused:
		return key != "csv.labels" && key != "csv.sheet"
	case r == nil:
		return false
	}
	switch r.Format {
	case "pictures", "parquet":
		return picture || slices.Contains([]string{"csv.label", "csv.bad_rows", "csv.test_share", "csv.task"}, key)
	case "numpy":
		return slices.Contains([]string{"csv.test_share", "csv.task"}, key)
	case "cifar-100":
		return slices.Contains([]string{"csv.test_share", "csv.labels"}, key)
	}
	return false
}

// sheet chooses the sheet of a spreadsheet.
func (c *Data) sheet() app.UI {
	d := form.Find("csv.sheet")
	d.Options = []form.Option{{Text: "the first"}}
	if r := c.View.Table; r != nil {
		for _, name := range r.Sheets[:min(len(r.Sheets), mostColumns)] {
			d.Options = append(d.Options, form.Option{Value: name, Text: words.Brief(name, mostOfName)})
		}
	}
	return c.Form.Menu(d, c.Form.Text(d.Key))
}

// label chooses the column to predict, from a list where the columns are known.
func (c *Data) label() app.UI {
	d := form.Find("csv.label")
	r := c.View.Table
	if r == nil || len(r.Columns) == 0 {
		return c.Form.Field(d)
	}
	for _, col := range r.Columns[:min(len(r.Columns), mostColumns)] {
		d.Options = append(d.Options, form.Option{Value: col.Name, Text: words.Brief(col.Name, mostOfName)})
	}
	if r.Task == data.MultiLabel {
		d.Options = slices.Insert(d.Options, 0, form.Option{Text: "the columns of the kind label"})
	}
	return c.Form.Menu(d, cmp.Or(c.Form.Text(d.Key), r.Label))
}

// task chooses whether the label names classes or is a number.
func (c *Data) task() app.UI {
	d := form.Find("csv.task")
	if r := c.View.Table; r != nil {
		for _, o := range d.Options {
			if o.Value != "" && o.Value == string(r.Task) {
				d.Options = slices.Clone(d.Options)
				d.Options[0].Text = "detected: " + o.Text
				break
			}
		}
	}
	return c.Form.Menu(d, c.Form.Text(d.Key))
}

// targetDefaults are the defaults of [run.Scaling.Target].
var targetDefaults = map[string]string{
	"declared": "a table’s default: bounds declared", "private": "a table’s default: private bounds", "none": "the data’s own default: none",
}

// scaling draws the controls of features' preprocessing.
func (c *Data) scaling() app.UI {
	f := *c.Form
	d, kind := form.Find("scaling.kind"), f.Full.Scaling.Kind
	if r := c.View.Report; kind == "" && r != nil && r.IsTable() {
		d.Options = slices.Clone(d.Options)
		d.Options[0].Text, d.Options[0].Help = "a table’s default: bounds as known", "Categories are 0 or 1, and of every column of numbers bounds are declared. Free."
		if data.Vocabulary(r.Columns) > 0 {
			d.Options[0].Text, d.Options[0].Help = "a table’s default: none", "Letters and words are numbered, and not scaled."
		}
		if slices.ContainsFunc(r.Columns, func(col data.Column) bool { return col.Kind == data.Numeric && col.Bounds == nil }) {
			f.Full.Scaling.Kind = "private"
			d.Options[0].Text, d.Options[0].Help = "a table’s default: private bounds", d.HelpAt("private")
		}
	}
	rows := slices.DeleteFunc(form.On(form.Data), func(d form.Field) bool { return form.Reads(d.Key) })
	pictures := c.View.Report != nil && len(c.View.Report.Shape) >= 2
	numbers, target := c.View.Report != nil && c.View.Report.Task == data.Regression, ""
	if numbers {
		target = f.Full.Scaling.TargetOf(c.View.Report.Facts())
	}
	for i, d := range rows {
		switch d.Key { // what is set and cannot be has its field, to be taken back
		case "augmentation.kind":
			rows[i].When = func(cfg *run.Config) bool { return pictures || cfg.Augmentation.Kind != "none" }
		case "scaling.target":
			rows[i].When = func(cfg *run.Config) bool { return numbers || cfg.Scaling.Target != "" }
			if numbers {
				rows[i].Options = slices.Clone(d.Options)
				rows[i].Options[0].Text = targetDefaults[(run.Scaling{Kind: kind}).TargetOf(c.View.Report.Facts())]
			}
		case "scaling.share":
			rows[i].When = func(cfg *run.Config) bool { return cfg.Scaling.Kind == "private" || target == "private" }
		}
	}
	return app.Div().Body(append(append([]app.UI{c.Form.Menu(d, kind)}, f.Plain(rows)...), f.Advanced(rows))...)
}
