package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// DigestRequest asks for the names of the open data in the ledger.
type DigestRequest struct {
	Salt string `json:"salt"` // hexadecimal, 16 bytes at least; it never leaves the device
	// Tested asks for those of the test rows as well, on which a tuning spends.
	Tested bool `json:"tested,omitempty"`
}

// DigestReply is the [Identity] of the open data. Where that was asked for, the names and
// marks of its test rows follow, made as if they were trained on.
type DigestReply struct {
	Identity
}

// Identity identifies a data set in the ledger. The ledger takes two of them that share a name
// or a mark's hash for data of the same people.
type Identity struct {
	ID string `json:"id"` // of the identity itself: a hash of the rest
	// Names are salted hashes of the training rows as they were read, and of the content
	// of each file that they came from, as the same file can be read in many ways, split
	// otherwise, or joined with others.
	Names []string `json:"names"`
	// Marks are sketches of salted hashes, as package privacy writes them: of each row as
	// it was read, and of each part of the files, a picture or a row of a table.
	Marks []string `json:"marks"`
}

// RecogniseRequest asks for the [Identity] of files that are not open, without marks of
// rows as they are read.
type RecogniseRequest struct {
	Salt string `json:"salt"`
}

// Recognised is a run that spent on rows of the data in question.
type Recognised struct {
	Run     string `json:"run"`
	Label   string `json:"label"`   // what its data is called
	Started string `json:"started"` // RFC 3339
}

// Record is a run in the ledger as the page stores it. Only its run's tab
// changes it.
type Record struct {
	Run   string   `json:"run"`   // a random name
	Names []string `json:"names"` // of its data
	Label string   `json:"label"` // what its data is called
	// Method is the clipping method, or "laboratory"; empty in records of version 0.3.0 and earlier.
	Method string `json:"method,omitempty"`
	Done   int    `json:"done"` // the last step that was seen; it changes no charge
	Entry  Entry  `json:"entry"`
	// Salt is that of Names where it is not the ledger's, as after the ledger was deleted
	// during the run. Whose data the run spent on cannot be told then, so it counts for all.
	Salt string `json:"salt,omitempty"`
	// Ended says that the run has given its result, or was discarded: it never goes on. A run
	// whose worker died is closed as well, and may go on.
	Ended bool `json:"ended,omitempty"`
	// Changed says that the entry was not what the run had stored of it: somebody else changed
	// it.
	Changed bool `json:"changed,omitempty"`
}

// Entry is the charge of a run.
type Entry struct {
	Run     string `json:"run"`
	Label   string `json:"label,omitempty"`
	Started string `json:"started,omitempty"` // RFC 3339
	// Once of the events is charged, and PerStep for each of Steps.
	Events
	// Steps is how many the run was planned for, however many it took; 0 for
	// one that ended before it was let go.
	Steps int `json:"steps"`
	// Closed says that the run has ended and said so.
	Closed bool `json:"closed"`
	// Unprotected marks a run without a guarantee: with a fixed seed, without noise,
	// with scaling measured from the data, with a failed check of itself, or a look in the
	// laboratory. It may have told
	// anything, so it costs ε = ∞ whatever its events are.
	Unprotected bool `json:"unprotected,omitempty"`
	// Tested says that the run spends on test rows as well, as a tuning does: its names
	// are to have theirs.
	Tested bool `json:"tested,omitempty"`
}

// Entry returns the charge of a run of this plan: all of its steps, however many it
// takes. A run that is not private is Unprotected.
func (p PlanInfo) Entry() Entry {
	e := Entry{Events: p.Events, Unprotected: !p.Private, Tested: p.Tuning != nil}
	if p.Events.PerStep != nil {
		e.Steps = p.Steps
	}
	return e
}

// Limit is the most that the owner wants any data set to spend.
type Limit struct {
	Epsilon Number  `json:"epsilon"`
	Delta   float64 `json:"delta,omitempty"` // default DefaultDelta
}

