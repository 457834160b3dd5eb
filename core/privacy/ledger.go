package privacy

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/chacha"
	"clipscope/core/run"
)

// The ledger of what has been spent on this device's data sets. The page stores
// the records, as only it outlives a run, and asks here what to write and what it
// comes to.
//
// Guarantee: if every run is entered ([Enter]) and its record is on disk before
// its first release, and nobody deletes records, [Spent] never under-counts: not
// after a crash, not with several tabs at once, not after a run was stopped.
// Where a run breaks off may depend on what it has released, so the steps that it
// took are no bound on what they cost; those that were fixed before the first
// are. They are the budget of a filter (Feldman & Zrnic 2021, "Individual Privacy
// Accounting via a Rényi Filter"), here with equal steps: whatever has been
// stopped early is post-processing of the run that was not. Data sets that share a file, a
// picture or a row count as one, so a total never misses a run for want of a row, but for
// what a [Sketch] misses of large data. A record whose data cannot be told counts for all. Totals hold for rows that are written alike, not
// for people: a row of which a cell was changed is another row.

// Enter returns the record of a run that has released nothing yet, charged for every
// step of its plan. Unless q.Anyway is set, a run that would go over the limit and a
// run without a guarantee are refused by a [*run.OverLimit].
func Enter(q run.EnterRequest) (run.Record, error) {
	e := q.Plan.Entry()
	e.Run, e.Label, e.Started = q.Run, q.Label, q.Started
	r := run.Record{Run: q.Run, Names: q.Names, Label: q.Label, Method: run.Config{Method: q.Method}.WithDefaults().Method, Entry: e}
	if q.Anyway || q.Limit == nil && !(q.Ask && e.Unprotected) {
		return r, nil
	}
	s, err := Spent(run.SpentRequest{Account: q.Account, Next: run.Coming{e}})
	if err != nil {
		return run.Record{}, err
	}
	over := &run.OverLimit{Kind: run.OverGuarantee, Epsilon: s.Epsilon, NextEpsilon: *s.NextEpsilon, Delta: s.Delta, Unprotected: e.Unprotected}
	if q.Limit == nil {
		return run.Record{}, over
	}
	if *s.NextEpsilon > q.Limit.Epsilon {
		over.Kind, over.Limit = run.OverBudget, q.Limit.Epsilon
		return run.Record{}, over
	}
	return r, nil
}

// Close is the record of a run that has ended. Where nothing can have been released, it is
// charged nothing; one whose check of itself failed has no guarantee.
func Close(q run.CloseRequest) run.Record {
	r := q.Record
	r.Ended = r.Ended || q.Ended
	if r.Entry.Closed {
		return r
	}
	if q.Unreleased {
		r.Entry.Steps, r.Entry.Once, r.Entry.Unprotected = 0, nil, false
	}
	r.Entry.Unprotected = r.Entry.Unprotected || q.Doubtful && !q.Unreleased
	r.Entry.Closed, r.Done = true, q.Done
	return r
}

// Reopen is the record of a run that was interrupted and goes on. The run has no more
// steps than it was entered for, with those of all its lives together, so its charge
// stands; an entry that charges less than the plan is refused.
//
// Guarantee: a run that has ended is refused, whatever is stored of it: what was put back
// would release its steps a second time. Of a record without [run.Record.Ended], as earlier
// versions wrote it, the last step says that it has.
func Reopen(q run.ReopenRequest) (run.Record, error) {
	r := q.Record
	if !r.Entry.Charges(q.Plan) {
		return run.Record{}, errors.New("privacy: the ledger's entry of this run does not charge its plan, so it cannot go on: start it anew")
	}
	if r.Ended || r.Entry.Steps > 0 && r.Done >= r.Entry.Steps {
		return run.Record{}, errors.New("privacy: this run has ended, by the ledger, and what is stored of it is older: start it anew")
	}
	r.Entry.Closed = false
	return r, nil
}

