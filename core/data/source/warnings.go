package source

import (
	"fmt"
	"slices"
)

// warnings collects the warnings for the owner, by kind, in the order of the first of each kind.
type warnings []note

// note holds all warnings of one kind: of one format string. A table can cause thousands; a few show the
// fault.
type note struct {
	kind  string
	texts []string
	more  int // warnings that are counted only
}

const mostAlike = 5 // warnings of a kind that are shown

func (w *warnings) add(format string, args ...any) {
	i := slices.IndexFunc(*w, func(n note) bool { return n.kind == format })
	if i < 0 {
		i = len(*w)
		*w = append(*w, note{kind: format})
	}
	n := &(*w)[i]
	if len(n.texts) == mostAlike {
		n.more++
		return
	}
	n.texts = append(n.texts, fmt.Sprintf(format, args...))
}

func (w warnings) texts() (all []string) {
	for _, n := range w {
		all = append(all, n.texts...)
		if n.more > 0 {
			all = append(all, fmt.Sprintf("And %d more like the one before.", n.more))
		}
	}
	return all
}
