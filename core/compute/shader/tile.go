package shader

import "slices"

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
)

// groups returns the number of workgroups across and down.
func (t tile) groups(m, n int) (across, down int) { return Per(n, t.size), Per(m, t.size) }

// tileFor returns the tile for results [m×n]: the largest of which there are enough and that is not
// far wider than the results.
func tileFor(m, n int) tile {
	for _, t := range tiles {
		across, down := t.groups(m, n)
		if t.size < 2*min(m, n) && across*down >= t.least {
			return t
		}
	}
	return tiles[len(tiles)-1]
}

// Product runs the program of a product with results [m×n] and k terms. F[1] says that
// workgroups store the sums of each piece, which join adds up.
func (c *Call) Product(m, n, k int) {
	t := tileFor(m, n)
	if across, down := t.groups(m, n); max(across, down) > MostGroups { // the smallest that may stand side by side
		i := slices.IndexFunc(tiles, func(t tile) bool { across, down := t.groups(m, n); return max(across, down) > MostGroups })
		t = tiles[max(i-1, 0)]
	}
	across, down := t.groups(m, n)
	if rounds := t.apart(m, n, k); rounds > 1 {
		c.Space, c.F[1] = Per(k, pieceTerms)*m*n, 1
		c.Run(t.entry, across, down, rounds)
		c.Run("join", Per(m*n, 64))
		return
	}
	c.Run(t.entry, across, down)
}

// apart returns the number of workgroups that share the terms of a tile: one for each round
// of pieces where there are few tiles, many terms, and little to store beside what is read,
// else 1.
func (t tile) apart(m, n, k int) int {
	across, down := t.groups(m, n)
	rounds := Per(k, pieceTerms*t.pieces)
	if sums := Per(k, pieceTerms) * m * n; across*down >= fewGroups || rounds < 4 || rounds > MostGroups || sums > max(1<<20, (m+n)*k/8) {
		return 1
	}
	return rounds
}
