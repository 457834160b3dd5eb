import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";
import { token } from "./embed";

// @divide m: x t, dy t * d, g v * d; costing m * (t + v) * d
export function embedGrad(m: i32, t: i32, v: i32, d: i32, x: Ptr, dy: Ptr, g: Ptr): void {
  const row = <usize>d << 2, table = <usize>v * row;
  for (let i = 0; i < m; i++, g += table) {
    memory.fill(g, 0, table);
    for (let j = 0; j < t; j++, x += 4, dy += row) {
      const k = token(load<f32>(x), v);
      if (k < 0) continue;
      const to = g + <usize>k * row;
      for (let left = d, at: usize = 0; left > 0; left -= 4, at += 16) {
        storeUpTo(to + at, f32x4.add(loadUpTo(to + at, left), loadUpTo(dy + at, left)), left);
      }
    }
  }
}
