package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"clipscope/core/model"
)

// Bounds on the JSON of a file. What the page writes stays far below them.
const (
	mostText    = 64 << 20
	mostObjects = 1 << 17 // and lists
	mostKeys    = 1 << 16 // of one object
	mostScalars = 1 << 22 // texts, numbers and truth values that are no model's parameters
	deepest     = 64
	mostSaid    = 1 << 18 // bytes of a statement in words that numbers are looked for in
)

// parameters is the key of a model's parameters, of which there may be as many as a file has
// room for.
const parameters = "parameters"

// strict refuses JSON that two programs may read as two different things: a key that an
// object has twice, in whatever case, as package json takes the last of them and others the
// first. It also refuses what is larger or deeper than the page writes.
func strict(b []byte) error {
	_, err := plain(b)
	return err
}

// plain is [model.Plain] for text that [strict] does not refuse.
func plain(b []byte) (rest []byte, err error) {
	if len(b) > mostText {
		return nil, tooLong(b)
	}
	rest, _ = model.Plain(b)
	if err := new(walker).walk(rest); err != nil {
		return nil, err
	}
	if !json.Valid(rest) {
		var any json.RawMessage
		return nil, notJSON(json.Unmarshal(b, &any))
	}
	return rest, nil
}

// tooLong is the error of a text of more than mostText bytes.
func tooLong(b []byte) error {
	return fmt.Errorf("its text has %d MB, more than the %d that are read", len(b)>>20, mostText>>20)
}

// ends holds the bytes before which a number or a word ends.
var ends = [256]bool{' ': true, '\n': true, '\r': true, '\t': true, ',': true, ':': true, '{': true, '}': true, '[': true, ']': true, '"': true}

// walker walks a JSON text byte by byte: a token of package json takes fifty times as long, and a
// model has millions. It takes no care whether what it walks is JSON.
type walker struct {
	open            []opened // lists and objects, the innermost last
	objects, values int
}

// opened is a list or an object that has not ended.
type opened struct {
	keys map[string]bool // of an object; nil: a list
	next bool            // a key comes next
	key  string          // that the present value stands under; a list's own
}

func (w *walker) walk(b []byte) error {
	for i := 0; i < len(b); {
		from := i
		switch c := b[i]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ':':
			i++
			continue
		case c == ',':
			if top := w.top(); top != nil {
				top.next = top.keys != nil
			}
			i++
			continue
		case c == '}' || c == ']':
			w.open = w.open[:max(0, len(w.open)-1)]
			i++
			continue
		case c == '{' || c == '[':
			if err := w.begin(c == '{'); err != nil {
				return err
			}
			i++
			continue
		case c == '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(b))
		default:
			for i++; i < len(b) && !ends[b[i]]; i++ {
			}
		}
		if err := w.scalar(b[from:i]); err != nil {
			return err
		}
	}
	return nil
}

// top returns the innermost list or object; nil where there is none.
func (w *walker) top() *opened {
	if len(w.open) == 0 {
		return nil
	}
	return &w.open[len(w.open)-1]
}

// begin enters a list or an object.
func (w *walker) begin(object bool) error {
	if len(w.open) > deepest {
		return fmt.Errorf("lists and objects are nested more than %d deep", deepest)
	}
	if w.objects++; w.objects > mostObjects {
		return fmt.Errorf("there are more than %d lists and objects", mostObjects)
	}
	inner := opened{next: object}
	if object {
		inner.keys = map[string]bool{}
	} else if top := w.top(); top != nil {
		inner.key = top.key
	}
	w.open = append(w.open, inner)
	return nil
}

// scalar takes a key, or a value that is no list and no object.
func (w *walker) scalar(text []byte) error {
	top := w.top()
	if top != nil && top.next {
		return top.name(text)
	}
	if top != nil && top.key == parameters {
		return nil
	}
	if w.values++; w.values > mostScalars {
		return fmt.Errorf("there are more than %d values beside a model’s parameters", mostScalars)
	}
	return nil
}

// name takes a key of an object.
func (o *opened) name(text []byte) error {
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return notJSON(err)
	}
	if len(o.keys) == mostKeys {
		return fmt.Errorf("an object has more than %d keys", mostKeys)
	}
	o.key, o.next = strings.ToLower(name), false
	if o.keys[o.key] {
		return fmt.Errorf("the key %q stands twice in one object, so that programs differ on what it says", clipped(name))
	}
	o.keys[o.key] = true
	return nil
}

// notJSON says in words for a person why a decoder gave up.
func notJSON(err error) error {
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) && strings.HasPrefix(e.Error(), "unexpected end") {
		return errCut
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
