package shader

import "clipscope/core/compute"

// tile is a way to share a product among workgroups. All add up each result in the same
// order (tile.wgsl), so the choice among them may follow the number of rows: no bit of a
// row depends on it.
type tile struct {
	entry  string
	size   int // rows and columns of the results that a workgroup has
	pieces int // of the terms that it takes side by side
	least  int // workgroups below which a smaller tile is taken
}

// tiles holds the tiles, the largest first. A large tile reads least, and needs enough of
// its kind to occupy a GPU of some 130 processors.
var tiles = []tile{{"tile128", 128, 1, 132}, {"tile64", 64, 1, 192}, {"tile32", 32, 4, 132}, {"tile16", 16, 16, 0}}

const (
	// pieceTerms is the number of terms that are added up before they join the others.
	pieceTerms = 64
	// fewGroups is the number of workgroups below which pieces are kept apart.
	fewGroups = 64
	// manyGroups is the number from which sharing a sum among more of them gains nothing (WEBGPU.md § 6).
	manyGroups = 264
	// fewBlocks is the number of blocks below which to keep them apart gains less than one more command costs.
	fewBlocks = 4
	// mostApart bounds the words that are kept apart beside small operands (see package webgpu's heap).
	mostApart = 2 << 20
)

// groups returns the number of workgroups for results [m×n].
func (t tile) groups(m, n int) int { return Per(n, t.size) * Per(m, t.size) }

// tileFor returns the tile, of some, for so many results [m×n]: the largest of which there are enough
// and that is not far wider than the results, or else the last.
func tileFor(some []tile, m, n, many int) tile {
	for _, t := range some {
		if t.size < 2*min(m, n) && many*t.groups(m, n) >= t.least {
			return t
		}
	}
	return some[len(some)-1]
}

// Tiles runs the program of so many products side by side, each with results [m×n], in one of the
// two tiles that all programs have: with all four, a ResNet's convolutions would take a dozen
// programs. Programs find a workgroup's spot from its number alone, so that there may
// be more of them than may stand side by side.
func (c *Call) Tiles(m, n, many int) {
	t := tileFor(tiles[1:3], m, n, many)
	c.Run(t.entry, many*t.groups(m, n))
}

// Product runs the program of a product with results [m×n] and k terms. F[1] says that
// workgroups store the sums of each piece, which join adds up.
func (c *Call) Product(m, n, k int) {
	t := tileFor(tiles, m, n, 1)
	rounds := t.apart(m, n, k)
	if rounds > 1 {
		c.Space, c.F[1] = Per(k, pieceTerms)*m*n, 1
	}
	c.Run(t.entry, rounds*t.groups(m, n))
	if rounds > 1 {
		c.Run("join", Per(m*n, 64))
	}
}

// SumTiles runs the program of a product with results [m×n] that are added to sums, in blocks of terms. F[1] says that each
// block has workgroups of its own, which store what they add up, and that join adds these to the sums.
func (c *Call) SumTiles(m, n, terms int) {
	t := tileFor(tiles[1:3], m, n, 1)
	blocks := Per(terms, compute.BlockRows)
	if blocks < fewBlocks || t.groups(m, n) >= manyGroups || blocks*m*n > mostApart {
		c.Run(t.entry, t.groups(m, n))
		return
	}
	t = tileFor(tiles[1:3], m, n, blocks)
	c.Space, c.F[1] = blocks*m*n, 1
	c.Run(t.entry, blocks*t.groups(m, n))
	c.Run("join", Per(m*n, 64))
}

// apart returns the number of workgroups that share the terms of a tile: one for each round
// of pieces where there are few tiles, many terms, and little to store beside what is read,
// else 1.
func (t tile) apart(m, n, k int) int {
	rounds := Per(k, pieceTerms*t.pieces)
	if sums := Per(k, pieceTerms) * m * n; t.groups(m, n) >= fewGroups || rounds < 4 || rounds > MostGroups || sums > max(mostApart, (m+n)*k/8) {
		return 1
	}
	return rounds
}
