package run

// Start names the weights of a saved model that training starts from. Its zero value is none: the first
// parameters are drawn at random.
type Start struct {
	File   string `json:"file,omitempty"`   // name
	SHA256 string `json:"sha256,omitempty"` // of the file, in hexadecimal
	// Public declares that the weights count as public: the guarantee promises nothing to the rows that
	// they were trained on. A run with noise is refused without it.
	Public bool `json:"public,omitempty"`
}

// StartRequest has a worker read the weights in the file beside it.
type StartRequest struct {
	// SHA256 is what the file's hash has to be; empty: any.
	SHA256 string `json:"sha256,omitempty"`
}

// StartInfo describes weights that a run may start from.
type StartInfo struct {
	File       string `json:"file"`
	SHA256     string `json:"sha256"`
	Parameters int    `json:"parameters"`
	// Private says that the file claims a guarantee of the run that left the weights, of Epsilon and Delta.
	Private bool    `json:"private,omitempty"`
	Epsilon Number  `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	// Model is the network that the file's configuration states; its zero value where it states none.
	Model Model `json:"model,omitzero"`
}
