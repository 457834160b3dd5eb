// Package godebug replaces Go's internal/godebug in the page's program. No environment sets
// GODEBUG there, so that every setting has its default. The real package counts other values,
// and keeps all of the runtime's metrics for that. web/overlay.mjs puts this one in its place.
package godebug

// A Setting is one of GODEBUG's.
type Setting struct{ name string }

// New returns the setting of that name.
func New(name string) *Setting { return &Setting{name} }

// Name returns the setting's name.
func (s *Setting) Name() string { return s.name }

// Undocumented reports false: a name without a mark is one of a documented setting.
func (s *Setting) Undocumented() bool { return false }

// String returns the setting as GODEBUG has it.
func (s *Setting) String() string { return s.name + "=" }

// Value returns the default, an empty text.
func (s *Setting) Value() string { return "" }

// IncNonDefault counts nothing.
func (s *Setting) IncNonDefault() {}
