package use

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/client"
	"clipscope/ui/scores"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Page applies a model.
type Page struct {
	app.Compo
	Around widget.Around
	Use    *Use
}

func (p *Page) OnMount(ctx app.Context) {
	p.Use.changed = func() { ctx.Dispatch(nil) }
	p.Around.Show(p.Use.changed) // the count of requests
	p.Use.Drop(browser.Early().Call("take"))
	p.Use.Restore()
}

func (p *Page) OnDismount() {
	p.Use.changed = func() {}
	p.Around.Hide()
}

func (p *Page) Render() app.UI {
	u := p.Use
	return app.Div().Class("page").OnDrop(p.dropped).Body(
		&widget.Header{Page: "use", Sent: p.Around.Sent()},
		app.Main().Class("bench use").Body(
			app.Div().Class("experiment").Role("region").Aria("label", "Model").Body(
				app.H1().Text("Use a model"),
				chooser("model", "Choose a model", "or drop it on the page: the zip, JSON or safetensors file that was saved, and with a transformer’s its tokenizer. They stay on this device.", false, u.OpenChosen),
				u.loadingView(false),
				u.faultView("model-fault", false),
				app.If(u.model != nil, func() app.UI { return about(u.name, u.info(), u.toCheck) }),
				app.If(u.model != nil, u.keptView),
				app.P().Class("help").Hidden(u.model != nil).Body(app.Text("Does the ε of a file hold? "), app.A().ID("to-check").Href(widget.Link("/check")).Text("Check a file"), app.Text(".")),
			),
			app.Div().Class("stage").Body(u.parts()...),
		),
	)
}

func (p *Page) dropped(_ app.Context, e app.Event) {
	e.PreventDefault()
	walked(e, p.Use.Drop)
}

// walked calls f with the files of a drop, those in folders among them, as Train takes them.
func walked(e app.Event, f func(files app.Value)) {
	browser.Settle(browser.Early().Call("dropped", e.Get("dataTransfer")), func(files app.Value, rejected bool) {
		if !rejected && files.Length() > 0 {
			f(files)
		}
	})
}

// parts draws the ways in which a model can be asked.
func (u *Use) parts() []app.UI {
	switch kindOf(u.info()) {
	case tables:
		if u.lacks() {
			return []app.UI{u.lackPart()}
		}
		return []app.UI{u.tablePart(), u.rowPart(), u.linePart(), u.examPart()}
	case pictures:
		return []app.UI{u.picturePart(), u.picturesPart(), u.linePart(), u.examPart()}
	case numbers:
		return []app.UI{u.rowPart(), u.linePart()} // there are no files of such rows
	}
	return []app.UI{app.Section().Class("use-part use-none").ID("none").Body(
		app.P().Text("Open a saved model, and it answers here: a table of rows, a row that you type, a digit that you draw, a picture. Nothing of what it was trained on is needed, and nothing leaves this device."),
		app.P().Body(app.Text("A run that has ended has its own button “Use it”, on "), app.A().Href(widget.Link("/")).Text("Train"), app.Text(".")),
	)}
}

// lackPart takes what makes the model's features, which is not in its file.
func (u *Use) lackPart() app.UI {
	label, help := "Choose the tokenizer", "or drop it on the page."
	if u.info().FeaturesOf.Tokens == 0 {
		label, help = "Choose these files", "or drop them on the page, together."
	}
	return part("lack", "What reads its texts",
		app.P().Text(u.info().Lacks),
		chooser("lack", label, help+" It stays on this device, and is kept with the model.", true, u.complete),
		u.loadingView(true),
		u.faultView("lack-fault", true),
	)
}

// chooser draws the place where files are chosen or dropped; what is dropped goes to f as well, where
// own is set, and to the page otherwise.
func chooser(id, label, help string, own bool, f func(list app.Value)) app.UI {
	d := app.Div().Class("drop").Body(
		app.Label().Class("button").For("use-"+id).Text(label),
		app.Input().Type("file").ID("use-"+id).Class("visually-hidden").Multiple(own || id == "model").Aria("describedby", "use-"+id+"-help").
			OnChange(func(ctx app.Context, _ app.Event) { picked(ctx, f) }, app.EventScope(id)),
		app.P().ID("use-"+id+"-help").Class("help").Text(help),
	)
	if own {
		d = d.OnDrop(func(_ app.Context, e app.Event) {
			e.PreventDefault()
			e.Call("stopPropagation")
			walked(e, f)
		}, app.EventScope(id))
	}
	return d
}

