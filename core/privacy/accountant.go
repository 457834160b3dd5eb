package privacy

import (
	"fmt"
	"slices"
	"strings"
)

// The accountants that [NewAccountant] knows.
const (
	PLD = "pld" // privacy loss distributions: the tightest bound, the figure to quote
	RDP = "rdp" // Rényi differential privacy: what the papers report
)

// Names lists the accountants, the one to prefer first.
func Names() []string { return []string{PLD, RDP} }

// NewAccountant returns an accountant that has seen nothing. Its error lists the
// names that exist.
func NewAccountant(name string) (Accountant, error) {
	switch name {
	case PLD:
		return &pldAccountant{}, nil
	case RDP:
		return &rdpAccountant{}, nil
	default:
		return nil, unknownAccountant(name)
	}
}

func unknownAccountant(name string) error {
	names := Names()
	slices.Sort(names)
	return fmt.Errorf("privacy: no accountant %q: there is %s", name, strings.Join(names, ", "))
}

// Epsilon is ε at δ = delta of running the events one after the other, by the
// accountant of that name.
func Epsilon(accountant string, delta float64, events ...Event) (float64, error) {
	a, err := NewAccountant(accountant)
	if err != nil {
		return 0, err
	}
	for _, e := range events {
		if err := a.Compose(e); err != nil {
			return 0, err
		}
	}
	return a.Epsilon(delta)
}

// Delta is the least δ that the accountant of that name shows at ε = epsilon ≥ 0
// for the events run one after the other.
//
// Guarantee: an upper bound.
func Delta(accountant string, epsilon float64, events ...Event) (float64, error) {
	if !(epsilon >= 0) {
		return 0, fmt.Errorf("privacy: epsilon %v is negative", epsilon)
	}
	s, err := flatten(Composed{events}, 1)
	if err != nil {
		return 0, err
	}
	switch accountant {
	case PLD:
		return s.pldDelta(epsilon), nil
	case RDP:
		return s.rdp().delta(epsilon), nil
	default:
		return 0, unknownAccountant(accountant)
	}
}

// A Report is all that is known about what some events cost together at one δ.
type Report struct {
	Delta float64
	// PLD and RDP are upper bounds on ε by the two accountants.
	PLD, RDP float64
	// Low is a lower bound on ε: the truth lies between it and PLD.
	Low float64
	// GDP is an approximation by the central limit theorem (Bu et al. 2020),
	// which can err either way by any amount. It is not a bound: never quote it.
	GDP float64
	// Order is the Rényi order that gave RDP.
	Order float64
	// Notice says where PLD fell back to RDP, and is otherwise empty.
	Notice string
}

// NewReport asks every accountant.
func NewReport(delta float64, events ...Event) (Report, error) {
	if err := checkDelta(delta); err != nil {
		return Report{}, err
	}
	s, err := flatten(Composed{events}, 1)
	if err != nil {
		return Report{}, err
	}
	rho := s.rdp()
	r := Report{Delta: delta, Low: s.pldLow(rho, delta), GDP: s.gdp(delta)}
	r.RDP, r.Order = rho.epsilon(delta), rho.order(delta)
	r.PLD, r.Notice = s.pldOr(rho, delta)
	return r, nil
}
