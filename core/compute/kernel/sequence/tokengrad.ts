import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";
import { token } from "./embed";

// @divide m: x t, dy t * d, g t * d; costing m * t * (3 * d + t)
export function tokenGrad(m: i32, t: i32, v: i32, d: i32, x: Ptr, dy: Ptr, g: Ptr): void {
  const row = <usize>d << 2, all = <usize>t * row;
  for (let i = 0; i < m; i++, g += all, x += <usize>t << 2) {
    memory.fill(g, 0, all);
    for (let j = 0; j < t; j++, dy += row) {
      const own = load<f32>(x + (<usize>j << 2));
      if (token(own, v) < 0) continue;
      let to = g;
      for (let p = x; load<f32>(p) != own; p += 4) to += row;
      for (let left = d, at: usize = 0; left > 0; left -= 4, at += 16) {
        storeUpTo(to + at, f32x4.add(loadUpTo(to + at, left), loadUpTo(dy + at, left)), left);
      }
    }
  }
}
