package privacy

import (
	"fmt"
	"slices"
	"strings"
)

// The accountants that [NewAccountant] knows.
const (
	RDP = "rdp" // Rényi differential privacy: what the papers report
)

// Names lists the accountants, the one to prefer first.
func Names() []string { return []string{RDP} }

// NewAccountant returns an accountant that has seen nothing. Its error lists the
// names that exist.
func NewAccountant(name string) (Accountant, error) {
	switch name {
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
