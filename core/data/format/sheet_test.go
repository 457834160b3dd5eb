package format

import "testing"

func TestDateFormats(t *testing.T) {
	for code, want := range map[string]bool{
		"yyyy-mm-dd": true, "d/m/yy h:mm": true, "[$-407]d. mmmm yyyy;@": true, `"Day "0`: false, "General": false, "0.00": false, "h:mm": false, "[h]:mm:ss": false,
		`\d0`: false, "#,##0 _d": false, "[Red]0": false, "0;[Red]-0 d": false, "mmm-yy": true, "": false,
	} {
		if isDateFormat(code) != want {
			t.Errorf("%q is a date: %t", code, !want)
		}
	}
}
