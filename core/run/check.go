package run

// What a check says of a claim, and of a file as a whole: the worst of its findings.
const (
	Agrees    = "agrees"
	Differs   = "differs"
	Unchecked = "cannot be checked"
)

// Verdict is the outcome of checking a file that the page wrote, or one that says so.
//
// Guarantee: none of its own. It compares the file's claims with each other and with what
// today's accountants work out from the file's events. It cannot know whether these events
// are what happened, which Unknown says.
type Verdict struct {
	File    string `json:"file"`
	Kind    string `json:"kind"`              // "saved model", "run", "privacy statement" …
	Program string `json:"program,omitempty"` // the writer, according to the file
	Verdict string `json:"verdict"`
	// Config is the configuration that the file has, as it stands there; nil where it has none, or
	// one that is longer than any link.
	Config *Config `json:"config,omitempty"`
	// Text sums up the findings in one or two sentences.
	Text string `json:"text"`
	// Findings lists what differs first, then what cannot be checked.
	Findings []Finding `json:"findings"`
	// Unknown lists what no check of the file can show, one sentence each.
	Unknown []string `json:"unknown"`
}

// CheckRequest asks what the file beside it is and whether its claims hold.
type CheckRequest struct {
	// Recognise asks for the file's kind and its configuration alone: nothing is compared.
	Recognise bool `json:"recognise,omitempty"`
}

// Finding is a claim of a file beside what it was compared with.
type Finding struct {
	Claim      string `json:"claim"`
	File       string `json:"file"`                 // its value in the file
	Recomputed string `json:"recomputed,omitempty"` // what it was compared with
	Verdict    string `json:"verdict"`
	Why        string `json:"why,omitempty"`
}

// Check is a test that a run made of itself.
//
// Guarantee: see [Result.Checks].
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}
