package data_test

import (
	"crypto/sha256"
	"slices"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/data/datatest"
)

func TestWriteRows(t *testing.T) {
	ds := builtin.MeanEstimation(10, 2)
	d := datatest.Digest(t, ds)
	change := func(f func(*data.Dataset)) [sha256.Size]byte {
		c := *ds
		c.Train.F32, c.Train.Y = slices.Clone(ds.Train.F32), slices.Clone(ds.Train.Y)
		f(&c)
		return datatest.Digest(t, &c)
	}
	for name, f := range map[string]func(*data.Dataset){
		"a target":  func(c *data.Dataset) { c.Train.Y[3] = 2 },
		"a feature": func(c *data.Dataset) { c.Train.F32[9] = 1 },
		"a row":     func(c *data.Dataset) { c.Train.N--; c.Train.F32, c.Train.Y = c.Train.F32[:9], c.Train.Y[:18] },
		"the task":  func(c *data.Dataset) { c.Task = data.MultiLabel },
	} {
		if change(f) == d {
			t.Errorf("%s does not count", name)
		}
	}
	if change(func(c *data.Dataset) { c.Name = "other"; c.Test = data.Split{} }) != d {
		t.Error("the name or the test rows count")
	}
}
