package privacy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
)

func FuzzUnmarshalEvent(f *testing.F) {
	for _, e := range []Event{
		Gaussian{1.5}, NonPrivate{}, Joint{[]Gaussian{{1}, {2}}}, Composed{},
		SelfComposed{PoissonSampled{0.01, Joint{[]Gaussian{{1}, {5}}}}, 300},
		Composed{[]Event{Gaussian{2}, SelfComposed{Gaussian{3}, 2}}},
	} {
		b, err := MarshalEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"kind":"self_composed","count":3}`))
	f.Add([]byte(`{"kind":"composed","parts":[null]}`))
	f.Add([]byte(`{"kind":"gaussian","noise_multiplier":{"$numberDouble":"Infinity"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := UnmarshalEvent(b)
		if err != nil {
			return
		}
		again, err := MarshalEvent(e)
		if err != nil {
			t.Fatalf("%#v was read and cannot be written: %v", e, err)
		}
		back, err := UnmarshalEvent(again)
		if err != nil || !reflect.DeepEqual(e, back) {
			t.Errorf("%#v became %#v, %v", e, back, err)
		}
		if _, err := Epsilon(RDP, 1e-5, e); err != nil {
			t.Errorf("%#v was read and cannot be accounted: %v", e, err)
		}
	})
}

func TestMarshalEventRefusesWhatCannotBePriced(t *testing.T) {
	for _, e := range []Event{nil, unknownEvent{}, SelfComposed{nil, 1}, Composed{[]Event{nil}}} {
		if b, err := MarshalEvent(e); err == nil {
			t.Errorf("%#v was written as %s", e, b)
		}
	}
}

