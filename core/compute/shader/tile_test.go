package shader

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestProductsRunOnTheTilesTheyAreMadeFor has the shapes of WEBGPU.md § 6 on tiles that are
// within reach of the best that was measured on a card.
func TestProductsRunOnTheTilesTheyAreMadeFor(t *testing.T) {
	for _, s := range []struct {
		m, n, k int
		many    int    // 0 for a product alone, which may have its terms shared
		want    string // entry points and their workgroups
	}{
		{4096, 4096, 4096, 0, "tile128[1024 1 1]"},
		{2048, 2048, 2048, 0, "tile128[256 1 1]"},
		{1024, 1024, 1024, 0, "tile64[256 1 1]"},
		{65536, 64, 576, 0, "tile64[1024 1 1]"},
		{4096, 128, 784, 0, "tile32[512 1 1]"},
		{4096, 784, 128, 0, "tile128[224 1 1]"},
		{128, 128, 784, 0, "tile16[64 1 1]"},
		{784, 128, 128, 0, "tile16[392 1 1]"},
		{128, 10, 128, 0, "tile16[8 1 1]"},
		{65536, 10, 64, 0, "tile16[4096 1 1]"}, // few columns: no tile six times as wide
		{64, 1, 1 << 20, 0, "tile16[4096 1 1] join[1 1 1]"},
		{64, 64, 8192, 0, "tile16[128 1 1] join[64 1 1]"},
		{64, 64, 1024, 0, "tile16[16 1 1]"},
		{1, 1, 0, 0, "tile16[1 1 1]"},
		{0, 5, 7, 0, ""}, {5, 0, 7, 0, ""},
		{5, 2_000_000, 3, 0, "tile16[62500 2 1]"}, // more than may stand side by side
		{577, 64, 1024, 64, "tile64[640 1 1]"},    // gradients of 64 rows
		{4609, 512, 16, 64, "tile64[37376 1 1]"},
		{577, 64, 1024, 4, "tile32[152 1 1]"},
		{25088, 16, 64, 1, "tile32[784 1 1]"},
	} {
		var c Call
		if s.many == 0 {
			c.Product(s.m, s.n, s.k)
		} else {
			c.Tiles(s.m, s.n, s.many)
		}
		if got := stages(c); got != s.want {
			t.Errorf("%d×%d, %d terms, %d times: %s, want %s", s.m, s.n, s.k, s.many, got, s.want)
		}
	}
}

// stages lists a call's entry points with their workgroups.
func stages(c Call) string {
	var all []string
	for _, s := range c.Stages {
		all = append(all, fmt.Sprint(s.Entry, s.Groups))
	}
	return strings.Join(all, " ")
}

// TestSumsOfManyBlocksOccupyTheGPU: blocks of terms have workgroups of their own where the tiles are few, the blocks many, and what is
// kept apart fits beside.
func TestSumsOfManyBlocksOccupyTheGPU(t *testing.T) {
	for _, s := range []struct {
		m, n, terms int
		want        string
	}{
		{784, 128, 128, "tile32[100 1 1]"},
		{784, 128, 768, "tile32[100 1 1]"},
		{784, 128, 769, "tile32[400 1 1] join[1568 1 1]"},
		{784, 128, 4096, "tile64[416 1 1] join[1568 1 1]"},
		{784, 128, 5120, "tile64[520 1 1] join[1568 1 1]"}, // two megawords
		{784, 128, 6000, "tile32[100 1 1]"},
		{128, 10, 4096, "tile32[64 1 1] join[20 1 1]"},
		{2048, 2048, 4096, "tile64[1024 1 1]"},
		{784, 128, 0, "tile32[100 1 1]"},
	} {
		var c Call
		c.SumTiles(s.m, s.n, s.terms)
		if got := stages(c); got != s.want || c.Space > mostApart || (c.F[1] != 0) != (c.Space > 0) {
			t.Errorf("%d×%d, %d terms: %s, and %d words, want %s", s.m, s.n, s.terms, got, c.Space, s.want)
		}
	}
}

// TestPiecesApartTakeLittleRoom: the sums of pieces are two megawords, or an eighth of the operands.
func TestPiecesApartTakeLittleRoom(t *testing.T) {
	for m := 1; m < 2000; m = m*3/2 + 1 {
		for n := 1; n < 2000; n = n*3/2 + 1 {
			for k := 1; k < math.MaxInt32/2000/4; k = k*3 + 1 {
				var c Call
				c.Product(m, n, k)
				if most := max(mostApart, (m+n)*k/8); c.Space > most || (c.Space > 0) != (len(c.Stages) == 2) || (c.F[1] != 0) != (c.Space > 0) {
					t.Fatalf("%d×%d, %d terms: %d words, at most %d; %v", m, n, k, c.Space, most, c.Stages)
				}
			}
		}
	}
}
