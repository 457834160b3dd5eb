package plan

import (
	"errors"
	"fmt"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/run"
)

// asConfigError keeps the field that a part's error names.
func asConfigError(err error) error {
	if pe := (*clip.ParamError)(nil); errors.As(err, &pe) {
		return &run.ConfigError{Field: pe.Key, Message: pe.Message}
	}
	return err
}

// Fault returns an error that blames a field of the configuration.
func Fault(field, format string, args ...any) error {
	return &run.ConfigError{Field: field, Message: fmt.Sprintf(format, args...)}
}

// FaultOf blames a field for another package's error; whose it was says nothing
// to the one who fills in the form.
func FaultOf(field string, err error) error {
	_, said, found := strings.Cut(err.Error(), ": ")
	if !found {
		said = err.Error()
	}
	return &run.ConfigError{Field: field, Message: said}
}
