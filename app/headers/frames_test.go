package headers

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestParseFramesTakesOrigins(t *testing.T) {
	for text, want := range map[string][]string{
		"":                    nil,
		" \t\n":               nil,
		"self":                {Self},
		"'self' self":         {Self},
		"https://example.org": {"https://example.org"},
		"https://a.example:8443 https://b.example":        {"https://a.example:8443", "https://b.example"},
		"https://xn--bcher-kva.example":                   {"https://xn--bcher-kva.example"},
		"http://localhost:8000 'self' http://127.0.0.1:1": {"http://localhost:8000", Self, "http://127.0.0.1:1"},
		"https://localhost":                               {"https://localhost"},
		"https://a.example https://a.example":             {"https://a.example"},
	} {
		got, err := ParseFrames(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestParseFramesRefusesAllElse: what is no single origin, or could be somebody else's, is refused
// and said.
func TestParseFramesRefusesAllElse(t *testing.T) {
	for text, why := range map[string]string{
		"*":                                  "in full",
		"https://*":                          "in full",
		"https://*.example.org":              "in full",
		"https://example.org:*":              "in full",
		"https:":                             "an origin is",
		"https://":                           "an origin is",
		"https:///":                          "an origin is",
		"example.org":                        "an origin is",
		"//example.org":                      "an origin is",
		"'none'":                             "an origin is",
		"none":                               "an origin is",
		"'self":                              "an origin is",
		"\"self\"":                           "an origin is",
		"'unsafe-inline'":                    "an origin is",
		"null":                               "an origin is",
		"data:":                              "an origin is",
		"blob:https://example.org":           "only https",
		"javascript://example.org":           "only https",
		"ftp://example.org":                  "only https",
		"HTTPS://example.org":                "only https",
		"http://example.org":                 "only https",
		"http://example.org:8080":            "only https",
		"http://localhost.example.org:80":    "leave the port out",
		"http://localhost":                   "with their port",
		"http://127.0.0.1":                   "with their port",
		"http://127.0.0.2:8000":              "not addresses",
		"https://10.0.0.1":                   "not addresses",
		"https://010.0.0.1":                  "not addresses",
		"https://0x7f.1":                     "not addresses",
		"https://2130706433":                 "not addresses",
		"https://a.0x":                       "not addresses",
		"https://[::1]":                      "an origin is",
		"http://[::1]:8000":                  "an origin is",
		"https://example.org/":               "an origin is",
		"https://example.org/page":           "an origin is",
		"https://example.org?x":              "an origin is",
		"https://example.org#x":              "an origin is",
		"https://user@example.org":           "an origin is",
		"https://user:pass@example.org":      "a port is",
		"https://Example.org":                "an origin is",
		"https://bücher.example":             "an origin is",
		"https://example.org.":               "an origin is",
		"https://.example.org":               "an origin is",
		"https://-a.example.org":             "an origin is",
		"https://a..b":                       "an origin is",
		"https://a_b.example":                "an origin is",
		"https://" + strings.Repeat("a", 64): "an origin is",
		"https://" + strings.Repeat("a.", 150) + "a":                        "an origin is",
		"https://example.org:443":                                           "leave the port out",
		"https://example.org:":                                              "a port is",
		"https://example.org:0":                                             "a port is",
		"https://example.org:08443":                                         "a port is",
		"https://example.org:+8443":                                         "a port is",
		"https://example.org:65536":                                         "a port is",
		"https://example.org:84:43":                                         "a port is",
		"https://a.example;script-src":                                      "an origin is",
		"https://a.example:1;":                                              "a port is",
		"https://a.example,https://b.example":                               "an origin is",
		"https://a.example\"><script>":                                      "an origin is",
		"https://a.example\x00":                                             "an origin is",
		"https://a.example\x7f":                                             "an origin is",
		strings.Repeat("https://a.example:", 1) + strings.Repeat("9", 1000): "a port is",
		numbered(MostFrames + 1):                                            "at most",
	} {
		if got, err := ParseFrames(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.80q: %q, %v, want an error with %q", text, got, err, why)
		}
		if _, err := ParseFrames("https://example.org " + text); err == nil {
			t.Errorf("%.80q passes behind one that is right", text)
		}
	}
	if got, err := ParseFrames(numbered(MostFrames)); err != nil || len(got) != MostFrames {
		t.Errorf("%d origins: %v", len(got), err)
	}
}

// numbered are n origins.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("https://h" + string(rune('a'+i)) + ".example ")
	}
	return b.String()
}

// TestWithoutAListNobodyMayFrame: without a list the site is in nobody's frame.
func TestWithoutAListNobodyMayFrame(t *testing.T) {
	h := asMap(For(nil))
	if !strings.Contains(h["Content-Security-Policy"], "; frame-ancestors 'none'; ") || h["X-Frame-Options"] != "DENY" || h["Cross-Origin-Resource-Policy"] != "same-origin" {
		t.Errorf("%q", h)
	}
}

// TestAListChangesOnlyWhoMayFrame: a list changes who may frame the site, and nothing else of the
// policy.
func TestAListChangesOnlyWhoMayFrame(t *testing.T) {
	none, some := asMap(For(nil)), asMap(For([]string{Self, "https://a.example"}))
	if got := strings.Replace(some["Content-Security-Policy"], "frame-ancestors 'self' https://a.example;", "frame-ancestors 'none';", 1); got != none["Content-Security-Policy"] {
		t.Errorf("the policy is %q", some["Content-Security-Policy"])
	}
	if _, denied := some["X-Frame-Options"]; denied || some["Cross-Origin-Resource-Policy"] != "cross-origin" {
		t.Errorf("%q", some)
	}
	for name, value := range none {
		if changed := some[name] != value; changed != slices.Contains([]string{"Content-Security-Policy", "Cross-Origin-Resource-Policy", "X-Frame-Options"}, name) {
			t.Errorf("%s is %q and was %q", name, some[name], value)
		}
	}
}

func asMap(all [][2]string) map[string]string {
	m := map[string]string{}
	for _, h := range all {
		m[h[0]] = h[1]
	}
	return m
}

// FuzzParseFrames: whatever is taken is an origin as a URL has it, is taken again as
// itself, and stays within the directive, the header and the attribute.
func FuzzParseFrames(f *testing.F) {
	for _, text := range []string{"", "self", "'self' https://a.example", "http://localhost:8000", "https://*", "https://a.example;", "http://a.example", "https://A.example:443/x?y#z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseFrames(text)
		if err != nil {
			if list != nil {
				t.Fatalf("%q: both %q and %v", text, list, err)
			}
			return
		}
		if len(list) > MostFrames {
			t.Fatalf("%d origins", len(list))
		}
		for _, origin := range list {
			if origin == Self {
				continue
			}
			u, err := url.Parse(origin)
			if err != nil || u.Scheme+"://"+u.Host != origin || u.User != nil || strings.ContainsAny(origin, "*;,\"'<>& \t\r\n") || html.EscapeString(origin) != origin {
				t.Fatalf("%q gave %q (%v)", text, origin, err)
			}
			if u.Scheme != "https" && !(u.Scheme == "http" && u.Port() != "" && (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1")) {
				t.Fatalf("%q gave %q", text, origin)
			}
		}
		again, err := ParseFrames(strings.Join(list, " "))
		if err != nil || !slices.Equal(again, list) {
			t.Fatalf("%q is read again as %q, %v", list, again, err)
		}
	})
}
