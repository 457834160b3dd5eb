package run

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// Number is a float64 that survives JSON: NaN is null, the infinities are the
// strings "Infinity" and "-Infinity".
type Number float64

func (n Number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsNaN(f):
		return []byte("null"), nil
	case math.IsInf(f, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
	}
}

func (n *Number) UnmarshalJSON(b []byte) error {
	switch s := string(bytes.Trim(b, `"`)); s {
	case "null":
		*n = Number(math.NaN())
	case "Infinity", "-Infinity":
		*n = Number(math.Inf(map[bool]int{true: 1, false: -1}[s[0] == 'I']))
	default:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("run: number %q: %w", s, err)
		}
		*n = Number(f)
	}
	return nil
}
