// Package form reads and writes the fields of a configuration as the text that
// stands in the page's controls. A key is the field's JSON name, nested ones
// with a dot; a key that is no field is a parameter of the method.
package form

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"clipscope/core/run"
)

// paths maps the fields of a configuration to their places, by the names that JSON has
// for them, nested ones with a dot.
var paths = pathsOf(reflect.TypeFor[run.Config]())

func pathsOf(t reflect.Type) map[string][]int {
	m := map[string][]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Type.Kind() == reflect.Struct:
			for below, path := range pathsOf(f.Type) {
				m[name+"."+below] = append([]int{i}, path...)
			}
		default:
			m[name] = []int{i}
		}
	}
	return m
}

// locate points at the field behind key, nil when there is none. Of a map, which a key
// goes on behind, name is the place in it.
func locate(c *run.Config, key string) (field any, name string) {
	path, ok := paths[key]
	if parts := strings.SplitN(key, ".", 3); !ok && len(parts) == 3 {
		path, ok = paths[parts[0]+"."+parts[1]]
		name = parts[2]
	}
	if !ok {
		return nil, ""
	}
	return reflect.ValueOf(c).Elem().FieldByIndex(path).Addr().Interface(), name
}

// Get is the text of a field; "" when it has its default.
func Get(c *run.Config, key string) string {
	field, name := locate(c, key)
	switch p := field.(type) {
	case *string:
		return *p
	case *float64:
		return formatNonZero(*p)
	case *int:
		return formatNonZero(float64(*p))
	case *bool:
		if *p {
			return "true"
		}
	case **float64:
		if *p != nil {
			return Format(**p)
		}
	case **uint64:
		if *p != nil {
			return strconv.FormatUint(**p, 10)
		}
	case *[]int:
		return formatInts(*p)
	case *[]float64:
		return formatFloats(*p)
	case *[]string:
		return strings.Join(*p, ", ")
	case *map[string]string:
		return (*p)[name]
	case *map[string]float64:
		if name == "" {
			return formatByName(*p)
		}
		if v, ok := (*p)[name]; ok {
			return Format(v)
		}
	case *map[string]run.Bounds:
		if b, ok := (*p)[name]; ok {
			return Format(b.Lo) + between + Format(b.Hi)
		}
	case nil:
		if v, ok := c.Params[key]; ok {
			return Format(v)
		}
	}
	return ""
}

// Set puts text into a field; empty text is the field's default. On an error,
// whose text is meant for the person at the field, c is unchanged.
func Set(c *run.Config, key, s string) error {
	s = strings.TrimSpace(s)
	field, name := locate(c, key)
	switch p := field.(type) {
	case *string:
		*p = s
	case *float64:
		return put(p, s, notZero(key, Parse))
	case *int:
		return put(p, s, notZero(key, parseInt))
	case *bool:
		return put(p, s, parseBool)
	case **float64:
		return put(p, s, pointer(Parse))
	case **uint64:
		return put(p, s, pointer(parseSeed))
	case *[]int:
		return put(p, s, parseInts)
	case *[]float64:
		return put(p, s, parseFloats)
	case *[]string:
		*p = strings.FieldsFunc(s, parts)
	case *map[string]string:
		*p = with(*p, name, s, s != "")
	case *map[string]float64:
		if name == "" {
			return put(p, s, parseByName)
		}
		return putIn(p, name, s, Parse)
	case *map[string]run.Bounds:
		return putIn(p, name, s, ParseBounds)
	default:
		return putIn(&c.Params, key, s, Parse)
	}
	return nil
}

// Values parts text into several values of a field, each to be given to [Set], and none twice. Semicolons stand between them,
// and between numbers spaces will do.
func Values(key, text string) (list []string) {
	apart := func(r rune) bool { return r == ';' }
	switch field, _ := locate(&run.Config{}, key); field.(type) {
	case *float64, *int, **float64, **uint64, nil:
		apart = func(r rune) bool { return r == ';' || unicode.IsSpace(r) }
	}
	for _, s := range strings.FieldsFunc(text, apart) {
		if s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), ",")); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// putIn is put for one place in a map; empty text leaves nothing there.
func putIn[T any](m *map[string]T, name, s string, parse func(string) (T, error)) error {
	var v T
	if err := put(&v, s, parse); err != nil {
		return err
	}
	*m = with(*m, name, v, s != "")
	return nil
}

// put sets what p points at to what s says; empty text is the zero value.
func put[T any](p *T, s string, parse func(string) (T, error)) error {
	var v T
	if s != "" {
		var err error
		if v, err = parse(s); err != nil {
			return err
		}
	}
	*p = v
	return nil
}

// positive are fields whose 0 stands for their default, which somebody who writes it does
// not mean.
var positive = []string{"target_delta", "expected_batch_size", "epochs", "max_grad_norm", "learning_rate", "max_physical_batch_size"}

func notZero[T float64 | int](key string, parse func(string) (T, error)) func(string) (T, error) {
	if !slices.Contains(positive, key) {
		return parse
	}
	return func(s string) (T, error) {
		v, err := parse(s)
		if err == nil && v == 0 {
			err = errors.New("0 is no value here: leave the field empty for the usual one, or take a positive number")
		}
		return v, err
	}
}

// pointer makes of parse what reads an optional value.
func pointer[T any](parse func(string) (T, error)) func(string) (*T, error) {
	return func(s string) (*T, error) {
		v, err := parse(s)
		return &v, err
	}
}

