package train

import "clipscope/core/data/source"

// reading counts what is read of files, over both passes and all files. Its share only grows.
type reading struct {
	source.Progress
	Share float64 // of the whole, 0 to 1

	before  int64 // bytes of the pass's files before the one under way
	scanned int64 // bytes that the first pass had; 0: there was none
}

// add takes what the reader of files says. The first pass of two is half of the whole. How many bytes
// further files have is not known in it, so that it may rest where it is.
func (g *reading) add(p source.Progress) {
	switch {
	case p.Phase != g.Phase:
		if g.Phase == source.PhaseScan {
			g.scanned = g.before + g.Total
		}
		g.before = 0
	case p.File != g.File:
		g.before += g.Total
	}
	g.Progress = p
	all := max(g.before+p.Total, 1)
	if p.Phase == source.PhaseRead {
		all = max(all, g.scanned)
	}
	share := float64(g.before+p.Done) / float64(all)
	switch {
	case p.Phase == source.PhaseScan:
		share /= 2
	case g.scanned > 0:
		share = 0.5 + share/2
	}
	g.Share = max(g.Share, min(share, 1))
}
