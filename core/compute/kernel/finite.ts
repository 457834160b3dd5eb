import { Ptr } from "../simd/vec";

// @divide n by 16: x 1, keep 1
export function finite(n: i32, x: Ptr, keep: Ptr): void {
  for (let i: usize = 0, end = <usize>n << 2; i < end; i += 4) {
    if (!isFinite(load<f32>(x + i))) store<f32>(keep + i, 0);
  }
}
