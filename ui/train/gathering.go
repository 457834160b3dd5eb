package train

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// gatherings receives the events of the room's panel.
type gatherings interface {
	SetName(string)
	// TakeAgreed takes the room's settings anew.
	TakeAgreed()
}

// togetherView shows the room that the page leads to: who is there, what will be sent, how it stands.
type togetherView struct {
	app.Compo
	Shown       bool
	Invited     bool // and not there yet
	Running     bool
	Name        string
	Address     string // of the room; empty: it is over
	Parties     run.Together
	Plan        *run.PlanInfo
	State       *run.PartyState // nil: not there
	Differences []run.Difference
	Compared    bool
	Lack        string   // why there are no data
	Columns     []string // of the room's table
	Yours       []string // of the one at hand
	Needs       string   // what a table of the room has, where it is for tables
	Unbounded   []string // columns whose bounds are to be declared first
	Fault       string
	Run         client.Run
	Actions     gatherings
}

func (v *togetherView) Render() app.UI {
	return app.Section().Class("together").ID("together").Aria("label", "Together").Hidden(!v.Shown).Body(
		app.If(v.Fault != "", func() app.UI { return app.P().Class("fault").ID("together-fault").Text(v.Fault) }),
		app.If(v.Shown && v.State == nil && v.Invited, v.invitation),
		app.If(v.Shown && v.State == nil && !v.Invited && v.Fault == "", v.offer),
		app.If(v.Shown && v.State != nil && v.State.Fingerprint == "" && v.Running, v.lobby),
		app.If(v.Shown && v.State != nil && v.State.Fingerprint != "", v.going),
	)
}

// offer says what opening a room does.
func (v *togetherView) offer() app.UI {
	return app.Div().Class("together-part").Body(
		app.H2().Text(fmt.Sprintf("%s train one model", words.Plural(v.Parties.Parties, "party"))),
		app.P().Text("Open a room, and send the others its address. They choose their own data, which have to have the same columns and classes. All rows stay where they are."),
		app.If(len(v.Unbounded) > 0, func() app.UI {
			return app.P().Class("note").ID("together-bounds").Text(fmt.Sprintf("First declare bounds in the table below, for %s. They say what such a value can be, as 0 to 110 of an age, and not what your rows have: nobody can look at the rows of all.", words.Brief(data.List(v.Unbounded), 200)))
		}),
		v.promise(),
		v.nameField(),
	)
}

// invitation says what one is invited to.
func (v *togetherView) invitation() app.UI {
	return app.Div().Class("together-part").Body(
		app.H2().Text(fmt.Sprintf("You are invited: %s train one model", words.Plural(v.Parties.Parties, "party"))),
		app.P().Text("Your rows stay in this tab. What leaves it is listed below, after you press Join and the run is started. The settings are the room’s."),
		v.promise(),
		app.If(v.Lack != "", func() app.UI {
			return app.Div().Class("buttons").ID("together-lack").Body(
				app.Span().Text(cmp.Or(v.Needs, "Choose your data first: see Data.")),
				app.If(v.Needs != "", func() app.UI {
					return app.Button().Type("button").ID("together-choose").Text("Choose files").OnClick(func(app.Context, app.Event) {
						app.Window().GetElementByID("files").Call("click")
					})
				}),
			)
		}),
		app.If(v.Compared && len(v.Differences) == 0, func() app.UI {
			return app.P().ID("together-agree").Text("Your data and settings are as agreed.")
		}),
		app.If(v.Lack == "" && v.otherColumns() != "", func() app.UI { return app.P().Class("warning").ID("together-columns").Text(v.otherColumns()) }),
		app.If(len(v.Differences) > 0 && v.otherColumns() == "", v.differences),
		v.nameField(),
	)
}

func (v *togetherView) differences() app.UI {
	const most = 8
	all := telling(v.Differences)
	list := all[:min(len(all), most)]
	return app.Div().ID("together-differ").Body(
		app.P().Class("warning").Text("Not as agreed. Data have to have the same columns and classes, and settings the same values:"),
		app.Ul().Body(app.Range(list).Slice(func(i int) app.UI {
			d := list[i]
			return app.Li().Body(app.Code().Text(v.place(d.Path)), app.Text(fmt.Sprintf(": %s there, %s here", words.Brief(cmp.Or(d.Theirs, "nothing"), 60), words.Brief(cmp.Or(d.Yours, "nothing"), 60))))
		})),
		app.If(slices.ContainsFunc(all, func(d run.Difference) bool { return strings.HasPrefix(d.Path, "config.") }), func() app.UI {
			return app.Div().Class("buttons").Body(app.Button().Type("button").ID("together-take").Text("Take the room’s settings").OnClick(func(app.Context, app.Event) { v.Actions.TakeAgreed() }))
		}),
		app.If(len(all) > most, func() app.UI { return app.P().Text(fmt.Sprintf("And %s more.", words.Count(len(all)-most))) }),
		app.If(slices.ContainsFunc(all, func(d run.Difference) bool { return strings.Contains(d.Path, ".categories.") }), func() app.UI {
			return app.P().Class("help").Text("Where only some have a category, whoever opens the room can make the column bucketed in the table: then no list of categories is made.")
		}),
	)
}