// WithDefaults fills in δ.
func (l Limit) WithDefaults() Limit {
	def(&l.Delta, DefaultDelta)
	return l
}

// Check refuses what is no limit.
func (l Limit) Check() error {
	l = l.WithDefaults()
	if !(l.Epsilon > 0) {
		return &ConfigError{"limit", "A limit is a positive ε."}
	}
	if !(l.Delta > 0 && l.Delta < 1) {
		return &ConfigError{"limit", "The limit's δ lies between 0 and 1."}
	}
	return nil
}

// Account holds the ledger's records that bear on one data set.
type Account struct {
	Records []Record `json:"records"` // of all data sets
	Names   []string `json:"names"`   // of the one in question
	Marks   []string `json:"marks"`   // of the one in question
	// Data are the identities that records were entered with. A record has an identity's
	// names, and no marks; those of version 0.2 and earlier have no identity.
	Data  []Identity `json:"data"`
	Limit *Limit     `json:"limit"` // its δ is that of totals; nil: none, and DefaultDelta
	// Deleted is when the ledger was deleted while a page had it open, RFC 3339; empty: never.
	Deleted string `json:"deleted,omitempty"`
}

// Delta is the δ of totals.
func (a *Account) Delta() float64 {
	if a.Limit == nil {
		return DefaultDelta
	}
	return a.Limit.WithDefaults().Delta
}

// EnterRequest asks for the record of a run that has released nothing yet. A run that
// would go over the Account's limit is answered by [OverLimit], and so is one without a
// guarantee where Ask is set.
type EnterRequest struct {
	Account
	Run     string   `json:"run"`
	Label   string   `json:"label"`
	Method  string   `json:"method"`  // as in [Config], or "laboratory"
	Started string   `json:"started"` // RFC 3339
	Plan    PlanInfo `json:"plan"`
	// Anyway says that the owner has overruled an [OverLimit].
	Anyway bool `json:"anyway"`
	// Ask has a run without a guarantee refused where there is no limit either. The page asks
	// its owner first; a script's configuration has said that it wants none.
	Ask bool `json:"ask"`
}

// CloseRequest asks for the record of a run that has ended.
type CloseRequest struct {
	Record Record `json:"record"`
	Done   int    `json:"done"` // steps
	// Unreleased says that nothing can have been released: it was never let go.
	Unreleased bool `json:"unreleased"`
	// Doubtful says that one of the run's checks of itself failed (see [Check]): its events
	// may not be what happened.
	Doubtful bool `json:"doubtful,omitempty"`
	// Ended says that the run has given its result, or was discarded.
	Ended bool `json:"ended,omitempty"`
}

// SpentRequest asks what a data set has cost.
type SpentRequest struct {
	Account
	// Next is what the coming runs would be charged; nil: none is coming.
	Next Coming `json:"next"`
}

// Coming holds the charges of runs that are to come. In JSON one may stand without a list around it.
type Coming []Entry

// UnmarshalJSON reads one charge, a list of them, or null.
func (c *Coming) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '{' {
		*c = make(Coming, 1)
		return json.Unmarshal(b, &(*c)[0])
	}
	return json.Unmarshal(b, (*[]Entry)(c))
}

// SpentReply is ε at one δ of everything charged to a data set.
//
// Guarantee: an upper bound on what its runs have released, provided that every
// run is among the records with all the steps that it was planned for.
type SpentReply struct {
	Runs        []string `json:"runs"`        // the names of its runs
	Open        int      `json:"open"`        // running, or ended without notice
	Unprotected int      `json:"unprotected"` // without a guarantee
	// Unknown are those of Runs of which nobody can tell whose data they spent on: they
	// count for all data.
	Unknown []string `json:"unknown,omitempty"`
	// Changed are those of Runs whose entry somebody else had changed ([Record.Changed]).
	Changed []string `json:"changed,omitempty"`
	Deleted string   `json:"deleted,omitempty"` // as in [Account]
	// Epsilon is ε of all runs together: +Inf where one of them has no guarantee.
	// GuaranteedEpsilon is that of the others.
	Epsilon           Number  `json:"epsilon"`
	GuaranteedEpsilon Number  `json:"guaranteed_epsilon"`
	Delta             float64 `json:"delta"`
	// NextEpsilon and NextGuaranteedEpsilon are the same with the coming runs.
	NextEpsilon           *Number `json:"next_epsilon,omitempty"`
	NextGuaranteedEpsilon *Number `json:"next_guaranteed_epsilon,omitempty"`
	Limit                 *Number `json:"limit"`
	Text                  string  `json:"text"` // the same in a sentence, for statements
	// Reason says why Epsilon or NextEpsilon is infinite, where that is not for want of
	// noise.
	Reason string `json:"reason,omitempty"`
}

