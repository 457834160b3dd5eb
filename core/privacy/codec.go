package privacy

import (
	"encoding/json"
	"errors"
	"fmt"

	"clipscope/core/run"
)

// eventJSON is the one shape of every event in JSON.
type eventJSON struct {
	Kind            string       `json:"kind"`
	NoiseMultiplier *run.Number  `json:"noise_multiplier,omitempty"`
	SampleRate      *float64     `json:"sample_rate,omitempty"`
	Count           *int         `json:"count,omitempty"`
	Distance        *float64     `json:"distance,omitempty"`
	FloatValues     *int         `json:"float_values,omitempty"` // the event is in a FloatNoise of so many
	Runs            *float64     `json:"runs,omitempty"`
	Of              *eventJSON   `json:"of,omitempty"`
	Parts           []*eventJSON `json:"parts,omitempty"`
}

// MarshalEvent writes e as JSON, for ledgers, statements and checkpoints.
func MarshalEvent(e Event) ([]byte, error) {
	j, err := toJSON(e)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("privacy: event: %w", err)
	}
	return b, nil
}

// UnmarshalEvent reads what MarshalEvent wrote. It refuses anything that no
// accountant would take, so that a damaged record is noticed when it is read.
func UnmarshalEvent(b []byte) (Event, error) {
	e, err := DecodeEvent(b)
	if err == nil {
		err = Priced(e)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// DecodeEvent is UnmarshalEvent without [Priced], which takes milliseconds for each
// [Selected].
func DecodeEvent(b []byte) (Event, error) {
	var j eventJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, fmt.Errorf("privacy: event: %w", err)
	}
	return fromJSON(&j, 0)
}

// Priced returns an error for an event that no accountant would take.
func Priced(e Event) error {
	_, err := flatten(e, 1)
	return err
}

func toJSON(e Event) (*eventJSON, error) {
	parts := func(kind string, events []Event) (*eventJSON, error) {
		j := &eventJSON{Kind: kind, Parts: []*eventJSON{}}
		for _, p := range events {
			q, err := toJSON(p)
			if err != nil {
				return nil, err
			}
			j.Parts = append(j.Parts, q)
		}
		return j, nil
	}
	switch e := e.(type) {
	case Gaussian:
		z := run.Number(e.NoiseMultiplier)
		return &eventJSON{Kind: "gaussian", NoiseMultiplier: &z}, nil
	case Joint:
		events := make([]Event, len(e.Parts))
		for i, p := range e.Parts {
			events[i] = p
		}
		return parts("joint", events)
	case Composed:
		return parts("composed", e.Parts)
	case PoissonSampled:
		of, err := toJSON(e.Of)
		return &eventJSON{Kind: "poisson_sampled", SampleRate: &e.SampleRate, Of: of}, err
	case SelfComposed:
		of, err := toJSON(e.Of)
		return &eventJSON{Kind: "self_composed", Count: &e.Count, Of: of}, err
	case Inexact:
		of, err := toJSON(e.Of)
		return &eventJSON{Kind: "inexact", Distance: &e.Distance, Of: of}, err
	case FloatNoise:
		// A field of the event within, so that who knows no FloatNoise reads that.
		j, err := toJSON(e.Of)
		if err != nil {
			return nil, err
		}
		if j.FloatValues != nil {
			return nil, errors.New("privacy: noise that ends twice cannot be written down")
		}
		j.FloatValues = &e.Values
		return j, nil
	case Selected:
		j, err := parts("selected", e.Parts)
		if err != nil {
			return nil, err
		}
		j.Runs = &e.Runs
		return j, nil
	case NonPrivate:
		return &eventJSON{Kind: "non_private"}, nil
	default:
		return nil, fmt.Errorf("privacy: %T cannot be written down", e)
	}
}

func fromJSON(j *eventJSON, depth int) (Event, error) {
	if depth > 50 {
		return nil, errors.New("privacy: event nested more than 50 deep")
	}
	if j == nil {
		return nil, errors.New("privacy: event without its inner event")
	}
	parts := func() ([]Event, error) {
		var events []Event
		for _, p := range j.Parts {
			e, err := fromJSON(p, depth+1)
			if err != nil {
				return nil, err
			}
			events = append(events, e)
		}
		return events, nil
	}
	switch {
	case j.FloatValues != nil:
		within := *j
		within.FloatValues = nil
		of, err := fromJSON(&within, depth+1)
		return FloatNoise{of, *j.FloatValues}, err
	case j.Kind == "gaussian" && j.NoiseMultiplier != nil:
		return Gaussian{float64(*j.NoiseMultiplier)}, nil
	case j.Kind == "joint":
		events, err := parts()
		if err != nil {
			return nil, err
		}
		joint := Joint{}
		for _, e := range events {
			g, ok := e.(Gaussian)
			if !ok {
				return nil, fmt.Errorf("privacy: a joint release of %T", e)
			}
			joint.Parts = append(joint.Parts, g)
		}
		return joint, nil
	case j.Kind == "composed":
		events, err := parts()
		return Composed{events}, err
	case j.Kind == "poisson_sampled" && j.SampleRate != nil:
		of, err := fromJSON(j.Of, depth+1)
		return PoissonSampled{*j.SampleRate, of}, err
	case j.Kind == "self_composed" && j.Count != nil:
		of, err := fromJSON(j.Of, depth+1)
		return SelfComposed{of, *j.Count}, err
	case j.Kind == "inexact" && j.Distance != nil:
		of, err := fromJSON(j.Of, depth+1)
		return Inexact{of, *j.Distance}, err
	case j.Kind == "selected" && j.Runs != nil:
		events, err := parts()
		return Selected{events, *j.Runs}, err
	case j.Kind == "non_private":
		return NonPrivate{}, nil
	default:
		return nil, fmt.Errorf("privacy: event of kind %q is unknown or incomplete", j.Kind)
	}
}
