// Package shader describes how the WGSL programs of kernels run: the entry points of a
// call, and the workgroups of each. Package webgpu runs them so.
package shader

import (
	"embed"
	"fmt"
	"strings"

	"clipscope/core/compute"
)

// MostGroups limits the workgroups that stand side by side: WebGPU's default for
// maxComputeWorkgroupsPerDimension.
const MostGroups = 65535

// Folder is the programs of one package of kernels.
type Folder struct {
	Files embed.FS // x.wgsl for the kernel x, in lower case
	Calls map[*compute.Kernel]func(*Call)
	// Joins has a call of a kernel do what the next one asks for as well, where that is about what it
	// gives, or become one of the next kernel that does both, and says so: the results are the same bits.
	// It leaves the call as it was where it cannot.
	Joins map[*compute.Kernel]func(c *Call, next *compute.Kernel, a *compute.Args) bool
}

// Text returns the program of a kernel.
func (f Folder) Text(k *compute.Kernel) (string, error) {
	text, err := f.Files.ReadFile(strings.ToLower(k.Name) + ".wgsl")
	if err != nil {
		return "", fmt.Errorf("shader: kernel %s: %w", k.Name, err)
	}
	return string(text), nil
}

// Entries lists the entry points of a program, in their order.
func Entries(text string) []string {
	var names []string
	for _, part := range strings.Split(text, "@compute ")[1:] {
		_, rest, _ := strings.Cut(part, "fn ")
		name, _, _ := strings.Cut(rest, "(")
		names = append(names, name)
	}
	return names
}

// Call is a call of a kernel. The function of its [Folder] adds the stages, which run
// one after the other.
type Call struct {
	compute.Args
	Kernel *compute.Kernel // whose program runs
	Stages []Stage
	Space  int      // words at b4 that hold anything, for a kernel without a fifth buffer
	More   []uint32 // at most MostMore, which programs have as args.more
}

// MostMore limits the further words of a call: what the prelude's Args have room for.
const MostMore = 20

// Stage is an entry point, and its workgroups across, down and deep.
type Stage struct {
	Entry  string
	Groups [3]int
}

// Disjoint reports that no value of a buffer is one of another.
func Disjoint(x, y *compute.Buffer) bool {
	return x.Memory != y.Memory || x.Off >= y.Off+y.N || y.Off >= x.Off+x.N
}

// Run adds an entry point over up to three numbers of workgroups; over none it does not
// run. One number alone that is above [MostGroups] is spread over rows: the prelude's item
// and group count through these.
func (c *Call) Run(entry string, groups ...int) {
	g := [3]int{1, 1, 1}
	copy(g[:], groups)
	if len(groups) == 1 && g[0] > MostGroups {
		g[1] = Per(g[0], MostGroups)
		g[0] = Per(g[0], g[1])
	}
	if g[0] != 0 && g[1] != 0 && g[2] != 0 {
		c.Stages = append(c.Stages, Stage{entry, g})
	}
}

// Per returns n divided by a number and rounded up: the workgroups for n things, of which
// each takes so many.
func Per(n, each int) int { return (n + each - 1) / each }

// Main is a call of a program whose one entry point, main, takes N[0] values, so many in a
// workgroup.
func Main(each int) func(*Call) {
	return func(c *Call) { c.Run("main", Per(c.N[0], each)) }
}
