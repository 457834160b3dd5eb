package clip

// fixed is the rule of a constant threshold.
type fixed struct{ c float64 }

// Fixed is the rule that keeps the threshold at c.
func Fixed(c float64) Rule { return fixed{c} }

// Stands reports whether a rule leaves the threshold where it is.
func Stands(r Rule) bool {
	_, ok := r.(fixed)
	return ok
}

func (f fixed) C() float64      { return f.c }
func (f fixed) Query() *Query   { return nil }
func (f fixed) Adapt([]float64) {}

func (f fixed) Snapshot() []float64       { return nil }
func (f fixed) Restore(v []float64) error { return fits(v, 0, 0) }

func init() {
	registerRule("fixed", nil, func(e Env) (Rule, error) { return Fixed(e.MaxGradNorm), nil })
}
