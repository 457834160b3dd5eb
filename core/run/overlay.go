package run

import (
	"encoding/json"
	"fmt"
)

// Fields returns the fields that are set, by the names they have in JSON.
func (c Config) Fields() (map[string]any, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("run: configuration: %w", err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(b, &fields); err != nil {
		return nil, fmt.Errorf("run: configuration: %w", err)
	}
	return fields, nil
}

// With is the configuration with some fields set, by the names they have in JSON; nil
// takes a field back to its default. One that decides the noise takes the place of the
// other. c is as it was.
func (c Config) With(set map[string]any) (Config, error) {
	fields, err := c.Fields()
	if err != nil {
		return c, err
	}
	for _, pair := range [][2]string{{"noise_multiplier", "target_epsilon"}, {"target_epsilon", "noise_multiplier"}, {"epochs", "steps"}, {"steps", "epochs"}} {
		if v, sets := set[pair[0]]; sets && v != nil {
			delete(fields, pair[1])
		}
	}
	for key, v := range set {
		if v == nil {
			delete(fields, key)
			continue
		}
		fields[key] = v
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return c, fmt.Errorf("run: configuration: %w", err)
	}
	var with Config
	if err := json.Unmarshal(b, &with); err != nil {
		return c, err
	}
	return with, nil
}
