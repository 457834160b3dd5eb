// Package worker is the trainer's side of the protocol between the page and a
// trainer worker: what messages mean, in which order they come, and how the
// stream of a run's events is kept small. It knows nothing of browsers; package
// main one directory up ties it to postMessage.
//
// # Protocol, version [run.ProtocolVersion]
//
// A message is an object {type, id, text} whose text is JSON (or absent). To the
// worker it may also carry files, {train: [File…], test: [File…]}, which are
// read in slices and never copied whole.
//
// The worker speaks first: ready, with [Ready]. A page that expects another
// protocol version ends the worker and asks the user to reload; an old page can
// meet a new worker after an update.
//
// Requests carry an id > 0 that their replies repeat:
//
//	methods    → reply: the clipping methods, []clip.Info
//	datasets   → reply: the built-in data, []data.BuiltinInfo
//	epsilon    [EpsilonRequest]   → reply: a number
//	calibrate  [CalibrateRequest] → reply: [CalibrateReply]
//	delta, report, curve, tuning, group: see calculator.go
//	digest, spent: see ledger.go
//	audit: see audit.go
//	open       [OpenRequest] + files → progress…, reply: data.Report,
//	           about the data, which the worker keeps until the next open succeeds
//	plan       [TrainRequest] → reply: run.PlanInfo
//	train      [TrainRequest] → reply: run.PlanInfo; from then on, under the same
//	           id: state, events … and at the end one of done and failed
//	memory     → reply: [MemoryReply], after a garbage collection
//
// A request that cannot be met is answered by error, whose text is [Failure];
// nothing that the worker held before is lost by it.
//
// Commands to the run carry its id and get no reply of their own; what they
// change comes as a state message, one of "running", "paused", "done", "error":
//
//	pause, resume
//	stop       the run's result comes, with the ε of its whole plan; a run cannot
//	           be made longer than it was planned
//	step       one step, while paused
//	ack        one events message has been dealt with
//
// In a blind run ([run.Config.Blind]) no event has a diagnostic, and nothing is
// tested before the run has ended.
//
// # Back-pressure
//
// The worker keeps at most two events messages unacknowledged and sends at most
// about twenty a second. What happens meanwhile accumulates and is thinned, see
// [Outbox]. The state and done messages are not subject to this: before done,
// whatever is left is sent.
package worker

import "clipscope/core/run"

// The types of messages to the worker.
const (
	Methods   = "methods"
	Datasets  = "datasets"
	Epsilon   = "epsilon"
	Calibrate = "calibrate"
	Open      = "open"
	Plan      = "plan"
	Train     = "train"
	Memory    = "memory"
	Pause     = "pause"
	Resume    = "resume"
	Step      = "step"
	Stop      = "stop"
	Ack       = "ack"
)

// The types of messages from the worker.
const (
	ReadyType    = "ready"
	ReplyType    = "reply"
	ErrorType    = "error"
	ProgressType = "progress"
	EventsType   = "events"
	StateType    = "state"
	DoneType     = "done"
	FailedType   = "failed"
)

// The states of a run.
const (
	Running = "running"
	Paused  = "paused"
	Done    = "done"
	Failed  = "error"
)

// Message is one message in either direction, without its files.
type Message struct {
	Type string
	ID   int
	Text string // JSON
	// Parameters are those of a done message's result, which its JSON leaves
	// out; they travel as a Float32Array named parameters.
	Parameters []float32
}

// Ready is the first message of a worker.
type Ready struct {
	Protocol int    `json:"protocol"`
	Backend  string `json:"backend"` // what "auto" means here
	Note     string `json:"note,omitempty"`
}

// Failure says why a request or a run ended without a result.
type Failure struct {
	Message string `json:"message"`
	// Detail is the error's own fields where it has some: a data.Error's
	// place in a file, a run.ConfigError's field.
	Detail any `json:"detail,omitempty"`
}

// EpsilonRequest asks what a run costs.
type EpsilonRequest struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
	SampleRate      float64 `json:"sample_rate"`
	Steps           int     `json:"steps"`
	TargetDelta     float64 `json:"target_delta"`
	Accountant      string  `json:"accountant"` // empty: the preferred one
}

// CalibrateRequest asks for the smallest noise multiplier that meets a target,
// or, with NoiseMultiplier given and Steps left out, for the most steps, or, with
// both given, for the largest sample rate.
type CalibrateRequest struct {
	TargetEpsilon   float64  `json:"target_epsilon"`
	TargetDelta     float64  `json:"target_delta"`
	SampleRate      float64  `json:"sample_rate"`
	Steps           *int     `json:"steps"`
	NoiseMultiplier *float64 `json:"noise_multiplier"`
	Accountant      string   `json:"accountant"`
}

// CalibrateReply answers with the number that was asked for and the ε it spends.
type CalibrateReply struct {
	NoiseMultiplier float64    `json:"noise_multiplier,omitempty"`
	Steps           int        `json:"steps,omitempty"`
	SampleRate      float64    `json:"sample_rate,omitempty"`
	Epsilon         run.Number `json:"epsilon"`
}

// OpenRequest names built-in data, or says how to read the files beside it.
type OpenRequest struct {
	Data string  `json:"data,omitempty"`
	Seed *uint64 `json:"seed,omitempty"` // of built-in data; nil: its usual one
	CSV  run.CSV `json:"csv,omitzero"`
}

// TrainRequest carries a configuration. Where the worker has no data open, its
// built-in data is used.
type TrainRequest struct {
	Config run.Config `json:"config"`
	// Paused starts the run before its first step.
	Paused bool `json:"paused,omitempty"`
}

// MemoryReply says what the worker's program holds.
type MemoryReply struct {
	HeapBytes   uint64 `json:"heap_bytes"`   // in use
	SystemBytes uint64 `json:"system_bytes"` // taken from the browser, which gets none back
}
