package load_test

import (
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestSoundKnowsItsOwnFaults: a message may quote such text, not hold it else.
func TestSoundKnowsItsOwnFaults(t *testing.T) {
	loadtest.Sound(t, []source.File{source.Bytes("%!.csv", []byte("1,a\n2,b\n%!d,a\n"))}, nil, run.CSV{})
	loadtest.Sound(t, datatest.One("1,a\n2,b\n"), nil, run.CSV{Label: "%!"})
	if !loadtest.HoldsBadVerb(source.Bytes("t", datatest.GzipOf([]byte("%!d,a\n")))) || loadtest.HoldsBadVerb(source.Bytes("t", []byte("100%,!"))) {
		t.Error("the text of a file is not told from a message's own")
	}
}
