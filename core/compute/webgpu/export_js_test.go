package webgpu

// Lose has the browser take the GPU away.
func (b *Backend) Lose() { b.gpu.Get("device").Call("destroy") }
