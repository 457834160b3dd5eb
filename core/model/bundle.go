package model

import (
	"archive/zip"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
)

// made is the date of every file in a bundle: the first moment
// that a zip archive can have. Equal models have equal bundles.
var made = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// mostAsText limits the parameters that a bundle has as text beside the tensors: more
// make a file of hundreds of megabytes that no program is glad of.
const mostAsText = 2_000_000

// Bundle writes a zip archive of the model in all its forms, with programs that apply it,
// scripts, by their names, and a text that says how. Where there is no ONNX form the text
// says why.
//
// Guarantee: that of the file; the rest of what is in it is the same for every model.
func (f *File) Bundle(w io.Writer, scripts map[string][]byte) error {
	if err := f.Check(); err != nil {
		return err
	}
	b := bundle{zip: zip.NewWriter(w), f: f, scripts: scripts}
	if err := b.write(); err != nil {
		return fmt.Errorf("model: zip: %w", err)
	}
	return nil
}

type bundle struct {
	zip     *zip.Writer
	f       *File
	scripts map[string][]byte
}

func (b *bundle) write() error {
	onnx, noONNX := b.f.onnx()
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}
	if err := b.addFile("README.txt", zip.Deflate, text(b.readme(noONNX))); err != nil {
		return err
	}
	if err := b.addFile("statement.txt", zip.Deflate, text(cmp.Or(b.f.Statement, b.f.Guarantee+"\n"))); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(b.scripts)) {
		if err := b.addFile(name, zip.Deflate, text(string(b.scripts[name]))); err != nil {
			return err
		}
	}
	if b.hasText() {
		if err := b.addFile("model.json", zip.Deflate, b.f.JSON); err != nil {
			return err
		}
	}
	// Parameters with their noise do not get smaller.
	if err := b.addFile("model.safetensors", zip.Store, b.f.Safetensors); err != nil {
		return err
	}
	if noONNX == nil {
		if err := b.addFile("model.onnx", zip.Store, onnx.writeTo); err != nil {
			return err
		}
	}
	return b.zip.Close()
}

func (b *bundle) hasText() bool { return len(b.f.Parameters) <= mostAsText }

func (b *bundle) addFile(name string, method uint16, write func(io.Writer) error) error {
	w, err := b.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: made})
	if err != nil {
		return err
	}
	return write(w)
}

// readme says what is in the archive.
func (b *bundle) readme(noONNX error) string {
	a := b.f.Apply
	var s strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&s, format+"\n", args...) }
	line("A model that was trained with %s.\n", cmp.Or(b.f.Program, "Clipscope"))
	line("It answers with %s. It takes %s.", answers(a), takes(a))
	line("%s\n", b.f.Guarantee)
	file := "model.json"
	if !b.hasText() {
		file = "model.safetensors"
	}
	if why := b.f.Apply.LeftOut(); why != "" {
		line("It cannot be applied: %s\n", why)
	} else {
		b.usage(line, file)
	}
	if b.hasText() {
		line("model.json         everything, as text")
		line("model.safetensors  the same: the parameters as tensors, and the rest in __metadata__")
	} else {
		line("model.safetensors  everything: the parameters as tensors, and the rest in __metadata__")
	}
	if noONNX == nil {
		line("model.onnx         the model with all that is done to a row before it, for ONNX Runtime and others")
	} else {
		line("There is no model.onnx: %v", noONNX)
	}
	line("predict.py         applies it, with numpy alone")
	line("predict.mjs        the same in JavaScript, in Node or in a page")
	line("statement.txt      what may be said of the privacy of those it was trained on")
	if len(a.Columns) > 0 {
		line("\nColumns")
		for _, c := range a.Columns {
			line("  %s: %s", oneLine(c.Name), columnInWords(c))
		}
	}
	return s.String()
}

