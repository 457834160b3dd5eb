package table

import (
	"slices"

	"clipscope/core/data"
)

// omitUnused removes the classes and the categories that no training row has, and the features of missing cells where there is
// none: those of rows that were left out. Buckets stay, and the features of texts, which stand behind all others.
func (s *schema) omitUnused(train *data.Split) {
	if s.task == data.Classification {
		used := make([]bool, len(s.classes))
		for _, k := range train.Y {
			used[int(k)] = true
		}
		places := placesOf(used)
		for i, k := range train.Y {
			train.Y[i] = float32(places[int(k)])
		}
		s.classes = usedOf(s.classes, s.index, used)
		s.columns[s.label].Categories = s.classes
	}
	used := make([]bool, s.dense)
	for i, col := range s.columns {
		if col.First < 0 || col.Kind == data.Text {
			continue
		}
		always := int(s.buckets[i])
		if col.Kind.IsSequence() {
			always = col.Tokens
		}
		if col.Kind == data.Numeric {
			always = 1
			used[col.Clock] = used[col.Clock] || col.Clock > 0
		}
		for k := range always {
			used[col.First+k] = true
		}
	}
	for i, x := range train.F32[:train.N*s.dense] {
		used[i%s.dense] = used[i%s.dense] || x != 0
	}
	if slices.Contains(used, false) {
		s.omitFeatures(train, used)
	}
}

// omitFeatures removes the features that are not used: categories, and those of missing cells.
func (s *schema) omitFeatures(train *data.Split, used []bool) {
	places, x := placesOf(used), train.F32[:0]
	for i, v := range train.F32[:train.N*s.dense] {
		if used[i%s.dense] {
			x = append(x, v)
		}
	}
	omitted := s.dense - places[s.dense]
	train.F32, s.features, s.dense = slices.Clip(x), s.features-omitted, places[s.dense]
	for _, row := range train.Words {
		for k := range row {
			row[k].Feature -= uint32(omitted)
		}
	}
	for i := range s.columns {
		col := &s.columns[i]
		switch {
		case col.First < 0:
			continue
		case col.Kind == data.Text:
			col.First -= omitted
			continue
		case col.Kind == data.Categorical:
			col.Categories = usedOf(col.Categories, s.categories[i], used[col.First:])
		}
		if !used[col.Indicator] {
			col.Indicator = 0
		}
		col.First, col.Clock, col.Indicator = places[col.First], places[col.Clock], places[col.Indicator]
	}
}

// placesOf returns the place of each of a list's elements among those that are used, and their number at the end. That of an
// element that is not used is the next one's.
func placesOf(used []bool) []int {
	places := make([]int, len(used)+1)
	for k, is := range used {
		places[k+1] = places[k]
		if is {
			places[k+1]++
		}
	}
	return places
}

// usedOf removes the names that are not used from a list, and from the index of their places.
func usedOf(list []string, index map[string]int, used []bool) []string {
	places := placesOf(used[:len(list)])
	for name, k := range index {
		if index[name] = places[k]; !used[k] {
			delete(index, name)
		}
	}
	kept := list[:0]
	for k, name := range list {
		if used[k] {
			kept = append(kept, name)
		}
	}
	return kept
}
