package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds on the JSON of a file. What the page writes stays far below them.
const (
	mostText    = 64 << 20
	mostObjects = 1 << 17 // and lists
	mostKeys    = 1 << 16 // of one object
	mostScalars = 1 << 22 // texts, numbers and truth values that are no model's parameters
	deepest     = 64
)

// parameters is the key of a model's parameters, of which there may be as many as a file has
// room for.
const parameters = "parameters"

// strict refuses JSON that two programs may read as two different things: a key that an
// object has twice, in whatever case, as package json takes the last of them and others the
// first. It also refuses what is larger or deeper than the page writes.
func strict(b []byte) error {
	if len(b) > mostText {
		return fmt.Errorf("its text has %d MB, more than the %d that are read", len(b)>>20, mostText>>20)
	}
	w := walker{Decoder: json.NewDecoder(bytes.NewReader(b))}
	w.UseNumber()
	if err := w.value(0, ""); err != nil {
		return err
	}
	if w.More() {
		return errors.New("something follows its end")
	}
	return nil
}

// walker walks the tokens of a JSON text.
type walker struct {
	*json.Decoder
	objects, values int
}

// value walks a value that stands under a key, by itself or in lists.
func (w *walker) value(depth int, key string) error {
	t, err := w.Token()
	if err != nil {
		return notJSON(err)
	}
	d, ok := t.(json.Delim)
	switch {
	case !ok && key == parameters:
		return nil
	case !ok:
		if w.values++; w.values > mostScalars {
			return fmt.Errorf("there are more than %d values beside a model’s parameters", mostScalars)
		}
		return nil
	case depth > deepest:
		return fmt.Errorf("lists and objects are nested more than %d deep", deepest)
	}
	if w.objects++; w.objects > mostObjects {
		return fmt.Errorf("there are more than %d lists and objects", mostObjects)
	}
	keys := map[string]bool{}
	for w.More() {
		if d == '{' {
			t, err := w.Token()
			if err != nil {
				return notJSON(err)
			}
			if len(keys) == mostKeys {
				return fmt.Errorf("an object has more than %d keys", mostKeys)
			}
			key = strings.ToLower(fmt.Sprint(t))
			if keys[key] {
				return fmt.Errorf("the key %q stands twice in one object, so that programs differ on what it says", clipped(fmt.Sprint(t)))
			}
			keys[key] = true
		}
		if err := w.value(depth+1, key); err != nil {
			return err
		}
	}
	if _, err := w.Token(); err != nil {
		return notJSON(err)
	}
	return nil
}

// notJSON says in words for a person why a decoder gave up.
func notJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is cut short: its JSON does not end")
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

// clipped shortens a text of the file for a message.
func clipped(s string) string {
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