// pickFolder draws a button for a folder.
func pickFolder(id string, f func(list app.Value)) app.UI {
	return app.Div().Class("buttons").Body(
		app.Label().Class("button").For("use-"+id+"-folder").Text("A folder"),
		app.Input().Type("file").ID("use-"+id+"-folder").Class("visually-hidden").Attr("webkitdirectory", true).Aria("describedby", "use-"+id+"-help").
			OnChange(func(ctx app.Context, _ app.Event) { picked(ctx, f) }, app.EventScope(id)),
	)
}

// picked calls f with the files of an input, if any, and empties it, so that the same can be chosen again.
func picked(ctx app.Context, f func(list app.Value)) {
	list := app.Window().Get("Array").Call("from", ctx.JSSrc().Get("files"))
	ctx.JSSrc().Set("value", "")
	if list.Length() > 0 {
		f(list)
	}
}

// faultView shows a fault where the files were chosen, and loadingView that they are read: beside what else the model needs, or not.
func (u *Use) faultView(id string, joined bool) app.UI {
	fault := ""
	if u.joined == joined {
		fault = u.fault
	}
	return widget.Message(id, "fault", fault)
}

func (u *Use) loadingView(joined bool) app.UI {
	return app.Div().Class("loading").Hidden(u.loading == "" || u.joined != joined).Body(
		app.P().Text("Reading "+data.Shown(u.loading)+"…"),
		app.Progress().Aria("label", "Reading the model"),
		app.Button().Type("button").Text("Cancel").OnClick(func(app.Context, app.Event) {
			u.stop()
			u.changed()
			browser.Focus("use-model")
		}),
	)
}

// keptView says how long the model stays open, and ends that.
func (u *Use) keptView() app.UI {
	kept := "It stays open in this browser, on this device, until you close it."
	if u.unkept != "" {
		kept = "It is gone when this page is closed or loaded again: " + u.unkept
	}
	return app.Div().Class("kept").Body(
		app.P().ID("kept").Class("help").Role("status").Text(kept),
		app.Button().Type("button").ID("close-model").Text("Close the model").OnClick(func(app.Context, app.Event) {
			u.Close()
			browser.Focus("use-model")
		}),
	)
}

// Bytes of a file's own words that are shown.
const (
	mostGuarantee = 1000
	mostStatement = 100_000
)

// about shows what a model's file says of itself. Its ε and its words are the file's claim,
// which nothing here has worked out again, and are shown as that; check is called for doing so.
func about(name string, info *run.ModelInfo, check func(app.Context)) app.UI {
	guarantee := words.Brief(info.Guarantee, mostGuarantee)
	return app.Div().Class("about").ID("about").Body(
		app.Dl().Body(
			fact("model", data.Shown(name)),
			fact("answers", answersText(info)),
			fact("takes", takesText(info)),
			app.If(info.FeaturesOf != nil, func() app.UI { return fact("reads texts by", readerText(info.FeaturesOf)) }),
			fact("made of", layersText(info)),
			fact("trained, it says, by", words.Brief(info.Method, mostGuarantee)+", "+words.Plural(info.Steps, "step")),
		),
		app.Dl().Class("result-figures").Body(
			claim("ε", words.Epsilon(float64(info.Epsilon)), info.Guarantee),
			claim("δ", words.Upper(info.Delta, 2), info.Guarantee),
		),
		app.P().ID("guarantee").Body(app.Text("The file claims: "), app.Q().Text(guarantee)),
		app.Div().Class("buttons").Body(
			app.Button().Type("button").ID("check-model").Text("Check this file").Aria("describedby", "claimed").OnClick(func(ctx app.Context, _ app.Event) { check(ctx) }),
		),
		app.P().ID("claimed").Class("help").Text("Anyone can write an ε into a file. This page has not worked it out again: “Check this file” does."),
		app.Details().Body(app.Summary().Text("The whole statement, as the file has it"), app.Pre().TabIndex(0).Text(words.Brief(cmp.Or(info.Statement, info.Guarantee), mostStatement))),
		app.If(len(info.Columns) > 0, func() app.UI { return columnsView(info) }),
		app.P().Class("help").Text("Answers tell no more of those it was trained on than the model does, however many there are."),
	)
}

