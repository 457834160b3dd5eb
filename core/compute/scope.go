package compute

// Scope is a backend that knows what was made on it, to give all of that back: the
// memory of one run on a backend that outlives it. Make one with [NewScope].
type Scope struct {
	Backend
	buffers map[any]Buffer
	sums    map[any]Sums
}

// NewScope returns a scope of b.
func NewScope(b Backend) *Scope {
	return &Scope{b, map[any]Buffer{}, map[any]Sums{}}
}

func (s *Scope) New(n int) Buffer {
	b := s.Backend.New(n)
	s.buffers[b.Memory] = b
	return b
}

func (s *Scope) NewSums(n int) Sums {
	x := s.Backend.NewSums(n)
	s.sums[x.Memory] = x
	return x
}

// adjoining returns the backend that has sums side by side, or nil.
func (s *Scope) adjoining() Adjoining {
	if inner, ok := s.Backend.(*Scope); ok {
		return inner.adjoining()
	}
	b, _ := s.Backend.(Adjoining)
	return b
}

// Adjoins reports whether NewSumsOf has sums side by side.
func (s *Scope) Adjoins() bool { return s.adjoining() != nil }

// NewSumsOf returns sums of so many numbers each, all zero, and all of them as one, with no memory
// where the backend does not have them side by side.
func (s *Scope) NewSumsOf(lengths ...int) (all Sums, each []Sums) {
	if b := s.adjoining(); b != nil {
		all, each = b.NewAdjoining(lengths...)
		s.sums[all.Memory] = all
		return all, each
	}
	for _, n := range lengths {
		each = append(each, s.NewSums(n))
	}
	return all, each
}

func (s *Scope) Free(b Buffer) {
	delete(s.buffers, b.Memory)
	s.Backend.Free(b)
}

func (s *Scope) FreeSums(x Sums) {
	delete(s.sums, x.Memory)
	s.Backend.FreeSums(x)
}

// Close frees what the scope holds; the backend stays open.
func (s *Scope) Close() {
	for _, b := range s.buffers {
		s.Backend.Free(b)
	}
	for _, x := range s.sums {
		s.Backend.FreeSums(x)
	}
	clear(s.buffers)
	clear(s.sums)
}
