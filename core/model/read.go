package model

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
)

// MaxBytes is the most that a model's file may have: the parameters that a browser tab
// can hold, as text.
const MaxBytes = 2 << 30

// Read reads a model's file: JSON, safetensors, or the zip that has them. Files of
// version 0 are read as well; one of a later version than this is refused. The model has
// passed [File.Check]. Nothing is allocated that is much larger than b. An error says
// what is wrong, and where in the file.
func Read(b []byte) (*File, error) {
	f, err := parse(b)
	if err != nil {
		return nil, err
	}
	return f, f.Check()
}

func parse(b []byte) (*File, error) {
	switch {
	case len(b) == 0:
		return nil, errors.New("model: the file is empty")
	case len(b) > MaxBytes:
		return nil, fmt.Errorf("model: the file has %d MB, more than the %d that a browser tab can hold", len(b)>>20, MaxBytes>>20)
	case looksTensors(b):
		return fromTensors(b)
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return fromZip(b)
	case b[0] == 8: // the version that an ONNX file begins with
		return nil, errors.New("model: this looks like ONNX, which Clipscope writes for other programs and does not read: choose the zip, the JSON or the safetensors of the same model")
	}
	text := bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if t := bytes.TrimLeft(text, " \t\r\n"); len(t) == 0 || t[0] != '{' {
		return nil, errors.New("model: this is no model that Clipscope saves: neither JSON nor safetensors nor a zip of them")
	}
	return fromText(text)
}

// fields are a File's without its methods, if it gets any.
type fields File

// fromText reads JSON.
func fromText(b []byte) (*File, error) {
	v := struct {
		*fields
		Config     capped[run.Config]        `json:"config"`
		Apply      capped[*run.Application]  `json:"apply"`
		Events     capped[[]json.RawMessage] `json:"events"`
		Parameters floats                    `json:"parameters"`
		ModelType  *string                   `json:"model_type"`
	}{fields: &fields{}}
	rest, list := Plain(b)
	err := json.Unmarshal(rest, &v)
	if err == nil && list != nil {
		err = v.Parameters.UnmarshalJSON(list)
	}
	if err != nil { // said with its place in the file
		if err := json.Unmarshal(b, &v); err != nil {
			return nil, inJSON("", err)
		}
	}
	if v.ModelType != nil { // as a checkpoint's config.json has it
		return nil, errors.New("model: this is the configuration of a transformer. Training starts from it and its tensors together, on the page Train, under Model")
	}
	f := File(*v.fields)
	f.Config, f.Apply, f.Events, f.Parameters = v.Config.of, v.Apply.of, v.Events.of, v.Parameters
	return &f, nil
}

// mostText is the most that a part of a file other than the parameters may have: what
// it becomes in memory may be thirty times as large.
const mostText = 32 << 20

// mostObjects is the most objects that it may have, whose memory is a hundred times their
// text: columns, of which a table that was trained on has 20,000 at most, and layers.
const mostObjects = 1 << 15

// deepest limits how deep objects are nested.
const deepest = 64

// capped is a part of a file that is read by [part].
type capped[T any] struct{ of T }

// UnmarshalJSON reads the part.
func (c *capped[T]) UnmarshalJSON(b []byte) error { return part(b, &c.of) }

