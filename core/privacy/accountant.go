package privacy

import (
	"fmt"
	"slices"
	"strings"

	"clipscope/core/run"
)

// The accountants that [NewAccountant] knows.
const (
	PLD = "pld" // privacy loss distributions: the tightest bound, the figure to quote
	RDP = "rdp" // Rényi differential privacy: what DC reports
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
		return min(1, s.pldDelta(epsilon)+s.beside(epsilon)), nil
	case RDP:
		return min(1, s.rdp().delta(epsilon)+s.beside(epsilon)), nil
	default:
		return 0, unknownAccountant(accountant)
	}
}

// NewReport asks every accountant.
func NewReport(delta float64, events ...Event) (run.ReportReply, error) {
	if err := checkDelta(delta); err != nil {
		return run.ReportReply{}, err
	}
	s, err := flatten(Composed{events}, 1)
	if err != nil {
		return run.ReportReply{}, err
	}
	rho := s.renyi()
	notice := ""
	pld := s.at(delta, func(delta float64) (e float64) {
		e, notice = s.pldOr(rho, delta)
		return e
	})
	low := s.lowAt(delta, func(delta float64) float64 { return s.pldLow(rho, delta) })
	return run.ReportReply{
		Delta:    delta,
		Epsilons: run.Epsilons{PLD: run.Number(pld), Low: run.Number(low), RDP: run.Number(s.at(delta, rho.epsilon)), GDP: run.Number(s.gdp(delta))},
		Order:    rho.order(delta), Notice: notice,
	}, nil
}
