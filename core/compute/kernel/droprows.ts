import { Ptr } from "../simd/vec";

// @divide m: f 1, x n
export function dropRows(m: i32, n: i32, f: Ptr, x: Ptr): void {
  const size = <usize>n << 2;
  for (let i = 0; i < m; i++, f += 4, x += size) {
    if (load<f32>(f) == 0) memory.fill(x, 0, size);
  }
}