// claim is a figure that a file states, in the ink of what the page does not vouch for.
func claim(name, value, guarantee string) app.UI {
	if strings.HasPrefix(guarantee, run.NoGuarantee) {
		name += ", no guarantee"
	}
	return scores.Figure(name+", claimed", value, chart.Plain)
}

func fact(name, value string) app.UI {
	return app.Div().Body(app.Dt().Text(name), app.Dd().Text(value))
}

func answersText(info *run.ModelInfo) string {
	label := ""
	if info.Label != "" {
		label = data.Shown(info.Label) + ": "
	}
	switch data.Task(info.Task) {
	case data.Regression:
		if info.Outputs > 1 {
			return label + words.Plural(info.Outputs, "number")
		}
		return label + "a number"
	case data.MultiLabel:
		return label + "any of " + words.Plural(info.Outputs, "label") + few(info.Classes)
	}
	return label + "one of " + words.Count(info.Outputs) + " classes" + few(info.Classes)
}

// few are the first names of a list.
func few(names []string) string {
	const most = 10
	if len(names) == 0 {
		return ""
	}
	s := ", " + data.Shown(strings.Join(names[:min(most, len(names))], ", "))
	if len(names) > most {
		s += " …"
	}
	return s
}

func takesText(info *run.ModelInfo) string {
	switch kindOf(info) {
	case tables:
		n := 0
		for _, c := range info.Columns {
			if makes(&c) {
				n++
			}
		}
		return "tables, of which it reads " + words.Plural(n, "column")
	case pictures:
		s := fmt.Sprintf("pictures of %d×%d", info.Shape[len(info.Shape)-2], info.Shape[len(info.Shape)-1])
		if len(info.Shape) == 3 && info.Shape[0] == 3 {
			return s + " in colour"
		}
		return s + ", grey"
	}
	return "rows of " + words.Plural(info.Features, "number")
}

// readerText names what makes features, with the beginnings of hashes.
func readerText(b *run.Backbone) string {
	brief := func(sum string) string { return sum[:min(12, len(sum))] + "…" }
	if b.Tokenizer != "" {
		return fmt.Sprintf("a %s, SHA-256 %s, and its tokenizer, %s", b.Kind(), brief(b.SHA256), brief(b.Tokenizer))
	}
	return fmt.Sprintf("a %s, SHA-256 %s", b.Kind(), brief(b.SHA256))
}

func layersText(info *run.ModelInfo) string {
	var list []string
	for _, l := range info.Layers {
		list = append(list, l.Text)
	}
	const most = 12
	if len(list) > most {
		list = append(list[:most:most], fmt.Sprintf("… %d layers", len(list)))
	}
	return strings.Join(list, " ") + "; " + words.Plural(info.Parameters, "parameter")
}

// columnsView lists the columns, which a table must have.
func columnsView(info *run.ModelInfo) app.UI {
	const most = 200
	list := slices.DeleteFunc(slices.Clone(info.Columns), func(c run.AppliedColumn) bool { return c.Kind == string(data.Ignored) })
	return app.Details().Body(
		app.Summary().Text("Its columns"),
		app.Table().Body(
			app.THead().Body(app.Tr().Body(app.Th().Scope("col").Text("column"), app.Th().Scope("col").Text("holds"))),
			app.TBody().Body(app.Range(list[:min(most, len(list))]).Slice(func(i int) app.UI {
				return app.Tr().Body(app.Th().Scope("row").Text(data.Shown(list[i].Name)), app.Td().Text(holds(&list[i], info)))
			})),
		),
	)
}

