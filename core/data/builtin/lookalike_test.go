package builtin_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/run"
)

// TestLookalikeHasTheShape: rows of every kind of column lie within what is declared of
// them, and depend on the description and the seed alone.
func TestLookalikeHasTheShape(t *testing.T) {
	csv := "age,colour,size,word,y\n30,red,1.5,a,no\n41,blue,,b,yes\n29,red,2.5,c,no\n55,green,3,d,yes\n33,blue,1,e,no\n60,red,2,f,yes\n21,green,2,g,no\n48,red,3,h,yes\n"
	ds, _ := loadtest.Read(t, run.CSV{Missing: "indicator", Columns: map[string]string{"word": "bucketed"}, Buckets: 4, Bounds: map[string]run.Bounds{"age": {Lo: 0, Hi: 120}}}, datatest.One(csv))
	for name, m := range map[string]data.Meta{
		"table":    ds.Meta(),
		"pictures": {Task: data.Classification, Features: 28 * 28, Shape: []int{28, 28}, Outputs: 10, Classes: strings.Split("0123456789", ""), TrainRows: 500, TestRows: 100, FeatureBytes: 1},
		"numbers":  {Task: data.Classification, Features: 3, Outputs: 2, TrainRows: 50, TestRows: 0, FeatureBytes: 4, Bounds: []data.Bound{{Lo: -1, Hi: 1}, {Lo: 0, Hi: 5}, {Lo: 10, Hi: 11}}},
	} {
		made := builtin.Lookalike(m, 7)
		got := made.Meta()
		got.Name = m.Name
		if m.TestRows > 0 && !reflect.DeepEqual(got, m) {
			t.Errorf("%s: %+v, not %+v", name, got, m)
		}
		if !reflect.DeepEqual(made, builtin.Lookalike(m, 7)) || reflect.DeepEqual(made.Train, builtin.Lookalike(m, 8).Train) {
			t.Errorf("%s: the seed does not decide", name)
		}
		for i, v := range made.Train.F32 {
			j := i % m.Features
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) || m.Bounds != nil && (float64(v) < m.Bounds[j].Lo || float64(v) > m.Bounds[j].Hi) {
				t.Fatalf("%s: feature %d is %v", name, j, v)
			}
		}
		for _, y := range made.Train.Y {
			if y < 0 || y >= float32(m.Outputs) || y != float32(int(y)) {
				t.Fatalf("%s: class %v", name, y)
			}
		}
		for _, c := range m.Columns {
			for i := range made.Train.N {
				row := made.Train.F32[i*m.Features:][:m.Features]
				if c.Kind == data.Numeric && c.Bounds != nil && (float64(row[c.First]) < c.Bounds.Lo || float64(row[c.First]) > c.Bounds.Hi) {
					t.Errorf("%s is %v", c.Name, row[c.First])
				}
				sum := float32(0)
				for k := range c.Categories {
					if c.Kind == data.Categorical {
						sum += row[c.First+k]
					}
				}
				if c.Kind == data.Categorical && sum != 1 {
					t.Errorf("%s has %v categories in a row", c.Name, sum)
				}
			}
		}
	}
}
