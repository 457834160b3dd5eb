package ui

import (
	"clipscope/core/clip"
	"clipscope/ui/train"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// helpPage explains what the page shows and how to read it.
type helpPage struct {
	app.Compo
	Session *train.Controller
}

func (p *helpPage) OnMount(ctx app.Context) { p.Session.Show(func() { ctx.Dispatch(nil) }) }
func (p *helpPage) OnDismount()             { p.Session.Hide() }

func (p *helpPage) Render() app.UI {
	return app.Div().Class("page prose").Body(
		&widget.Header{Page: "help", Sent: p.Session.Sent()},
		app.Main().Class("article").Body(
			app.H1().Text("Reading a private run"),
			app.P().ID("guides-link").Body(
				app.Text("The "), app.A().Href(widget.Link("/guides/")).Text("guides"),
				app.Text(" say more, and begin at the beginning: a first run, every chart, method and field of the statement, hosting, scripts. Whether the ε of somebody’s file holds, "),
				app.A().Href(widget.Link("/check")).Text("check it"), app.Text("."),
			),
			app.Range(helpTopics).Slice(func(i int) app.UI { return helpTopics[i].view() }),
			app.H2().ID("methods").Text("Clipping methods"),
			app.Range(clip.Methods()).Slice(func(i int) app.UI { return methodHelp(clip.Methods()[i]) }),
			speed(),
			app.H2().ID("licences").Text("What this page is made of"),
			app.P().Body(
				app.Text("Go, go-app, gonum, uPlot, hyparquet, fzstd, uqr and AssemblyScript, and what these use: "),
				app.A().ID("licences-link").Href(widget.Link("/web/licenses.txt")).Download("licenses.txt").Text("their terms"), app.Text("."),
			),
			app.P().ID("version").Body(
				app.Text("This is version "), app.Code().Text(version()), app.Text(": "),
				app.A().Href(widget.Link("/verify.html")).Text("compare it with a release"), app.Text("."),
			),
		),
	)
}

// NoVersion stands in a drawn page for its version, which is known when all of the site is
// there.
const NoVersion = "__VERSION__"

func version() string {
	if app.IsServer {
		return NoVersion
	}
	return app.Window().Get("clipscope").Get("version").String()
}

// topic is a section of the help.
type topic struct {
	id, title  string
	paragraphs []string
}

func (t topic) view() app.UI {
	return app.Section().Body(
		app.H2().ID(t.id).Text(t.title),
		app.Range(t.paragraphs).Slice(func(i int) app.UI { return app.P().Text(t.paragraphs[i]) }),
	)
}

var helpTopics = []topic{
	{"step", "What one step does", []string{
		"Every training row enters the batch by its own coin toss. For each row in the batch the model's gradient is computed, and its length, the gradient norm, is compared with the threshold C (max_grad_norm). Longer gradients are shortened, so that no row can move the sum by more than C.",
		"Gaussian noise with standard deviation σ·C is added to the sum (σ is noise_multiplier), the result is divided by the expected batch size, and the optimiser sees nothing else.",
	}},
	{"trade", "Why the threshold matters", []string{
		"The noise grows with C: a large threshold drowns the gradients. A small threshold clips nearly all of them, and the sum then points elsewhere than their mean would. The first error is variance, the second is bias; adaptive methods look for the C at which both together are least.",
		"Watch the clipping frequency and the threshold together. A frequency near 100 % says that C is small for these gradients, one near 0 % that more noise is added than clipping needs.",
	}},
	{"ink", "Released or diagnostic", []string{
		"Blue and solid is released: computed from public settings and noised sums, paid for in ε, and safe to publish; where a run carries no guarantee it says that instead. Amber and dashed is diagnostic: computed from the private rows without noise. You may look at your own data; the numbers should not be passed on. Exports hold released values alone unless you tick the box.",
	}},
	{"epsilon", "What ε and δ promise", []string{
		"Whoever sees everything that was released can hardly tell whether one given row was among the training rows: any outcome is at most e^ε times as likely with it as without it, but for a probability of δ. Which data sets are compared is the relation. Usually it is zero-out: one row is replaced by an empty one that adds nothing, and the number of rows, from which rate, steps and noise follow, is public. Where you declare the number instead (Privacy, Advanced), it is add-or-remove: one row is added or removed, and the number is covered too. ε is the same. Treated as public in either case: class names, those of folders included, and whether a class is rare; the size of pictures; names, types, categories, formats and declared bounds of columns; which columns have missing values; and, where the number of rows is, which rows are held out.",
		"ε is an upper bound from an accountant, for as many steps as are planned before the first. A run may be stopped early, but ε stays that of the whole plan: where it is stopped may depend on what was released. The ε that the chart shows at a step is that of a run which was planned to end there.",
		"A person with several rows in the data is promised less. The statement of a run and the calculator say how much.",
	}},
	{"blind", "Stopping, and hiding diagnostics", []string{
		"The plan’s ε covers stopping a run for anything that it released, the blue. It does not cover stopping it for what the amber shows: the number of steps is then decided by private values, and tells something about them. Tick “Hide diagnostics until the end” under Privacy (blind) and no loss, accuracy, norm or clipping frequency is measured while the run goes on; the statement says which it was.",
	}},
	{"budget", "What a data set has spent", []string{
		"Several runs on the same rows spend together. Every run on your own files is therefore written to a ledger in this browser, before its first step and charged for all of its planned steps, whether it takes them all, is stopped or loses its tab. The privacy card shows the total, composed over all runs, and you can set a limit that you are asked about before a run goes over it, or before one that carries no guarantee.",
		"Two choices of files count together where they share a file, a picture or a row, recognised by salted hashes that never leave this device. A row of which a cell was changed, or the same person elsewhere in the data, is not recognised. Of more than 4,096 rows a common part of 1/200 is as good as never missed; a smaller one may be. Built-in data is public and has no ledger.",
		"A run without a guarantee (without noise, with a fixed seed, with measured scaling) may have told anything: from then on the data have spent ε = ∞. The page says what the other runs have spent beside it.",
		"Trying many settings and keeping the best spends too. The calculator compares the ways to pay for that.",
	}},
	{"kept", "Runs that have ended", []string{
		"A run that has ended, was stopped or failed is kept in this browser, with its settings, model, charts and statement, and opens from the list of runs as it ended. Nothing but Delete takes it away. What stands above the charts is what the run was made of; settings that were changed since are marked as the next run’s.",
		"Kept runs are on this device only, and hold the diagnostic values that their charts are drawn from: whoever uses this browser can see them. Where the browser has no room, a run stays in memory until the page is closed, and the page says so.",
		"Train opens with the settings of your last visit, unless a link brings others, and a table with the columns of an earlier one is read as that was. “Start afresh” deletes both. Of rows nothing is kept.",
		"A run is also stored while it goes on, by its worker. Where a reload, a crash or a closed lid interrupts it, the page offers to go on: with fresh noise, and no more steps than were planned, so that its ε stays. Steps that may have been seen after it was stored last are lost to the model, and count.",
	}},
	{"statement", "The statement of a run", []string{
		"Under the result stands a statement to publish with the model: what is promised between which data sets, what is covered and what not, what an attacker can do, and how it was worked out. One paragraph of it can be copied for a report. With a fixed seed, or without noise, it says in three sentences that there is no guarantee.",
	}},
	{"use", "Using a model", []string{
		"The page Use opens a model that was saved, or that of a run that has just ended; beside one that reads texts through a tokenizer or a backbone it needs that file, and nothing else. A table that you drop comes back with an answer in each row, and the probability of every class; columns are found by name. A row with a cell that cannot be read has no answer, and says why. A row can be typed, a digit drawn, a picture shown, and labelled files say how good the model is on them.",
		"However many answers a model gives, they cost no privacy of those it was trained on: they follow from what was released. How good it is on a labelled file is a diagnostic of that file's rows.",
	}},
	{"check", "Checking a file", []string{
		"The page Check opens any file that Clipscope saved: a model, a run, a privacy statement, a ledger, of any version. It works ε out again from the file’s events, with today’s accountants, and compares all that the file says: its fields, its sentences and, in a zip, its parts. What differs is said with the right number beside it.",
		"No check of a file shows whether its events are what happened. Somebody who changed events and ε together is not noticed.",
		"A run also checks itself: that every tensor was trained and counted in the norm, that noise and batches were drawn as stated, and that ε never fell. Where that fails, the result says so in red and claims no ε.",
	}},
	{"audit", "What an audit shows", []string{
		"An accountant bounds ε from above, provided that the program does what it says. An audit bounds it from below by attacking the program: rows made to be noticed, canaries, are put into the training data or left out by the toss of a coin, and the auditor guesses from the released parameters which were in. If it guesses better than ε allows, the promise is broken. Worst-case data attack what canaries among digits cannot: sums that round, norms that are too small. The calculator's page audits this trainer at one click.",
	}},
	{"files", "Which files are read", []string{
		"Tables: CSV and the like, a sheet of an Excel file (.xlsx), Parquet. Pictures: PNG and JPEG in a folder for each class, such as cat/1.png, in one folder that you choose or drop, or in a zip or tar archive; folders train, test or val above those say what they are for; a table filename,label in or beside it takes the place of folders. Arrays of NumPy: an .npz with x_train and y_train, X and y or the like, or two .npy files. IDX, CIFAR-10 and CIFAR-100, SVHN’s .mat, and Parquet files of pictures as data sets on today’s hubs have them. Any of these may be gzipped, or in a zip or tar archive (.tar, .tar.gz, .tgz).",
		"Pictures of all sizes are brought to one: that of most of the first ones where it is 64 pixels at most, or else 32×32. Their proportions are not kept, turns that a camera noted (EXIF) are not made, and what can be seen through is white. Size and channels can be chosen under Data. Of a spreadsheet the values that Excel stored are read; nothing is computed. Pickles (arrays of Python objects, PyTorch files) are never opened.",
	}},
	{"table", "How a table is read", []string{
		"A table that you open stands in the place of the charts until a run starts: its first rows and its last as the file has them and, with an arrow, what a cell is read as where that is something else. Each column says what it is taken for. Choose the kind label for further columns of 0 and 1 where a row has several labels. Change what is wrong there, or under Advanced in the data card; nothing has been spent yet.",
		"A numeric column may have bounds, such as 0 to 120, or 2020-01-01 to 2024-12-31 for dates. State what you know without looking at the rows: no private bounds are then bought for that column. A bucketed column is for more categories than should be listed; which share a bucket depends on no row.",
	}},
	{"backbone", "Features of a backbone", []string{
		"A model that was trained elsewhere, on public data, knows a good deal of what pictures look like. Under Data → Use a backbone an ONNX file of your own makes features of every row, in this tab, and a small private model learns on these: much more accurate at the same ε than learning everything from your rows. Choose which of its outputs the features are.",
		"The guarantee takes the backbone for public. If it was trained on these very rows, what it knows of them is not covered. Every row is given to it alone, so that none decides what becomes of another. Features are kept in this browser so that they are made once; a model that is trained on them needs the same backbone where it is applied.",
	}},
	{"start-from", "Start from a saved model", []string{
		"Under Model → Start from a saved model, training goes on from the weights of a model that this page saved, or of a safetensors file with the same tensors: of one that public data made, for example, which a few private steps then fit to your rows.",
		"The guarantee takes the weights for public, which you declare, and the statement names their file: nothing is promised to the rows that they were trained on. If a private run on the same rows left them, both ε add up.",
	}},
	{"public-rows", "Add public rows", []string{
		"Under Model → Add public rows, each step also learns from a few rows of a file that is public, which helps most with few rows of your own or a small ε. They are neither clipped nor noised: nothing is promised to them, which you declare, and the statement names their file. The ε of your rows stays the same.",
	}},
	{"local", "Where the data goes", []string{
		"Nowhere. Files are read in this tab, by workers of this page. The count at the top is the browser's own: requests of this page that reached the network since it was ready.",
		"Should something try: the browser refuses every request of the page and its workers to another site, by the page's security policy. What no policy governs is taken from the page before anything else runs in it: calls between browsers (WebRTC), frames, forms, new windows. What remains are addresses: a script that had got into the page could have the name of another site looked up, and, in an older Firefox or where the host sends no headers, go to its address. A link to another site that you click yourself leads there, as links do.",
	}},
	{"keys", "By keyboard", []string{
		"Every control is reached with Tab. A chart takes the focus too: the left and right arrows, Home and End move its cursor, and the charts over steps move together. Under Values each chart has its newest numbers as a table.",
	}},
	{"script", "From a script", []string{
		"The page has an interface for scripts on window.clipscope: methods(), datasets(), epsilon(), calibrate(), report(), curve(), tuning(), group(), attack(), open(), features(), plan(), train(), load(), check(), audit() and ledger. The configuration is the same as in the address after the # sign.",
	}},
}

func methodHelp(m clip.Info) app.UI {
	return app.Section().Class("method").Body(
		app.H3().ID("method-"+m.Name).Body(app.Text(m.Title+" "), app.Code().Class("name").Text(m.Name)),
		app.P().Text(m.Idea),
		app.P().Class("formula").Text(m.Formula),
		app.P().Text(m.When),
		app.P().Class("source").Text(m.Paper),
	)
}