// Restore returns the records to write so that every interrupted run is charged: those that
// the ledger has no more, without names, and those whose entry is not the stored one, with the
// larger charge of the two.
//
// Guarantee: with one kind of events, a record that was changed is charged no fewer steps
// afterwards than the stored one. With other events it has the larger ε of the two, at
// [run.DefaultDelta].
func Restore(q run.RestoreRequest) ([]run.Record, error) {
	write := []run.Record{}
	for _, kept := range q.Kept {
		i := slices.IndexFunc(q.Records, func(r run.Record) bool { return r.Run == kept.Run })
		if i < 0 {
			kept.Names = []string{}
			write = append(write, kept)
			continue
		}
		r := q.Records[i]
		more, changed, err := larger(r.Entry, kept.Entry)
		if err != nil {
			return nil, fmt.Errorf("privacy: what is stored of run %q: %w", kept.Run, err)
		}
		if changed && !(r.Changed && more) {
			r.Changed = true
			if !more {
				kept.Entry.Closed = r.Entry.Closed
				r.Entry = kept.Entry
			}
			write = append(write, r)
		}
	}
	return write, nil
}

// larger reports whether the entry in the ledger charges more than the stored one, or as much,
// and whether somebody changed it. A check that failed makes it Unprotected, which is no change.
func larger(entry, stored run.Entry) (more, changed bool, err error) {
	want, err := charged(stored)
	if err != nil {
		return false, false, err
	}
	have, err := charged(entry)
	if err != nil {
		return false, true, nil
	}
	wanted, err := json.Marshal(stored.Events)
	if err != nil {
		return false, false, err
	}
	had, err := json.Marshal(entry.Events)
	if err != nil {
		return false, false, err
	}
	lost := stored.Unprotected && !entry.Unprotected
	if bytes.Equal(wanted, had) {
		return entry.Steps >= stored.Steps && !lost, entry.Steps != stored.Steps || lost, nil
	}
	least, err := Epsilon(Names()[0], run.DefaultDelta, want...)
	if err != nil {
		return false, false, err
	}
	most, err := Epsilon(Names()[0], run.DefaultDelta, have...)
	return err == nil && most > least && !lost, true, nil
}

// Spent prices a data set's runs, alone and with those to come.
func Spent(q run.SpentRequest) (run.SpentReply, error) {
	same, err := sameData(q.Account)
	if err != nil {
		return run.SpentReply{}, err
	}
	var entries []run.Entry
	for _, r := range same {
		entries = append(entries, r.Entry)
	}
	reply, err := total(Names()[0], q.Delta(), entries)
	if err != nil {
		return reply, err
	}
	for _, r := range same {
		if r.Salt != "" {
			reply.Unknown = append(reply.Unknown, r.Run)
		}
		if r.Changed {
			reply.Changed = append(reply.Changed, r.Run)
		}
	}
	reply.Deleted = q.Deleted
	reply.Text += unknownText(reply)
	if q.Limit != nil {
		reply.Limit = &q.Limit.Epsilon
	}
	if q.Next != nil {
		for _, next := range q.Next {
			next.Run = cmp.Or(next.Run, "next")
			entries = append(entries, next)
		}
		with, err := total(Names()[0], q.Delta(), entries)
		if err != nil {
			return reply, err
		}
		reply.NextEpsilon, reply.NextGuaranteedEpsilon = &with.Epsilon, &with.GuaranteedEpsilon
		reply.Reason = cmp.Or(reply.Reason, with.Reason)
	}
	return reply, nil
}

