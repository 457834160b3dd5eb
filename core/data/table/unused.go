package table

import (
	"slices"

	"clipscope/core/data"
)

// omitUnused removes the classes and the categories that no training row has, and the features of missing cells where there is
// none: those of rows that were left out. Buckets stay.
func (s *schema) omitUnused(train *data.Split) {
	s.omitClasses(train.Y)
	used := make([]bool, s.features)
	for i := range s.columns {
		switch col := &s.columns[i]; {
		case col.First < 0:
		case col.Kind == data.Categorical:
			for k := range int(s.buckets[i]) {
				used[col.First+k] = true
			}
		default:
			used[col.First] = true
			used[col.Clock] = used[col.Clock] || col.Clock > 0
		}
	}
	for r := range train.N {
		for k, x := range train.F32[r*s.features:][:s.features] {
			used[k] = used[k] || x != 0
		}
	}
	if !slices.Contains(used, false) {
		return
	}
	s.omitFeatures(train, used)
}

// omitClasses removes the classes that no label is, and gives the others the numbers that are left.
func (s *schema) omitClasses(y []float32) {
	if s.task != data.Classification {
		return
	}
	used := make([]bool, len(s.classes))
	for _, k := range y {
		used[int(k)] = true
	}
	places, left := renumbered(used)
	if left == len(used) {
		return
	}
	for k := range y {
		y[k] = float32(places[int(y[k])])
	}
	for name, k := range s.index {
		if s.index[name] = places[k]; !used[k] {
			delete(s.index, name)
		}
	}
	s.classes = keptOf(s.classes, used)
	s.columns[s.label].Categories = s.classes
}

// omitFeatures removes the features that are not used: categories, and those of missing cells.
func (s *schema) omitFeatures(train *data.Split, used []bool) {
	places, left := renumbered(used)
	x := train.F32[:0]
	for r := range train.N {
		for k, v := range train.F32[r*s.features:][:s.features] {
			if used[k] {
				x = append(x, v)
			}
		}
	}
	train.F32, s.features = slices.Clip(x), left
	for i := range s.columns {
		col := &s.columns[i]
		if col.First < 0 {
			continue
		}
		if col.Kind == data.Categorical {
			col.Categories = keptOf(col.Categories, used[col.First:])
			for name, k := range s.categories[i] { // of buckets, that of missing cells
				if s.categories[i][name] = places[col.First+k] - places[col.First]; !used[col.First+k] {
					delete(s.categories[i], name)
				}
			}
		}
		if !used[col.Indicator] {
			col.Indicator = 0
		}
		col.First, col.Clock, col.Indicator = places[col.First], places[col.Clock], places[col.Indicator]
	}
}

// renumbered returns the place of each of a list's elements among those that are used, and their number. That of an
// element that is not used is the next one's.
func renumbered(used []bool) (places []int, left int) {
	for _, is := range used {
		places = append(places, left)
		if is {
			left++
		}
	}
	return places, left
}

// keptOf returns the elements of a list that are used.
func keptOf(list []string, used []bool) (kept []string) {
	for k, name := range list {
		if used[k] {
			kept = append(kept, name)
		}
	}
	return kept
}
