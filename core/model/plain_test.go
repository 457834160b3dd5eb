package model

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestPlainReadsAsTheWhole: texts put together at random, sound and damaged, are read the same
// whether their parameters and blanks are taken out before or not.
func TestPlainReadsAsTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 3))
	parts := []string{
		"{", "}", "[", "]", ",", ":", " ", "\n\t ", "1", "-0.5e-3", "01", "1.", "+1", "0x1", "1 2", "null", `"a"`, `"parameters"`, `"Parameters"`, `"param\u0065ters"`, `"\""`, `"x  y"`,
		`"parameters":[]`, `"parameters":[1,2.5, -3e+7 ]`, `"parameters":[1,]`, `"parameters":[1 2]`, `"parameters":[01]`, `"parameters":[-]`, `"parameters":[1e]`, `"parameters":["1"]`, `"parameters": [ 1`,
		`"a":1`, `"b":"  "`, `"c":{"parameters":[7]}`,
	}
	cut, sound := 0, 0
	for range 200_000 {
		b := []byte("{")
		for i := range 1 + rng.IntN(5) {
			if i > 0 && rng.IntN(4) > 0 {
				b = append(b, ',')
			}
			b = append(b, parts[rng.IntN(len(parts))]...)
		}
		if rng.IntN(8) > 0 {
			b = append(b, '}')
		}
		rest, list := Plain(b)
		if json.Valid(rest) != json.Valid(b) {
			t.Fatalf("%q is sound: %t, and %q: %t", b, json.Valid(b), rest, json.Valid(rest))
		}
		if !json.Valid(b) {
			continue
		}
		sound++
		var whole, most map[string]any
		if err := json.Unmarshal(b, &whole); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(rest, &most); err != nil {
			t.Fatal(err)
		}
		if list != nil {
			cut++
			var numbers []any
			if err := json.Unmarshal(list, &numbers); err != nil {
				t.Fatalf("%q: %q: %v", b, list, err)
			}
			most["parameters"] = numbers
		}
		if !reflect.DeepEqual(whole, most) {
			t.Fatalf("%q is %v, and %q with %q is %v", b, whole, rest, list, most)
		}
	}
	if sound < 1000 || cut < 500 {
		t.Errorf("%d texts are sound, and %d had parameters taken out", sound, cut)
	}
}

// TestPlainIsShort: neither parameters nor blanks are left for package json.
func TestPlainIsShort(t *testing.T) {
	b := []byte(`{"a":1,` + strings.Repeat(" \n", 1000) + `"parameters":[` + strings.Repeat("0.25, ", 1000) + `1]}`)
	rest, list := Plain(b)
	if string(rest) != `{"a":1, "parameters":[]}` || !bytes.HasPrefix(list, []byte("[0.25")) || !bytes.HasSuffix(list, []byte(" 1]")) {
		t.Errorf("%q and %.20q", rest, list)
	}
}
