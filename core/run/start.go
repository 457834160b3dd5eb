package run

import (
	"fmt"
	"strings"
)

// IsSHA256 reports whether s has the form of a SHA-256: 64 digits in lower-case hexadecimal.
func IsSHA256(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// Start names the weights of a saved model that training starts from. Its zero value is none: the first
// parameters are drawn at random.
type Start struct {
	File   string `json:"file,omitempty"`   // name
	SHA256 string `json:"sha256,omitempty"` // of the file, in hexadecimal
	// Public declares that the weights count as public: the guarantee promises nothing to the rows that
	// they were trained on. A run with noise is refused without it.
	Public bool `json:"public,omitempty"`
	// Trainable is which part of the model is trained: all (default), head, last:K, biases, or lora:R
	// ([nn.Spec.Trainable], [nn.Spec.WithLowRank]). All else stays as the file has it, without gradients or noise.
	Trainable string `json:"trainable,omitempty"`
	// LoraAlpha, over the rank R, is what the products of lora:R are multiplied with; 0: twice the rank. LoraTargets are the
	// maps of attentions beside which there are others: some of query, key, value and dense, with commas between them; empty:
	// query,value. FreezeA trains the Bs alone.
	LoraAlpha   float64 `json:"lora_alpha,omitempty"`
	LoraTargets string  `json:"lora_targets,omitempty"`
	FreezeA     bool    `json:"freeze_a,omitempty"`
}

// LowRank returns R of a part lora:R, as it is written, and whether the part is one.
func (s *Start) LowRank() (rank string, ok bool) { return strings.CutPrefix(s.Trainable, "lora:") }

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
	// Frozen is how many of a run's parameters stay as they were, and Trained how many do not; 0 and 0 where all are
	// trained. Part says which are trained, where those that stay are not all before them.
	Frozen  int    `json:"frozen,omitempty"`
	Trained int    `json:"trained,omitempty"`
	Part    string `json:"part,omitempty"`
	// Private says that the file claims a guarantee of the run that left the weights, of Epsilon and Delta.
	Private bool    `json:"private,omitempty"`
	Epsilon Number  `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	// Chained says that the run that left the weights started from others itself, whose ε is not in Epsilon.
	Chained bool `json:"chained,omitempty"`
	// Model is the network that the file's configuration states; its zero value where it states none.
	Model Model `json:"model,omitzero"`
}

// WithBefore says what a run of (epsilon, delta) and the private one whose weights it starts from promise together to a
// row of both, by basic composition; empty where no private run is known of.
func (s *StartInfo) WithBefore(epsilon, delta float64) string {
	if s == nil || !s.Private {
		return ""
	}
	said := fmt.Sprintf("That is of this run alone, and it started from the weights of another, of ε = %s as their file says. To a row that was in both runs, both together promise (ε = %s, δ = %s).",
		UpText(float64(s.Epsilon), 4), UpText(epsilon+float64(s.Epsilon), 4), UpText(delta+s.Delta, 2))
	if s.Chained {
		said += " The other started from weights, too, whose ε is in neither."
	}
	return said
}
