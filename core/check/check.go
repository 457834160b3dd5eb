// Package check examines the privacy claims of files that the page wrote. It reads a
// file's claims, has today's accountants work out ε again from the file's events, and says
// what agrees, what differs and what cannot be checked.
//
// Guarantee: none is given by a verdict. A file's events and claims can be changed together,
// and no check of the file shows that, nor whether events are what happened. Every verdict
// says so.
package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"clipscope/core/model"
	"clipscope/core/run"
)

// Check examines a file of that name. An error says that the file is none of the page's, or
// is damaged, and what is wrong. The accounting is bounded whatever the file holds: see
// mostWork. The verdict names the claims that this does not cover, and is then never
// [run.Agrees].
func Check(name string, b []byte) (run.Verdict, error) {
	v, _, err := examine(name, b, 1)
	return v, err
}

// examine is Check with a share of its budget. It also returns the work that was asked for.
func examine(name string, b []byte, share float64) (_ run.Verdict, asked float64, err error) {
	c, err := readFile(b)
	if err != nil {
		return run.Verdict{}, 0, fmt.Errorf("check: %w", err)
	}
	v := c.verdict(name)
	j := judge{claims: c, budget: budget{left: share * c.mostWork()}}
	if c.bare == "" {
		j.all()
		v.Findings, v.Unknown = append(v.Findings, j.findings...), j.unknown()
	}
	slices.SortStableFunc(v.Findings, func(a, b run.Finding) int { return rank[a.Verdict] - rank[b.Verdict] })
	v.Verdict, v.Text = sum(c, v.Findings, j.overBudget)
	if v.Verdict != run.Differs {
		v.Text += j.note
	}
	return v, j.requested, nil
}

// verdict returns a verdict without findings.
func (c *claims) verdict(name string) run.Verdict {
	return run.Verdict{File: name, Kind: c.kind, Program: c.program, Config: settings(c.config), Findings: []run.Finding{}, Unknown: []string{}}
}

// settings returns a file's configuration, or nil where it is longer than any link. The page
// would hang on the many parameters or columns of such a configuration.
func settings(c *run.Config) *run.Config {
	if c == nil {
		return nil
	}
	if b, err := json.Marshal(c); err != nil || len(b) > 4*run.MaxHash { // Hash takes much more memory
		return nil
	}
	if hash, err := c.Hash(); err != nil || len(hash) > run.MaxHash {
		return nil
	}
	return c
}

// MaxBytes returns the most bytes that a file may have which begins with head. What is larger is
// refused before it is read.
func MaxBytes(head []byte) int64 {
	if bytes.HasPrefix(head, []byte(zipMagic)) || isTensors(head) {
		return model.MaxBytes
	}
	return mostText
}

// rank orders findings: what differs is read first.
var rank = map[string]int{run.Differs: 0, run.Unchecked: 1, run.Agrees: 2}

// sum returns the verdict on all findings, in words; over are the claims that the budget did
// not cover.
func sum(c *claims, findings []run.Finding, over []string) (verdict, text string) {
	if c.bare != "" {
		return run.Unchecked, c.bare
	}
	n := map[string]int{}
	var differ []string
	open := false // ε itself
	for _, f := range findings {
		if n[f.Verdict]++; f.Verdict == run.Differs {
			differ = append(differ, f.Claim)
		}
		open = open || f.Verdict == run.Unchecked && strings.HasPrefix(f.Claim, "ε")
	}
	rest := ""
	if k := n[run.Unchecked] - len(over); k > 0 {
		rest = fmt.Sprintf(" %d cannot be checked.", k)
	}
	if len(over) > 0 {
		rest += fmt.Sprintf(" Not worked out, as %s: %s.", tooMuch, some(over))
	}
	switch {
	case len(differ) == 1:
		return run.Differs, fmt.Sprintf("1 claim differs: %s. Do not rely on this file.%s", differ[0], rest)
	case len(differ) > 0:
		return run.Differs, fmt.Sprintf("%d claims differ: %s. Do not rely on this file.%s", len(differ), some(differ), rest)
	case len(over) > 0 && n[run.Agrees] > 0:
		return run.Unchecked, fmt.Sprintf("The file cannot be checked in full. What was compared agrees: %s.%s", plural(n[run.Agrees], "claim"), rest)
	case len(over) > 0:
		return run.Unchecked, "The file cannot be checked." + rest
	case c.ledger != nil:
		return run.Unchecked, "The ledger names no total to compare with. What its runs come to was worked out from their events."
	case n[run.Agrees] == 0 && open:
		return run.Unchecked, "ε cannot be worked out in full from this file, and nothing else in it can be compared. The run’s saved model, or its statement as JSON, may say more."
	case n[run.Agrees] == 0:
		return run.Unchecked, "Nothing in this file can be worked out again."
	case open:
		return run.Unchecked, fmt.Sprintf("ε cannot be worked out from this file. What can be compared agrees: %s.", plural(n[run.Agrees], "claim"))
	case n[run.Agrees] == 1:
		return run.Agrees, "1 claim agrees, and none differs." + rest
	}
	return run.Agrees, fmt.Sprintf("%d claims agree, and none differs.%s", n[run.Agrees], rest)
}

// some joins the first few names of a list.
func some(names []string) string {
	const most = 4
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}