// part reads a text of JSON that may be so large and no larger.
func part(text []byte, into any) error {
	if len(text) > mostText {
		return fmt.Errorf("%d MB of text, and nothing but parameters takes more than %d", len(text)>>20, mostText>>20)
	}
	c := counter{Decoder: json.NewDecoder(bytes.NewReader(text))}
	c.UseNumber()
	if _, ok := into.(**run.Application); ok {
		c.lists = []string{"columns[]", "layers[]", "tensors[]"}
	}
	if err := c.count(0, ""); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// counter counts the objects of a text.
type counter struct {
	*json.Decoder
	objects int
	lists   []string // of objects: whatever stands there takes the room of one, and has to be one
	broken  bool     // it is no JSON, of which the decoder would say for ever that there is more
}

// count takes a value, which is one of a list where its name ends in []. Where it is no
// JSON, json.Unmarshal says what is wrong.
func (c *counter) count(depth int, name string) error {
	t, err := c.Token()
	if err != nil {
		c.broken = true
		return nil
	}
	begin, _ := t.(json.Delim)
	switch {
	case depth > deepest:
		return fmt.Errorf("there are more than %d lists and objects within each other", deepest)
	case begin == '{':
		if c.objects++; c.objects > mostObjects {
			return fmt.Errorf("there are more than %d objects", mostObjects)
		}
	case slices.ContainsFunc(c.lists, func(list string) bool { return strings.EqualFold(name, list) }):
		return fmt.Errorf("%s: %v is no object", strings.TrimSuffix(name, "[]"), t)
	case begin != '[':
		return nil
	}
	for !c.broken && c.More() {
		inside := name + "[]"
		if begin == '{' {
			key, err := c.Token()
			if err != nil {
				c.broken = true
				return nil
			}
			inside = fmt.Sprint(key)
		}
		if err := c.count(depth+1, inside); err != nil {
			return err
		}
	}
	_, _ = c.Token() // its end
	return nil
}

// inJSON says where in a text JSON is wrong.
func inJSON(where string, err error) error {
	if where != "" {
		where += ": "
	}
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		return fmt.Errorf("model: %sbyte %d: %w", where, e.Offset, err)
	}
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		at := strings.TrimPrefix(e.Field, "fields.")
		if at == "" {
			at = fmt.Sprintf("byte %d", e.Offset) // which counts from the field, where one has a reader of its own
		}
		return fmt.Errorf("model: %s%s: a %s is not what goes here (%s)", where, at, e.Value, run.KindName(e.Type))
	}
	return fmt.Errorf("model: %s%w", where, err)
}

// floats are numbers, among which may be those that JSON cannot write.
type floats []float32

// UnmarshalJSON reads a list. b is sound JSON, as encoding/json has seen to.
func (v *floats) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*v = nil
		return nil
	}
	if b[0] != '[' {
		return errors.New("parameters: a list of numbers is what goes here")
	}
	all := make(floats, 0, min(bytes.Count(b, []byte(","))+1, len(b)/2)) // commas of texts separate none
	for b = space(b[1:]); b[0] != ']'; b = space(b) {
		if b[0] == ',' {
			b = b[1:]
			continue
		}
		end := 0
		if b[0] == '{' {
			end = bytes.IndexByte(b, '}') + 1
		} else {
			for end < len(b) && b[end] > ' ' && b[end] != ',' && b[end] != ']' {
				end++
			}
		}
		if end == 0 {
			return fmt.Errorf("parameters: number %d cannot be read", len(all)+1)
		}
		x, err := number(b[:end])
		if err != nil {
			return fmt.Errorf("parameters: number %d: %.40s is none", len(all)+1, b[:end])
		}
		all = append(all, x)
		b = b[end:]
	}
	*v = all
	return nil
}

func number(b []byte) (float32, error) {
	if b[0] == '{' {
		var n run.Number
		err := n.UnmarshalJSON(b)
		return float32(n), err
	}
	x, err := strconv.ParseFloat(string(b), 32)
	return float32(x), err
}

func space(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// mostHeader is the most that the header of a safetensors file may have, as its own
// library has it.
const mostHeader = 100_000_000

// looksTensors reports whether b begins as safetensors files do: with the length of a
// header, and the header.
func looksTensors(b []byte) bool {
	if len(b) < 9 || b[8] != '{' {
		return false
	}
	return binary.LittleEndian.Uint64(b) <= mostHeader
}

// unnamed is the one tensor of a model whose run an early version kept, which did not say
// what its layers' tensors are.
const unnamed = "parameters"

// tensor is an entry of a safetensors file's header.
type tensor struct {
	Type  string   `json:"dtype"`
	Shape []uint64 `json:"shape"`
	At    []uint64 `json:"data_offsets"`
}

// fromTensors reads a safetensors file. Its tensors may stand in any order, and have to
// be those of the layers, without gaps between them.
func fromTensors(b []byte) (*File, error) {
	header, body, err := tensorHeader(b)
	if err != nil {
		return nil, err
	}
	f, err := fromMetadata(header[metadata])
	if err != nil {
		return nil, err
	}
	tensors, err := readTensors(header, body)
	if err != nil {
		return nil, err
	}
	f.Parameters = make([]float32, 0, len(body)/4)
	if f.Apply == nil {
		return f, nil // which Check refuses
	}
	take := func(name string) {
		f.Parameters = tensors[name].appendValues(f.Parameters, body)
		delete(tensors, name)
	}
	named := false
	for i, l := range f.Apply.Layers {
		for _, want := range l.Tensors {
			named = true
			name := tensorName(i, want.Name)
			if t, ok := tensors[name]; !ok || !t.has(want.Shape) {
				return nil, fmt.Errorf("model: there is no tensor %s of shape %v, which layer %d (%s) needs", clipped(name), want.Shape, i+1, clipped(l.Text))
			}
			take(name)
		}
	}
	if _, ok := tensors[unnamed]; ok && !named {
		take(unnamed)
	}
	for name := range tensors {
		return nil, fmt.Errorf("model: the tensor %s is of no layer", clipped(name))
	}
	return f, nil
}

// metadata is the entry of a header that is no tensor.
const metadata = "__metadata__"

// tensorHeader returns the header of a safetensors file, and what follows it.
func tensorHeader(b []byte) (header map[string]json.RawMessage, body []byte, err error) {
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(b)-8) {
		return nil, nil, fmt.Errorf("model: a header of %d bytes in a file of %d: the file is cut short", n, len(b))
	}
	if bytes.Count(b[8:8+n], []byte("{")) > 2*mostObjects { // of tensors, and of what its texts have
		return nil, nil, fmt.Errorf("model: header: there are more than %d objects", 2*mostObjects)
	}
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		return nil, nil, inJSON("header", err)
	}
	return header, b[8+n:], nil
}

