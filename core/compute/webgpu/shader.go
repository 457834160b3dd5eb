package webgpu

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/adaclip"
	"clipscope/core/compute/kernel/lipschitz"
	"clipscope/core/compute/kernel/picture"
)

//go:embed prelude.wgsl
var prelude string

//go:embed widen.wgsl
var widening string

var folders = []embed.FS{kernel.Shaders, adaclip.Shaders, lipschitz.Shaders, picture.Shaders}

// shader is a kernel's program.
type shader struct {
	text    string
	stages  []stage
	scratch []stage // of which the first that runs says how much there is
	holds   []stage // of which the first that runs says what the sums are then
}

// stage is one entry point and what it runs over, where all conditions hold.
type stage struct {
	entry string
	id    int // of its program, once there is one
	grid  []extent
	when  []condition
	not   [][]condition // and of none of these all do
	forms bool          // a condition was how the sums are held
}

// condition is that N[i], or where Buf[i] begins, is less than a number, equal to it,
// greater or a multiple, or one of known, which [shader.on] resolves.
type condition struct {
	of   byte
	i    int
	sign byte
	than int
}

// known are the conditions that a call's sizes say nothing of, by their letters: that the
// adapter is a program, and that sums are held as nothing, as one block, or as float64.
var known = map[string]byte{"program": 'p', "empty": 'e', "block": 'o', "wide": 'w'}

func isKnown(c condition) bool { return strings.IndexByte("peow", c.of) >= 0 }

// extent is a product of sizes divided by a number, rounded up.
type extent struct {
	terms []term
	by    int
	open  bool // workgroups beyond mostGroups are done by those that there are
}

// term is a size: a letter and its number, or a constant.
type term struct {
	of byte
	i  int
}

// shaderOf reads the program that stands beside a kernel.
func shaderOf(k *compute.Kernel) (shader, error) {
	for _, f := range folders {
		text, err := f.ReadFile(strings.ToLower(k.Name) + ".wgsl")
		if err != nil {
			continue
		}
		stages, err := stagesOf(string(text))
		if err != nil {
			return shader{}, fmt.Errorf("webgpu: kernel %s: %w", k.Name, err)
		}
		sh := shader{text: string(text)}
		for _, s := range stages {
			switch s.entry {
			case "scratch":
				sh.scratch = append(sh.scratch, s)
			case "holds":
				sh.holds = append(sh.holds, s)
			default:
				sh.stages = append(sh.stages, s)
			}
		}
		return sh, nil
	}
	return shader{}, fmt.Errorf("webgpu: there is no shader for the kernel %s", k.Name)
}

// on is the shader where those of the known conditions hold whose letters are given.
func (sh shader) on(letters string) shader {
	sh.stages, sh.scratch, sh.holds = stagesOn(sh.stages, letters), stagesOn(sh.scratch, letters), stagesOn(sh.holds, letters)
	return sh
}

func stagesOn(stages []stage, letters string) []stage {
	fails := func(c condition) bool { return isKnown(c) && strings.IndexByte(letters, c.of) < 0 }
	var kept []stage
	for _, s := range stages {
		if slices.ContainsFunc(s.when, fails) {
			continue
		}
		var not [][]condition
		for _, when := range s.not {
			if !slices.ContainsFunc(when, fails) {
				not = append(not, slices.DeleteFunc(slices.Clone(when), isKnown))
			}
		}
		s.forms = slices.ContainsFunc(s.when, func(c condition) bool { return c.of == 'e' || c.of == 'o' })
		s.when, s.not = slices.DeleteFunc(slices.Clone(s.when), isKnown), not
		kept = append(kept, s)
	}
	return kept
}

// knows reports that a call takes sums as they are held, or does not look at them: else
// they are made float64 first.
func (sh shader) knows(a *compute.Args) bool {
	return slices.ContainsFunc(sh.stages, func(s stage) bool { return s.forms && s.runs(a) }) ||
		slices.ContainsFunc(sh.holds, func(s stage) bool { return s.runs(a) })
}