func holds(c *run.AppliedColumn, info *run.ModelInfo) string {
	switch {
	case c.Kind == string(data.Label):
		return "what is answered; need not be there"
	case c.Buckets > 0:
		return "text"
	case c.Kind == string(data.Categorical):
		return strings.TrimPrefix(few(c.Categories), ", ")
	}
	s, write := "numbers", func(v float64) string { return words.Number(v, 3) }
	if c.Date != "" {
		s = "dates, " + map[string]string{"dmy": "day first", "mdy": "month first", "ymd": "year first"}[c.Date]
		write = func(v float64) string { return day(v, c.Date) }
	}
	if c.Time != "" {
		s, write = "times ("+c.Time+")", func(v float64) string { return data.Instant(math.Floor(v)) }
	}
	if unit := data.UnitOf(c.Units); unit != "" {
		s, write = s+" with “"+unit+"”", func(v float64) string { return writeValue(c, v) }
	}
	if b := boundsOf(info, c.First, c); b != nil {
		s += ", about " + write(b.Lo) + " to " + write(b.Hi)
	}
	if c.IfMissing != nil {
		s += "; may be missing"
	}
	return s
}

// part is a section of the stage.
func part(id, title string, body ...app.UI) app.UI {
	return app.Section().Class("use-part").ID("part-"+id).Aria("label", title).Body(append([]app.UI{app.H2().Text(title)}, body...)...)
}

// ofTable says what the lines of answers to a table are.
const ofTable = "Your table, with the answers in extra columns at the end."

// tablePart answers a table.
func (u *Use) tablePart() app.UI {
	j := &u.table
	return part("table", "Answer a table",
		chooser("table", "Choose a table", "or drop it on the page: CSV or Excel (.xlsx) with the names of the columns in its first row, or Parquet; columns in any order. Each row gets its answer.", false, u.answer),
		reading(j.busy, j.name, j.progress, "table", func() { j.stop(); u.changed() }),
		widget.Message("table-fault", "fault", j.fault),
		app.If(j.result != nil, func() app.UI { return answersView(j.name, j.result, ofTable) }),
	)
}

// reading draws the progress of reading a file.
func reading(busy bool, name string, p source.Progress, id string, stop func()) app.UI {
	if !busy {
		return app.Div().Class("loading").Hidden(true)
	}
	name = data.Shown(name)
	bar := app.Progress().Aria("label", "Reading "+name)
	label := name + "…"
	if p.Total > 0 {
		bar = bar.Max(100).Value(int(100 * float64(p.Done) / float64(p.Total)))
		label = fmt.Sprintf("%s: %s of %s", name, words.Bytes(p.Done), words.Bytes(p.Total))
	} else if p.Done > 0 { // rows whose texts were read
		label = name + ": " + words.Plural(int(p.Done), "row")
	}
	return app.Div().Class("loading").Body(app.P().Text(label), bar,
		app.Button().Type("button").Text("Cancel").OnClick(func(app.Context, app.Event) {
			stop()
			browser.Focus("use-" + id)
		}, app.EventScope(id)))
}

// Of cells that the model had to make something of.
const (
	notSeen  = "cells not seen in training"
	filledIn = "missing numbers, filled in as the model has it"
)

// answersView shows answers to a file; of says what its lines are.
func answersView(name string, a *client.Answers, of string) app.UI {
	shown := len(a.Head)
	if a.Problems == 0 { // which the last column tells of
		shown--
	}
	order := answerFirst(a.Own, shown)
	return app.Div().Class("use-answers").ID("answers").Role("status").Body(
		app.Dl().Class("counts").Body(
			scores.Figure("rows", words.Count(a.Rows), chart.Released),
			app.If(a.Problems > 0, func() app.UI { return scores.Figure("without an answer", words.Count(a.Problems), chart.Released) }),
			app.If(a.Unknown > 0, func() app.UI {
				return scores.Figure(notSeen, words.Count(a.Unknown), chart.Released)
			}),
			app.If(a.Missing > 0, func() app.UI {
				return scores.Figure(filledIn, words.Count(a.Missing), chart.Released)
			}),
		),
		widget.Message("table-problem", "warning", firstProblem(a.Problems, a.Problem)),
		app.Range(a.Warnings).Slice(func(i int) app.UI { return app.P().Class("help").Text(a.Warnings[i]) }),
		app.Div().Class("buttons").Body(
			app.Button().Type("button").Class("primary").ID("save-answers").OnClick(func(app.Context, app.Event) { a.Save(answersName(name)) }).
				Body(widget.Icon("save"), app.Span().Text("Save answers")),
			app.Span().Class("help").Text(data.Shown(answersName(name))+", "+words.Bytes(a.Bytes)+". "+of+" Preview:"),
		),
		app.Div().Class("answers").TabIndex(0).Role("region").Aria("label", "First answers").Body(app.Table().Body(
			app.THead().Body(app.Tr().Body(app.Range(order).Slice(func(k int) app.UI {
				i := order[k]
				return app.Th().Scope("col").Class(cellClass(i, a.Own, len(a.Head))).Text(data.Shown(a.Head[i]))
			}))),
			app.TBody().Body(app.Range(a.First).Slice(func(r int) app.UI {
				return app.Tr().Body(app.Range(order).Slice(func(k int) app.UI {
					i := order[k]
					cell := data.Shown(a.First[r][i])
					return app.Td().Class(cellClass(i, a.Own, len(a.Head))).Title(cell).Text(cell)
				}))
			})),
		)),
	)
}

