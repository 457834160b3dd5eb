package table

import (
	"testing"

	"clipscope/core/data/source"
	"clipscope/core/run"
)

func TestHeaderDetection(t *testing.T) {
	for s, want := range map[string]bool{
		"a,b\n1,2\n3,4\n":                        true,
		"1,2\n3,4\n":                             false,
		"colour,size\nred,big\nblue,big\n":       true,
		"red,big\nblue,big\nred,small\n":         false,
		"a,2020\n1,2\n3,4\n":                     true,
		"x,label\n1,yes\n2,no\n":                 true,
		"?,yes\n1,no\n2,no\n":                    false,
		"name,y\nann,1\nbob,0\n":                 true,
		"\"a, b\",c\n1,2\n3,4\n":                 true,
		"\"a\nb\",c\n1,2\n3,4\n":                 true,
		"\"a\nb\",\"\"\"c\n\",d\n1,2,3\n4,5,6\n": true,
		"\"\n\",c,\"d\"\n1,2,3\n4,5,6\n":         true,
		"\"1\n\",2\n3,4\n5,6\n":                  false,
		"5\" a,b\n1,2\n3,4\n":                    true,
		"\"a,b\n1,2\n3,4\n":                      true, // the quote stays open
		",x,label\n0,1.5,yes\n1,2.5,no\n":        true,
		"x,label\n":                              false,
		"2020,2021\n0.5,0.25\n0.75,0.125\n":      false,

		// Names that are numbers, beside a column of another kind.
		"0,1,2,species\n5,3,1,a\n6,2,1,b\n5,3,1,a\n6,2,1,b\n5,3,1,a\n": true,
		"x,NA,inf\n1,2,3\n4,5,6\n":                                     true,
		"1E5,50%,kind\n1,2,a\n2,3,b\n1,2,a\n3,4,b\n1,2,a\n":            true,
		"2019-01-01,2019-02-01\n1,2\n3,4\n5,6\n7,8\n9,10\n":            true,
		"0,1\nred,big\nblue,big\nred,small\nred,big\nred,big\n":        true,
		// Rows of data: a value comes again, or numbers stand where names would come twice.
		"unknown,5.1,a\n4.9,3,a\n5,4,b\n":                                        false,
		"rare,5,5\ncommon,6,5\ncommon,7,5\ncommon,5,4\ncommon,1,2\ncommon,1,2\n": false,
		"A1,5.1,0\nA2,4.9,1\nA3,5,1\nA4,5,1\nA5,5,1\nA6,5,1\n":                   false,
		"1,NA,3\n4,5,6\n7,8,9\n":                                                 false,
	} {
		in := source.NewReading(t.Context(), run.CSV{})
		d, err := detect("t", []byte(s), true, Choices{}, in)
		if err != nil || d.header != want {
			t.Errorf("%q: header %v, %v", s, d.header, err)
		}
		for choice, want := range map[string]bool{"yes": true, "no": false} {
			if d, _ := detect("t", []byte(s), true, Choices{header: choice}, in); d.header != want {
				t.Errorf("%q: header %v though %s was chosen", s, d.header, choice)
			}
		}
	}
}
