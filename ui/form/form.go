// Package form reads and writes the fields of a configuration as the text that
// stands in the page's controls. A key is the field's JSON name, nested ones
// with a dot; a key that is no field is a parameter of the method.
package form

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"clipscope/core/run"
)

// paths are where the fields of a configuration lie, by the names that JSON has
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

// columns is the map of a configuration; what follows is a name in it.
const columns = "csv.columns."

// locate points at the field behind key, nil when there is none. Of a map, name is
// the place in it.
func locate(c *run.Config, key string) (field any, name string) {
	if name, ok := strings.CutPrefix(key, columns); ok {
		return &c.CSV.Columns, name
	}
	path, ok := paths[key]
	if !ok {
		return nil, ""
	}
	return reflect.ValueOf(c).Elem().FieldByIndex(path).Addr().Interface(), ""
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
	case *map[string]string:
		return (*p)[name]
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
		return setNumber(p, s)
	case *int:
		return setInt(p, s)
	case *bool:
		return setBool(p, s)
	case **float64:
		return setOptional(p, s)
	case **uint64:
		return setSeed(p, s)
	case *[]int:
		return setInts(p, s)
	case *map[string]string:
		setName(p, name, s)
	default:
		return setParam(c, key, s)
	}
	return nil
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

func parseOrZero(s string) (float64, error) {
	if s == "" {
		return 0, nil
	}
	return Parse(s)
}

func formatNonZero(f float64) string {
	if f == 0 {
		return ""
	}
	return Format(f)
}

func setOptional(p **float64, s string) error {
	if s == "" {
		*p = nil
		return nil
	}
	f, err := Parse(s)
	if err != nil {
		return err
	}
	*p = &f
	return nil
}

func setNumber(p *float64, s string) error {
	f, err := parseOrZero(s)
	if err == nil {
		*p = f
	}
	return err
}

func setInt(p *int, s string) error {
	f, err := parseOrZero(s)
	if err != nil {
		return err
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return fmt.Errorf("“%s” is not a whole number", s)
	}
	*p = int(f)
	return nil
}

func setBool(p *bool, s string) error {
	if s != "" && s != "true" && s != "false" {
		return fmt.Errorf("“%s” is neither true nor false", s)
	}
	*p = s == "true"
	return nil
}

// maxSeed is the largest whole number that survives JavaScript.
const maxSeed = 1<<53 - 1

func setSeed(p **uint64, s string) error {
	if s == "" {
		*p = nil
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > maxSeed {
		return fmt.Errorf("“%s” is not a whole number between 0 and %d", s, int64(maxSeed))
	}
	*p = &n
	return nil
}

func formatInts(v []int) string {
	parts := make([]string, len(v))
	for i, n := range v {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ", ")
}

func setInts(p *[]int, s string) error {
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == ';' })
	v := make([]int, 0, len(fields))
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 {
			return fmt.Errorf("“%s” is not a layer's width; write whole numbers from 1, for example 128, 64", f)
		}
		v = append(v, n)
	}
	*p = v
	if len(v) == 0 {
		*p = nil
	}
	return nil
}

// setParam copies the map first, as setName does: a configuration may have been
// handed out.
func setParam(c *run.Config, key, s string) error {
	params := maps.Clone(c.Params)
	if s == "" {
		delete(params, key)
	} else {
		f, err := Parse(s)
		if err != nil {
			return err
		}
		if params == nil {
			params = map[string]float64{}
		}
		params[key] = f
	}
	c.Params = params
	return nil
}

func setName(p *map[string]string, name, s string) {
	m := maps.Clone(*p)
	switch {
	case s == "":
		delete(m, name)
	case m == nil:
		m = map[string]string{name: s}
	default:
		m[name] = s
	}
	*p = m
}