// answerFirst are the columns of answers in the order in which they are shown: the
// answer itself, which a table of many columns would hide behind its edge, then the
// others as the file has them.
func answerFirst(own, all int) []int {
	order := make([]int, 0, all)
	if own < all {
		order = append(order, own)
	}
	for i := range all {
		if i != own {
			order = append(order, i)
		}
	}
	return order
}

func cellClass(i, own, all int) string {
	switch {
	case i == own:
		return "ours says"
	case i == all-1:
		return "amiss"
	case i >= own:
		return "ours"
	}
	return "theirs"
}

func answersName(name string) string {
	name = strings.TrimSuffix(name, ".gz")
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name + "-answers.csv"
}

func firstProblem(n int, text string) string {
	if n == 0 {
		return ""
	}
	return words.Plural(n, "row") + " without an answer. The first: " + text
}

// rowPart is a form for one row.
func (u *Use) rowPart() app.UI {
	fields := fieldsOf(u.info())
	if fields == nil {
		return part("row", "Type a row", app.P().Class("help").Text("This model reads too many columns to type a row: drop a table, or use the scripting API."))
	}
	return part("row", "Type a row",
		&rowForm{Use: u, Fields: fields, Epoch: u.row.epoch},
		app.Div().Class("buttons").Body(
			app.Button().Type("button").ID("fill").Text("Fill in the rest").Hidden(len(fields) < 2).Aria("describedby", "fill-help").OnClick(func(app.Context, app.Event) { u.fill() }),
			app.Button().Type("button").ID("clear-row").Text("Clear").OnClick(func(app.Context, app.Event) { u.clear() }),
		),
		app.P().Class("help").ID("fill-help").Hidden(len(fields) < 2).Text("Placeholder values, not a real person: the middle of each range, the first category, and no text."),
		u.said(&u.row.asked, rowHint(u.lack())),
	)
}

func rowHint(lack int) string {
	if lack == 0 {
		return ""
	}
	return "The answer stands here once every field has a value: " + words.Plural(lack, "field") + " to go."
}

// rowForm has a field for each column.
type rowForm struct {
	app.Compo
	Use    *Use
	Fields []field
	Epoch  int
}

func (f *rowForm) CompoID() string { return "row-" + strconv.Itoa(f.Epoch) }

func (f *rowForm) Render() app.UI {
	return app.Div().Class("row-form").Body(app.Range(f.Fields).Slice(func(i int) app.UI {
		d := f.Fields[i]
		id := "cell-" + strconv.Itoa(d.at)
		return app.Div().Class("field").Body(app.Label().For(id).Title(d.label).Text(d.label), f.control(id, d), widget.Message(id+"-counted", "help", d.counted(f.Use.row.cells[d.at])))
	}))
}