// readTensors returns the tensors of a header by their names. They cover the body.
func readTensors(header map[string]json.RawMessage, body []byte) (map[string]tensor, error) {
	tensors := map[string]tensor{}
	var parts [][2]uint64
	for name, text := range header {
		if name == metadata {
			continue
		}
		var t tensor
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, inJSON("header: "+clipped(name), err)
		}
		if err := t.checkBounds(uint64(len(body))); err != nil {
			return nil, fmt.Errorf("model: tensor %s: %w", clipped(name), err)
		}
		parts = append(parts, [2]uint64(t.At))
		tensors[name] = t
	}
	return tensors, cover(parts, uint64(len(body)))
}

// appendValues appends a tensor's numbers to dst.
func (t tensor) appendValues(dst []float32, body []byte) []float32 {
	for at := t.At[0]; at < t.At[1]; at += 4 {
		dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(body[at:])))
	}
	return dst
}

// checkBounds holds a tensor of a body of so many bytes to what its header says.
func (t tensor) checkBounds(body uint64) error {
	if t.Type != "F32" {
		return fmt.Errorf("it is of %s, and parameters are F32", clipped(t.Type))
	}
	if len(t.At) != 2 || t.At[0] > t.At[1] || t.At[1] > body || t.At[0]%4 != 0 {
		return fmt.Errorf("it lies at %v of %d bytes", t.At, body)
	}
	n := uint64(4)
	for _, d := range t.Shape {
		if d != 0 && n > body/d {
			return fmt.Errorf("its shape %v is of more than the file has", t.Shape)
		}
		n *= d
	}
	if n != t.At[1]-t.At[0] {
		return fmt.Errorf("its shape %v takes %d bytes, and it has %d", t.Shape, n, t.At[1]-t.At[0])
	}
	return nil
}

