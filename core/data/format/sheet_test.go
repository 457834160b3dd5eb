package format

import "testing"

// TestNumberFormats: a code that shows a day, or a sign of per cent, is told by the part of it that is no text.
func TestNumberFormats(t *testing.T) {
	for code, want := range map[string]numberStyle{
		"yyyy-mm-dd": dateNumber, "d/m/yy h:mm": dateNumber, "[$-407]d. mmmm yyyy;@": dateNumber, `"Day "0`: plainNumber, "General": plainNumber, "0.00": plainNumber, "h:mm": plainNumber, "[h]:mm:ss": plainNumber,
		`\d0`: plainNumber, "#,##0 _d": plainNumber, "[Red]0": plainNumber, "0;[Red]-0 d": plainNumber, "mmm-yy": dateNumber, "": plainNumber,
		"0%": shareNumber, "0.00%": shareNumber, "#,##0.0 %": shareNumber, `_-* 0.0%_-;-* 0.0%_-;_-* "-"??_-;_-@_-`: shareNumber, "[Red]0%;[Blue]-0%": shareNumber, `0.0\ %`: shareNumber, "%0": shareNumber, `"+"0%`: shareNumber,
		`0"%"`: hundredth, `0.0" %"`: hundredth, `0\%`: hundredth, `0" % of sales"`: plainNumber, "0;-0%": plainNumber, "0_%": plainNumber, `0\`: plainNumber, `0"%`: plainNumber,
	} {
		if have := styleOfCode(code); have != want {
			t.Errorf("%q is %d, want %d", code, have, want)
		}
	}
}

// TestCurrencyFormats: a code names the currency in which it shows numbers above 0; a language alone is none.
func TestCurrencyFormats(t *testing.T) {
	for code, want := range map[string]string{
		`#,##0.00\ "€"`: "€", `_-* #,##0.00\ "€"_-;-* #,##0.00\ "€"_-`: "€", "[$€-407] #,##0.00": "€", "#,##0.00 [$€-1]": "€", `"$"#,##0.00_);\("$"#,##0.00\)`: "$", "$#,##0": "$", `\$0`: "$", "[$$-409]#,##0.00": "$",
		`[$CHF-807]\ 0.00`: "CHF", `#,##0.00 "kr."`: "kr", `"Fr." 0.00`: "CHF", "[$EUR] 0": "€", "[$zł-415] 0": "zł", "[$R$-416] 0.00": "R$", "[Red][$£-809]0": "£", "£0": "£",
		"General": "", "0.00": "", "[$-409]d. mmm yyyy": "", `0.00 "kg"`: "", "0%": "", "0.00E+00": "", "[Red]0": "", `0;"€"0`: "", "": "", "[": "", "[$": "", `0.0" $ per unit"`: "", "[$a long one indeed]0": "",
	} {
		if have := currencyOfCode(code); have != want {
			t.Errorf("%q shows %q, want %q", code, have, want)
		}
	}
}
