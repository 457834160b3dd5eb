package run

import "encoding/json"

// KeepRequest asks for checkpoints of a run, from which it can go on after a crash.
type KeepRequest struct {
	ID      string `json:"id"`      // a random name of the run, in the ledger as well
	Program string `json:"program"` // the page's version: another does not go on with it
	// Salt is the ledger's, in hexadecimal, for files: the rows are recognised by it.
	Salt string `json:"salt,omitempty"`
}

// CheckpointInfo describes the run of a checkpoint, and is stored beside the state.
type CheckpointInfo struct {
	Program string `json:"program"`
	Data    string `json:"data"` // what its data is called
	// Builtin is the name of the built-in data that it is on; empty: files, which have to
	// be given again.
	Builtin string `json:"builtin,omitempty"`
	Started string `json:"started"`
	Steps   int    `json:"steps"`
	// Config is the run's, whose CSV is how the files were read, whoever opened them.
	Config Config `json:"config"`
	// Room is where several parties train it; empty: there is one.
	Room string `json:"room,omitempty"`
	// Backbone made the features of the rows; nil: they are the rows' own.
	Backbone *Backbone `json:"backbone,omitempty"`
	// Start is what is known of the weights that it started from; nil: they were random.
	Start *StartInfo `json:"start,omitempty"`
	// Record is the run's in the ledger, without names; nil of built-in data. Trained and
	// Tested are hashes of what training data and test files are called under its Salt.
	Record  *Record `json:"record,omitempty"`
	Trained string  `json:"trained,omitempty"`
	Tested  string  `json:"tested,omitempty"`
}

// KeptRun is an interrupted run in the list of kept runs: it is stored, and no worker has it open.
type KeptRun struct {
	ID string `json:"id"`
	CheckpointInfo
	// Step is the one after which its state was stored last. Released is how many may
	// have been seen by anybody, of Steps that were planned.
	Step     int `json:"step"`
	Released int `json:"released"`
	// Fault says why it cannot go on here; empty: it can.
	Fault string `json:"fault,omitempty"`
}

// GoOnRequest has an interrupted run go on, on the data that the worker has open.
type GoOnRequest struct {
	KeepRequest
	// Paused starts it before its next step.
	Paused bool `json:"paused,omitempty"`
	// Seen is the last step that was seen by the ledger: it goes on after that, whatever is
	// stored of it.
	Seen int `json:"seen,omitempty"`
}

// DiscardRequest gives up an interrupted run.
type DiscardRequest struct {
	ID string `json:"id"`
}

// ReopenRequest asks for the ledger's record of an interrupted run that goes on.
type ReopenRequest struct {
	Record Record   `json:"record"`
	Plan   PlanInfo `json:"plan"`
}

// RestoreRequest asks which of the ledger's records are to be written, so that every interrupted
// run is charged at least what is stored of it.
type RestoreRequest struct {
	Kept    []Record `json:"kept"`    // of the interrupted runs, as they are stored
	Records []Record `json:"records"` // the ledger's, of all runs
}

// Charges reports whether the entry charges all that a run of such a plan may release.
func (e *Entry) Charges(p PlanInfo) bool {
	want := p.Entry()
	same := func(a, b []json.RawMessage) bool {
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if string(a[i]) != string(b[i]) {
				return false
			}
		}
		return true
	}
	return e.Steps >= want.Steps && same(e.Once, want.Once) && string(e.PerStep) == string(want.PerStep) && e.Unprotected == want.Unprotected
}
