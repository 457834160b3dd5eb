package format

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"clipscope/core/data"
)

// TestEveryFormatHasItsPlaces: every format can be told and read, has a name of its own, and is named
// where formats are listed for users: in the guide, in the help, on the card and in the error for
// other files. One with tables is known as such to the page, and named where tables are asked for.
func TestEveryFormatHasItsPlaces(t *testing.T) {
	read := func(file, line string) string {
		b, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(line).Find(b)
		if text == nil {
			t.Fatalf("%s has no %s", file, line)
		}
		return string(text)
	}
	places := map[string]string{
		"NotData": NotData("x", "y").Error(), "docs/scripting.md": read("docs/scripting.md", `(?s).+`), "ui/help.go": read("ui/help.go", `(?s).+`),
		"files-help in ui/cards/data.go": read("ui/cards/data.go", `ID\("files-help"\).*`),
	}
	tables := map[string]string{
		"tableIn in core/data/load/table.go": read("core/data/load/table.go", `Expected: "a table.*`),
		"chooser in ui/use/page.go":          read("ui/use/page.go", `chooser\("table", .*`),
	}
	known := map[string]bool{}
	for _, f := range formats {
		if f.Name == "" || f.Load == nil || known[f.Name] {
			t.Errorf("%+v: a format needs a name of its own, and Load", *f)
		}
		known[f.Name] = true
		if is := (&data.Report{Format: f.Name}).IsTable(); is != (f.Table != nil) {
			t.Errorf("%s: IsTable of data.Report says %t, and that it has a Table is %t", f.Name, is, f.Table != nil)
		}
		name, _, _ := strings.Cut(f.Name, "-")
		word := regexp.MustCompile(`(?i)\b` + name + `\b`)
		for place, text := range places {
			if !word.MatchString(text) {
				t.Errorf("%s does not name %s", place, f.Name)
			}
		}
		for place, text := range tables {
			if f.Table != nil && !word.MatchString(text) {
				t.Errorf("%s does not name %s, which has tables", place, f.Name)
			}
		}
	}
	for _, f := range formats {
		if f.Beside != "" && !known[f.Beside] {
			t.Errorf("%s may have files of %q beside it, which there is not", f.Name, f.Beside)
		}
	}
}

// TestWhatIsPackedTwiceIsUnpackedFirst: the advice on a file is about that file, and a table by its name is no other format.
func TestWhatIsPackedTwiceIsUnpackedFirst(t *testing.T) {
	for name, tc := range map[string]struct{ head, want string }{
		"a.zip":      {"PK\x03\x04\x00", "a zip archive inside another: unpack it first"},
		"t.csv.gz":   {"\x1f\x8b\x00", "a gzip file inside a gzip file: unpack it first"},
		"t.csv.bz2":  {"BZh9\x00", "a bzip2 file: unpack it first"},
		"t.csv.xz":   {"\xfd7zXZ\x00", "an xz file: unpack it first"},
		"0.csv":      {strings.Repeat("\x00", 3073*2), "binary data of an unknown kind"},
		"0.TSV.gz":   {strings.Repeat("\x00", 3073*2), "binary data of an unknown kind"},
		"records":    {strings.Repeat("\x00", 3073*2), "cifar-10"},
		"0.bin":      {strings.Repeat("\x00", 3073*2), "cifar-10"},
		"0.csv.copy": {strings.Repeat("\x00", 3073*2), "cifar-10"},
	} {
		f, err := Of(name, []byte(tc.head), int64(len(tc.head)), "")
		if got := fmt.Sprint(err); f != nil && f.Name != tc.want || f == nil && !strings.Contains(got, tc.want) {
			t.Errorf("%s: %+v, %v, want %s", name, f, err, tc.want)
		}
	}
}