// Lines returns the ledger as its owner reads it, oldest first.
func Lines(q run.EntriesRequest) ([]run.Line, error) {
	records := slices.Clone(q.Records)
	slices.SortStableFunc(records, func(a, b run.Record) int { return strings.Compare(a.Entry.Started, b.Entry.Started) })
	// What is at hand joins data as for [Spent].
	numbers, err := dataSets(namesOf(records), append(slices.Clone(q.Data), run.Identity{Names: q.Names, Marks: q.Marks}))
	if err != nil {
		return nil, err
	}
	lines := make([]run.Line, len(records))
	for i, r := range records {
		e := r.Entry
		lines[i] = run.Line{
			Run: r.Run, Data: numbers[i], Label: r.Label, Method: r.Method, Started: e.Started, Done: r.Done, Charged: e.Steps,
			Closed: e.Closed, Unprotected: e.Unprotected, Unknown: r.Salt != "", Changed: r.Changed, Once: e.Once, PerStep: e.PerStep,
		}
		if e.Once == nil {
			lines[i].Once = []json.RawMessage{}
		}
	}
	if q.Priced {
		price(lines, records, q.Delta())
	}
	return lines, nil
}

// anyData stands for the data of a run of which it is not known: its total is that of all runs.
const anyData = 0 // others are numbered from 1

// price fills in the prices of lines, of which records has the entries. Runs with the same events cost the same, which is
// worked out once.
func price(lines []run.Line, records []run.Record, delta float64) {
	alone, together := map[string]run.Number{}, map[int]*run.Price{}
	for i := range lines {
		n := lines[i].Data
		if records[i].Salt != "" {
			n = anyData
		}
		if _, known := together[n]; !known {
			var of []run.Entry
			for k, r := range records {
				if lines[k].Data == n || r.Salt != "" || n == anyData {
					of = append(of, r.Entry)
				}
			}
			together[n] = nil
			if all, err := total(Names()[0], delta, of); err == nil {
				together[n] = &run.Price{Delta: delta, Total: all.Epsilon, Guaranteed: all.GuaranteedEpsilon}
			}
		}
		if together[n] == nil {
			continue
		}
		e := records[i].Entry
		key := fmt.Sprintf("%s %s %d %t", e.Once, e.PerStep, e.Steps, e.Unprotected)
		if _, known := alone[key]; !known {
			one, err := total(Names()[0], delta, []run.Entry{e})
			if err != nil {
				continue
			}
			alone[key] = one.Epsilon
		}
		p := *together[n]
		p.Epsilon = alone[key]
		lines[i].Price = &p
	}
}

// sameData returns the records of the account's data set, and those of which nobody can
// tell whose they are.
func sameData(a run.Account) ([]run.Record, error) {
	mine, err := tokens(run.Identity{Names: a.Names, Marks: a.Marks})
	if err != nil {
		return nil, err
	}
	numbers, err := dataSets(append([][]string{mine}, namesOf(a.Records)...), a.Data)
	if err != nil {
		return nil, err
	}
	var same []run.Record
	for i, r := range a.Records {
		if numbers[i+1] == numbers[0] || r.Salt != "" {
			same = append(same, r)
		}
	}
	return same, nil
}

// Recognise returns the runs that spent on a file, a picture or a row of the account's
// data, oldest first. Unlike [Spent] it does not count those that spent on data with a
// row in common with data with a row in common, nor those that count for all data.
func Recognise(a run.Account) ([]run.Recognised, error) {
	mine, err := tokens(run.Identity{Names: a.Names, Marks: a.Marks})
	if err != nil {
		return nil, err
	}
	in := map[string]bool{}
	for _, token := range mine {
		in[token] = true
	}
	shares := func(list []string) bool {
		return slices.ContainsFunc(list, func(token string) bool { return in[token] })
	}
	marked := map[string]bool{} // the names of identities that share a mark
	for _, d := range a.Data {
		list, err := tokens(d)
		if err != nil {
			return nil, err
		}
		if shares(list) {
			marked[strings.Join(d.Names, " ")] = true
		}
	}
	found := []run.Recognised{}
	for _, r := range a.Records {
		never := r.Entry.Closed && r.Entry.Steps == 0 && len(r.Entry.Once) == 0 && !r.Entry.Unprotected // let go
		if !never && (shares(r.Names) || marked[strings.Join(r.Names, " ")]) {
			found = append(found, run.Recognised{Run: r.Run, Label: r.Label, Started: r.Entry.Started})
		}
	}
	slices.SortStableFunc(found, func(a, b run.Recognised) int { return strings.Compare(a.Started, b.Started) })
	return found, nil
}