// EntriesRequest asks for the ledger as its owner reads it.
type EntriesRequest struct {
	Account
	Priced bool `json:"priced"` // with [Line.Price], which takes an accountant
}

// Price is ε at one δ of a run, and of all that its data have spent.
type Price struct {
	Delta   float64 `json:"delta"`
	Epsilon Number  `json:"epsilon"` // of the run by itself: +Inf without a guarantee
	// Total is ε of all runs on its data together: +Inf where one of them has no guarantee.
	// Guaranteed is that of the others. Both count the runs that count for all data.
	Total      Number `json:"total"`
	Guaranteed Number `json:"guaranteed"`
}

// Line is a run in the ledger as its owner reads it, without the names of its
// data; the page adds its state.
type Line struct {
	Run         string            `json:"run"`
	Data        int               `json:"data"` // numbers the data sets
	Label       string            `json:"label"`
	Method      string            `json:"method,omitempty"` // as in [Record]
	Started     string            `json:"started"`
	Done        int               `json:"done"`
	Charged     int               `json:"charged"`
	Closed      bool              `json:"closed"`
	Unprotected bool              `json:"unprotected"`
	Unknown     bool              `json:"unknown,omitempty"` // it counts for all data
	Changed     bool              `json:"changed,omitempty"` // as in [Record]
	Once        []json.RawMessage `json:"once"`
	PerStep     json.RawMessage   `json:"per_step"` // null: none
	// Price is nil where none was asked for, or no accountant takes an entry of its data.
	Price *Price `json:"price,omitempty"`
}

// OverLimit refuses a run that would spend more than the owner's limit, or, limit or
// not, one without a guarantee. The owner can overrule it.
type OverLimit struct {
	Kind        string  `json:"kind"` // "limit", or "guarantee" where no limit is set
	Epsilon     Number  `json:"epsilon"`
	NextEpsilon Number  `json:"next_epsilon"` // +Inf for a run without a guarantee
	Limit       Number  `json:"limit,omitempty"`
	Delta       float64 `json:"delta"`
	// Unprotected says that the run carries no guarantee, and not those before it.
	Unprotected bool `json:"unprotected"`
}

func (e *OverLimit) Error() string {
	so := UpText(float64(e.Epsilon), 4)
	switch {
	case e.Unprotected && e.Kind == OverGuarantee:
		return fmt.Sprintf("This run carries no guarantee: it may tell anything about this data (ε = ∞). So far ε = %s has been spent.", so)
	case e.Unprotected:
		return fmt.Sprintf("This run carries no guarantee: it may tell anything about this data (ε = ∞), and your limit is %v. So far it is %s.", e.Limit, so)
	case math.IsInf(float64(e.Epsilon), 1):
		return fmt.Sprintf("ε = ∞ has been spent on this data already, more than your limit of %v: an earlier run has no guarantee, or its noise is inexact by too much.", e.Limit)
	}
	return fmt.Sprintf("With this run, ε = %s at δ = %v would have been spent on this data, more than your limit of %v. So far it is %s.",
		UpText(float64(e.NextEpsilon), 4), e.Delta, e.Limit, so)
}

// The kinds of an [OverLimit].
const (
	OverBudget    = "limit"
	OverGuarantee = "guarantee"
)
