package run

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"
)

// TestReadsLinksOfOlderVersions: a link that an older version wrote says what it said, and so does the
// configuration that it stands for.
func TestReadsLinksOfOlderVersions(t *testing.T) {
	for _, version := range []string{"0.1.0", "0.2.0"} {
		t.Run(version, func(t *testing.T) { readsLinks(t, "../../testdata/"+version+"/links.json") })
	}
}

func readsLinks(t *testing.T, file string) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var links []struct {
		Name, Link string
		Config     json.RawMessage
	}
	if err := json.Unmarshal(b, &links); err != nil || len(links) < 10 {
		t.Fatalf("%d links, %v", len(links), err)
	}
	for _, l := range links {
		read, dropped := ReadHash(l.Link)
		if len(dropped.Keys) > 0 || dropped.More > 0 {
			t.Errorf("%s: not understood: %+v", l.Name, dropped)
		}
		var decoded Config
		if err := json.Unmarshal(l.Config, &decoded); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
		if !reflect.DeepEqual(read, decoded) {
			t.Errorf("%s: the link and the configuration say\n%+v\n%+v", l.Name, read, decoded)
		}
		var now, then any
		again, err := json.Marshal(read)
		if err := errors.Join(err, json.Unmarshal(again, &now), json.Unmarshal(l.Config, &then)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(now, then) {
			t.Errorf("%s: it says\n%s\nand said\n%s", l.Name, again, l.Config)
		}
	}
}

// TestReadsExportOfOlderVersions: the configuration of a run that 0.1.0 exported is one.
func TestReadsExportOfOlderVersions(t *testing.T) {
	b, err := os.ReadFile("../../testdata/0.1.0/clipscope-run.json")
	if err != nil {
		t.Fatal(err)
	}
	var exported struct{ Config Config }
	if err := json.Unmarshal(b, &exported); err != nil {
		t.Fatal(err)
	}
	if c := exported.Config; c.Method != "constant" || c.Steps != 6 || c.Scaling.Hi != 20 || c.NoiseMultiplier == nil || *c.NoiseMultiplier != 4 {
		t.Errorf("the configuration is %+v", c)
	}
}

// TestReadsTheScheduleOfOlderVersions: rho_c divided C₀, and its successor multiplies it.
func TestReadsTheScheduleOfOlderVersions(t *testing.T) {
	for _, test := range []struct {
		link string
		want map[string]float64
	}{
		{"method=schedule&rho_c=4", map[string]float64{"end_share": 0.25}},
		{"method=schedule&rho_c=4&end_share=0.5", map[string]float64{"end_share": 0.5}},
		{"method=schedule&rho_c=0", map[string]float64{"rho_c": 0}}, // is refused where the run is planned, as before
	} {
		if c, _ := ReadHash(test.link); !reflect.DeepEqual(c.Params, test.want) {
			t.Errorf("%s: %v, want %v", test.link, c.Params, test.want)
		}
	}
}
