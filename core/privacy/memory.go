package privacy

import (
	"fmt"
	"sync"
)

// Memory remembers what accountants said, for runs that ask the same: a sweep tries one
// budget with many thresholds, and to ask takes as long as to train on the drawn digits.
// What is said follows from the question alone, so it is the same with a Memory and
// without. Several goroutines may use one; nil remembers nothing.
type Memory struct {
	mu        sync.Mutex
	answers   map[string]any // by the question
	questions []string       // the oldest first
}

// mostRemembered bounds what a Memory holds: a curve is some hundred kilobytes, and a plan
// asks some five questions.
const mostRemembered = 64

// recall returns f's answer, which follows from the question, or the one it gave before. Errors
// are not remembered.
func recall[A any](m *Memory, f func() (A, error), question ...any) (A, error) {
	if m == nil {
		return f()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := fmt.Sprintf("%#v", question) // in which every float differs from every other
	if a, ok := m.answers[key].(A); ok {
		return a, nil
	}
	a, err := f()
	if err != nil {
		return a, err
	}
	if m.answers == nil {
		m.answers = map[string]any{}
	}
	if len(m.questions) == mostRemembered {
		delete(m.answers, m.questions[0])
		m.questions = m.questions[1:]
	}
	m.answers[key], m.questions = a, append(m.questions, key)
	return a, nil
}

// NoiseMultiplier is [Budget.NoiseMultiplier].
func (m *Memory) NoiseMultiplier(b Budget, sampleRate float64, steps int) (float64, error) {
	return recall(m, func() (float64, error) { return b.NoiseMultiplier(sampleRate, steps) }, "σ", b, sampleRate, steps)
}

// Curve is [NewCurve].
func (m *Memory) Curve(accountant string, delta float64, perStep Event, maxSteps int, once ...Event) (*Curve, error) {
	return recall(m, func() (*Curve, error) { return NewCurve(accountant, delta, perStep, maxSteps, once...) },
		"curve", accountant, delta, perStep, maxSteps, once)
}

// Epsilon is [Epsilon].
func (m *Memory) Epsilon(accountant string, delta float64, events ...Event) (float64, error) {
	return recall(m, func() (float64, error) { return Epsilon(accountant, delta, events...) }, "ε", accountant, delta, events)
}