func (f *rowForm) control(id string, d field) app.UI {
	now := f.Use.row.cells[d.at]
	value := func(ctx app.Context) string { return ctx.JSSrc().Get("value").String() }
	if d.text {
		return app.Textarea().ID(id).Rows(4).Spellcheck(false).Placeholder("Type or paste a text, or ? for none.").Text(now).
			OnInput(func(ctx app.Context, _ app.Event) { f.Use.set(d.at, value(ctx)) }, app.EventScope(id))
	}
	if d.choices == nil {
		hint := d.hint
		if d.missing {
			hint = strings.TrimSpace(hint + " or ?")
		}
		return app.Input().Type("text").ID(id).AutoComplete(false).Spellcheck(false).Placeholder(hint).Value(now).
			OnInput(func(ctx app.Context, _ app.Event) { f.Use.set(d.at, value(ctx)) }, app.EventScope(id))
	}
	options := []app.UI{app.Option().Value(widget.NoChoice).Text("choose…").Selected(now == "")}
	for _, c := range d.choices {
		options = append(options, app.Option().Value(c).Text(data.Shown(c)).Selected(now == c))
	}
	if d.missing {
		options = append(options, app.Option().Value(missing).Text("(no value)").Selected(now == missing))
	}
	return app.Select().ID(id).
		OnChange(func(ctx app.Context, _ app.Event) { f.Use.set(d.at, widget.Chosen(value(ctx))) }, app.EventScope(id)).Body(options...)
}

// said is the answer to one row, or what there is instead.
func (u *Use) said(a *asked, hint string) app.UI {
	box := app.Div().Class("said").Role("status").Aria("busy", strconv.FormatBool(a.busy))
	switch {
	case a.fault != "":
		return box.Body(app.P().Class("fault").Text(a.fault))
	case a.answer == nil:
		return box.Body(app.P().Class("help").Text(hint))
	case a.answer.Problem != "":
		return box.Body(app.P().Class("warning").Text(a.answer.Problem))
	}
	return box.Body(
		app.If(u.info().Label != "", func() app.UI { return app.P().Class("help").Text(u.info().Label) }),
		app.P().Class("figure").Text(answerText(u.info(), a.answer)),
		app.If(u.line.said() != "", func() app.UI { return app.P().Class("help").Text(u.line.said()) }),
		app.If(len(a.answer.Unknown) > 0, func() app.UI {
			return app.P().Class("warning").Text("Not seen in training, and counted as none: the category in " + data.Shown(strings.Join(a.answer.Unknown, ", ")) + ".")
		}),
		app.If(len(a.answer.Missing) > 0, func() app.UI {
			return app.P().Class("help").Text("Missing, and filled in as the model has it: " + strings.Join(a.answer.Missing, ", ") + ".")
		}),
		app.If(data.Task(u.info().Task) != data.Regression, func() app.UI { return bars(u.info(), a.answer.Outputs) }),
	)
}

// answerText is an answer in a few words.
func answerText(info *run.ModelInfo, a *run.Answer) string {
	if data.Task(info.Task) == data.Regression {
		var parts []string
		for _, v := range a.Outputs {
			parts = append(parts, words.Number(float64(v), 5))
		}
		return strings.Join(parts, ", ")
	}
	if list, ok := a.Answer.([]any); ok {
		var on []string
		for _, name := range list {
			on = append(on, data.Shown(fmt.Sprint(name)))
		}
		return cmp.Or(strings.Join(on, ", "), "none")
	}
	return data.Shown(fmt.Sprint(a.Answer))
}

// mostBars limits the classes with a bar.
const mostBars = 12

// bars are the probabilities: of few classes in their order, of many the greatest.
func bars(info *run.ModelInfo, outputs []run.Number) app.UI {
	order := make([]int, len(outputs))
	most := 0
	for i := range order {
		if order[i] = i; outputs[i] > outputs[most] {
			most = i
		}
	}
	if len(order) > mostBars {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(outputs[b], outputs[a]) })
		order = order[:mostBars]
	}
	return app.Ul().Class("bars").Aria("label", "Probabilities").Body(app.Range(order).Slice(func(k int) app.UI {
		i := order[k]
		name, class := data.Shown(className(info, i)), ""
		if i == most {
			class = "most"
		}
		share := float64(outputs[i])
		return app.Li().Class(class).Body(
			app.Span().Class("bar-name").Title(name).Text(name),
			app.Progress().Max(1000).Value(int(math.Round(1000*share))).Aria("label", name),
			app.Span().Class("bar-value").Text(words.Percent(share, 1)),
		)
	}))
}