// with is m with v at key, or nothing there. It is a copy, as a configuration may
// have been handed out.
func with[V any](m map[string]V, key string, v V, there bool) map[string]V {
	m = maps.Clone(m)
	switch {
	case !there:
		delete(m, key)
	case m == nil:
		m = map[string]V{key: v}
	default:
		m[key] = v
	}
	return m
}

// Format writes a number as it would be typed, shortest form.
func Format(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if a := math.Abs(f); a >= 1e-4 && a < 1e7 {
		s = strconv.FormatFloat(f, 'f', -1, 64)
	}
	mantissa, exponent, ok := strings.Cut(s, "e")
	if !ok {
		return s
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "e" + strconv.Itoa(n)
}

// Round keeps so many significant digits.
func Round(x float64, digits int) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	p := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*p) / p
}

// thousands is a number that one half of the world reads as a thousand times
// what the other half does.
var thousands = regexp.MustCompile(`^[-−]?[1-9][0-9]{0,2}(,[0-9]{3})+$`)

// Parse reads a number as people type it: a comma for a point, a real minus
// sign, spaces within. It refuses NaN, infinities and what can be read two ways.
func Parse(s string) (float64, error) {
	if thousands.MatchString(s) {
		return 0, fmt.Errorf("“%s” can be read two ways; write %s or %s", s,
			strings.ReplaceAll(s, ",", ""), strings.ReplaceAll(s, ",", "."))
	}
	t := strings.NewReplacer("−", "-", " ", "", "\u00a0", "", ",", ".").Replace(s)
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("“%s” is not a number; write for example 0.1 or 1e-5", s)
	}
	return f, nil
}

// between stands between two bounds.
const between = " to "

// points is a number whose points part thousands in one half of the world, and are a point
// in the other, where hardly anybody ends in a 0 after it.
var points = regexp.MustCompile(`^[-−]?[1-9][0-9]{0,2}(\.[0-9]{3})*\.[0-9]{2}0$`)

// ParseBounds reads two numbers, of which those with % are hundredths, or two dates such as 2024-12-31 or 31.12.2024,
// which are days since 1970 began, with or without a time such as 09:30 behind. What can be read two ways is refused, as bounds that are a
// thousandth of what was meant look like bounds.
func ParseBounds(s string) (b run.Bounds, err error) {
	lo, hi, ok := strings.Cut(strings.NewReplacer("…", between, "..", between, "–", between, "—", between).Replace(s), between)
	if !ok {
		return b, fmt.Errorf("“%s” is not two bounds; write for example 0 to 120, or 2023-01-01 to 2024-12-31", s)
	}
	if b.Lo, err = parseBound(strings.TrimSpace(lo)); err != nil {
		return run.Bounds{}, err
	}
	if b.Hi, err = parseBound(strings.TrimSpace(hi)); err != nil {
		return run.Bounds{}, err
	}
	if !(b.Lo < b.Hi) {
		return run.Bounds{}, fmt.Errorf("“%s”: the first has to be less than the second", s)
	}
	return b, nil
}

func parseBound(s string) (float64, error) {
	for _, layout := range []string{time.DateOnly, "2.1.2006", time.DateTime, "2006-01-02 15:04", "2.1.2006 15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return float64(t.UnixMilli()) / (24 * 60 * 60 * 1000), nil
		}
	}
	if share, ok := strings.CutSuffix(s, "%"); ok {
		v, err := parseBound(strings.TrimSpace(share))
		return v / 100, err
	}
	if points.MatchString(s) {
		plain := strings.ReplaceAll(s, ".", "")
		if strings.Count(s, ".") == 1 {
			return 0, fmt.Errorf("“%s” can be read two ways; write %s or %s", s, plain, strings.TrimRight(strings.TrimRight(s, "0"), "."))
		}
		s = plain
	}
	return Parse(s)
}

func formatNonZero(f float64) string {
	if f == 0 {
		return ""
	}
	return Format(f)
}

func parseInt(s string) (int, error) {
	f, err := Parse(s)
	if err == nil && (f != math.Trunc(f) || math.Abs(f) > 1<<53) {
		err = fmt.Errorf("“%s” is not a whole number", s)
	}
	return int(f), err
}

func parseBool(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, fmt.Errorf("“%s” is neither true nor false", s)
	}
	return s == "true", nil
}

// maxSeed is the largest whole number that survives JavaScript.
const maxSeed = 1<<53 - 1

func parseSeed(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > maxSeed {
		return 0, fmt.Errorf("“%s” is not a whole number between 0 and %d", s, int64(maxSeed))
	}
	return n, nil
}

// parts is true of what stands between the parts of a list.
func parts(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) }

// formatFloats has semicolons between numbers, as a comma may be in one.
func formatFloats(v []float64) string {
	parts := make([]string, len(v))
	for i, x := range v {
		parts[i] = Format(x)
	}
	return strings.Join(parts, "; ")
}

// parseFloats takes semicolons and spaces between numbers, and commas before a space.
func parseFloats(s string) (v []float64, err error) {
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return r == ';' || unicode.IsSpace(r) }) {
		x, err := Parse(strings.TrimSuffix(f, ","))
		if err != nil {
			return nil, err
		}
		v = append(v, x)
	}
	return v, nil
}

func formatInts(v []int) string {
	parts := make([]string, len(v))
	for i, n := range v {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ", ")
}

func parseInts(s string) (v []int, err error) {
	for _, f := range strings.FieldsFunc(s, parts) {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("“%s” is not a layer's width; write whole numbers from 1, for example 128, 64", f)
		}
		v = append(v, n)
	}
	return v, nil
}