func namesOf(records []run.Record) [][]string {
	names := make([][]string, len(records))
	for i, r := range records {
		names[i] = r.Names
	}
	return names
}

// tokens returns all that an identity is recognised by: its names, of which each has more
// than 8 bytes, and the hashes of its marks, which have 8.
func tokens(of run.Identity) ([]string, error) {
	all := slices.Clone(of.Names)
	for _, m := range of.Marks {
		hashes, err := hashesOf(m)
		if err != nil {
			return nil, err
		}
		all = append(all, hashes...)
	}
	return all, nil
}

// dataSets numbers the data sets of lists of tokens, from 1 in the order in which they
// come: lists with a token in common are about the same one, and so are those that have
// one in common with either, and so on. The identities join them, and have no numbers.
func dataSets(lists [][]string, data []run.Identity) ([]int, error) {
	n := len(lists)
	for _, d := range data {
		list, err := tokens(d)
		if err != nil {
			return nil, err
		}
		lists = append(lists[:len(lists):len(lists)], list)
	}
	set := make([]int, len(lists)) // the first list known to be about the same
	root := func(i int) int {
		for set[i] != i {
			i = set[i]
		}
		return i
	}
	first := map[string]int{}
	for i, list := range lists {
		set[i] = i
		for _, token := range list {
			j, known := first[token]
			if !known {
				first[token] = i
				continue
			}
			a, b := root(i), root(j)
			set[max(a, b)] = min(a, b)
		}
	}
	numbers, next := make([]int, n), 0
	for i := range numbers {
		if set[i] == i {
			next++
			numbers[i] = next
		} else {
			numbers[i] = numbers[root(i)]
		}
	}
	return numbers, nil
}

// total returns ε at delta of everything that is charged in the entries of one data
// set. An entry that no accountant would take is an error.
func total(accountant string, delta float64, entries []run.Entry) (run.SpentReply, error) {
	t := run.SpentReply{Runs: []string{}, Delta: delta}
	var all []Event
	for _, e := range entries {
		events, err := charged(e)
		if err != nil {
			return t, fmt.Errorf("privacy: the ledger's entry of run %q: %w", e.Run, err)
		}
		t.Runs = append(t.Runs, e.Run)
		if !e.Closed {
			t.Open++
		}
		if e.Unprotected {
			t.Unprotected++
			continue
		}
		all = append(all, events...)
	}
	e, err := Epsilon(accountant, delta, all...)
	if err != nil {
		return t, fmt.Errorf("privacy: the ledger: %w", err)
	}
	t.Epsilon, t.GuaranteedEpsilon = run.Number(e), run.Number(e)
	if t.Unprotected > 0 {
		t.Epsilon = run.Number(math.Inf(1))
	}
	t.Text = spentText(t)
	if reason, err := whyInfinite(accountant, delta, e, all); err != nil {
		return t, fmt.Errorf("privacy: the ledger: %w", err)
	} else if reason != "" {
		t.Reason = reason
		t.Text += " " + reason
	}
	return t, nil
}

// whyInfinite says why events come to no finite ε, where that is because of what
// noise is inexact by and not of what was released without noise; empty where it is
// not so. What noise is inexact by counts e^ε times in δ, and there comes an ε at
// which it takes more than δ covers.
func whyInfinite(accountant string, delta, epsilon float64, all []Event) (string, error) {
	if !math.IsInf(epsilon, 1) {
		return "", nil
	}
	s, err := flatten(Composed{all}, 1)
	if err != nil || s.infinite || s.distance == 0 && len(s.ends) == 0 {
		return "", err
	}
	if end := s.endMass(); end >= delta {
		return fmt.Sprintf("ε is ∞ because there were runs with float noise: it ends at %g standard deviations, which alone takes %s of δ, and δ is %s.",
			chacha.MaxNormal, run.UpText(end, 2), run.UpText(delta, 2)), nil
	}
	s.distance = 0
	without := s.by(accountant, s.renyi(), delta)
	if math.IsInf(without, 1) {
		return "", nil
	}
	return fmt.Sprintf("ε is ∞ because there were secure runs: what their noise is inexact by counts e^ε times in δ, and at ε = %s, which the runs with a guarantee would come to together, that is more than δ covers.",
		run.UpText(without, 4)), nil
}