// usage writes how to begin: predict.py takes Python 3.9 or newer, predict.mjs Node 20.
func (b *bundle) usage(line func(string, ...any), file string) {
	if b.f.Apply.Columns != nil {
		line("To use it on the rows of a table, of which the first has the names of the columns:\n")
		line("  python3 predict.py %s rows.csv > answers.csv     (Python 3.9 or newer, with numpy)", file)
		line("  node predict.mjs %s rows.csv > answers.csv       (Node 20 or newer, with nothing else)\n", file)
		line("From a program:\n")
	} else {
		line("To use it from a program, with numpy, or with nothing but JavaScript:\n")
	}
	line("  from predict import load")
	line("  answers, outputs = load(%q).predict(rows)\n", file)
	line(`  import { load } from "./predict.mjs";`)
	line("  const { answer, outputs } = load(contents).predict(row);\n")
}

func answers(a *run.Application) string {
	switch {
	case a.Task == "regression" && a.Outputs == 1:
		return "a number"
	case a.Task == "regression":
		return fmt.Sprintf("%d numbers", a.Outputs)
	case a.Task == "multi-label":
		return fmt.Sprintf("those of %d labels that are on%s", a.Outputs, names(a))
	}
	return fmt.Sprintf("one of %d classes%s", a.Outputs, names(a))
}

func names(a *run.Application) string {
	if len(a.Classes) == 0 {
		return ""
	}
	return ": " + list(a.Classes)
}

func takes(a *run.Application) string {
	switch {
	case a.FeaturesOf != nil:
		return fmt.Sprintf("the %d features of a row that %s makes, which is not in here", a.Features, backboneInWords(a.FeaturesOf))
	case a.Columns != nil:
		return fmt.Sprintf("rows of a table with %d columns", len(a.Columns))
	case len(a.Shape) == 2:
		return fmt.Sprintf("pictures of %d×%d, row by row", a.Shape[0], a.Shape[1]) + transformed(a)
	case len(a.Shape) == 3:
		return fmt.Sprintf("pictures of %d×%d in %d planes of colour, one plane after the other", a.Shape[1], a.Shape[2], a.Shape[0]) + transformed(a)
	}
	return fmt.Sprintf("rows of %d numbers", a.Features)
}

// transformed says how pictures of other sizes come to the model's.
func transformed(a *run.Application) string {
	if a.Transform == "" {
		return ""
	}
	return fmt.Sprintf(", to which others are brought by “%s”, upright (model.picture)", a.Transform)
}

func columnInWords(c run.AppliedColumn) string {
	switch c.Kind {
	case "label":
		return "what is sought; it need not be there"
	case "ignored":
		return "ignored"
	case "categorical":
		if c.Buckets > 0 {
			return fmt.Sprintf("a text, of which a hash to %d buckets counts", c.Buckets)
		}
		return "one of " + list(c.Categories)
	case "letters", "words":
		return fmt.Sprintf("a text, of which the first %d %s count, in their order", c.Tokens, c.Kind)
	case "text":
		return fmt.Sprintf("a text, whose words are hashed to %d features", c.Buckets)
	}
	s := "a number"
	if c.Date != "" {
		s = "a date, as " + strings.TrimSuffix(strings.NewReplacer("y", "year, ", "m", "month, ", "d", "day, ").Replace(c.Date), ", ")
	}
	if c.Time != "" {
		s = map[string]string{"s": "a time, in seconds since 1970 began", "ms": "a time, in milliseconds since 1970 began", "us": "a time, in microseconds since 1970 began", "ns": "a time, in nanoseconds since 1970 began"}[c.Time]
		s = cmp.Or(s, "a date, as yyyymmdd")
	}
	if unit := data.UnitOf(c.Units); unit != "" {
		s += fmt.Sprintf(" with “%s”", unit)
	}
	if c.Decimal != "" {
		s += fmt.Sprintf(", decimals after “%s”", c.Decimal)
	}
	if c.IfMissing == nil {
		return s + "; it must be there"
	}
	return s + "; it may be missing"
}

// list has the first of some names.
func list(names []string) string {
	const most = 20
	var all []string
	for _, n := range names[:min(len(names), most)] {
		all = append(all, oneLine(n))
	}
	s := strings.Join(all, ", ")
	if more := len(names) - most; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// oneLine is a text from a file that anyone may have made as it can stand in a line.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
}
