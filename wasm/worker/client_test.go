package worker

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"clipscope/core/run"
)

// The client must speak the version that this package does.
func TestClientSpeaksTheProtocol(t *testing.T) {
	b, err := os.ReadFile("../../web/clipscope.js")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`const PROTOCOL = (\d+);`).FindSubmatch(b)
	if m == nil || string(m[1]) != fmt.Sprint(run.ProtocolVersion) {
		t.Errorf("web/clipscope.js has %q, want version %d", m, run.ProtocolVersion)
	}
}