// charged returns the events that e is charged for. It refuses an entry that no run can have written.
func charged(e run.Entry) ([]Event, error) {
	if e.Run == "" || e.Steps < 0 || e.PerStep == nil && e.Steps > 0 {
		return nil, errors.New("it is incomplete")
	}
	var events []Event
	for _, o := range e.Once {
		event, err := UnmarshalEvent(o)
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
	if e.PerStep != nil {
		event, err := UnmarshalEvent(e.PerStep)
		if err != nil {
			return nil, err
		}
		events = append(events, SelfComposed{event, e.Steps})
	}
	return events, nil
}

// spentText returns t in a few sentences.
func spentText(t run.SpentReply) string {
	n := len(t.Runs)
	if n == 0 {
		return "Nothing has been spent on this data set on this device."
	}
	spent := fmt.Sprintf("ε = %s at δ = %s", run.UpText(float64(t.GuaranteedEpsilon), 4), run.UpText(t.Delta, 3))
	var b strings.Builder
	switch rest := n - t.Unprotected; {
	case t.Unprotected == 0:
		fmt.Fprintf(&b, "On this device, this data set has spent %s in %s so far, each charged for all of its planned steps.", spent, plural(n, "1 run", "%d runs"))
	case rest == 0:
		b.WriteString("On this device, this data set has spent ε = ∞: " + plural(n, "its only run has no guarantee.", "none of its %d runs has a guarantee."))
	default:
		fmt.Fprintf(&b, "On this device, this data set has spent ε = ∞: %d of its %d runs %s no guarantee. ", t.Unprotected, n, plural(t.Unprotected, "has", "have"))
		fmt.Fprintf(&b, "%s spent %s, charged for all planned steps.", plural(rest, "The other has", "The other %d have"), spent)
	}
	if t.Open > 0 {
		b.WriteString(plural(t.Open, " 1 of them has", " %d of them have") + " not ended, or ended without notice.")
	}
	return b.String()
}

// unknownText returns what t does not know, in sentences with a space before.
func unknownText(t run.SpentReply) string {
	var b strings.Builder
	if n := len(t.Unknown); n > 0 {
		b.WriteString(plural(n, " 1 of them counts", " %d of them count") + " for every data set: the ledger was deleted during the run, so nobody can tell whose rows it used.")
	}
	if n := len(t.Changed); n > 0 {
		b.WriteString(plural(n, " The ledger's entry of 1 of them was changed", " The ledger's entries of %d of them were changed") + " by something other than this page: the larger charge counts.")
	}
	if t.Deleted != "" {
		day, _, _ := strings.Cut(t.Deleted, "T")
		fmt.Fprintf(&b, " The ledger was deleted on %s: what had been spent before is not counted.", day)
	}
	return b.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return strings.ReplaceAll(many, "%d", strconv.Itoa(n))
}

// Digest returns a hash to write a data set's rows to, in a fixed order and
// form, and the function that gives its name in the ledger. The salt is drawn
// once a device, and neither it nor the name leaves it: without the salt a name
// tells nothing about the data.
func Digest(salt []byte) (rows hash.Hash, name func() string, err error) {
	if len(salt) < 16 {
		return nil, nil, errors.New("privacy: the ledger's salt is shorter than 16 bytes")
	}
	h := hmac.New(sha256.New, salt)
	return h, func() string { return hex.EncodeToString(h.Sum(nil)[:16]) }, nil
}
