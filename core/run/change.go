package run

// Change is what is to be changed of a teaching run while it goes on, by the names of
// the configuration's fields: max_grad_norm, noise_multiplier, learning_rate.
type Change map[string]float64

// Changed is one change as it was made.
type Changed struct {
	Step  int     `json:"step"` // the first that it holds for
	Field string  `json:"field"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// ChangeRequest asks for a change of the run with that id.
type ChangeRequest struct {
	Run    int                 `json:"run"`
	Change map[string]*float64 `json:"change"`
}

// Check refuses null, which is no number, and is not taken for 0.
func (q ChangeRequest) Check() error {
	for field, v := range q.Change {
		if v == nil {
			return &ConfigError{Field: field, Message: "null is no number: give one, or leave it out to change nothing"}
		}
	}
	return nil
}

// Numbers is the change.
func (q ChangeRequest) Numbers() Change {
	c := Change{}
	for field, v := range q.Change {
		c[field] = *v
	}
	return c
}

// ChangeReply is what a run has become by a change.
type ChangeReply struct {
	Changes []Changed `json:"changes"` // all so far
	// Steps is how many it takes: fewer than were planned where ε would pass the target.
	Steps int `json:"steps"`
	// Epsilon is that of all of them, as what they really are.
	Epsilon Number `json:"epsilon"`
}
