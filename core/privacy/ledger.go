package privacy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
)

// An Entry is one run in the ledger of what has been spent on this device's data
// sets.
//
// Guarantee: if every run is entered before its first release, for all the steps
// of its plan, and nobody deletes entries, [NewTotal] never under-counts: not
// after a crash, not with several tabs at once, not after a run was stopped.
// Where a run breaks off may depend on what it has released, so the steps that it
// took are no bound on what they cost; those that were fixed before the first
// are. They are the budget of a filter (Feldman & Zrnic 2021, "Individual Privacy
// Accounting via a Rényi Filter"), here with equal steps: whatever has been
// stopped early is post-processing of the run that was not. Data sets are told
// apart by digest, so a copy with one row changed counts as another data set: the
// totals hold for the file, not for the people in it.
type Entry struct {
	Run     string `json:"run"` // a random name
	Label   string `json:"label,omitempty"`
	Started string `json:"started,omitempty"` // RFC 3339
	// Once is charged, and PerStep for each of Steps.
	Once    []Event `json:"-"`
	PerStep Event   `json:"-"`
	// Steps is how many the run was planned for, however many it took; 0 for
	// one that ended before it was let go.
	Steps int `json:"steps"`
	// Closed says that the run has ended and said so.
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

// check refuses an entry that cannot be what a run wrote.
func (e Entry) check() error {
	if e.Run == "" || e.Steps < 0 || e.PerStep == nil && e.Steps > 0 {
		return fmt.Errorf("privacy: ledger entry of run %q is incomplete", e.Run)
	}
	return nil
}

// A Total is what a data set has cost so far.
type Total struct {
	Runs        int
	Open        int // running now, or ended by a crash
	Unprotected int
	Epsilon     float64
	Delta       float64
}

// NewTotal is ε at delta of everything that is charged in the entries of one data
// set and then, if given, of next: ask it before a run starts, and compare with
// the owner's limit. An entry that no accountant would take is an error.
func NewTotal(accountant string, delta float64, entries []Entry, next ...Event) (Total, error) {
	t := Total{Runs: len(entries), Delta: delta}
	var events []Event
	for _, e := range entries {
		if err := e.check(); err != nil {
			return t, err
		}
		if !e.Closed {
			t.Open++
		}
		if e.Unprotected {
			t.Unprotected++
		}
		events = append(events, e.Events()...)
	}
	var err error
	if t.Epsilon, err = Epsilon(accountant, delta, append(events, next...)...); err != nil {
		return t, fmt.Errorf("privacy: the ledger: %w", err)
	}
	return t, nil
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
