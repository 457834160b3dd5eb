package privacy

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
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
	f.Add([]byte(`{"kind":"gaussian","noise_multiplier":"Infinity"}`))
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

func TestMarshalEventRefuses(t *testing.T) {
	for _, e := range []Event{nil, unknownEvent{}, SelfComposed{nil, 1}, Composed{[]Event{nil}}} {
		if b, err := MarshalEvent(e); err == nil {
			t.Errorf("%#v was written as %s", e, b)
		}
	}
}

func entry(run string, steps int) Entry {
	return Entry{Run: run, Data: "d", PerStep: PoissonSampled{0.01, Gaussian{1}}, Steps: steps, Once: []Event{Gaussian{20}}}
}

func total(t *testing.T, l *Ledger, next ...Event) Total {
	t.Helper()
	sum, err := l.Total(RDP, "d", 1e-5, next...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestLedgerLifeOfARun(t *testing.T) {
	var l Ledger
	e := entry("a", 0)
	step := func(next Entry, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		e = next
		if err := l.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	step(e, nil)
	step(e.Reserve(100))
	reserved := total(t, &l)
	if reserved.Open != 1 || reserved.Runs != 1 {
		t.Errorf("%+v", reserved)
	}
	// A crash now leaves the reserved steps charged.
	step(e.Reserve(50))
	if got := total(t, &l); got != reserved {
		t.Errorf("reserving less changed %+v to %+v", reserved, got)
	}
	if _, err := e.Close(101); err == nil {
		t.Error("closed with more than was reserved")
	}
	step(e.Close(40)) // stopped
	got := total(t, &l)
	want := mustEpsilon(t, RDP, 1e-5, Gaussian{20}, SelfComposed{PoissonSampled{0.01, Gaussian{1}}, 40})
	if got.Epsilon != want || got.Open != 0 {
		t.Errorf("stopped at 40: %+v, want ε %v", got, want)
	}
	if _, err := e.Reserve(200); err == nil {
		t.Error("a closed run reserved more")
	}
	if with := total(t, &l, Gaussian{2}); with.Epsilon <= got.Epsilon {
		t.Error("what comes next costs nothing")
	}
	l.Forget("d")
	if got := total(t, &l); got.Epsilon != 0 || got.Runs != 0 {
		t.Errorf("after forgetting: %+v", got)
	}
}

// Several tabs, each with its own runs and a stale copy of the others', write
// and read in any order: no steps are lost, whatever the interleaving.
func TestLedgerMergeNeverUnderCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		tabs := make([]Ledger, 3)
		released := map[string]int{} // what each run has released
		open := map[string]Entry{}
		for tab := range tabs {
			for k := range 2 {
				open[fmt.Sprint(tab, k)] = entry(fmt.Sprint(tab, k), 0)
			}
		}
		put := func(tab int, e Entry) {
			if err := tabs[tab].Put(e); err != nil {
				t.Fatal(err)
			}
		}
		for range 40 {
			tab, k := rng.IntN(3), rng.IntN(2)
			run := fmt.Sprint(tab, k)
			e := open[run]
			switch rng.IntN(4) {
			case 0: // reserve, store, release some of it
				if next, err := e.Reserve(e.Steps + 1 + rng.IntN(20)); err == nil {
					open[run] = next
					put(tab, next)
					released[run] = max(released[run], rng.IntN(next.Steps+1))
				}
			case 1: // stop
				if next, err := e.Close(released[run]); err == nil && e.Steps > 0 {
					open[run] = next
					put(tab, next)
				}
			default: // hear of another tab
				if err := tabs[tab].Merge(&tabs[rng.IntN(3)]); err != nil {
					t.Fatal(err)
				}
			}
		}
		var all, other Ledger
		for i := range tabs {
			for _, pair := range []struct {
				l *Ledger
				n int
			}{{&all, i}, {&other, len(tabs) - 1 - i}} {
				if err := pair.l.Merge(&tabs[pair.n]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !reflect.DeepEqual(all.Entries(), other.Entries()) {
			t.Fatal("the order of merging matters")
		}
		if err := all.Merge(&other); err != nil || !reflect.DeepEqual(all.Entries(), other.Entries()) {
			t.Fatal("merging twice matters")
		}
		for _, e := range all.Entries() {
			if e.Steps < released[e.Run] {
				t.Fatalf("run %s released %d steps and is charged %d", e.Run, released[e.Run], e.Steps)
			}
		}
	}
}

func TestLedgerJSON(t *testing.T) {
	var l Ledger
	for i, steps := range []int{0, 10, 300} {
		e := entry(fmt.Sprint(i), steps)
		e.Label, e.Started, e.Unprotected = "run", "2026-01-02T03:04:05Z", i == 2
		if err := l.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.Marshal(&l)
	if err != nil {
		t.Fatal(err)
	}
	var back Ledger
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(l.Entries(), back.Entries()) {
		t.Errorf("%+v became %+v", l.Entries(), back.Entries())
	}
	if a, b := total(t, &l), total(t, &back); a != b || a.Unprotected != 1 {
		t.Errorf("%+v became %+v", a, b)
	}
	for _, bad := range []string{`[{"run":"x"}]`, `[{"run":"x","data":"d","steps":-1}]`, `{`, `[{"run":"x","data":"d","steps":3}]`, `[{"run":"x","data":"d","steps":3,"per_step":{"kind":"?"}}]`} {
		before := len(back.Entries())
		if err := json.Unmarshal([]byte(bad), &back); err == nil || len(back.Entries()) != before {
			t.Errorf("%s: %v, %d entries", bad, err, len(back.Entries()))
		}
	}
}

func FuzzLedgerJSON(f *testing.F) {
	f.Add([]byte(`[{"run":"a","data":"d","version":1,"steps":3,"closed":true,"per_step":{"kind":"gaussian","noise_multiplier":2}}]`))
	f.Add([]byte(`[{"run":"a","data":"d","once":[{"kind":"non_private"}]}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l Ledger
		if json.Unmarshal(b, &l) != nil {
			return
		}
		for _, e := range l.Entries() {
			if sum, err := l.Total(RDP, e.Data, 1e-5); err != nil || math.IsNaN(sum.Epsilon) {
				t.Errorf("%+v: %+v, %v", e, sum, err)
			}
		}
		if _, err := json.Marshal(&l); err != nil {
			t.Error(err)
		}
	})
}

func TestDigest(t *testing.T) {
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