// otherColumns says how the table at hand has other columns than the room's; empty: it has not, or they have none.
func (v *togetherView) otherColumns() string {
	without := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return slices.Contains(b, name) })
	}
	missing, more := without(v.Columns, v.Yours), without(v.Yours, v.Columns)
	said := []string{"Your table is not as agreed."}
	switch {
	case slices.Equal(v.Columns, v.Yours), len(v.Columns) == 0, len(v.Yours) == 0:
		return ""
	case len(missing) == 0 && len(more) == 0:
		return "Your table has the same columns as the room’s, but in another order. The room’s is " + words.Brief(data.List(v.Columns), 300) + "."
	}
	if len(missing) > 0 {
		said = append(said, "It lacks the column "+words.Brief(data.List(missing), 200)+".")
	}
	if len(more) > 0 {
		said = append(said, "The room’s does not have "+words.Brief(data.List(more), 200)+".")
	}
	return strings.Join(append(said, "Name columns alike in your file, and choose it again."), " ")
}

// follows has the paths of what follows from other differences.
var follows = regexp.MustCompile(`^data\.columns\.\d+\.(first|indicator|units\.)`)

// telling returns differences with those of columns and classes first, and without what only follows from these.
func telling(all []run.Difference) []run.Difference {
	rank := func(d run.Difference) int {
		return 1 + slices.IndexFunc([]string{"config.", "data.classes.", "data.columns."}, func(s string) bool { return strings.HasPrefix(d.Path, s) })
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b run.Difference) int { return cmp.Compare(rank(b), rank(a)) })
	if len(all) > 0 && rank(all[0]) > 1 {
		all = slices.DeleteFunc(all, func(d run.Difference) bool { return rank(d) == 0 || follows.MatchString(d.Path) })
	}
	return all
}

// place says where two parties differ.
func (v *togetherView) place(path string) string {
	if key, ok := strings.CutPrefix(path, "config."); ok {
		return key
	}
	if class, ok := strings.CutPrefix(path, "data.classes."); ok {
		return "class " + class
	}
	if rest, ok := strings.CutPrefix(path, "data.columns."); ok {
		n, what, _ := strings.Cut(rest, ".")
		what = strings.Replace(what, "categories.", "category ", 1)
		if i, err := strconv.Atoi(n); err == nil && i <= len(v.Columns) {
			n += " (" + words.Brief(v.Columns[i-1], 40) + ")"
		}
		return "column " + n + ", " + what
	}
	return strings.TrimPrefix(path, "data.")
}

// promise says what it costs, who is trusted for that, and what is sent.
func (v *togetherView) promise() app.UI {
	p := v.Plan
	if p == nil || p.Together == nil {
		return app.Div()
	}
	kept := "one of the parties in each step keeps its noise to itself"
	if n := v.Parties.Needed(); n > 1 {
		kept = words.Count(n) + " of the parties in each step keep their noise to themselves"
	}
	all, alone := words.Epsilon(float64(p.Epsilon)), words.Epsilon(float64(p.Together.EpsilonAlone))
	everybody := "for everybody who sees the model (δ " + words.Upper(p.Delta, 2) + "), "
	nobody := "if you trust nobody: the room and all others work together, and only your own noise hides your rows."
	return app.Dl().Class("together-facts").Body(
		app.If(all == alone, func() app.UI {
			return app.Div().Body(app.Dt().Text("ε "+all), app.Dd().Text(everybody+"also "+nobody))
		}),
		app.If(all != alone, func() app.UI {
			return app.Div().Body(app.Dt().Text("ε "+all), app.Dd().Text(everybody+"where at least "+kept+"."))
		}),
		app.If(all != alone, func() app.UI { return app.Div().Body(app.Dt().Text("ε "+alone), app.Dd().Text(nobody)) }),
		app.Div().Body(app.Dt().Text(words.Bytes(int64(p.Together.StepBytes)*int64(p.Steps))), app.Dd().Text(fmt.Sprintf("is about what you send in all, and receive: %s in each of %s.", words.Bytes(int64(p.Together.StepBytes)), words.Plural(p.Steps, "step")))),
	)
}

