// Package form reads and writes the fields of a configuration as the text that
// stands in the page's controls. A key is the field's JSON name, nested ones
// with a dot; a key that is no field is a parameter of the method.
package form

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
)

// Get is the text of a field; "" when it has its default.
func Get(c *run.Config, key string) string {
	if name, ok := strings.CutPrefix(key, "csv.columns."); ok {
		return c.CSV.Columns[name]
	}
	if s := text(c, key); s != nil {
		return *s
	}
	if f := number(c, key); f != nil {
		return formatNonZero(*f)
	}
	return other(c, key)
}

func other(c *run.Config, key string) string {
	switch key {
	case "noise_multiplier":
		return formatOptional(c.NoiseMultiplier)
	case "target_epsilon":
		return formatOptional(c.TargetEpsilon)
	case "model.hidden":
		return formatInts(c.Model.Hidden)
	case "steps":
		return formatNonZero(float64(c.Steps))
	case "pca.components":
		return formatNonZero(float64(c.PCA.Components))
	case "diagnostics_every":
		return formatNonZero(float64(c.DiagnosticsEvery))
	case "max_physical_batch_size":
		return formatNonZero(float64(c.MaxPhysicalBatchSize))
	case "blind":
		if c.Blind {
			return "true"
		}
		return ""
	case "seed":
		if c.Seed == nil {
			return ""
		}
		return strconv.FormatUint(*c.Seed, 10)
	}
	if v, ok := c.Params[key]; ok {
		return Format(v)
	}
	return ""
}

// Set puts text into a field; empty text is the field's default. On an error,
// whose text is meant for the person at the field, c is unchanged.
func Set(c *run.Config, key, s string) error {
	s = strings.TrimSpace(s)
	if name, ok := strings.CutPrefix(key, "csv.columns."); ok {
		setColumn(c, name, s)
		return nil
	}
	if p := text(c, key); p != nil {
		*p = s
		return nil
	}
	if f := number(c, key); f != nil {
		v, err := parseOrZero(s)
		if err != nil {
			return err
		}
		*f = v
		return nil
	}
	return setOther(c, key, s)
}

func setOther(c *run.Config, key, s string) error {
	switch key {
	case "noise_multiplier":
		return setOptional(&c.NoiseMultiplier, s)
	case "target_epsilon":
		return setOptional(&c.TargetEpsilon, s)
	case "model.hidden":
		return setInts(&c.Model.Hidden, s)
	case "steps":
		return setInt(&c.Steps, s)
	case "pca.components":
		return setInt(&c.PCA.Components, s)
	case "diagnostics_every":
		return setInt(&c.DiagnosticsEvery, s)
	case "max_physical_batch_size":
		return setInt(&c.MaxPhysicalBatchSize, s)
	case "blind":
		return setBool(&c.Blind, s)
	case "seed":
		return setSeed(c, s)
	}
	return setParam(c, key, s)
}

// text is the string field behind key, nil when there is none.
func text(c *run.Config, key string) *string {
	return map[string]*string{
		"data": &c.Data, "method": &c.Method, "weight": &c.Weight, "threshold": &c.Threshold, "grouping": &c.Grouping,
		"accountant": &c.Accountant, "noise_mode": &c.NoiseMode, "iterate": &c.Iterate, "optimizer": &c.Optimizer, "backend": &c.Backend,
		"model.kind": &c.Model.Kind, "model.activation": &c.Model.Activation, "scaling.kind": &c.Scaling.Kind,
		"csv.delimiter": &c.CSV.Delimiter, "csv.header": &c.CSV.Header, "csv.label": &c.CSV.Label,
		"csv.task": &c.CSV.Task, "csv.missing": &c.CSV.Missing,
	}[key]
}

// number is the float field behind key for which 0 means the default.
func number(c *run.Config, key string) *float64 {
	return map[string]*float64{
		"max_grad_norm": &c.MaxGradNorm, "target_delta": &c.TargetDelta, "expected_batch_size": &c.ExpectedBatchSize,
		"epochs": &c.Epochs, "learning_rate": &c.LearningRate, "momentum": &c.Momentum,
		"beta1": &c.Beta1, "beta2": &c.Beta2, "eps": &c.Eps,
		"ema_decay": &c.EMADecay, "pca.share": &c.PCA.Share,
		"scaling.lo": &c.Scaling.Lo, "scaling.hi": &c.Scaling.Hi, "scaling.share": &c.Scaling.Share,
		"csv.test_share": &c.CSV.TestShare,
	}[key]
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

func formatOptional(f *float64) string {
	if f == nil {
		return ""
	}
	return Format(*f)
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

func setSeed(c *run.Config, s string) error {
	if s == "" {
		c.Seed = nil
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > maxSeed {
		return fmt.Errorf("“%s” is not a whole number between 0 and %d", s, int64(maxSeed))
	}
	c.Seed = &n
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

// setParam copies the map first: a configuration may have been handed out.
func setParam(c *run.Config, key, s string) error {
	params := make(map[string]float64, len(c.Params)+1)
	for k, v := range c.Params {
		params[k] = v
	}
	if s == "" {
		delete(params, key)
	} else {
		f, err := Parse(s)
		if err != nil {
			return err
		}
		params[key] = f
	}
	c.Params = params
	return nil
}

func setColumn(c *run.Config, name, kind string) {
	columns := make(map[string]string, len(c.CSV.Columns)+1)
	for k, v := range c.CSV.Columns {
		columns[k] = v
	}
	columns[name] = kind
	if kind == "" {
		delete(columns, name)
	}
	c.CSV.Columns = columns
}

// KeepParams drops the parameters that are not in declared: another method
// does not take them.
func KeepParams(c *run.Config, declared []string) {
	var kept map[string]float64
	for k, v := range c.Params {
		if slices.Contains(declared, k) {
			if kept == nil {
				kept = map[string]float64{}
			}
			kept[k] = v
		}
	}
	c.Params = kept
}
