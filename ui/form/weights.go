package form

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// formatByName writes numbers by name, such as ham: 1; spam: 5. A name that could be read otherwise is quoted.
func formatByName(m map[string]float64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if strings.ContainsAny(name, `;:"\`) || name != strings.TrimSpace(name) || name == "" {
			parts = append(parts, strconv.Quote(name)+": "+Format(m[name]))
			continue
		}
		parts = append(parts, name+": "+Format(m[name]))
	}
	return strings.Join(parts, "; ")
}

// parseByName reads what formatByName writes. A name twice is refused.
func parseByName(s string) (map[string]float64, error) {
	m := map[string]float64{}
	for s = strings.TrimSpace(s); s != ""; {
		name, rest, err := cutName(s)
		if err != nil {
			return nil, err
		}
		number, next, _ := strings.Cut(rest, ";")
		v, err := Parse(strings.TrimSpace(number))
		if err != nil {
			return nil, err
		}
		if _, twice := m[name]; twice {
			return nil, fmt.Errorf("“%s” stands here twice", name)
		}
		m[name], s = v, strings.TrimSpace(next)
	}
	return m, nil
}

// cutName takes a name and the colon behind it off s.
func cutName(s string) (name, rest string, err error) {
	ok := false
	if s[0] == '"' {
		quoted, _ := strconv.QuotedPrefix(s) // "" where there is none, and then no colon follows
		name, _ = strconv.Unquote(quoted)
		rest, ok = strings.CutPrefix(strings.TrimSpace(s[len(quoted):]), ":")
	} else {
		name, rest, ok = strings.Cut(s, ":")
		name = strings.TrimSpace(name)
		ok = ok && name != ""
	}
	if !ok {
		return "", "", fmt.Errorf("“%s” is no name and a number; write for example ham: 1; spam: 5", s)
	}
	return name, rest, nil
}
