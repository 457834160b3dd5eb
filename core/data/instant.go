package data

import (
	"math"
	"strconv"
	"time"
)

// YearMonthDay is the [Column.Time] of integers such as 20191231.
const YearMonthDay = "yyyymmdd"

// perDay counts, for each other [Column.Time], how many there are in a day.
var perDay = map[string]float64{"s": 86_400, "ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}

// The integers in a column of times lie in these bounds, in days since 1970 began.
var (
	likelyInstants = Bound{yearsFirst(1990), yearsFirst(2050)}
	likelyDates    = Bound{yearsFirst(1900), yearsFirst(2100)} // of yyyymmdd
)

// yearsFirst returns the first day of a year.
func yearsFirst(year int) float64 {
	return float64(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86_400)
}

// Millennium is the day 2000-01-01, in days since 1970 began. Dates and times are counted from it as features, so
// that those of our time are small and keep their digits as float32.
const Millennium = 10_957

// TimeKinds lists the values of [Column.Time].
func TimeKinds() []string { return []string{YearMonthDay, "s", "ms", "us", "ns"} }

// Likely reports whether v is a time of the kind as columns of times have them: a date of 1900 to 2099, or an
// instant of 1990 to 2049.
func Likely(kind string, v float64) bool {
	days, ok := Days(kind, v)
	within := likelyInstants
	if kind == YearMonthDay {
		within = likelyDates
	}
	return ok && days >= within.Lo && days < within.Hi
}

// Days returns v, a time of the kind, in days since 1970 began. ok is false for what is no date; an instant may be any
// number.
func Days(kind string, v float64) (days float64, ok bool) {
	if n := perDay[kind]; n > 0 {
		return v / n, true
	}
	if v != math.Trunc(v) || v < 0 || v >= 1e8 {
		return 0, false
	}
	year, month, day := int(v)/10_000, int(v)/100%100, int(v)%100
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if year == 0 || int(t.Month()) != month || t.Day() != day {
		return 0, false
	}
	return float64(t.Unix() / 86_400), true
}

// FromDays is the inverse of [Days]: a number as a column of the kind has it. An instant is whole.
func FromDays(kind string, days float64) float64 {
	if n := perDay[kind]; n > 0 {
		return math.Round(days * n)
	}
	t := time.Unix(int64(math.Floor(days))*86_400, 0).UTC()
	return float64(t.Year()*10_000 + int(t.Month())*100 + t.Day())
}

// Instant writes days since 1970 began as a date and, where it is not midnight, a time, to the millisecond.
func Instant(days float64) string {
	t := time.UnixMilli(int64(math.Round(days * 86_400e3))).UTC()
	if !(math.Abs(days) < 1e7) {
		return strconv.FormatFloat(days, 'g', 6, 64) + " days"
	}
	if t.Hour()|t.Minute()|t.Second()|t.Nanosecond() == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04:05.999")
}
