package privacy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
)

// A Ledger is what has been spent on every data set of this device: one Entry a
// run. The zero value is empty and ready.
//
// Guarantee: if every run reserves its steps here before it releases them, and
// nobody deletes entries, the totals never under-count: not after a crash (what
// was reserved stays charged), not with several tabs at once (Merge loses
// nothing), not after a run was stopped (it is charged what it released). Data
// sets are told apart by digest, so a copy with one row changed counts as
// another data set: the totals hold for the file, not for the people in it.
type Ledger struct{ entries map[string]Entry }

// An Entry is one run. Only the run itself changes its entry, and raises Version
// each time; store each entry under a key of its own, so that tabs never write
// over each other's.
type Entry struct {
	Run     string `json:"run"`  // a random name; a resumed run takes a new one
	Data    string `json:"data"` // from Digest; never leaves the device
	Version int    `json:"version"`
	Label   string `json:"label,omitempty"`
	Started string `json:"started,omitempty"` // RFC 3339
	// Once is charged from the start, PerStep for each of Steps.
	Once    []Event `json:"-"`
	PerStep Event   `json:"-"`
	// Steps may have been released: those done and, while the run is open,
	// those reserved.
	Steps int `json:"steps"`
	// Closed says that Steps is final.
	Closed bool `json:"closed"`
	// Unprotected marks a run with a fixed seed, without noise, or with
	// scaling measured from the data: its Steps are charged as if it had been
	// private, but it may have told anything.
	Unprotected bool `json:"unprotected,omitempty"`
}

// Events is what e is charged for.
func (e Entry) Events() []Event {
	events := slices.Clone(e.Once)
	if e.PerStep != nil && e.Steps > 0 {
		events = append(events, SelfComposed{e.PerStep, e.Steps})
	}
	return events
}

// Reserve returns e charged for steps in all, at least as many as before: to be
// stored before they are released.
func (e Entry) Reserve(steps int) (Entry, error) {
	if e.Closed {
		return e, fmt.Errorf("privacy: run %s is closed: a run that goes on takes a new entry", e.Run)
	}
	if steps > e.Steps {
		e.Steps = steps
		e.Version++
	}
	return e, nil
}

// Close returns e charged for the steps that were released, which may be fewer
// than reserved but not more.
func (e Entry) Close(released int) (Entry, error) {
	if e.Closed || released < 0 || released > e.Steps {
		return e, fmt.Errorf("privacy: run %s cannot close at %d steps: it has reserved %d (closed: %t)", e.Run, released, e.Steps, e.Closed)
	}
	e.Steps, e.Closed = released, true
	e.Version++
	return e, nil
}

// Put adds e, or replaces what is known of its run where e is newer. It refuses
// an entry that no accountant would take.
func (l *Ledger) Put(e Entry) error {
	if e.Run == "" || e.Data == "" || e.Steps < 0 || e.PerStep == nil && e.Steps > 0 {
		return fmt.Errorf("privacy: ledger entry of run %q is incomplete", e.Run)
	}
	if _, err := flatten(Composed{e.Events()}, 1); err != nil {
		return fmt.Errorf("privacy: ledger entry of run %q: %w", e.Run, err)
	}
	old, ok := l.entries[e.Run]
	if ok && !newer(e, old) {
		return nil
	}
	if l.entries == nil {
		l.entries = map[string]Entry{}
	}
	l.entries[e.Run] = e
	return nil
}

// newer orders the states of one run; between states that should not both
// exist it prefers the one that charges more.
func newer(a, b Entry) bool {
	if a.Version != b.Version {
		return a.Version > b.Version
	}
	if a.Steps != b.Steps {
		return a.Steps > b.Steps
	}
	return !a.Closed && b.Closed
}

// Merge puts every entry of other. Merging in any order, any number of times,
// ends the same.
func (l *Ledger) Merge(other *Ledger) error {
	for _, e := range other.Entries() {
		if err := l.Put(e); err != nil {
			return err
		}
	}
	return nil
}

