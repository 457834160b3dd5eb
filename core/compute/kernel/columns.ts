import { Ptr } from "../simd/vec";

// @divide m: dst to, x from; costing m * n
export function columns(m: i32, n: i32, from: i32, to: i32, dst: Ptr, x: Ptr): void {
  for (let i = 0; i < m; i++, dst += <usize>to << 2, x += <usize>from << 2) memory.copy(dst, x, <usize>n << 2);
}