// rawEvent is e as JSON.
func rawEvent(t testing.TB, e Event) json.RawMessage {
	t.Helper()
	b, err := MarshalEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var oneStep = PoissonSampled{0.01, Gaussian{1}}

func entry(t testing.TB, name string, steps int) run.Entry {
	return run.Entry{Run: name, Steps: steps, Events: run.Events{PerStep: rawEvent(t, oneStep), Once: []json.RawMessage{rawEvent(t, Gaussian{20})}}}
}

func sumOf(t *testing.T, entries ...run.Entry) run.SpentReply {
	t.Helper()
	sum, err := total(RDP, 1e-5, entries)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestTotalComposesRunsOnTheSameRows(t *testing.T) {
	if got := sumOf(t); len(got.Runs) != 0 || got.Epsilon != 0 || got.Delta != 1e-5 || got.Open != 0 || got.Unprotected != 0 {
		t.Errorf("nothing costs %+v", got)
	}
	a, b := entry(t, "a", 100), entry(t, "b", 40)
	b.Closed = true
	got := sumOf(t, a, b)
	want := mustEpsilon(t, RDP, 1e-5, Gaussian{20}, Gaussian{20}, SelfComposed{oneStep, 140})
	if len(got.Runs) != 2 || got.Open != 1 || got.Unprotected != 0 || math.Abs(float64(got.Epsilon)-want) > 1e-12*want || got.GuaranteedEpsilon != got.Epsilon {
		t.Errorf("%+v, want ε %v", got, want)
	}
	next := run.Entry{Run: "c", Events: run.Events{Once: []json.RawMessage{rawEvent(t, Gaussian{2})}}}
	if with := sumOf(t, a, b, next); with.Epsilon <= got.Epsilon || len(with.Runs) != 3 {
		t.Errorf("with what comes next: %+v", with)
	}
}

// TestUnprotectedRunsAreInfinite: a run without a guarantee makes the total ∞, and both
// that and what the others have spent are said.
func TestUnprotectedRunsAreInfinite(t *testing.T) {
	guaranteed, bare, seeded := entry(t, "a", 100), run.Entry{Run: "b", Unprotected: true, Closed: true}, entry(t, "c", 40)
	seeded.Unprotected = true
	guaranteed.Closed, seeded.Closed = true, true
	want := mustEpsilon(t, RDP, 1e-5, Gaussian{20}, SelfComposed{oneStep, 100})
	for _, c := range []struct {
		entries     []run.Entry
		unprotected int
		epsilon     float64
		text        string
	}{
		{[]run.Entry{guaranteed, bare}, 1, want, "ε = ∞: 1 of its 2 runs has no guarantee. The other has spent ε = " + run.UpText(want, 4) + " at δ = 1e-05"},
		{[]run.Entry{guaranteed, seeded}, 1, want, "ε = ∞: 1 of its 2 runs has no guarantee. The other has spent ε = " + run.UpText(want, 4)},
		{[]run.Entry{seeded, guaranteed, bare}, 2, want, "ε = ∞: 2 of its 3 runs have no guarantee. The other has spent"},
		{[]run.Entry{seeded, bare}, 2, 0, "ε = ∞: none of its 2 runs has a guarantee."},
		{[]run.Entry{bare}, 1, 0, "ε = ∞: its only run has no guarantee."},
	} {
		got := sumOf(t, c.entries...)
		if !math.IsInf(float64(got.Epsilon), 1) || math.Abs(float64(got.GuaranteedEpsilon)-c.epsilon) > 1e-12 || got.Unprotected != c.unprotected || !strings.Contains(got.Text, c.text) {
			t.Errorf("%+v, want ε %v of those with a guarantee and %q", got, c.epsilon, c.text)
		}
	}
	bare.Closed = false
	if got := sumOf(t, guaranteed, bare); got.Open != 1 || !strings.Contains(got.Text, "1 of them has not ended") {
		t.Errorf("one that goes on: %+v", got)
	}
}

// TestInfiniteTotalSaysWhy: where a total is infinite for what noise is inexact by, the reply
// says so and at which ε; where it is for want of noise, or is finite, it does not.
func TestInfiniteTotalSaysWhy(t *testing.T) {
	secure := func(name string, steps int) run.Entry {
		step := Inexact{PoissonSampled{0.5, Gaussian{0.7}}, 1e-70}
		return run.Entry{Run: name, Steps: steps, Events: run.Events{PerStep: rawEvent(t, step)}}
	}
	if few := sumOf(t, secure("a", 20)); math.IsInf(float64(few.Epsilon), 1) || few.Reason != "" {
		t.Errorf("few steps come to %+v", few)
	}
	for _, accountant := range Names() {
		many, err := total(accountant, 1e-5, []run.Entry{secure("a", 400), secure("b", 200)})
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsInf(float64(many.Epsilon), 1) || !strings.Contains(many.Reason, "secure runs") || !strings.Contains(many.Text, many.Reason) {
			t.Errorf("%s: many steps come to %+v", accountant, many)
		}
		e := mustEpsilon(t, accountant, 1e-5, SelfComposed{PoissonSampled{0.5, Gaussian{0.7}}, 600})
		if !strings.Contains(many.Reason, "ε = "+run.UpText(e, 4)+",") {
			t.Errorf("%s: %q does not have ε %v", accountant, many.Reason, e)
		}
	}
	bare := run.Entry{Run: "c", Events: run.Events{Once: []json.RawMessage{rawEvent(t, NonPrivate{})}}}
	if open := sumOf(t, secure("a", 400), bare); !math.IsInf(float64(open.Epsilon), 1) || open.Reason != "" {
		t.Errorf("without noise: %+v", open)
	}
}

// An entry costs the same after it was stored, and what nobody can price is an
// error.
func TestStoredEntriesCostTheSame(t *testing.T) {
	var entries []run.Entry
	for i, steps := range []int{0, 10, 300} {
		e := entry(t, fmt.Sprint(i), steps)
		e.Label, e.Started, e.Unprotected, e.Closed = "run", "2026-01-02T03:04:05Z", i == 2, i == 1
		entries = append(entries, e)
	}
	b, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	var back []run.Entry
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(entries, back) {
		t.Errorf("%+v became %+v, %v", entries, back, err)
	}
	for _, bad := range []string{`[{"steps":0}]`, `[{"run":"x","steps":-1}]`, `[{"run":"x","steps":3}]`, `[{"run":"x","steps":3,"per_step":{"kind":"?"}}]`, `[{"run":"x","once":[{"kind":"poisson_sampled","sample_rate":7,"of":{"kind":"gaussian","noise_multiplier":1}}]}]`} {
		var entries []run.Entry
		if err := json.Unmarshal([]byte(bad), &entries); err == nil {
			_, err = total(PLD, 1e-5, entries)
			if err == nil {
				t.Errorf("%s is priced", bad)
			}
		}
	}
}

func FuzzEntryJSON(f *testing.F) {
	f.Add([]byte(`[{"run":"a","steps":3,"closed":true,"per_step":{"kind":"gaussian","noise_multiplier":2}}]`))
	f.Add([]byte(`[{"run":"a","once":[{"kind":"non_private"}]}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var entries []run.Entry
		if json.Unmarshal(b, &entries) != nil {
			return
		}
		if sum, err := total(RDP, 1e-5, entries); err == nil && math.IsNaN(float64(sum.Epsilon)) {
			t.Errorf("%+v: %+v", entries, sum)
		}
		if _, err := json.Marshal(entries); err != nil {
			t.Error(err)
		}
	})
}

// plan is that of a private run.
func plan(t testing.TB, steps int) run.PlanInfo {
	return run.PlanInfo{Steps: steps, Private: true, Events: run.Events{PerStep: rawEvent(t, oneStep), Once: []json.RawMessage{rawEvent(t, Gaussian{20})}}}
}

// A record is charged for the whole plan when it is entered, whatever the run then
// does; only one that was never let go costs nothing.
func TestARunIsChargedItsWholePlan(t *testing.T) {
	q := run.EnterRequest{Account: run.Account{Names: []string{"n"}}, Run: "a", Label: "l", Started: "2026-01-02T03:04:05Z", Plan: plan(t, 100)}
	r, err := Enter(q)
	if err != nil {
		t.Fatal(err)
	}
	whole := float64(sumOf(t, r.Entry).Epsilon)
	if want := mustEpsilon(t, RDP, 1e-5, Gaussian{20}, SelfComposed{oneStep, 100}); whole != want || r.Run != "a" || r.Label != "l" || r.Method != "constant" || r.Entry.Started == "" || r.Entry.Closed || r.Entry.Unprotected || r.Names[0] != "n" {
		t.Errorf("%+v costs %v, want %v", r, whole, want)
	}
	for _, c := range []struct {
		done       int
		unreleased bool
		want       float64
	}{{100, false, whole}, {3, false, whole}, {0, false, whole}, {0, true, 0}} {
		closed := Close(run.CloseRequest{Record: r, Done: c.done, Unreleased: c.unreleased})
		if got := float64(sumOf(t, closed.Entry).Epsilon); got != c.want || !closed.Entry.Closed || closed.Done != c.done {
			t.Errorf("closed after %d steps, unreleased %t: %+v costs %v, want %v", c.done, c.unreleased, closed, got, c.want)
		}
		// Ending twice changes nothing: the second time may know less.
		if again := Close(run.CloseRequest{Record: closed, Unreleased: true}); !reflect.DeepEqual(again, closed) {
			t.Errorf("%+v became %+v", closed, again)
		}
	}
	// A check of itself that failed leaves no guarantee, unless it was never let go.
	if got := sumOf(t, Close(run.CloseRequest{Record: r, Done: 100, Doubtful: true}).Entry); !math.IsInf(float64(got.Epsilon), 1) || got.Unprotected != 1 {
		t.Errorf("in doubt, it comes to %+v", got)
	}
	if got := sumOf(t, Close(run.CloseRequest{Record: r, Unreleased: true, Doubtful: true}).Entry); got.Epsilon != 0 {
		t.Errorf("in doubt and never let go, it comes to %+v", got)
	}
	// Without noise it costs ∞, unless it was never let go.
	q.Plan, q.Anyway = run.PlanInfo{Steps: 100}, true
	if r, err = Enter(q); err != nil || r.Entry.Steps != 0 || !r.Entry.Unprotected {
		t.Errorf("without noise: %+v, %v", r, err)
	}
	if got := sumOf(t, Close(run.CloseRequest{Record: r}).Entry); !math.IsInf(float64(got.Epsilon), 1) {
		t.Errorf("without noise it comes to %+v", got)
	}
	if got := sumOf(t, Close(run.CloseRequest{Record: r, Unreleased: true}).Entry); got.Epsilon != 0 || got.Unprotected != 0 {
		t.Errorf("never let go, it comes to %+v", got)
	}
}

func TestEnterKeepsTheLimit(t *testing.T) {
	first, err := Enter(run.EnterRequest{Account: run.Account{Names: []string{"n"}}, Run: "a", Plan: plan(t, 100)})
	if err != nil {
		t.Fatal(err)
	}
	cost := func(steps, once int) float64 {
		events := []Event{SelfComposed{oneStep, steps}, SelfComposed{Gaussian{20}, once}}
		return mustEpsilon(t, PLD, 1e-6, events...)
	}
	enter := func(limit float64, p run.PlanInfo, names ...string) error {
		_, err := Enter(run.EnterRequest{
			Account: run.Account{Records: []run.Record{first}, Names: names, Limit: &run.Limit{Epsilon: run.Number(limit), Delta: 1e-6}},
			Run:     "b", Plan: p,
		})
		return err
	}
	two := cost(200, 2)
	if err := enter(two*1.01, plan(t, 100), "n"); err != nil {
		t.Errorf("under the limit: %v", err)
	}
	if err := enter(two*0.99, plan(t, 100), "other"); err != nil {
		t.Errorf("other data: %v", err)
	}
	var over *run.OverLimit
	if err := enter(two*0.99, plan(t, 100), "n"); !errors.As(err, &over) || math.Abs(float64(over.NextEpsilon)/two-1) > 2e-3 || math.Abs(float64(over.Epsilon)/cost(100, 1)-1) > 2e-3 || over.Kind != "limit" || over.Delta != 1e-6 || !strings.Contains(err.Error(), "more than your limit") {
		t.Errorf("over the limit: %+v", over)
	}
	// A run without a guarantee may tell anything, with noise or without.
	seeded := plan(t, 1)
	seeded.Private = false
	for _, p := range []run.PlanInfo{seeded, {Steps: 1}} {
		if err := enter(1e9, p, "n"); !errors.As(err, &over) || !math.IsInf(float64(over.NextEpsilon), 1) || !strings.Contains(err.Error(), "carries no guarantee") || over.Kind != "limit" {
			t.Errorf("without a guarantee: %v", err)
		}
		// Without a limit too, where the owner is to be asked, unless they say so.
		q := run.EnterRequest{Ask: true, Account: run.Account{Records: []run.Record{first}, Names: []string{"n"}}, Run: "b", Plan: p}
		if _, err := Enter(q); !errors.As(err, &over) || over.Kind != "guarantee" || math.Abs(float64(over.Epsilon)/mustEpsilon(t, PLD, 1e-5, SelfComposed{oneStep, 100}, Gaussian{20})-1) > 2e-3 || !strings.Contains(err.Error(), "carries no guarantee") || strings.Contains(err.Error(), "limit") {
			t.Errorf("without a guarantee and a limit: %v", err)
		}
		unasked := q
		unasked.Ask = false
		if _, err := Enter(unasked); err != nil {
			t.Errorf("by a script that says so: %v", err)
		}
		q.Anyway = true
		r, err := Enter(q)
		if err != nil {
			t.Fatal(err)
		}
		// From then on ε is ∞, which no limit allows.
		q = run.EnterRequest{Account: run.Account{Records: []run.Record{first, r}, Names: []string{"n"}, Limit: &run.Limit{Epsilon: 1e9}}, Run: "c", Plan: plan(t, 1)}
		if _, err := Enter(q); !errors.As(err, &over) || over.Unprotected || !strings.Contains(err.Error(), "ε = ∞ has been spent on this data already") {
			t.Errorf("after one without a guarantee: %v", err)
		}
		q.Limit = nil
		if _, err := Enter(q); err != nil {
			t.Errorf("after one without a guarantee, without a limit: %v", err)
		}
	}
}

// What the owner reads has the same data sets as what is composed.
func TestLinesHaveTheDataSetsOfTheTotal(t *testing.T) {
	record := func(name, started string, names ...string) run.Record {
		return run.Record{Run: name, Names: names, Entry: run.Entry{Run: name, Started: started, Steps: 1, Events: run.Events{PerStep: rawEvent(t, oneStep)}}}
	}
	records := []run.Record{
		record("d", "4", "rows-4", "file-2", "file-3"), // joins b's and c's
		record("a", "1", "rows-1", "file-1"), record("b", "2", "rows-2", "file-2"), record("c", "3", "rows-3", "file-3"),
		record("e", "5", "file-1"), record("f", "6"), record("g", "7"),
	}
	linesOf := func() []run.Line {
		lines, err := Lines(run.EntriesRequest{Account: run.Account{Records: records}})
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	var runs, data []string
	for _, l := range linesOf() {
		runs, data = append(runs, l.Run), append(data, fmt.Sprint(l.Data))
		if l.Charged != 1 || l.Once == nil {
			t.Errorf("%+v", l)
		}
	}
	if got := strings.Join(runs, "") + " " + strings.Join(data, ""); got != "abcdefg 1222134" {
		t.Errorf("runs and data sets %s", got)
	}
	for _, l := range linesOf() {
		i := slices.IndexFunc(records, func(r run.Record) bool { return r.Run == l.Run })
		var same []string
		found, err := sameData(run.Account{Records: records, Names: records[i].Names})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			same = append(same, r.Run)
		}
		for _, m := range linesOf() {
			if len(records[i].Names) > 0 && slices.Contains(same, m.Run) != (m.Data == l.Data) {
				t.Errorf("%s and %s: composed %t, shown as data %d and %d", l.Run, m.Run, slices.Contains(same, m.Run), l.Data, m.Data)
			}
		}
	}
}

// Two records are of one data set exactly where names lead from one to the other.
func TestDataSetsFollowNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		records := make([]run.Record, rng.IntN(30))
		for i := range records {
			for range rng.IntN(3) {
				records[i].Names = append(records[i].Names, fmt.Sprint(rng.IntN(40)))
			}
		}
		numbers, err := dataSets(namesOf(records), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			// The definition, by search.
			reached, todo := map[int]bool{i: true}, []int{i}
			for len(todo) > 0 {
				at := todo[0]
				todo = todo[1:]
				for j := range records {
					if !reached[j] && slices.ContainsFunc(records[at].Names, func(n string) bool { return slices.Contains(records[j].Names, n) }) {
						reached[j] = true
						todo = append(todo, j)
					}
				}
			}
			for j := range records {
				if reached[j] != (numbers[i] == numbers[j]) {
					t.Fatalf("%v: %d and %d are numbered %d and %d", records, i, j, numbers[i], numbers[j])
				}
			}
		}
	}
}

func TestDigestIsAFunctionOfSaltAndRows(t *testing.T) {
	name := func(salt, rows string) string {
		h, name, err := Digest([]byte(salt))
		if err != nil {
			t.Fatal(err)
		}
		h.Write([]byte(rows))
		return name()
	}
	const salt = "0123456789abcdef"
	if a := name(salt, "rows"); a != name(salt, "rows") || a == name(salt, "row") || a == name(salt+"x", "rows") {
		t.Error("names are not a function of salt and rows, or collide")
	}
	if _, _, err := Digest([]byte("short")); err == nil {
		t.Error("no error for a short salt")
	}
}

// TestFilesAreRecognisedByTheirRows: a file is recognised where it, or a row of it, was trained
// on, and not where only data was trained on that has a row in common with such data.
func TestFilesAreRecognisedByTheirRows(t *testing.T) {
	marks := func(members ...string) []string {
		var s Sketch
		for _, m := range members {
			s.Add([]byte(m))
		}
		return []string{s.Text()}
	}
	record := func(name, started string, steps int, names ...string) run.Record {
		return run.Record{Run: name, Label: name + ".csv", Names: names, Entry: run.Entry{Run: name, Started: started, Steps: steps, Closed: true}}
	}
	account := run.Account{
		Records: []run.Record{record("b", "2", 1, "rows-b", "file-b"), record("a", "1", 1, "rows-a"), record("c", "3", 1, "rows-c"), record("d", "4", 0, "rows-b", "file-b")},
		Data:    []run.Identity{{Names: []string{"rows-b", "file-b"}, Marks: marks("aaaaaaaa", "bbbbbbbb")}, {Names: []string{"rows-c"}, Marks: marks("bbbbbbbb", "cccccccc")}},
	}
	tuned := record("e", "5", 0, "rows-e") // a choice among runs is charged once, and no step
	tuned.Entry.Once = []json.RawMessage{json.RawMessage(`{"kind":"selected"}`)}
	account.Records = append(account.Records, tuned)
	for _, c := range []struct {
		names, marks []string
		want         string
	}{
		{[]string{"rows-e"}, nil, "e"}, {[]string{"file-b"}, nil, "b"}, {[]string{"x"}, marks("aaaaaaaa"), "b"}, {[]string{"x"}, marks("bbbbbbbb"), "bc"},
		{[]string{"rows-a"}, marks("cccccccc"), "ac"}, {[]string{"x"}, marks("dddddddd"), ""}, {nil, nil, ""},
	} {
		account.Names, account.Marks = c.names, c.marks
		found, err := Recognise(account)
		got := ""
		for _, r := range found {
			got += r.Run
		}
		if err != nil || got != c.want {
			t.Errorf("%v: runs %q (%v), want %q", c.names, got, err, c.want)
		}
	}
}

// A run of which nobody can tell whose data it spent on counts for all of them, in totals,
// against the limit and in words, and is no run that is known to have seen any.
func TestUnknownRunsCountForAllData(t *testing.T) {
	known := run.Record{Run: "a", Names: []string{"x"}, Entry: entry(t, "a", 100)}
	unknown := run.Record{Run: "b", Names: []string{"other salt"}, Salt: "00", Entry: entry(t, "b", 300)}
	nobody := run.Record{Run: "c", Salt: "01", Entry: entry(t, "c", 300)}
	spent := func(name string, records ...run.Record) run.SpentReply {
		r, err := Spent(run.SpentRequest{Account: run.Account{Records: records, Names: []string{name}, Deleted: "2026-11-26T19:00:00Z"}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, want := range map[string]struct{ runs, unknown []string }{
		"x": {[]string{"a", "b", "c"}, []string{"b", "c"}},
		"y": {[]string{"b", "c"}, []string{"b", "c"}},
	} {
		got := spent(name, known, unknown, nobody)
		if !slices.Equal(got.Runs, want.runs) || !slices.Equal(got.Unknown, want.unknown) {
			t.Errorf("data %s: runs %v, of which %v are unknown", name, got.Runs, got.Unknown)
		}
		if !strings.Contains(got.Text, "2 of them count for every data set") || !strings.Contains(got.Text, "deleted on 2026-11-26: what had been spent before") {
			t.Errorf("data %s: %s", name, got.Text)
		}
	}
	all, alone := spent("y", unknown), spent("y")
	if all.Epsilon <= alone.Epsilon || alone.Epsilon != 0 || alone.Unknown != nil {
		t.Errorf("ε = %v with an unknown run, %v without", all.Epsilon, alone.Epsilon)
	}
	p := plan(t, 100)
	q := run.EnterRequest{Account: run.Account{Records: []run.Record{unknown}, Names: []string{"y"}, Limit: &run.Limit{Epsilon: all.Epsilon}}, Run: "d", Plan: p}
	if _, err := Enter(q); err == nil {
		t.Error("a run was let over the limit of which an unknown run has used all")
	}
	seen, err := Recognise(run.Account{Records: []run.Record{unknown}, Names: []string{"y"}})
	if err != nil || len(seen) != 0 {
		t.Errorf("an unknown run is said to have seen the data: %v, %v", seen, err)
	}
	lines, err := Lines(run.EntriesRequest{Account: run.Account{Records: []run.Record{known, unknown}}})
	if err != nil || lines[0].Unknown || !lines[1].Unknown {
		t.Errorf("lines are %+v, %v", lines, err)
	}
}

// A run that has ended never goes on, whatever was put back of it; one whose worker died does,
// although its entry is closed.
func TestReopenRefusesWhatHasEnded(t *testing.T) {
	entered, err := Enter(run.EnterRequest{Account: run.Account{Names: []string{"n"}}, Run: "a", Plan: plan(t, 100)})
	if err != nil {
		t.Fatal(err)
	}
	died := Close(run.CloseRequest{Record: entered, Done: 40})
	all := entered
	all.Done = 100
	for what, c := range map[string]struct {
		record run.Record
		ended  bool
	}{
		"its worker died":                     {died, false},
		"its tab died":                        {entered, false},
		"it gave its result":                  {Close(run.CloseRequest{Record: entered, Done: 100, Ended: true}), true},
		"it was stopped":                      {Close(run.CloseRequest{Record: entered, Done: 40, Ended: true}), true},
		"it was discarded after it died":      {Close(run.CloseRequest{Record: died, Done: 40, Ended: true}), true},
		"it ended under an earlier version":   {Close(run.CloseRequest{Record: entered, Done: 100}), true},
		"its last step was seen, and no more": {all, true},
	} {
		r, err := Reopen(run.ReopenRequest{Record: c.record, Plan: plan(t, 100)})
		if c.ended && (err == nil || !strings.Contains(err.Error(), "has ended")) {
			t.Errorf("%s: reopened with %v, want a refusal", what, err)
		}
		if !c.ended && (err != nil || r.Entry.Closed || r.Done != c.record.Done) {
			t.Errorf("%s: reopened as %+v, %v", what, r, err)
		}
	}
}

// What is stored of an interrupted run is the least that it is charged, whatever the ledger says,
// and an entry that was changed is said to be.
func TestRestoreChargesTheLarger(t *testing.T) {
	kept, err := Enter(run.EnterRequest{Run: "a", Label: "l", Plan: plan(t, 100)})
	if err != nil {
		t.Fatal(err)
	}
	with := func(f func(*run.Record)) run.Record {
		r := kept
		r.Names, r.Done, r.Entry.Closed = []string{"n"}, 40, true
		f(&r)
		return r
	}
	quieter := rawEvent(t, PoissonSampled{0.01, Gaussian{5}})
	louder := rawEvent(t, PoissonSampled{0.01, Gaussian{0.5}})
	whole := float64(sumOf(t, kept.Entry).Epsilon)
	for what, c := range map[string]struct {
		record         run.Record
		written, exact bool // exact: it costs what is stored, and otherwise more
	}{
		"untouched":            {with(func(r *run.Record) {}), false, true},
		"a failed check":       {with(func(r *run.Record) { r.Entry.Unprotected = true }), false, false},
		"one step":             {with(func(r *run.Record) { r.Entry.Steps, r.Done = 1, 1 }), true, true},
		"more steps":           {with(func(r *run.Record) { r.Entry.Steps = 200 }), true, false},
		"more steps, known":    {with(func(r *run.Record) { r.Entry.Steps, r.Changed = 200, true }), false, false},
		"one step, once more":  {with(func(r *run.Record) { r.Entry.Steps, r.Changed = 1, true }), true, true},
		"less noise":           {with(func(r *run.Record) { r.Entry.PerStep = louder }), true, false},
		"more noise":           {with(func(r *run.Record) { r.Entry.PerStep = quieter }), true, true},
		"nothing once":         {with(func(r *run.Record) { r.Entry.Once = nil }), true, true},
		"no steps":             {with(func(r *run.Record) { r.Entry.Steps, r.Entry.PerStep = 0, nil }), true, true},
		"what no run can have": {with(func(r *run.Record) { r.Entry.Steps = -1 }), true, true},
		"events of no kind":    {with(func(r *run.Record) { r.Entry.PerStep = json.RawMessage(`{"kind":"x"}`) }), true, true},
	} {
		list, err := Restore(run.RestoreRequest{Kept: []run.Record{kept}, Records: []run.Record{{Run: "b"}, c.record}})
		if err != nil || (len(list) == 1) != c.written {
			t.Errorf("%s: to write are %+v, %v", what, list, err)
			continue
		}
		r := c.record
		if c.written {
			r = list[0]
		}
		got, err := Spent(run.SpentRequest{Account: run.Account{Records: []run.Record{r}, Names: []string{"n"}}})
		if err != nil {
			t.Fatal(err)
		}
		if e := float64(sumOf(t, r.Entry).Epsilon); c.exact && e != whole || !c.exact && e <= whole {
			t.Errorf("%s: it costs %v, and what is stored of it %v", what, e, whole)
		}
		if said := strings.Contains(got.Text, "1 of them was changed"); r.Changed != said || c.written && !said || len(got.Changed) == 0 == said {
			t.Errorf("%s: of an entry that was changed it is said: %s", what, got.Text)
		}
		if r.Names[0] != "n" || !r.Entry.Closed || r.Done != c.record.Done {
			t.Errorf("%s: to write is %+v", what, r)
		}
	}
	gone, err := Restore(run.RestoreRequest{Kept: []run.Record{kept}})
	if err != nil || len(gone) != 1 || gone[0].Names == nil || len(gone[0].Names) != 0 || gone[0].Changed {
		t.Errorf("of a ledger without it, to write is %+v, %v", gone, err)
	}
}

// TestAPricedLineCostsWhatTheTotalSays: the price of a run is that of a ledger without others, and the price of its data
// that of Spent, with the runs that count for all data.
func TestAPricedLineCostsWhatTheTotalSays(t *testing.T) {
	record := func(name, data string, steps int, change func(*run.Record)) run.Record {
		r := run.Record{Run: name, Names: []string{data}, Entry: run.Entry{Run: name, Started: name, Steps: steps, Events: run.Events{PerStep: rawEvent(t, oneStep)}}}
		change(&r)
		return r
	}
	none := func(*run.Record) {}
	records := []run.Record{
		record("a", "rows-1", 100, none), record("b", "rows-1", 100, none), record("c", "rows-1", 300, none),
		record("d", "rows-2", 50, func(r *run.Record) { r.Entry.Unprotected = true }),
		record("e", "rows-3", 20, func(r *run.Record) { r.Salt = "another" }),
	}
	spent := func(of []run.Record, names ...string) run.SpentReply {
		s, err := Spent(run.SpentRequest{Account: run.Account{Records: of, Names: names}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	lines, err := Lines(run.EntriesRequest{Account: run.Account{Records: records}, Priced: true})
	if err != nil || len(lines) != len(records) {
		t.Fatalf("%v, %v", lines, err)
	}
	for i, l := range lines {
		all, one := spent(records, records[i].Names[0]), spent(records[i:i+1], records[i].Names[0])
		if records[i].Salt != "" { // it may be of any data
			all = spent(records, "rows-1", "rows-2", "rows-3")
		}
		if want := (run.Price{Delta: run.DefaultDelta, Epsilon: one.Epsilon, Total: all.Epsilon, Guaranteed: all.GuaranteedEpsilon}); l.Price == nil || *l.Price != want {
			t.Errorf("%s: %+v, not %+v", l.Run, l.Price, want)
		}
	}
	both := run.Account{Records: records, Names: []string{"rows-1", "rows-2"}} // of two files at hand together
	if joined, err := Lines(run.EntriesRequest{Account: both, Priced: true}); err != nil || joined[0].Price.Guaranteed != spent(records, both.Names...).GuaranteedEpsilon {
		t.Errorf("two files together: %+v, %v", joined[0].Price, err)
	}
	if bare, err := Lines(run.EntriesRequest{Account: run.Account{Records: records}}); err != nil || bare[0].Price != nil {
		t.Errorf("without being asked: %+v, %v", bare[0].Price, err)
	}
	records[0].Entry.PerStep = json.RawMessage(`{"type":"?"}`)
	lines, err = Lines(run.EntriesRequest{Account: run.Account{Records: records}, Priced: true})
	if err != nil || lines[1].Price != nil || lines[3].Price == nil {
		t.Errorf("beside an entry that no accountant takes: %+v, %+v, %v", lines[1].Price, lines[3].Price, err)
	}
}
