package worker

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// planning is a session whose planner is the real one.
func planning(t *testing.T) *Session {
	p := newPage(t, func(c run.Config, m data.Meta) (Planned, error) {
		_, err := plan.New(c, m)
		return &fake{steps: 1}, err
	}, func(h *Host) { h.Builtin = builtin.Make })
	return p.s
}

// TestMessagesAreShort: however long what was sent is, what is said of it can be
// read, and says at its end what to do.
func TestMessagesAreShort(t *testing.T) {
	s := planning(t)
	long := strings.Repeat("é%n ", 30_000)
	quoted, _ := json.Marshal(long)
	number := "1" + strings.Repeat("0", 100_000) + ".5"
	plans := []string{`"csv":{"columns":{%s:1}}`, `"csv":{%s:1,"buckets":%[1]s}`, `"model":{"kind":%s}`, `"model":{"hidden":%s}`,
		`"model":{"kind":"mlp","activation":%s}`, `"scaling":{"kind":%s}`, `%s:1`, `"start":{"sha256":%s}`, `"start":{"file":%s,"sha256":"` + strings.Repeat("a", 64) + `"}`, `%s:"x"`, `"steps":` + number, `"csv":{"bounds":{"a":{"lo":%s}}}`}
	for _, field := range []string{"data", "method", "weight", "threshold", "grouping", "accountant", "noise_mode", "optimizer", "iterate", "backend", "steps", "seed", "blind", "csv"} {
		plans = append(plans, `"`+field+`":%s`)
	}
	requests := map[string][]string{
		Open: {`{"data":%s}`}, Epsilon: {`{"sample_rate":0.1,"noise_multiplier":1,"steps":1,"target_delta":1e-5,"accountant":%s}`, `{"steps":` + number + `}`, `{"accountant":{%s:1}}`, `[%s`},
		Curve: {`{"over":%s}`}, Limit: {`{"epsilon":%s}`}, long: {`{}`}, Enter: {`{"plan":%s}`},
	}
	for _, body := range plans {
		requests[Plan] = append(requests[Plan], `{"config":{`+body+`}}`)
	}
	for kind, bodies := range requests {
		for _, body := range bodies {
			if strings.Contains(body, "%") {
				body = fmt.Sprintf(body, quoted)
			}
			_, err := s.answer(t.Context(), Request{Message: run.Message{Type: kind, ID: 1, Text: body}})
			if err == nil {
				t.Errorf("%.20s %.60s…: no error", kind, body)
				continue
			}
			f := failure(err)
			text, _ := json.Marshal(f)
			if len(f.Message) > 1010 || len(text) > 4000 || !utf8.ValidString(f.Message) {
				t.Errorf("%.20s %.60s…: %d bytes, %d with details: %.200s", kind, body, len(f.Message), len(text), f.Message)
			}
			if long := err.Error(); len(long) > 1000 && !strings.HasSuffix(f.Message, long[len(long)-50:]) {
				t.Errorf("%.20s %.60s…: the end is lost: %s", kind, body, f.Message)
			}
		}
	}
}
