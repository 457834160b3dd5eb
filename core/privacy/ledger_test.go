package privacy

import (
	"encoding/json"
	"fmt"
	"math"
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
	return Entry{Run: run, PerStep: PoissonSampled{0.01, Gaussian{1}}, Steps: steps, Once: []Event{Gaussian{20}}}
}

func total(t *testing.T, entries []Entry, next ...Event) Total {
	t.Helper()
	sum, err := NewTotal(RDP, 1e-5, entries, next...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestTotal(t *testing.T) {
	if got := total(t, nil); got != (Total{Delta: 1e-5}) {
		t.Errorf("nothing costs %+v", got)
	}
	a, b := entry("a", 100), entry("b", 40)
	b.Closed, b.Unprotected = true, true
	got := total(t, []Entry{a, b})
	want := mustEpsilon(t, RDP, 1e-5, Gaussian{20}, Gaussian{20}, SelfComposed{PoissonSampled{0.01, Gaussian{1}}, 140})
	if got.Runs != 2 || got.Open != 1 || got.Unprotected != 1 || math.Abs(got.Epsilon-want) > 1e-12*want {
		t.Errorf("%+v, want ε %v", got, want)
	}
	if with := total(t, []Entry{a, b}, Gaussian{2}); with.Epsilon <= got.Epsilon || with.Runs != 2 {
		t.Errorf("with what comes next: %+v", with)
	}
}

func TestEntryJSON(t *testing.T) {
	var entries []Entry
	for i, steps := range []int{0, 10, 300} {
		e := entry(fmt.Sprint(i), steps)
		e.Label, e.Started, e.Unprotected, e.Closed = "run", "2026-01-02T03:04:05Z", i == 2, i == 1
		entries = append(entries, e)
	}
	b, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	var back []Entry
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(entries, back) {
		t.Errorf("%+v became %+v, %v", entries, back, err)
	}
	for _, bad := range []string{`[{"steps":0}]`, `[{"run":"x","steps":-1}]`, `[{"run":"x","steps":3}]`, `[{"run":"x","steps":3,"per_step":{"kind":"?"}}]`, `[{"run":"x","once":[{"kind":"poisson_sampled","sample_rate":7,"of":{"kind":"gaussian","noise_multiplier":1}}]}]`} {
		var entries []Entry
		if err := json.Unmarshal([]byte(bad), &entries); err == nil {
			_, err = NewTotal(PLD, 1e-5, entries)
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
		var entries []Entry
		if json.Unmarshal(b, &entries) != nil {
			return
		}
		if sum, err := NewTotal(RDP, 1e-5, entries); err == nil && math.IsNaN(sum.Epsilon) {
			t.Errorf("%+v: %+v", entries, sum)
		}
		if _, err := json.Marshal(entries); err != nil {
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
