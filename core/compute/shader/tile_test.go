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
		want    string // entry points and their workgroups
	}{
		{4096, 4096, 4096, "tile128[32 32 1]"},
		{2048, 2048, 2048, "tile128[16 16 1]"},
		{1024, 1024, 1024, "tile64[16 16 1]"},
		{65536, 64, 576, "tile64[1 1024 1]"},
		{4096, 128, 784, "tile32[4 128 1]"},
		{4096, 784, 128, "tile128[7 32 1]"},
		{128, 128, 784, "tile16[8 8 1]"},
		{784, 128, 128, "tile16[8 49 1]"},
		{128, 10, 128, "tile16[1 8 1]"},
		{65536, 10, 64, "tile16[1 4096 1]"}, // few columns: no tile six times as wide
		{64, 1, 1 << 20, "tile16[1 4 1024] join[1 1 1]"},
		{64, 64, 8192, "tile16[4 4 8] join[64 1 1]"},
		{64, 64, 1024, "tile16[4 4 1]"},
		{1, 1, 0, "tile16[1 1 1]"},
		{0, 5, 7, ""}, {5, 0, 7, ""},
		{5, 2_000_000, 3, "tile32[62500 1 1]"}, // more of 16 than may stand side by side
	} {
		var c Call
		c.Product(s.m, s.n, s.k)
		var got []string
		for _, g := range c.Stages {
			got = append(got, fmt.Sprint(g.Entry, g.Groups))
		}
		if got := strings.Join(got, " "); got != s.want {
			t.Errorf("%d×%d, %d terms: %s, want %s", s.m, s.n, s.k, got, s.want)
		}
	}
}

// TestPiecesApartTakeLittleRoom: the sums of pieces are a megaword, or an eighth of the operands.
func TestPiecesApartTakeLittleRoom(t *testing.T) {
	for m := 1; m < 2000; m = m*3/2 + 1 {
		for n := 1; n < 2000; n = n*3/2 + 1 {
			for k := 1; k < math.MaxInt32/2000/4; k = k*3 + 1 {
				var c Call
				c.Product(m, n, k)
				if most := max(1<<20, (m+n)*k/8); c.Space > most || (c.Space > 0) != (len(c.Stages) == 2) || (c.F[1] != 0) != (c.Space > 0) {
					t.Fatalf("%d×%d, %d terms: %d words, at most %d; %v", m, n, k, c.Space, most, c.Stages)
				}
			}
		}
	}
}