// lobby shows who has come.
func (v *togetherView) lobby() app.UI {
	seats := v.State.Seats
	here := here(seats)
	at := slices.IndexFunc(seats, func(s run.PartySeat) bool { return s.Name != "" })
	first := at >= 0 && seats[at].You
	return app.Div().Class("together-part").Body(
		app.H2().ID("together-here").Text(fmt.Sprintf("%s of %s are here", words.Count(here), words.Plural(v.Parties.Parties, "party"))),
		v.seats(),
		app.If(first && v.Address != "", func() app.UI {
			return app.Div().Body(
				app.P().Text("Send this address to the others, by a way that nobody else reads: whoever has it can join until you start."),
				app.P().Class("together-address").ID("together-address").Attr("translate", "no").Text(v.Address),
				app.Div().Class("buttons").Body(&widget.Copy{ID: "copy-room", Label: "Copy", Text: v.Address}, widget.QR()),
			)
		}),
		v.promise(),
		app.If(first, func() app.UI {
			return app.Div().Class("buttons").Body(
				app.Button().Type("button").Class("primary").ID("together-start").Disabled(here < v.Parties.Quorum).Text(fmt.Sprintf("Start with %s", words.Plural(here, "party"))).
					OnClick(func(app.Context, app.Event) {
						browser.Focus("act-pause") // the run takes this button away
						v.Run.StartTogether()
					}),
				app.Span().Class("help").Text(v.lacking(here)),
			)
		}).Else(func() app.UI {
			return app.P().Class("help").Text("The first of those who are here starts the run. Stop leaves the room, and nothing is charged.")
		}),
	)
}

// lacking says how many have to come yet.
func (v *togetherView) lacking(here int) string {
	switch g := v.Parties; {
	case here < g.Quorum:
		return fmt.Sprintf("With %s or more it can start.", words.Plural(g.Quorum, "party"))
	case here < g.Parties:
		return fmt.Sprintf("It can start, and whoever comes later cannot join. The noise is that of %s.", words.Plural(g.Parties, "party"))
	}
	return "All are here."
}

func (v *togetherView) seats() app.UI {
	list := slices.DeleteFunc(slices.Clone(v.State.Seats), func(s run.PartySeat) bool { return s.Name == "" })
	const most = 40
	more := len(list) - most
	list = list[:min(len(list), most)]
	return app.Ul().Class("together-seats").Body(
		app.Range(list).Slice(func(i int) app.UI {
			class, s := "", list[i]
			if s.Away {
				class = "away"
			}
			return app.Li().Class(class).Body(app.Text(words.Brief(s.Name, 60)),
				app.If(s.You, func() app.UI { return app.Strong().Text(" you") }),
				app.If(s.Away, func() app.UI { return app.Em().Text(" away") }))
		}),
		app.If(more > 0, func() app.UI { return app.Li().Text(fmt.Sprintf("and %s more", words.Count(more))) }),
	)
}

// going shows how a run of several parties stands.
func (v *togetherView) going() app.UI {
	s := v.State
	said := fmt.Sprintf("Sent %s, received %s.", words.Bytes(s.Sent), words.Bytes(s.Received))
	if s.Present > 0 {
		said = fmt.Sprintf("%s of %s in the last step. ", words.Count(s.Present), words.Plural(v.Parties.Parties, "party")) + said
	}
	if s.Void > 0 {
		said += fmt.Sprintf(" Without a sum, as somebody did not answer: %s, which count.", words.Plural(s.Void, "step"))
	}
	if v.Running && s.Waiting {
		said = "Waiting for the others. " + said
	}
	return app.Div().Class("together-part").Body(
		v.seats(),
		app.P().ID("together-said").Text(said),
		app.Details().Body(
			app.Summary().Text("See that nobody is between you"),
			app.P().Text("Read this to the others by telephone. Where all have the same, the keys are your own and nobody else took a seat:"),
			app.P().Class("together-address").ID("together-fingerprint").Attr("translate", "no").Text(s.Fingerprint),
		),
	)
}

// nameField asks for what the others see.
func (v *togetherView) nameField() app.UI {
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(app.Label().For("party-name").Text("Your name, for the others")),
		app.Input().Type("text").ID("party-name").Attr("maxlength", "80").AutoComplete(false).Spellcheck(false).Placeholder("somebody").Value(v.Name).
			OnChange(func(ctx app.Context, _ app.Event) { v.Actions.SetName(ctx.JSSrc().Get("value").String()) }),
	)
}
