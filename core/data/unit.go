package data

import (
	"slices"
	"strings"
)

// PerCent is the unit of numbers that are hundredths, in [Column.Units].
const PerCent = "%"

// UnitOf returns the unit that a number needs in a column of such units; empty where it needs none.
func UnitOf(units []string) string {
	if len(units) == 0 || slices.Contains(units, "") {
		return ""
	}
	return units[0]
}

// WithUnit returns a number with the sign of a unit, where people write it.
func WithUnit(unit, number string) string {
	switch unit {
	case "", PerCent:
		return number + unit
	case "$", "£", "¥", "₹":
		if rest, ok := strings.CutPrefix(number, "-"); ok {
			return "-" + unit + rest
		}
		return unit + number
	}
	return number + " " + unit
}