// Entries lists the entries by data set and start.
func (l *Ledger) Entries() []Entry {
	list := slices.Collect(maps.Values(l.entries))
	slices.SortFunc(list, func(a, b Entry) int {
		for _, pair := range [][2]string{{a.Data, b.Data}, {a.Started, b.Started}, {a.Run, b.Run}} {
			if pair[0] != pair[1] {
				if pair[0] < pair[1] {
					return -1
				}
				return 1
			}
		}
		return 0
	})
	return list
}

// Spent is every event charged to a data set.
func (l *Ledger) Spent(data string) []Event {
	var events []Event
	for _, e := range l.Entries() {
		if e.Data == data {
			events = append(events, e.Events()...)
		}
	}
	return events
}

// A Total is what a data set has cost so far.
type Total struct {
	Runs        int     `json:"runs"`
	Open        int     `json:"open"` // running now, or ended by a crash
	Unprotected int     `json:"unprotected"`
	Epsilon     float64 `json:"-"`
	Delta       float64 `json:"delta"`
}

// Total is ε at delta of everything charged to data and then, if given, of next:
// ask it before a run starts, and compare with the owner's limit.
func (l *Ledger) Total(accountant, data string, delta float64, next ...Event) (Total, error) {
	t := Total{Delta: delta}
	for _, e := range l.entries {
		if e.Data != data {
			continue
		}
		t.Runs++
		if !e.Closed {
			t.Open++
		}
		if e.Unprotected {
			t.Unprotected++
		}
	}
	var err error
	t.Epsilon, err = Epsilon(accountant, delta, append(l.Spent(data), next...)...)
	return t, err
}

// Forget deletes every entry of a data set, or of all where data is empty. The
// totals no longer hold afterwards.
func (l *Ledger) Forget(data string) {
	maps.DeleteFunc(l.entries, func(_ string, e Entry) bool { return data == "" || e.Data == data })
}

// entryJSON adds to Entry what encoding/json cannot do by itself.
type entryJSON struct {
	plainEntry
	OnceJSON    []json.RawMessage `json:"once,omitempty"`
	PerStepJSON json.RawMessage   `json:"per_step,omitempty"`
}

type plainEntry Entry

// MarshalJSON writes the entry with its events.
func (e Entry) MarshalJSON() ([]byte, error) {
	j := entryJSON{plainEntry: plainEntry(e)}
	for _, o := range e.Once {
		b, err := MarshalEvent(o)
		if err != nil {
			return nil, err
		}
		j.OnceJSON = append(j.OnceJSON, b)
	}
	if e.PerStep != nil {
		b, err := MarshalEvent(e.PerStep)
		if err != nil {
			return nil, err
		}
		j.PerStepJSON = b
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Entry) UnmarshalJSON(b []byte) error {
	var j entryJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("privacy: ledger entry: %w", err)
	}
	*e = Entry(j.plainEntry)
	for _, o := range j.OnceJSON {
		event, err := UnmarshalEvent(o)
		if err != nil {
			return err
		}
		e.Once = append(e.Once, event)
	}
	if len(j.PerStepJSON) > 0 {
		event, err := UnmarshalEvent(j.PerStepJSON)
		if err != nil {
			return err
		}
		e.PerStep = event
	}
	return nil
}

// MarshalJSON writes the entries in order: the export.
func (l *Ledger) MarshalJSON() ([]byte, error) {
	return json.Marshal(l.Entries())
}

// UnmarshalJSON merges what MarshalJSON wrote into l, or changes nothing and
// returns an error.
func (l *Ledger) UnmarshalJSON(b []byte) error {
	var entries []Entry
	if err := json.Unmarshal(b, &entries); err != nil {
		return fmt.Errorf("privacy: ledger: %w", err)
	}
	sum := Ledger{entries: maps.Clone(l.entries)}
	for _, e := range entries {
		if err := sum.Put(e); err != nil {
			return err
		}
	}
	*l = sum
	return nil
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