// picturePart is a pad to draw on, where the model takes grey pictures, and a picture.
func (u *Use) picturePart() app.UI {
	info, p := u.info(), &u.picture
	grey := len(info.Shape) == 2 || info.Shape[0] == 1
	title := "Show it a picture"
	if grey {
		title = "Draw, or show it a picture"
	}
	hint := "Choose a picture."
	if grey {
		hint = "Draw with the mouse, a finger or a pen: the answer follows the hand."
	}
	return part("picture", title,
		app.Div().Class("picture").Body(
			app.If(grey, func() app.UI {
				return app.Figure().Body(&pad{Use: u, Model: u.models}, app.FigCaption().Text("Draw here, white on black."))
			}),
			app.Figure().Class("seen").Body(&seen{Use: u, Count: p.count}, app.FigCaption().Text(seenText(p))),
			u.said(&p.asked, hint),
		),
		app.Div().Class("buttons").Body(
			app.Button().Type("button").ID("clear-picture").Text("Clear").OnClick(func(app.Context, app.Event) { u.wipe() }),
			app.Label().Class("tick").Hidden(p.file == nil).Body(
				app.Input().Type("checkbox").ID("invert").Checked(p.inverted).OnChange(func(ctx app.Context, _ app.Event) { u.invert(ctx.JSSrc().Get("checked").Bool()) }),
				app.Span().Text("dark and light exchanged"),
			),
		),
		chooser("picture", "Choose a picture", "or drop it on the page: PNG, JPEG or WebP. "+transformText(info), false, func(list app.Value) { u.see(list.Index(0)) }),
	)
}

// transformText says how a picture comes to the model's size: as in training.
func transformText(info *run.ModelInfo) string {
	switch info.Transform {
	case run.TransformFit:
		return "It is brought to the model’s size as in training: whole, with a black border where proportions differ."
	case run.TransformCrop:
		return "It is brought to the model’s size as in training: its middle, where proportions differ."
	}
	return "It is brought to the model’s size as in training: whole, without keeping proportions."
}

// picturesPart answers many pictures.
func (u *Use) picturesPart() app.UI {
	j := &u.table
	return part("pictures", "Answer many pictures",
		chooser("pictures", "Choose pictures", "or drop them here: PNG or JPEG, a folder of them, or a zip or tar archive. They are read as for training; hidden folders are left out. Each picture gets its answer.", true, u.answer),
		pickFolder("pictures", u.answer),
		reading(j.busy, j.name, j.progress, "pictures", func() { j.stop(); u.changed() }),
		widget.Message("table-fault", "fault", j.fault),
		app.If(j.result != nil, func() app.UI {
			return answersView(j.name, j.result, "A line for each picture: its path and its answer.")
		}),
	)
}

func seenText(p *picture) string {
	switch {
	case p.values == nil:
		return "As the model sees it."
	case p.name != "":
		return p.name + ", as the model sees it."
	}
	return "As the model sees it: centred."
}

// pad is the canvas to draw on.
type pad struct {
	app.Compo
	Use   *Use
	Model int // counts models

	release func()
}

func (c *pad) CompoID() string { return "pad-" + strconv.Itoa(c.Model) }

func (c *pad) Render() app.UI {
	shape := c.Use.info().Shape
	h, w := shape[len(shape)-2], shape[len(shape)-1]
	const side = 280 // pixels: ten for each of MNIST's
	k := max(1, side/max(h, w))
	return app.Canvas().Class("pad").ID("pad").Attr("width", k*w).Attr("height", k*h).Role("img").Aria("label", "A pad to draw on; a picture can be chosen instead")
}

func (c *pad) OnMount(app.Context) {
	c.Use.picture.wipe, c.release = c.Use.client.Pad(c.JSValue(), c.Use.info().Shape, c.Use.drawn)
}

func (c *pad) OnDismount() {
	c.release()
	c.Use.picture.wipe = nil
}

// seen draws the picture as the model sees it.
type seen struct {
	app.Compo
	Use   *Use
	Count int // what was shown so far
}

func (c *seen) Render() app.UI {
	shape := c.Use.info().Shape
	return app.Canvas().ID("seen").Attr("width", shape[len(shape)-1]).Attr("height", shape[len(shape)-2]).Role("img").Aria("label", "The picture as the model sees it")
}

func (c *seen) OnMount(app.Context)  { c.paint() }
func (c *seen) OnUpdate(app.Context) { c.paint() }

func (c *seen) paint() {
	values := c.Use.picture.values
	if values == nil {
		canvas := c.JSValue()
		canvas.Set("width", canvas.Get("width")) // which empties it
		return
	}
	c.Use.client.Show(c.JSValue(), values, c.Use.info().Shape)
}

