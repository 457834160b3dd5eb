package privacy

import (
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
// stopped early is post-processing of the run that was not. Data sets are told
// apart by digest, so a copy with one row changed counts as another data set: the
// totals hold for the file, not for the people in it.

// Enter is the record of a run that has released nothing yet, charged for every
// step of its plan. Where there is a limit and the run would go over it, the error
// is a [*run.OverLimit].
func Enter(q run.EnterRequest) (run.Record, error) {
	e := q.Plan.Entry()
	e.Run, e.Label, e.Started = q.Run, q.Label, q.Started
	r := run.Record{Run: q.Run, Names: q.Names, Label: q.Label, Entry: e}
	if q.Limit == nil {
		return r, nil
	}
	s, err := Spent(run.SpentRequest{Account: q.Account, Next: &e})
	if err != nil {
		return run.Record{}, err
	}
	if *s.NextEpsilon > q.Limit.Epsilon {
		return run.Record{}, &run.OverLimit{Kind: "limit", Epsilon: s.Epsilon, NextEpsilon: *s.NextEpsilon, Limit: q.Limit.Epsilon, Delta: s.Delta}
	}
	return r, nil
}

// Close is the record of a run that has ended. Only where nothing can have been
// released does that change the charge.
func Close(q run.CloseRequest) run.Record {
	r := q.Record
	if r.Entry.Closed {
		return r
	}
	if q.Unreleased {
		r.Entry.Steps, r.Entry.Once = 0, nil
	}
	r.Entry.Closed, r.Done = true, q.Done
	return r
}

// Reopen is the record of a run that was interrupted and goes on. The run has no more
// steps than it was entered for, with those of all its lives together, so its charge
// stands; an entry that charges less than the plan is refused.
func Reopen(q run.ReopenRequest) (run.Record, error) {
	r := q.Record
	if !r.Entry.Charges(q.Plan) {
		return run.Record{}, errors.New("privacy: the ledger's entry of this run does not charge its plan, so it cannot go on: start it anew")
	}
	r.Entry.Closed = false
	return r, nil
}

// Spent is what a data set has cost, and would with a coming run.
func Spent(q run.SpentRequest) (run.SpentReply, error) {
	var entries []run.Entry
	for _, r := range sameData(q.Records, q.Names) {
		entries = append(entries, r.Entry)
	}
	reply, err := total(Names()[0], q.Delta(), entries)
	if err != nil {
		return reply, err
	}
	if q.Limit != nil {
		reply.Limit = &q.Limit.Epsilon
	}
	if q.Next != nil {
		with, err := withNext(q, entries)
		if err != nil {
			return reply, err
		}
		reply.NextEpsilon, reply.Reason = &with.Epsilon, cmp.Or(reply.Reason, with.Reason)
	}
	return reply, nil
}

// withNext is the total with the coming run: without a guarantee it may tell anything.
func withNext(q run.SpentRequest, entries []run.Entry) (run.SpentReply, error) {
	next := *q.Next
	if next.Unprotected {
		return run.SpentReply{Epsilon: run.Number(math.Inf(1))}, nil
	}
	if next.Run == "" {
		next.Run = "next"
	}
	return total(Names()[0], q.Delta(), append(entries, next))
}

// Lines is the ledger as its owner reads it, oldest first.
func Lines(records []run.Record) []run.Line {
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b run.Record) int { return strings.Compare(a.Entry.Started, b.Entry.Started) })
	numbers := dataSets(records)
	lines := make([]run.Line, len(records))
	for i, r := range records {
		e := r.Entry
		lines[i] = run.Line{
			Run: r.Run, Data: numbers[i], Label: r.Label, Started: e.Started, Done: r.Done, Charged: e.Steps,
			Closed: e.Closed, Unprotected: e.Unprotected, Once: e.Once, PerStep: e.PerStep,
		}
		if e.Once == nil {
			lines[i].Once = []json.RawMessage{}
		}
	}
	return lines
}

// sameData are the records of the data set that goes by names.
func sameData(records []run.Record, names []string) []run.Record {
	numbers := dataSets(append([]run.Record{{Names: names}}, records...))
	var same []run.Record
	for i, r := range records {
		if numbers[i+1] == numbers[0] {
			same = append(same, r)
		}
	}
	return same
}

// dataSets numbers the records' data sets, from 1 in the order in which they
// come: records that have a name in common are about the same one, and so are
// those that have one in common with either, and so on.
func dataSets(records []run.Record) []int {
	set := make([]int, len(records)) // the first record known to be about the same
	root := func(i int) int {
		for set[i] != i {
			i = set[i]
		}
		return i
	}
	first := map[string]int{}
	for i, r := range records {
		set[i] = i
		for _, name := range r.Names {
			j, known := first[name]
			if !known {
				first[name] = i
				continue
			}
			a, b := root(i), root(j)
			set[max(a, b)] = min(a, b)
		}
	}
	numbers, next := make([]int, len(records)), 0
	for i := range records {
		if set[i] == i {
			next++
			numbers[i] = next
		} else {
			numbers[i] = numbers[root(i)]
		}
	}
	return numbers
}

// total is ε at delta of everything that is charged in the entries of one data
// set. An entry that no accountant would take is an error.
func total(accountant string, delta float64, entries []run.Entry) (run.SpentReply, error) {
	t := run.SpentReply{Runs: []string{}, Delta: delta}
	var all []Event
	for _, e := range entries {
		events, err := charged(e)
		if err != nil {
			return t, fmt.Errorf("privacy: the ledger's entry of run %q: %w", e.Run, err)
		}
		all = append(all, events...)
		t.Runs = append(t.Runs, e.Run)
		if !e.Closed {
			t.Open++
		}
		if e.Unprotected {
			t.Unprotected++
		}
	}
	e, err := Epsilon(accountant, delta, all...)
	if err != nil {
		return t, fmt.Errorf("privacy: the ledger: %w", err)
	}
	t.Epsilon = run.Number(e)
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

// charged is what e is charged for. It refuses what no run can have written.
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

// spentText is t in a sentence or three.
func spentText(t run.SpentReply) string {
	if len(t.Runs) == 0 {
		return "Nothing has been spent on this data set on this device."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "On this device, this data set has spent ε = %s at δ = %s in %s so far, each charged for all of its planned steps.",
		run.UpText(float64(t.Epsilon), 4), run.UpText(t.Delta, 3), plural(len(t.Runs), "1 run", "%d runs"))
	if t.Open > 0 {
		b.WriteString(plural(t.Open, " 1 of them has", " %d of them have") + " not ended, or ended without notice.")
	}
	if t.Unprotected > 0 {
		b.WriteString(plural(t.Unprotected, " 1 of them carries", " %d of them carry") + " no guarantee; the total does not cover what such a run tells.")
	}
	return b.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
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
