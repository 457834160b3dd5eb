// Package link reads and writes the part after # of the pages' addresses: an experiment,
// or the laboratory's state. It is plain Go, so that the keeper of links (app/edge) holds
// them to what the pages would read.
package link

import (
	"errors"
	"fmt"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/form"
)

// ReadRun reads the configuration of a run as [run.ReadHash] does, and leaves out what the
// page has no such choice for as well. names are the first of what was left out, and more
// how many settings there are beyond those.
func ReadRun(hash string) (cfg run.Config, names []string, more int) {
	cfg, dropped := run.ReadHash(hash)
	return cfg, append(dropped.Keys, form.Understood(&cfg)...), dropped.More
}

// Longest is the most bytes that an address of [Canonical] may have.
const Longest = 8 << 10

// ErrLong is Canonical's error for a longer link.
var ErrLong = fmt.Errorf("link: longer than %d bytes", Longest)

// The pages whose addresses hold something.
const (
	Train = "/"
	Labor = "/lab/"
)

// Canonical takes the address of a page below the site's root, such as
// /#data=moons&seed=1 or /lab/#lab.c=0.3, and writes it as that page itself would: a page's
// path, a # and settings, in ASCII without spaces or controls, so that it can stand in a
// header. Its error names what is not understood, of which a page would leave out
// the settings; here nothing is.
//
// Guarantee: what is returned leads to a page of this site, and Canonical leaves it as it is.
func Canonical(address string) (string, error) {
	if len(address) > Longest {
		return "", ErrLong
	}
	page, hash, _ := strings.Cut(address, "#")
	read := canonicalRun
	switch page {
	case Train:
	case Labor:
		read = canonicalLab
	default:
		return "", fmt.Errorf("link: it begins with neither %s# nor %s#", Train, Labor)
	}
	if !strings.Contains(hash, "=") {
		return "", errors.New("link: there is no setting behind the #")
	}
	text, lost := read(hash)
	if len(lost) > 0 {
		return "", fmt.Errorf("link: not understood: %q", lost)
	}
	if text = page + "#" + text; len(text) > Longest {
		return "", ErrLong
	}
	return text, nil
}

// Leads reports whether address has the form of what [Canonical] returns, and so leads to a
// page of this site and can stand in a header, whatever its settings are.
func Leads(address string) bool {
	page, hash, _ := strings.Cut(address, "#")
	return (page == Train || page == Labor) && hash != "" && len(address) <= Longest &&
		!strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' })
}

func canonicalRun(hash string) (text string, lost []string) {
	cfg, lost, more := ReadRun(hash)
	if more > 0 {
		lost = append(lost, "…")
	}
	text, err := cfg.Hash()
	if len(lost) == 0 && (err != nil || text == "") {
		lost = append(lost, hash)
	}
	return text, lost
}

func canonicalLab(hash string) (text string, lost []string) {
	s, lost := ReadLab(hash)
	return s.Hash(), lost
}
