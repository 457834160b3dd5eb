package train

import (
	"fmt"
	"testing"

	"clipscope/core/run"
)

// TestAnInvitationIsReadAsALinkIs: whoever made the room may have written anything.
func TestAnInvitationIsReadAsALinkIs(t *testing.T) {
	s := New(&fakeClient{})
	own := s.exp.cfg.Data
	hostile := run.Config{Method: "<img src=x>", Optimizer: "none of ours", Data: "elsewhere", Steps: 17, Params: map[string]float64{}, Together: run.Together{Parties: 3}}
	for i := range 20 {
		hostile.Params[fmt.Sprint("p", i)] = 1
	}
	s.takeAgreed(hostile)
	c := s.exp.cfg
	if len(c.Params) > 0 || c.Method == hostile.Method || c.Optimizer == hostile.Optimizer || c.Data != own {
		t.Errorf("the page takes method %q, optimizer %q, data %q and %d parameters", c.Method, c.Optimizer, c.Data, len(c.Params))
	}
	if c.Steps != 17 || c.Together.Parties != 3 || s.address.lost == "" {
		t.Errorf("of what is understood the page takes %d steps and %d parties, and says %q", c.Steps, c.Together.Parties, s.address.lost)
	}
}