// cover holds that parts of a body lie one after the other, with nothing between them.
func cover(parts [][2]uint64, body uint64) error {
	slices.SortStableFunc(parts, func(a, b [2]uint64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	at := uint64(0)
	for _, p := range parts {
		if p[0] != at {
			return fmt.Errorf("model: a tensor begins at byte %d, and the one before it ends at %d", p[0], at)
		}
		at = p[1]
	}
	if at != body {
		return fmt.Errorf("model: the tensors end at byte %d of %d", at, body)
	}
	return nil
}

func (t tensor) has(shape []int) bool {
	if len(shape) != len(t.Shape) {
		return false
	}
	for i, d := range shape {
		if d < 0 || uint64(d) != t.Shape[i] {
			return false
		}
	}
	return true
}

// foreign says what a file of tensors alone is good for.
const foreign = "these are tensors of another program, which do not say what they are for. Training starts from them, on the page Train, under Model; from a transformer’s, with its config.json"

// fromMetadata reads what a model is beside its tensors: texts.
func fromMetadata(text json.RawMessage) (*File, error) {
	if text == nil {
		return nil, errors.New("model: the header has no __metadata__: " + foreign)
	}
	var texts map[string]string
	if err := json.Unmarshal(text, &texts); err != nil {
		return nil, inJSON("__metadata__", err)
	}
	f := &File{Format: texts["format"], Program: texts["program"], Guarantee: texts["guarantee"], Statement: texts["statement"], Accountant: texts["accountant"]}
	if f.Format == "clipscope" {
		f.Format = "" // as version 0 had it
	}
	if f.Format != "" && f.Format != Format {
		return nil, fmt.Errorf("model: format: %q is not %q: %s", clipped(f.Format), Format, foreign)
	}
	for name, to := range map[string]any{
		"version": &f.Version, "config": &f.Config, "epsilon": &f.Epsilon, "delta": &f.Delta, "steps": &f.Steps, "apply": &f.Apply,
		"planned_steps": &f.Planned, "events": &f.Events,
	} {
		if texts[name] == "" {
			continue
		}
		if err := part([]byte(texts[name]), to); err != nil {
			return nil, inJSON("__metadata__: "+name, err)
		}
	}
	return f, nil
}

// fromZip reads the model of a zip.
func fromZip(b []byte) (*File, error) {
	entries, err := Entries(b)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	for _, name := range []string{"model.safetensors", "model.json"} {
		entry, ok := entries[name]
		if !ok {
			continue
		}
		inside, err := Unpack(entry, len(b))
		if err != nil {
			return nil, fmt.Errorf("model: %s in the zip: %w", name, err)
		}
		if bytes.HasPrefix(inside, []byte("PK")) {
			return nil, fmt.Errorf("model: %s in the zip is a zip", name)
		}
		return parse(inside)
	}
	return nil, errors.New("model: the zip has neither model.safetensors nor model.json in it")
}

// mostEntries and mostDirectory bound the files of a model's zip, of which a bundle has about ten, and the bytes that
// are read to list them, the end of the zip among these. In memory a directory takes six times its bytes.
const (
	mostEntries   = 64
	mostDirectory = 256 << 10
)

// errEntries is the error of a zip that lists more than a model's has.
var errEntries = fmt.Errorf("the zip lists more than %d files, or %d kB of their names: it is no model that Clipscope saves", mostEntries, mostDirectory>>10)

// Entries returns the files of a model's zip by their names. It refuses a zip that lists too many before it has
// read the list, and one in which a name stands twice: programs differ on which of the two they read.
func Entries(b []byte) (map[string]*zip.File, error) {
	directory := &directoryReader{ReaderAt: bytes.NewReader(b), left: mostDirectory}
	z, err := zip.NewReader(directory, int64(len(b)))
	switch {
	case directory.left < 0 || err == nil && len(z.File) > mostEntries:
		return nil, errEntries
	case err != nil:
		return nil, fmt.Errorf("the zip cannot be read: it is cut short, damaged or no zip (%w)", err)
	}
	directory.left = math.MaxInt64 // Unpack bounds what is read from here on
	entries := map[string]*zip.File{}
	for _, entry := range z.File {
		if entries[entry.Name] != nil {
			return nil, fmt.Errorf("%s stands twice in the zip, so that programs differ on what it says", clipped(entry.Name))
		}
		entries[entry.Name] = entry
	}
	return entries, nil
}

// directoryReader reads no more bytes than are left.
type directoryReader struct {
	io.ReaderAt
	left int64
}

func (r *directoryReader) ReadAt(p []byte, at int64) (int, error) {
	if r.left -= int64(len(p)); r.left < 0 {
		return 0, errEntries
	}
	return r.ReaderAt.ReadAt(p, at)
}

// mostUnpacked is so much that it may come of however little; and mostPacked how many bytes one
// of deflate's may stand for beyond that. Parameters that were trained are noise: as numbers in
// a text they pack into a third, and in safetensors not at all.
const (
	mostUnpacked = 64 << 20
	mostPacked   = 8
)

// Unpack returns the content of an entry of a zip of packed bytes. It refuses an entry that is larger
// than a model of so small a zip can be, before it reads it, and one of another size than it states.
func Unpack(entry *zip.File, packed int) ([]byte, error) {
	size := entry.UncompressedSize64
	if size > MaxBytes {
		return nil, fmt.Errorf("it has %d MB, more than a browser tab can hold", size>>20)
	}
	if size > max(mostUnpacked, mostPacked*uint64(packed)) {
		return nil, fmt.Errorf("it has %d MB, packed into %d kB, as no parameters are that were trained", size>>20, packed>>10)
	}
	r, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := make([]byte, size)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, fmt.Errorf("it is shorter than it says: %w", err)
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return nil, cmp.Or(err, errors.New("it is larger than it says"))
	}
	return out, nil
}

// clipped is a text of a file for a message.
func clipped(s string) string { return clippedAt(s, 60) }

// clippedAt is s with an ellipsis for what is beyond most bytes.
func clippedAt(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
