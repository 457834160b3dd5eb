// Package script writes a configuration as a program: for the page's own API, and for the
// libraries of others where they have all of it.
package script

import (
	"encoding/json"
	"regexp"

	"clipscope/core/run"
	"clipscope/ui/form"
)

// quoted are the keys of JSON that JavaScript takes without marks.
var quoted = regexp.MustCompile(`(?m)^(\s*)"(\w+)":`)

// JavaScript is a program for the page's console. What the configuration leaves out follows from the
// data there as it does here.
func JavaScript(c run.Config) string {
	head, data := "", ""
	if c.Data == form.Files {
		c.Data, data = "", ", { train: [file] }"
		head = "// file is a File: the table, or the archive of pictures, that the run is trained on.\n"
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil { // as of a number that is none, which fields refuse
		return "// " + err.Error() + "\n"
	}
	return head + "const run = await clipscope.train(" + quoted.ReplaceAllString(string(b), "$1$2:") + data + `);
const { epsilon, delta, test_accuracy, statement } = await run.done;
console.log(epsilon, delta, test_accuracy, statement.text);
`
}
