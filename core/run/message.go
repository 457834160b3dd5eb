package run

// Message is a message in either direction, without its files. What Text holds
// for each type is said in package worker.
type Message struct {
	Type string
	ID   int
	Text string // JSON
	// Step is the last step that an events message tells of.
	Step int
	// Parameters are those of a done message's result, which its JSON leaves
	// out; they travel as a Float32Array named parameters.
	Parameters []float32
	// Blob is what a reply has of bytes, as the worker's host has them; they travel as
	// a Blob named blob.
	Blob any
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
	// place in a file, a [ConfigError]'s field, an [OverLimit]'s figures.
	Detail any `json:"detail,omitempty"`
	// Unreleased says of a run of several parties that it was never started, so nothing of its rows has left.
	Unreleased bool `json:"unreleased,omitempty"`
}

// OpenRequest names built-in data, or says how to read the files beside it.
type OpenRequest struct {
	Data string  `json:"data,omitempty"`
	Seed *uint64 `json:"seed,omitempty"` // of built-in data; nil: its usual one
	CSV  CSV     `json:"csv,omitzero"`
}

// TrainRequest carries a configuration. Where the worker has no data open, its
// built-in data is used.
type TrainRequest struct {
	Config Config `json:"config"`
	// Paused starts the run before its first step.
	Paused bool `json:"paused,omitempty"`
	// Keep has it stored while it goes on; nil: it is not.
	Keep *KeepRequest `json:"keep,omitempty"`
	// Together has it meet other parties before its first step; nil: it has one party.
	Together *Joining `json:"together,omitempty"`
}

// ConvertRequest asks for the model in the file beside it in another form.
type ConvertRequest struct {
	To string `json:"to"` // json, safetensors, onnx, zip, checkpoint or peft
}

// ConvertProgress says how much of it there is, at the end all.
type ConvertProgress struct {
	Bytes int64 `json:"bytes"`
}

// MemoryReply says what the worker's program holds.
type MemoryReply struct {
	HeapBytes   uint64 `json:"heap_bytes"`   // in use
	SystemBytes uint64 `json:"system_bytes"` // taken from the browser, which gets none back
}
