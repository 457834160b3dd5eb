package run

// EarlyStopping ends a run before its last step, once a value that it releases has come to rest.
// The whole plan is charged all the same, as for every run that is stopped.
type EarlyStopping struct {
	// Monitor is the released value: noisy_grad_norm; noisy_clip_fraction or max_grad_norm where the
	// threshold rule releases the one, or moves the other by what it releases. Empty: none, and the
	// run takes all of its steps.
	Monitor string `json:"monitor,omitempty"`
	// Patience is the number of steps over which the value is averaged, 50 by default.
	Patience int `json:"patience,omitempty"`
	// MinDelta is the least share of itself by which the average is to change from so many steps to
	// the next, 0.02 by default. It ends the run where it changes by less.
	MinDelta float64 `json:"min_delta,omitempty"`
}

// Monitors lists what may end a run early.
func Monitors() []string { return []string{"noisy_grad_norm", "noisy_clip_fraction", "max_grad_norm"} }

// Monitored returns a value by the name of its monitor; false where this step has none.
//
// Guarantee: that of [Released], as it is one of its fields.
func (r *Released) Monitored(monitor string) (v float64, ok bool) {
	switch {
	case monitor == "noisy_grad_norm":
		return float64(r.GradNorm), true
	case monitor == "noisy_clip_fraction" && r.ClipFraction != nil:
		return float64(*r.ClipFraction), true
	case monitor == "max_grad_norm":
		return r.MaxGradNorm, true
	}
	return 0, false
}
