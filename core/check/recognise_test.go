package check

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"clipscope/core/model"
)

// TestRecogniseSaysWhatCheckSays holds that a file that is only recognised has the kind, the writer and
// the configuration that Check returns.
func TestRecogniseSaysWhatCheckSays(t *testing.T) {
	files := write(t)
	for _, name := range []string{"0.1.0/clipscope-parameters.json", "0.1.0/clipscope-run.csv", "0.1.0/clipscope-run.json", "0.2.0/plain-model.zip",
		"0.2.0/plain-model.json", "0.2.0/plain-model.safetensors", "0.2.0/plain-run.csv", "0.2.0/plain-run.json", "0.2.0/plain-statement.json",
		"0.2.0/plain-statement.txt", "0.2.0/bounds-run.json", "0.2.0/secure-run.json", "0.2.0/secure-statement.txt"} {
		files[name] = old(t, name)
	}
	files["a mark before"] = append([]byte("\xef\xbb\xbf"), files["run.json"]...)
	files["of blanks"] = edit(t, files["run.json"], `"series": \{`, "\"series\"\r\n\t :\t{ ")
	for name, b := range files {
		want, err := Check(name, b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := Recognise(name, b)
		if err != nil || got.Kind != want.Kind || got.Program != want.Program || !reflect.DeepEqual(got.Config, want.Config) || len(got.Findings) > 0 {
			t.Errorf("%s: recognised %+v, %v; checked %+v", name, got, err, want)
		}
	}
}

// TestRecogniseReadsOnlyWhatItNeeds holds that whatever else a file has takes neither memory nor, therefore,
// time: 4 million values took 40 s in the page.
func TestRecogniseReadsOnlyWhatItNeeds(t *testing.T) {
	if testing.Short() && runtime.GOOS == "js" {
		t.Skip("bytes are counted alike natively")
	}
	many, long := strings.Repeat(",1", 1<<20), strings.Repeat("n", 8<<20)
	quoted := func(s string) string { return string(must(json.Marshal(s))) }
	tensors := func(metadata string) []byte {
		header := `{"__metadata__":{` + metadata + `},"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`
		return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	}
	saved := `{"format":"` + model.Format + `","version":1,"config":{"steps":7},"guarantee":"x","parameters":[0`
	for name, tc := range map[string]struct {
		b      []byte
		config bool
	}{
		"a series":                {[]byte(`{"config":{"steps":7},"series":{"epsilon":[0` + many + `]}}`), true},
		"checks":                  {[]byte(`{"config":{"steps":7},"series":{},"checks":[{}` + strings.Repeat(`,{"name":"x"}`, 1<<17) + `]}`), true},
		"parameters":              {[]byte(saved + many + "]}"), true},
		"a note":                  {[]byte(`{"config":{"note":"` + long + `"},"series":{}}`), false},
		"layers":                  {[]byte(`{"config":{"model":{"hidden":[1` + many + `]}},"series":{}}`), false},
		"a header":                {tensors(`"format":"clipscope-model","config":"{\"steps\":7}","statement":"` + long + `"`), true},
		"a note in a header":      {tensors(`"format":"clipscope-model","config":` + quoted(`{"note":"`+long+`"}`)), false},
		"events within a header":  {tensors(`"format":"clipscope-model","config":"{\"steps\":7}","events":` + quoted(`[{}`+strings.Repeat(",{}", 1<<20)+"]")), true},
		"settings that differ":    {[]byte(`{"config":{"steps":1,"steps":2},"series":{}}`), false},
		"settings of another day": {[]byte(`{"config":{"steps":7,"later":"x"},"series":{}}`), false},
		"rows":                    {[]byte("# remark\n" + seriesHead + "\n" + strings.Repeat("1,1,1,\n", 1<<20)), false},
		"text after no such head": {[]byte(strings.Repeat("#\n", 4<<20) + seriesHead), false},
	} {
		v, took, err := recognised(tc.b)
		if err != nil || (v != nil) != tc.config || v != nil && v.Steps != 7 {
			t.Errorf("%s: configuration %v, %v", name, v, err)
		}
		if took > 3<<20 {
			t.Errorf("%s: took %d kB of a file of %d", name, took>>10, len(tc.b)>>10)
		}
	}
	var bomb bytes.Buffer
	z := zip.NewWriter(&bomb)
	w := must(z.Create("model.json"))
	must(fmt.Fprint(w, saved+many+"]}"))
	must(fmt.Fprint(must(z.Create("model.safetensors.txt")), long))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if v, took, err := recognised(bomb.Bytes()); err != nil || v == nil || took > uint64(2*len(many)) {
		t.Errorf("a zip: configuration %v, %v, took %d kB", v, err, took>>10)
	}
}

func recognised(b []byte) (c *struct{ Steps int }, took uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := Recognise("x", b)
	runtime.ReadMemStats(&after)
	if v.Config != nil {
		c = &struct{ Steps int }{v.Config.Steps}
	}
	return c, after.TotalAlloc - before.TotalAlloc, err
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestRecogniseRefusesByName holds what is wrong with files that are not recognised.
func TestRecogniseRefusesByName(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "the file is empty",
		"{":                                  "cut short",
		`{"config"`:                          "cut short",
		`{"config":{"a":"}`:                  "cut short",
		`{"config":{},"series":{}`:           "cut short",
		`{"config":{},"series":{},`:          "cut short",
		`{"config":{},"series":{}} {}`:       "not JSON",
		`{"config" {},"series":{}}`:          "not JSON",
		`{"config":{} "series":{}}`:          "not JSON",
		`{config:{},"series":{}}`:            "not JSON",
		`{"config":{},"Config":{}}`:          "stands twice",
		`[1]`:                                "not a file that Clipscope writes",
		`{}`:                                 "not a file that Clipscope writes",
		`{"format":"x","version":1}`:         "not a file that Clipscope writes",
		"\x30\x00\x00\x00\x00\x00\x00\x00{":  "cut short",
		"\x02\x00\x00\x00\x00\x00\x00\x00{}": "not a file that Clipscope writes",
		"rows,of\n1,2\n":                     "not a file that Clipscope writes",
	} {
		if v, err := Recognise("x", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, v, err, want)
		}
	}
}
