package headers

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Self is this site itself, among the origins that may frame it.
const Self = "'self'"

// MostFrames limits the origins that [ParseFrames] takes: beside the policy that makes a header
// of some 2 KB, which every host sends.
const MostFrames = 16

// host matches a name as browsers write it in an origin: lower case, punycode, no dot at
// its end.
var host = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// number matches a name that browsers take for an address: its last part is a number.
var number = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)

// ParseFrames reads a list of origins, parted by spaces, whose pages may show this site in
// a frame: https://name or https://name:port, http://localhost:port or
// http://127.0.0.1:port for trying, and self, in quotes or without. One that stands there
// twice is taken once; an empty text is an empty list. Errors name the origin, and say how
// it should be written.
//
// Guarantee: what is returned are single origins as browsers write them, none a pattern and
// none of plain http but this machine's, and no text of it ends the directive, the
// header or the attribute that it is put into.
func ParseFrames(text string) ([]string, error) {
	var list []string
	for f := range strings.FieldsSeq(text) {
		origin, err := parseFrame(f)
		if err != nil {
			return nil, fmt.Errorf("headers: frames: %.100q: %w", f, err)
		}
		if !slices.Contains(list, origin) {
			list = append(list, origin)
		}
	}
	if len(list) > MostFrames {
		return nil, fmt.Errorf("headers: frames: there are %d origins, and %d at most can be named", len(list), MostFrames)
	}
	return list, nil
}

func parseFrame(text string) (string, error) {
	if text == "self" || text == Self {
		return Self, nil
	}
	if strings.Contains(text, "*") {
		return "", errors.New("name each origin in full: a pattern would let pages in that nobody has named")
	}
	scheme, rest, found := strings.Cut(text, "://")
	name, port, numbered := strings.Cut(rest, ":")
	if !found || !host.MatchString(name) || len(name) > 253 {
		return "", errors.New("an origin is https:// and a name in lower case, perhaps with a port, and nothing behind: https://example.org")
	}
	here := name == "localhost" || name == "127.0.0.1"
	if number.MatchString(name) && !here {
		return "", errors.New("policies know names and not addresses, but for 127.0.0.1")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if numbered && (err != nil || n == 0 || strconv.FormatUint(n, 10) != port) {
		return "", errors.New("a port is a number from 1 to 65535")
	}
	switch {
	case scheme == "https" && n == 443 || scheme == "http" && n == 80:
		return "", errors.New("browsers leave the port out where it is the scheme's own: write it without")
	case scheme == "https", scheme == "http" && here && numbered:
		return text, nil
	case scheme == "http" && here:
		return "", errors.New("this machine's own pages are named with their port, such as http://localhost:8000")
	}
	return "", errors.New("only https is safe from who is on the way; http is for localhost and 127.0.0.1 alone")
}
