package table

import "testing"

// TestFlag: a cell says yes or no in one of few notations, and nothing near them is taken for one.
func TestFlag(t *testing.T) {
	for _, signed := range []bool{false, true} {
		no := map[bool][]string{false: {"0", "-0", "0.0", "0,0", "0.", ".0", "+0", "00"}, true: {"-1", "-1.0", "-1,00"}}
		for _, s := range append(no[signed], "false", "FALSE", "False") {
			if y, ok := Flag(s, signed); !ok || y != 0 {
				t.Errorf("%q, signed %v: %v, %v, want no", s, signed, y, ok)
			}
		}
		for _, s := range []string{"1", "+1", "1.0", "1,0", "1.00", "01", "true", "TRUE"} {
			if y, ok := Flag(s, signed); !ok || y != 1 {
				t.Errorf("%q, signed %v: %v, %v, want yes", s, signed, y, ok)
			}
		}
		for _, s := range append(no[!signed][:1], "", "2", "0.5", "0.1", "10", "11", "1,000", "1.000", "0,000", "1e0", "0x1", "yes", "no", "t", "NaN", "inf", "1.0.0", "1,0.0", "--1", "1-", "-", ".", "100%", " 1", "１", "1.0000001", "1.1", "-0.1") {
			if y, ok := Flag(s, signed); ok {
				t.Errorf("%q, signed %v, is read as %v", s, signed, y)
			}
		}
	}
}
