package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Change holds new values of a teaching run that goes on, by the names of
// the configuration's fields: max_grad_norm, noise_multiplier, learning_rate.
type Change map[string]float64

// Changed is a change as it was made.
type Changed struct {
	Step  int     `json:"step"` // the first that it holds for
	Field string  `json:"field"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// ChangeRequest asks for a change of the run with that id. Each of its values is read by
// itself, so that one which is no number is refused by its name.
type ChangeRequest struct {
	Run    int                        `json:"run"`
	Change map[string]json.RawMessage `json:"change"`
}

// Check refuses what is no finite number: null is not taken for 0.
func (q ChangeRequest) Check() error {
	for _, field := range slices.Sorted(maps.Keys(q.Change)) {
		if _, err := changeTo(q.Change[field]); err != nil {
			return &ConfigError{Field: field, Message: err.Error() + ": give a number, or leave it out to change nothing"}
		}
	}
	return nil
}

// changeTo is the number that a field is to have.
func changeTo(text json.RawMessage) (float64, error) {
	if string(text) == "null" {
		return 0, errors.New("null is no number")
	}
	var n Number
	if err := json.Unmarshal(text, &n); err != nil {
		return 0, errors.New("this is no number")
	}
	if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v, nil
	}
	return 0, fmt.Errorf("%v is no finite number", n)
}

// Numbers is the change, of a request that Check has let pass.
func (q ChangeRequest) Numbers() Change {
	c := Change{}
	for field, text := range q.Change {
		c[field], _ = changeTo(text)
	}
	return c
}

// ChangeReply describes a run after a change.
type ChangeReply struct {
	Changes []Changed `json:"changes"` // all so far
	// Steps is how many it takes: fewer than were planned where ε would pass the target.
	Steps int `json:"steps"`
	// Epsilon is that of all of them, as what they really are.
	Epsilon Number `json:"epsilon"`
}
