package webgpu

import (
	_ "embed"
	"fmt"
	"strings"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/adaclip"
	"clipscope/core/compute/kernel/lipschitz"
	"clipscope/core/compute/kernel/picture"
	"clipscope/core/compute/kernel/sequence"
	"clipscope/core/compute/shader"
)

// prelude precedes every program, tile that of a product.
var (
	//go:embed prelude.wgsl
	prelude string
	//go:embed tile.wgsl
	tile string
)

// program is a kernel's shader.
type program struct {
	text    string
	entries []string // whose ids are first and those after it
	first   int
	call    func(*shader.Call)
	join    func(*shader.Call, *compute.Kernel, *compute.Args) bool // nil: it never does another's work
}

// programs returns the shaders of all kernels, by Kernel.Index.
func programs() ([]program, error) {
	folders := []shader.Folder{kernel.Shaders(), adaclip.Shaders(), lipschitz.Shaders(), picture.Shaders(), sequence.Shaders()}
	var all []program
	entries := 0
	for _, k := range compute.Kernels() {
		p, err := program{first: entries}, error(nil)
		for _, f := range folders {
			if p.call = f.Calls[k]; p.call == nil {
				continue
			}
			if p.text, err = f.Text(k); err != nil {
				return nil, fmt.Errorf("webgpu: %w", err)
			}
			p.join = f.Joins[k]
			if strings.Contains(p.text, "product(") {
				p.text = tile + p.text
			}
			break
		}
		if p.call == nil {
			return nil, fmt.Errorf("webgpu: no shader for the kernel %s", k.Name)
		}
		p.entries = shader.Entries(p.text)
		entries += len(p.entries)
		all = append(all, p)
	}
	return all, nil
}
