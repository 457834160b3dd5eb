package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// tokens is the walk of strict by the tokens of package json, which take their time.
func tokens(d *json.Decoder, depth int) error {
	t, err := d.Token()
	if delim, ok := t.(json.Delim); err != nil || !ok {
		return err
	} else if depth > deepest {
		return errors.New("nested")
	} else {
		keys := map[string]bool{}
		for d.More() {
			if delim == '{' {
				t, err := d.Token()
				if err != nil {
					return err
				}
				key := strings.ToLower(t.(string))
				if keys[key] {
					return errors.New("stands twice")
				}
				keys[key] = true
			}
			if err := tokens(d, depth+1); err != nil {
				return err
			}
		}
	}
	_, err = d.Token()
	return err
}

// TestStrictReadsAsJSON: strict refuses what package json refuses, keys that stand twice, in
// whatever case and however they are written, and what nests deeply, and nothing else.
func TestStrictReadsAsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 37))
	parts := []string{"{", "{", "}", "}", "[", "]", ",", ",", ":", ":", " ", "\n", "1", "-2.5e3", "null", "true", `""`, `"a"`, `"A"`, `"\u0061"`, `"b"`, `"\""`, `"\\"`, `"{"`, `"é"`, "\"\xff\"", "x", `"a":1`, `"b":[]`, `"c":{}`, `"parameters":[1]`}
	sound, twice := 0, 0
	for range 100_000 {
		var b []byte
		for range 1 + rng.IntN(9) {
			b = append(b, parts[rng.IntN(len(parts))]...)
		}
		if rng.IntN(2) == 0 {
			b = append(append([]byte("{"), b...), '}')
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		want := tokens(d, 0)
		if want == nil && !json.Valid(b) {
			want = errors.New("something follows")
		}
		got := strict(b)
		if (got == nil) != (want == nil) {
			t.Fatalf("%q: %v, want %v", b, got, want)
		}
		if got == nil {
			sound++
		}
		if want != nil && strings.Contains(want.Error(), "twice") {
			if twice++; !strings.Contains(got.Error(), "twice") {
				t.Fatalf("%q: %v, want %v", b, got, want)
			}
		}
	}
	if sound < 500 || twice < 20 {
		t.Errorf("%d texts are sound, and %d have a key twice", sound, twice)
	}
	for text, want := range map[string]string{
		"{}":       "",
		`{"a":1`:   "it is cut short",
		`{"a":`:    "it is cut short",
		`"`:        "it is cut short",
		`{"a":01}`: "it is not JSON",
		`{} {}`:    "it is not JSON",
		strings.Repeat("[", deepest+1) + strings.Repeat("]", deepest+1):   "",
		strings.Repeat("[", deepest+2) + strings.Repeat("]", deepest+2):   "nested more than 64 deep",
		`{"parameters":[` + strings.Repeat("1,", mostScalars) + "1]}":     "",
		`{"parametres":[` + strings.Repeat("1,", mostScalars) + "1]}":     "more than 4194304 values",
		`{"parameters":[` + strings.Repeat("[1],", mostObjects) + "[1]]}": "more than 131072 lists and objects",
	} {
		if err := strict([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}
