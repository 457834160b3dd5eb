// Package script writes a configuration as a program: for the page's own API, and for the
// libraries of others where they have all of it.
package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/form"
)

// quoted are the keys of JSON that JavaScript takes without marks.
var quoted = regexp.MustCompile(`(?m)^(\s*)"(\w+)":`)

// JavaScript is a program for the page's console. What the configuration leaves out follows from the
// data there as it does here.
func JavaScript(c run.Config) string {
	head, more := "", ""
	if c.Data == form.Files {
		c.Data, more = "", ", { train: [file] }"
		head = "// file is a File: the table, or the archive of pictures, that the run is trained on.\n"
	}
	var options []string
	if c.Start.SHA256 != "" {
		options = append(options, "start: saved")
		head += fmt.Sprintf("// saved is a File: the model whose weights the run starts from, %q.\n", c.Start.File)
		c.Start.File, c.Start.SHA256 = "", ""
	}
	if p := &c.PublicRows; p.SHA256 != "" {
		options = append(options, "publicRows: open")
		head += fmt.Sprintf("// open is a File: the public rows that the run mixes in, %q.\n", p.File)
		p.File, p.SHA256 = "", ""
	}
	if options != nil {
		more = cmp.Or(more, ", undefined") + ", { " + strings.Join(options, ", ") + " }"
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil { // as of a number that is none, which fields refuse
		return "// " + err.Error() + "\n"
	}
	return head + "const run = await clipscope.train(" + quoted.ReplaceAllString(string(b), "$1$2:") + more + `);
const { epsilon, delta, test_accuracy, statement } = await run.done;
console.log(epsilon, delta, test_accuracy, statement.text);
`
}
