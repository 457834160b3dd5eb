package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// plain has Config's fields without its methods.
type plain Config

// fields are the JSON names of Config's own fields, in order.
var fields = fieldNames(reflect.TypeFor[Config]())

func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "-" && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// MarshalJSON writes the configuration with the method's own parameters beside
// its fields, sorted by name, and without a list of layers that the model's kind does not use.
func (c Config) MarshalJSON() ([]byte, error) {
	c.Model.dropUnused()
	b, err := json.Marshal(plain(c))
	if err != nil || len(c.Params) == 0 {
		return b, err
	}
	names := make([]string, 0, len(c.Params))
	for name := range c.Params {
		names = append(names, name)
	}
	sort.Strings(names)
	out := bytes.NewBuffer(b[:len(b)-1])
	for _, name := range names {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		k, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(c.Params[name])
		if err != nil {
			return nil, fmt.Errorf("run: parameter %s: %w", name, err)
		}
		out.Write(k)
		out.WriteByte(':')
		out.Write(v)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// UnmarshalJSON reads a configuration. Keys that are no field of Config must be
// numbers and are kept in Params; whether the method takes them is checked when
// the run is planned. Errors are of type [*ConfigError] and name the key.
func (c *Config) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return &ConfigError{"config", "a configuration is an object of fields"}
	}
	var p plain
	v := reflect.ValueOf(&p).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		value, ok := raw[name]
		if !ok {
			continue
		}
		delete(raw, name)
		if err := named(name, v.Field(i).Type(), value); err != nil {
			return err
		}
		if err := json.Unmarshal(value, v.Field(i).Addr().Interface()); err != nil {
			if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) && te.Field != "" {
				return &ConfigError{name + "." + te.Field, fmt.Sprintf("%s is not what this field takes (%s)", withArticle(te.Value), KindName(te.Type))}
			}
			return &ConfigError{name, fmt.Sprintf("%s is not what this field takes (%s)", value, KindName(v.Field(i).Type()))}
		}
	}
	for name, value := range raw {
		var x float64
		if string(value) == "null" {
			continue
		}
		if name == "" {
			return &ConfigError{"config", "a field has no name"}
		}
		if err := json.Unmarshal(value, &x); err != nil {
			return &ConfigError{name, "there is no such field; the fields are " + strings.Join(fields, ", ") + " and the method's own parameters"}
		}
		if p.Params == nil {
			p.Params = map[string]float64{}
		}
		p.Params[name] = x
	}
	readDecay(p.Params)
	p.Model.dropUnused()
	*c = Config(p)
	return nil
}

// readDecay replaces rho_c, which configurations before 0.3.0 have for the schedule: what C₀ is
// divided by in the end. Its successor end_share is ρ_C as Du et al. and DC's Table VII have it,
// what C₀ is multiplied with.
func readDecay(params map[string]float64) {
	rho, old := params["rho_c"]
	share := 1 / rho
	if !old || !(share > 0) || math.IsInf(share, 1) {
		return
	}
	delete(params, "rho_c")
	if _, set := params["end_share"]; !set {
		params["end_share"] = share
	}
}

// named refuses what an object of a field's type has no field for. Package json would leave
// it out, and take one that is written otherwise, as Label for label, for that field.
func named(path string, t reflect.Type, value json.RawMessage) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var raw map[string]json.RawMessage
	if t.Kind() != reflect.Struct || json.Unmarshal(value, &raw) != nil {
		return nil // of another kind, which is said elsewhere
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		inner, ok := raw[name]
		if !ok {
			continue
		}
		delete(raw, name)
		if err := named(path+"."+name, t.Field(i).Type, inner); err != nil {
			return err
		}
	}
	if unknown := slices.Sorted(maps.Keys(raw)); len(unknown) > 0 {
		return &ConfigError{path + "." + unknown[0], "there is no such field; those of " + path + " are " + strings.Join(fieldNames(t), ", ")}
	}
	return nil
}

// withArticle puts an article before package json's name of a value, as number 2.5 or array.
func withArticle(value string) string {
	if strings.IndexAny(value, "aeiou") == 0 {
		return "an " + value
	}
	return "a " + value
}

// KindName names what JSON calls a Go type, for messages.
func KindName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Uint64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list, of which each is " + KindName(t.Elem())
	default:
		return "an object"
	}
}

// ConfigError is a fault in one field of a configuration.
type ConfigError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (e *ConfigError) Error() string { return e.Field + ": " + e.Message }
