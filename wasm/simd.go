//go:build js && wasm

package wasm

import (
	"fmt"

	"clipscope/core/compute"
	"clipscope/core/compute/simd"
	"clipscope/core/run"
)

// threads returns the number of threads that a configuration asks for, whether it leaves them to us,
// and what its owner must know where there is but one.
func threads(c run.Config) (n int, fair bool, warnings []run.Warning) {
	cores, alone := simd.Cores()
	n = c.Threads
	if n == 0 {
		n, fair = cores, true
	}
	if n > 1 && alone != "" {
		warnings = []run.Warning{{Field: "threads", Message: fmt.Sprintf("One thread instead of %d: %s.", n, alone)}}
	}
	return n, fair, warnings
}

// openSIMD has n threads share calls. A thread that cannot be started is a note, and
// not an error: the run takes longer, and is the same to the bit.
func openSIMD(n int, fair, warned bool) func() (compute.Backend, string, error) {
	return func() (compute.Backend, string, error) {
		note := ""
		if got, why := simd.Share(n, fair); got < n && !warned {
			note = fmt.Sprintf("%d of %d threads: %s.", got, n, why)
		}
		be, err := simd.New()
		if err != nil {
			return nil, "", err // not a nil pointer in an interface
		}
		return be, note, nil
	}
}
