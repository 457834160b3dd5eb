package clip

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
)

// Env holds the configuration that a method is built from, and nothing else.
type Env struct {
	MaxGradNorm       float64 // C, or C₀
	NoiseMultiplier   float64 // σ of the whole step, before any is set aside for a statistic
	Steps             int     // T
	ExpectedBatchSize float64 // B
	Dim               int     // d, number of parameters
	Groups            int     // of parameters, that per-layer grouping clips apart; 0 is 1
	Params            Params
}

// Params are a method's own numbers, complete and within their bounds.
type Params map[string]float64

// Method is a named row of axes.
type Method struct {
	Info
	Place int // in the list that the page shows, from 1: simple to elaborate
	// New builds a fresh clipper: two clippers of one method share no memory.
	New func(Env) (*Clipper, error)
}

// Axis is a weight function or threshold rule that a configuration may put in
// place of a method's own.
type axis[T any] struct {
	params []Param
	new    func(Env) (T, error)
}

// The tables are filled by the init functions of the methods' files and only
// read afterwards.
var (
	methods = map[string]Method{}
	weights = map[string]axis[Weight]{}
	rules   = map[string]axis[Rule]{}
)

func register(m Method) { methods[m.Name] = m }

// registerWeight makes a weight function available to every method.
func registerWeight(name string, params []Param, f func(Params) Weight) {
	weights[name] = axis[Weight]{params, func(e Env) (Weight, error) { return f(e.Params), nil }}
}

// registerRule makes a threshold rule available to every method.
func registerRule(name string, params []Param, f func(Env) (Rule, error)) {
	rules[name] = axis[Rule]{params, f}
}

// Methods lists every registered method, in the order of their places; those
// without one follow alphabetically.
func Methods() []Info {
	all := slices.Collect(maps.Values(methods))
	place := func(m Method) int {
		if m.Place == 0 {
			return math.MaxInt
		}
		return m.Place
	}
	slices.SortStableFunc(all, func(a, b Method) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Name, b.Name))
	})
	infos := make([]Info, len(all))
	for i, m := range all {
		infos[i] = m.Info
	}
	return infos
}

// IsPrivate reports whether a method adds noise at all; one that is not registered
// would.
func IsPrivate(name string) bool {
	m, ok := methods[name]
	return !ok || m.Private
}

// Weights and Rules list the axes' values that a configuration may name.
func Weights() []string { return sortedKeys(weights) }
func Rules() []string   { return sortedKeys(rules) }

func sortedKeys[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Choice names a method and what of it is replaced; empty means the method's own.
type Choice struct {
	Method    string
	Weight    string
	Threshold string
	Grouping  string
}

// ParamError is a fault in one configuration key.
type ParamError struct{ Key, Message string }

func (e *ParamError) Error() string { return fmt.Sprintf("clip: %s: %s", e.Key, e.Message) }

// Declared lists every parameter that c takes, the method's and its replacements'.
func Declared(c Choice) ([]Param, error) {
	m, ok := methods[c.Method]
	if !ok {
		return nil, &ParamError{"method", fmt.Sprintf("there is no clipping method %q; choose one of %s", c.Method, strings.Join(sortedKeys(methods), ", "))}
	}
	params := slices.Clone(m.Params)
	add := func(more []Param) {
		for _, p := range more {
			if !slices.ContainsFunc(params, func(q Param) bool { return q.Name == p.Name }) {
				params = append(params, p)
			}
		}
	}
	if c.Weight != "" {
		w, ok := weights[c.Weight]
		if !ok {
			return nil, &ParamError{"weight", fmt.Sprintf("there is no weight function %q; choose one of %s", c.Weight, strings.Join(Weights(), ", "))}
		}
		add(w.params)
	}
	if c.Threshold != "" {
		r, ok := rules[c.Threshold]
		if !ok {
			return nil, &ParamError{"threshold", fmt.Sprintf("there is no threshold rule %q; choose one of %s", c.Threshold, strings.Join(Rules(), ", "))}
		}
		add(r.params)
	}
	return params, nil
}

// New builds the clipper that c names. Parameters that e.Params leaves out take
// their declared defaults; undeclared ones and values out of bounds are errors
// of type [*ParamError].
func New(c Choice, e Env) (*Clipper, error) {
	declared, err := Declared(c)
	if err != nil {
		return nil, err
	}
	if e.Params, err = complete(declared, e.Params); err != nil {
		return nil, err
	}
	if !(e.MaxGradNorm > 0) || math.IsInf(e.MaxGradNorm, 1) {
		return nil, &ParamError{"max_grad_norm", "the clipping threshold must be positive and finite"}
	}
	m := methods[c.Method]
	cl, err := m.New(e)
	if err != nil {
		return nil, err
	}
	if err := replaceAxes(cl, c, e); err != nil {
		return nil, err
	}
	if d, ok := cl.Rule.(divisible); ok && cl.Grouping == PerLayer && e.Groups > 1 {
		cl.Rule = d.divide(e.Groups)
	}
	return cl, cl.checkAxes()
}

// checkAxes refuses the few points of the product that mean nothing.
func (c *Clipper) checkAxes() error {
	switch {
	case c.Grouping != PerLayer:
	case c.Coordinates:
		return &ParamError{"grouping", "this method clamps every coordinate by itself, in whichever layer it is; choose flat"}
	case c.Source == Bounded || c.Geometry != nil:
		return &ParamError{"grouping", "this method measures all layers together; per-layer grouping needs norms layer by layer"}
	}
	if c.Coordinates && c.Weight != nil {
		return &ParamError{"weight", "clamping coordinates uses no weight function; choose another method for it"}
	}
	if q := c.Rule.Query(); c.Coordinates && q != nil {
		return &ParamError{"threshold", "clamping coordinates leaves no norm for a threshold rule to count; choose fixed or schedule"}
	}
	return nil
}

// replaceAxes puts the axes that c names in place of the method's own.
func replaceAxes(cl *Clipper, c Choice, e Env) (err error) {
	if c.Weight != "" {
		if cl.Weight, err = weights[c.Weight].new(e); err != nil {
			return err
		}
	}
	if c.Threshold != "" {
		if cl.Rule, err = rules[c.Threshold].new(e); err != nil {
			return err
		}
	}
	switch g := Grouping(c.Grouping); g {
	case "":
	case Flat, PerLayer:
		cl.Grouping = g
	default:
		return &ParamError{"grouping", fmt.Sprintf("there is no grouping %q; choose flat or per-layer", c.Grouping)}
	}
	return nil
}

// complete fills in defaults and refuses what is not declared or out of bounds.
func complete(declared []Param, given Params) (Params, error) {
	full := make(Params, len(declared))
	for _, p := range declared {
		v, ok := given[p.Name]
		if !ok {
			v = p.Default
		}
		if !(v >= p.Min && v <= p.Max) {
			return nil, &ParamError{p.Name, fmt.Sprintf("%v is outside %v … %v", v, p.Min, p.Max)}
		}
		if p.Integer && v != math.Trunc(v) {
			return nil, &ParamError{p.Name, fmt.Sprintf("%v is not a whole number", v)}
		}
		full[p.Name] = v
	}
	for name := range given {
		if _, ok := full[name]; !ok {
			return nil, &ParamError{name, "this field is not known and the chosen method does not take it" + suggest(declared)}
		}
	}
	return full, nil
}

func suggest(declared []Param) string {
	if len(declared) == 0 {
		return ""
	}
	names := make([]string, len(declared))
	for i, p := range declared {
		names[i] = p.Name
	}
	return "; it takes " + strings.Join(names, ", ")
}
