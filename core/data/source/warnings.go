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
	doubt bool // the owner alone can tell whether what was decided is right
	texts []string
	more  int // warnings that are counted only
}

const mostAlike = 5 // warnings of a kind that are shown

func (w *warnings) add(doubt bool, format string, args ...any) {
	i := slices.IndexFunc(*w, func(n note) bool { return n.kind == format })
	if i < 0 {
		i = len(*w)
		*w = append(*w, note{kind: format, doubt: doubt})
	}
	n := &(*w)[i]
	if len(n.texts) == mostAlike {
		n.more++
		return
	}
	n.texts = append(n.texts, fmt.Sprintf(format, args...))
}

// texts returns the warnings, and which of them are doubts.
func (w warnings) texts() (all, doubts []string) {
	for _, n := range w {
		if n.doubt {
			doubts = append(doubts, n.texts...)
		}
		all = append(all, n.texts...)
		if n.more > 0 {
			all = append(all, fmt.Sprintf("And %d more like the one before.", n.more))
		}
	}
	return all, doubts
}
