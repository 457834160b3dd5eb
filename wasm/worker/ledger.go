package worker

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// The requests of the ledger. The page stores the entries, as only it outlives a
// run; what they come to is worked out here.
//
//	digest [DigestRequest] → reply: [DigestReply], about the open files
//	spent  [SpentRequest]  → reply: [SpentReply]
const (
	Digest = "digest"
	Spent  = "spent"
)

// DigestRequest asks for the names of the open data in the ledger.
type DigestRequest struct {
	Salt string `json:"salt"` // hexadecimal, 16 bytes at least; it never leaves the device
}

// DigestReply has the names that the data goes by: its training rows as they
// were read, and the content of each file that they came from, as the same file
// can be read in many ways, split otherwise, or joined with others. Data sets
// with a name in common are one.
type DigestReply struct {
	Names []string `json:"names"`
}

func (s *Session) digest(q DigestRequest) (any, error) {
	salt, err := hex.DecodeString(q.Salt)
	if err != nil {
		return nil, fmt.Errorf("worker: the ledger's salt: %w", err)
	}
	if s.open == nil || len(s.files) == 0 {
		return nil, errors.New("worker: no files are open: built-in data are public and have no ledger")
	}
	if s.names != nil && s.salt == q.Salt {
		return DigestReply{s.names}, nil
	}
	rows, name, err := privacy.Digest(salt)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if err := data.WriteRows(rows, s.open); err != nil {
		return nil, fmt.Errorf("worker: naming the data for the ledger: %w", err)
	}
	names := []string{name()}
	for _, f := range s.files {
		name, err := digestFile(f, salt)
		if err != nil {
			return nil, fmt.Errorf("worker: naming %s for the ledger: %w", f.Name(), err)
		}
		names = append(names, name)
	}
	s.names, s.salt = names, q.Salt
	return DigestReply{names}, nil
}

// digestFile names a file by its content, compressed or not.
func digestFile(f data.File, salt []byte) (name string, err error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	hash, sum, err := privacy.Digest(salt)
	if err != nil {
		return "", err
	}
	buffered := bufio.NewReaderSize(r, 1<<16)
	var content io.Reader = buffered
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
		if content, err = gzip.NewReader(buffered); err != nil {
			return "", err
		}
	}
	if _, err := io.Copy(hash, content); err != nil {
		return "", err
	}
	return sum(), nil
}

// Record is one run as the page stores it.
type Record struct {
	Names []string      `json:"names"` // of its data
	Entry privacy.Entry `json:"entry"`
}

// SpentRequest asks what a data set has cost.
type SpentRequest struct {
	Records     []Record `json:"records"` // of all data sets
	Names       []string `json:"names"`   // of the one in question
	TargetDelta float64  `json:"target_delta"`
	Accountant  string   `json:"accountant"` // empty: the preferred one
	// Next is what a coming run would be charged; nil: none is coming.
	Next *privacy.Entry `json:"next"`
}

// SpentReply is ε at one δ of everything charged to a data set.
//
// Guarantee: an upper bound on what its runs have released, provided that every
// run is among the records with all the steps that it was planned for.
type SpentReply struct {
	Runs        []string   `json:"runs"`        // the names of its runs
	Open        int        `json:"open"`        // running, or ended without notice
	Unprotected int        `json:"unprotected"` // without a guarantee; the total does not cover them
	Epsilon     run.Number `json:"epsilon"`
	Delta       float64    `json:"delta"`
	// NextEpsilon is ε with the coming run; +Inf where that one carries no
	// guarantee.
	NextEpsilon *run.Number `json:"next_epsilon,omitempty"`
	Text        string      `json:"text"` // the same in a sentence, for statements
}

func spent(q SpentRequest) (any, error) {
	reply := SpentReply{Runs: []string{}, Delta: q.TargetDelta}
	var entries []privacy.Entry
	for _, r := range sameData(q.Records, q.Names) {
		reply.Runs = append(reply.Runs, r.Entry.Run)
		entries = append(entries, r.Entry)
	}
	total, err := privacy.NewTotal(accountant(q.Accountant), q.TargetDelta, entries)
	if err != nil {
		return nil, err
	}
	reply.Open, reply.Unprotected, reply.Epsilon = total.Open, total.Unprotected, run.Number(total.Epsilon)
	reply.Text = spentText(total)
	if q.Next != nil {
		e, err := withNext(q, entries)
		if err != nil {
			return nil, err
		}
		reply.NextEpsilon = &e
	}
	return reply, nil
}

// withNext is ε with the coming run: without a guarantee it may tell anything.
func withNext(q SpentRequest, entries []privacy.Entry) (run.Number, error) {
	if q.Next.Unprotected {
		return run.Number(math.Inf(1)), nil
	}
	t, err := privacy.NewTotal(accountant(q.Accountant), q.TargetDelta, append(entries, *q.Next))
	return run.Number(t.Epsilon), err
}

// sameData are the records that have a name in common with names, or with one
// another that has, and so on.
func sameData(records []Record, names []string) []Record {
	known := map[string]bool{}
	for _, n := range names {
		known[n] = true
	}
	rest := slices.Clone(records)
	var same []Record
	for {
		n := len(rest)
		rest = slices.DeleteFunc(rest, func(r Record) bool {
			if !slices.ContainsFunc(r.Names, func(name string) bool { return known[name] }) {
				return false
			}
			for _, name := range r.Names {
				known[name] = true
			}
			same = append(same, r)
			return true
		})
		if len(rest) == n {
			return same
		}
	}
}

func spentText(t privacy.Total) string {
	if t.Runs == 0 {
		return "Nothing has been spent on this data set on this device."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "On this device, this data set has spent ε = %s at δ = %s in %s so far, each charged for all of its planned steps.",
		run.UpText(t.Epsilon, 4), run.UpText(t.Delta, 3), plural(t.Runs, "run"))
	if t.Open > 0 {
		fmt.Fprintf(&b, " %s not ended, or ended without notice.", has(t.Open))
	}
	if t.Unprotected > 0 {
		fmt.Fprintf(&b, " %s no guarantee; the total does not cover what such a run tells.", carry(t.Unprotected))
	}
	return b.String()
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func has(n int) string {
	if n == 1 {
		return "1 of them has"
	}
	return fmt.Sprintf("%d of them have", n)
}

func carry(n int) string {
	if n == 1 {
		return "1 of them carries"
	}
	return fmt.Sprintf("%d of them carry", n)
}