// examPart compares answers with labels.
func (u *Use) examPart() app.UI {
	if !slices.ContainsFunc(u.info().Columns, func(c run.AppliedColumn) bool { return c.Kind == string(data.Label) }) && kindOf(u.info()) == tables {
		return app.Div().Hidden(true) // its file does not say which column has the labels
	}
	j := &u.exam
	help := "or drop it here: a table with the column of labels."
	if data.Task(u.info().Task) == data.MultiLabel {
		help = "or drop it here: a table with the columns of labels."
	}
	if kindOf(u.info()) == pictures {
		help = "or drop them here: pictures in a folder for each class or in an archive, with a table of labels, or as IDX or CIFAR-10 files."
	}
	help += " Take rows that the model was not trained on: figures on those that it was flatter it."
	return part("exam", "How good is it?",
		chooser("exam", "Choose labelled files", help, true, u.compare),
		app.If(kindOf(u.info()) == pictures, func() app.UI { return pickFolder("exam", u.compare) }),
		reading(j.busy, j.name, j.progress, "exam", func() { j.stop(); u.changed() }),
		widget.Message("exam-fault", "fault", j.fault),
		app.If(j.result != nil, func() app.UI { return examView(j.name, j.result) }),
	)
}

func examView(name string, e *run.Evaluation) app.UI {
	r := &run.Result{TestRows: e.Rows, TestAccuracy: e.Accuracy, TestLoss: run.Number(math.NaN()), TestClasses: e.Classes, TestScores: e.Scores, Answers: e.Answers}
	beside := scores.Beside(r)
	flattered := scores.Flattered(r)
	return app.Div().Class("use-answers").ID("exam").Role("status").Body(
		app.Dl().Class("counts").Body(
			app.If(e.Scores.LabelMean != nil, func() app.UI {
				return scores.Figure("accuracy of a label", words.Percent(float64(e.Scores.LabelMean.Accuracy), 1), chart.Diagnostic)
			}).ElseIf(!math.IsNaN(float64(e.Accuracy)), func() app.UI {
				return scores.Figure("accuracy", words.Percent(float64(e.Accuracy), 1), chart.Diagnostic)
			}).Else(func() app.UI {
				return scores.Figure("R²", words.Number(float64(e.Scores.R2), 3), chart.Diagnostic)
			}),
			app.Range(beside).Slice(func(i int) app.UI { return scores.Figure(beside[i][0], beside[i][1], chart.Diagnostic) }),
			scores.Figure("rows of "+data.Shown(name), words.Count(e.Rows), chart.Diagnostic),
			app.If(e.Problems > 0, func() app.UI { return scores.Figure("left out", words.Count(e.Problems), chart.Diagnostic) }),
			app.If(e.Unknown > 0, func() app.UI { return scores.Figure(notSeen, words.Count(e.Unknown), chart.Diagnostic) }),
			app.If(e.Missing > 0, func() app.UI { return scores.Figure(filledIn, words.Count(e.Missing), chart.Diagnostic) }),
		),
		widget.Message("exam-seen", "warning", seenBefore(e)),
		widget.Message("exam-flattered", "warning", flattered),
		widget.Message("exam-problem", "warning", leftOut(e)),
		scores.View(r),
	)
}

// seenBefore says that runs of this browser were trained on rows of the files; "" where
// none is known.
func seenBefore(e *run.Evaluation) string {
	if len(e.TrainedOn) == 0 {
		return ""
	}
	last := e.TrainedOn[len(e.TrainedOn)-1]
	on := data.Shown(last.Label)
	if when, err := time.Parse(time.RFC3339, last.Started); err == nil {
		on += ", " + words.When(when, time.Now())
	}
	return fmt.Sprintf("This may be the training file. A model does better on rows that it was trained on than on new ones, and rows of this file were trained on in this browser, by %s (the last: %s). If one of them made this model, these figures flatter it.",
		words.Plural(len(e.TrainedOn), "run"), on)
}

func leftOut(e *run.Evaluation) string {
	if e.Problems == 0 {
		return ""
	}
	return words.Plural(e.Problems, "row") + " left out. The first: " + e.Problem
}