// stagesOf reads the first lines of a program.
func stagesOf(text string) ([]stage, error) {
	var stages []stage
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "//! ")
		if !ok {
			break
		}
		rest, when, conditional := strings.Cut(rest, " if ")
		rest, otherwise := strings.CutSuffix(strings.TrimSpace(rest), " else")
		when, unless, excepted := strings.Cut(when, " unless ")
		words := strings.Fields(rest)
		if len(words) < 2 || len(words) > 4 {
			return nil, fmt.Errorf("%q does not say what runs over what", line)
		}
		s := stage{entry: words[0]}
		for _, w := range words[1:] {
			e, err := extentOf(w)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			s.grid = append(s.grid, e)
		}
		var not []condition
		for of, text := range map[*[]condition]string{&s.when: when, &not: unless} {
			for _, w := range strings.Fields(text) {
				c, err := conditionOf(w)
				if err != nil {
					return nil, fmt.Errorf("%q: %w", line, err)
				}
				*of = append(*of, c)
			}
		}
		if conditional && s.when == nil || excepted && not == nil {
			return nil, fmt.Errorf("%q does not say when", line)
		}
		if otherwise {
			if stages == nil || stages[len(stages)-1].when == nil {
				return nil, fmt.Errorf("%q: nothing else", line)
			}
			last := stages[len(stages)-1]
			s.not = append(slices.Clone(last.not), last.when)
		}
		if excepted {
			s.not = append(s.not, not)
		}
		stages = append(stages, s)
	}
	if stages == nil {
		return nil, fmt.Errorf("its first line does not say what runs")
	}
	return stages, nil
}

func extentOf(w string) (extent, error) {
	e := extent{by: 1}
	w, e.open = strings.CutSuffix(w, "+")
	product, by, divided := strings.Cut(w, "/")
	if divided {
		n, err := strconv.Atoi(by)
		if err != nil || n < 1 {
			return e, fmt.Errorf("no divisor: %q", by)
		}
		e.by = n
	}
	for _, f := range strings.Split(product, "*") {
		t := term{of: '1'}
		switch {
		case f == "s":
			t.of = 's'
		case len(f) == 2 && (f[0] == 'n' || f[0] == 'b') && f[1] >= '0' && f[1] <= '4':
			t = term{f[0], int(f[1] - '0')}
		default:
			n, err := strconv.Atoi(f)
			if err != nil || n < 0 {
				return e, fmt.Errorf("no size: %q", f)
			}
			t.i = n
		}
		e.terms = append(e.terms, t)
	}
	return e, nil
}

func conditionOf(w string) (condition, error) {
	if of, ok := known[w]; ok {
		return condition{of: of}, nil
	}
	if len(w) > 3 && (w[0] == 'n' || w[0] == 'b') && w[1] >= '0' && w[1] <= '4' && strings.IndexByte("<=>%", w[2]) >= 0 {
		if n, err := strconv.Atoi(w[3:]); err == nil && n >= 0 && (n > 0 || w[2] != '%') {
			return condition{w[0], int(w[1] - '0'), w[2], n}, nil
		}
	}
	return condition{}, fmt.Errorf("no condition: %q", w)
}

func (c condition) holds(a *compute.Args) bool {
	n := a.N[c.i]
	if c.of == 'b' {
		n = a.Buf[c.i].Off // whatever it is a part of begins at a multiple of unit
	}
	switch c.sign {
	case '<':
		return n < c.than
	case '=':
		return n == c.than
	case '%':
		return n%c.than == 0
	default:
		return n > c.than
	}
}

func all(when []condition, a *compute.Args) bool {
	for _, c := range when {
		if !c.holds(a) {
			return false
		}
	}
	return true
}

func (e extent) of(a *compute.Args) int {
	n := 1
	for _, t := range e.terms {
		switch t.of {
		case 'n':
			n *= a.N[t.i]
		case 'b':
			n *= a.Buf[t.i].N
		case 's':
			n *= a.Sums.N
		default:
			n *= t.i
		}
	}
	return (n + e.by - 1) / e.by
}

// mostGroups is how many workgroups may stand side by side, by default.
const mostGroups = 65535

func (s stage) runs(a *compute.Args) bool {
	return all(s.when, a) && !slices.ContainsFunc(s.not, func(when []condition) bool { return all(when, a) })
}

// words is how many a line that is named scratch says, or sums one that is named holds.
func (s stage) words(a *compute.Args) int {
	n := 0
	for _, e := range s.grid {
		n += e.of(a)
	}
	return n
}

// groups is how many workgroups a stage runs over in each direction: none where it does
// not run.
func (s stage) groups(a *compute.Args) ([3]int, error) {
	if !s.runs(a) {
		return [3]int{}, nil
	}
	g := [3]int{1, 1, 1}
	for i, e := range s.grid {
		if g[i] = e.of(a); e.open {
			g[i] = min(g[i], mostGroups)
		}
	}
	if len(s.grid) == 1 && g[0] > mostGroups {
		g[1] = (g[0] + mostGroups - 1) / mostGroups
		g[0] = (g[0] + g[1] - 1) / g[1]
	}
	for _, n := range g {
		if n > mostGroups {
			return g, fmt.Errorf("webgpu: %s over %v workgroups", s.entry, g)
		}
	}
	return g, nil
}
