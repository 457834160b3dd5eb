// Package check examines the privacy claims of files that the page wrote. It reads a
// file's claims, has today's accountants work out ε again from the file's events, and says
// what agrees, what differs and what cannot be checked.
//
// Guarantee: none is given by a verdict. A file's events and claims can be changed together,
// and no check of the file shows that, nor whether events are what happened. Every verdict
// says so.
package check

import (
	"fmt"
	"slices"
	"strings"

	"clipscope/core/run"
)

// Check examines a file of that name. An error says that the file is none of the page's, or
// is damaged, and what is wrong. The work is bounded whatever the file holds: some seconds of
// accounting beside the reading.
func Check(name string, b []byte) (run.Verdict, error) {
	c, err := readFile(b)
	if err != nil {
		return run.Verdict{}, fmt.Errorf("check: %w", err)
	}
	v := run.Verdict{File: name, Kind: c.kind, Program: c.program, Findings: []run.Finding{}, Unknown: []string{}}
	if c.bare == "" {
		j := judge{claims: c}
		j.all()
		v.Findings, v.Unknown = append(v.Findings, j.findings...), j.unknown()
	}
	slices.SortStableFunc(v.Findings, func(a, b run.Finding) int { return rank[a.Verdict] - rank[b.Verdict] })
	v.Verdict, v.Text = sum(c, v.Findings)
	return v, nil
}

// rank orders findings: what differs is read first.
var rank = map[string]int{run.Differs: 0, run.Unchecked: 1, run.Agrees: 2}

// sum is the verdict on all findings, in words.
func sum(c *claims, findings []run.Finding) (verdict, text string) {
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
	if k := n[run.Unchecked]; k > 0 {
		rest = fmt.Sprintf(" %d cannot be checked.", k)
	}
	const most = 4
	switch {
	case len(differ) > most:
		return run.Differs, fmt.Sprintf("%d claims differ: %s and others. Do not rely on this file.%s", len(differ), strings.Join(differ[:most], ", "), rest)
	case len(differ) == 1:
		return run.Differs, fmt.Sprintf("1 claim differs: %s. Do not rely on this file.%s", differ[0], rest)
	case len(differ) > 0:
		return run.Differs, fmt.Sprintf("%d claims differ: %s. Do not rely on this file.%s", len(differ), strings.Join(differ, ", "), rest)
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
