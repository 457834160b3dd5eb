package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"clipscope/core/model"
	"clipscope/core/run"
)

// MostRecognised is the most bytes of a file for [Recognise]. A model of as many parameters is
// not trained in a browser.
const MostRecognised = 256 << 20

// mostConfig bounds the text of a configuration that [Recognise] reads: with blanks and escapes it may
// take several times the bytes of its link.
const mostConfig = 8 * run.MaxHash

// Recognise returns a verdict of a file's kind, writer and configuration alone. It looks at no more
// of the file than that takes: ε is not worked out, and neither series nor parameters are
// read. A file that is recognised may therefore be damaged, as [Check] then says.
func Recognise(name string, b []byte) (run.Verdict, error) {
	c, err := recognise(b)
	if err != nil {
		return run.Verdict{}, fmt.Errorf("check: %w", err)
	}
	v := c.verdict(name)
	v.Verdict, v.Text = run.Unchecked, "Nothing was compared."
	return v, nil
}

func recognise(b []byte) (*claims, error) {
	switch text := bytes.TrimPrefix(b, byteOrderMark); {
	case bytes.HasPrefix(b, []byte(zipMagic)):
		return recogniseZip(b)
	case isTensors(b):
		return recogniseTensors(b)
	case isJSON(text):
		return recogniseJSON(text)
	case bytes.HasPrefix(afterRemarks(text), []byte(seriesHead)):
		return newClaims("run, CSV"), nil
	}
	return readFile(b)
}

func recogniseJSON(b []byte) (*claims, error) {
	if len(b) > mostText {
		return nil, tooLong(b)
	}
	keys, err := fields(b)
	if err != nil {
		return nil, err
	}
	c := newClaims(kindOf(keys))
	switch c.kind {
	case "":
		return nil, errUnknown
	case kindModel:
		switch format := word(keys["format"]); {
		case format != "" && format != model.Format:
			return nil, errUnknown
		case format == "": // 0.1.0, which saved no configuration
			if keys["apply"] == nil {
				c.program = oldest
			}
			return c, nil
		}
		c.program = clipped(word(keys["program"]))
	case kindStatement:
		c.program = writer(keys["versions"])
		return c, nil
	case kindLedger, kindChart:
		return c, nil
	case kindRun:
		if statement, err := fields(keys["statement"]); err == nil {
			c.program = writer(statement["versions"])
		}
	}
	c.configure(keys["config"])
	return c, nil
}

// writer returns the program of a statement's versions; empty where they do not name it.
func writer(versions []byte) string {
	if all, err := fields(versions); err == nil {
		if v := word(all["clipscope"]); v != "" {
			return "Clipscope " + clipped(v)
		}
	}
	return ""
}

func recogniseTensors(b []byte) (*claims, error) {
	header, err := headerOf(b)
	if err != nil {
		return nil, err
	}
	keys, err := fields(header)
	if err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	texts, err := fields(keys["__metadata__"])
	if format := word(texts["format"]); err != nil || format != model.Format && format != "clipscope" {
		return nil, errUnknown
	}
	c := newClaims("saved model, safetensors")
	c.program = clipped(word(texts["program"]))
	var config string
	if text := texts["config"]; len(text) <= 2*mostConfig && json.Unmarshal(text, &config) == nil {
		c.configure([]byte(config))
	}
	return c, nil
}

// recogniseZip unpacks one form of the zip's model.
func recogniseZip(b []byte) (*claims, error) {
	files, err := model.Entries(b)
	if err != nil {
		return nil, err
	}
	for _, form := range []struct {
		name string
		read func([]byte) (*claims, error)
	}{{"model.safetensors", recogniseTensors}, {"model.json", recogniseJSON}} {
		f, ok := files[form.name]
		if !ok {
			continue
		}
		if f.UncompressedSize64 > MostRecognised {
			return nil, fmt.Errorf("%s in the zip has %d MB, more than the %d that are looked at", form.name, f.UncompressedSize64>>20, MostRecognised>>20)
		}
		inside, err := model.Unpack(f, len(b))
		if err != nil {
			return nil, fmt.Errorf("%s in the zip: %w", form.name, err)
		}
		if len(inside) <= 8 {
			continue
		}
		c, err := form.read(inside)
		if err != nil {
			return nil, fmt.Errorf("%s in the zip: %w", form.name, err)
		}
		c.kind = "saved model, zip"
		return c, nil
	}
	return nil, errNoModel
}

// configure takes over the text of a configuration, unless it is longer than any link or cannot be read: [Check]
// says why.
func (c *claims) configure(text []byte) {
	if len(text) == 0 || len(text) > mostConfig || strict(text) != nil {
		return
	}
	var config *run.Config
	if decode(text, &config) == nil {
		c.config = config
	}
}

// word returns a short text of JSON; empty where it is none.
func word(text []byte) (s string) {
	if len(text) < 1024 {
		_ = json.Unmarshal(text, &s)
	}
	return s
}

// errCut is the error of JSON that ends too early.
var errCut = errors.New("it is cut short: its JSON does not end")

// fields returns the values of the outermost object of a JSON text by their keys. It does not look into
// values, which may be no JSON, and refuses a key that stands twice, in whatever case.
func fields(b []byte) (map[string]json.RawMessage, error) {
	b = trimLeft(b)
	if len(b) == 0 || b[0] != '{' {
		return nil, errUnknown
	}
	all, seen := map[string]json.RawMessage{}, opened{keys: map[string]bool{}}
	for b = trimLeft(b[1:]); len(all) > 0 || len(b) == 0 || b[0] != '}'; b = trimLeft(b[1:]) {
		n := extent(b)
		if n == 0 {
			return nil, errCut
		}
		if err := seen.name(b[:n]); err != nil {
			return nil, err
		}
		var key string
		_ = json.Unmarshal(b[:n], &key) // as name has
		b = trimLeft(b[n:])
		if len(b) == 0 {
			return nil, errCut
		}
		if b[0] != ':' {
			return nil, errNotJSON
		}
		b = trimLeft(b[1:])
		if n = extent(b); n == 0 {
			return nil, errCut
		}
		all[key] = b[:n:n]
		b = trimLeft(b[n:])
		if len(b) == 0 {
			return nil, errCut
		}
		if b[0] == '}' {
			break
		}
		if b[0] != ',' {
			return nil, errNotJSON
		}
	}
	if len(trimLeft(b[1:])) > 0 {
		return nil, errNotJSON
	}
	return all, nil
}

var errNotJSON = errors.New("it is not JSON")

// trimLeft returns b without the blanks that it begins with.
func trimLeft(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\r' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

// extent returns the length of the JSON value that b begins with, by its quotes and brackets; 0 where it
// does not end.
func extent(b []byte) int {
	depth := 0
	for i := 0; i < len(b); {
		switch b[i] {
		case '"':
			n := quoted(b[i:])
			if n == 0 {
				return 0
			}
			i += n
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ' ', '\n', '\r', '\t', ',', ':':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i++; i < len(b) && !ends[b[i]]; i++ {
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return 0
}

// quoted returns the length of the text in quotes that b begins with; 0 where it does not end.
func quoted(b []byte) int {
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		escapes := 0
		for n > escapes && b[i+n-1-escapes] == '\\' {
			escapes++
		}
		if i += n + 1; escapes%2 == 0 {
			return i
		}
	}
}
