package clip

import "fmt"

// fits says what keeps numbers from being a snapshot of so many, the first few of
// which are thresholds.
func fits(snapshot []float64, thresholds, n int) error {
	if len(snapshot) != n {
		return fmt.Errorf("clip: %d numbers are no state of this threshold rule, which has %d", len(snapshot), n)
	}
	for _, c := range snapshot[:thresholds] {
		if !(c >= MinThreshold && c <= MaxThreshold) {
			return fmt.Errorf("clip: a threshold of %v is not in %g … %g", c, MinThreshold, MaxThreshold)
		}
	}
	return nil
}

// fitsShare is fits for a threshold and a share.
func fitsShare(snapshot []float64) error {
	if err := fits(snapshot, 1, 2); err != nil {
		return err
	}
	if share := snapshot[1]; share < 0 || share > 1 { // of a sum that is not finite, NaN
		return fmt.Errorf("clip: a share of %v is not in 0 … 1", share)
	}
	return nil
}
