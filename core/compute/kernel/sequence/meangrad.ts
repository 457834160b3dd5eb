import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";
import { token } from "./embed";
import { from, many, meant, to } from "./mean";

// @divide n: x t, dy d, dx p * d
export function meanGrad(n: i32, t: i32, p: i32, v: i32, d: i32, over: f64, x: Ptr, dy: Ptr, dx: Ptr): void {
  const row = <usize>d << 2;
  for (let i = 0; i < n; i++, x += <usize>t << 2, dy += row) {
    meant(<i32>over, p, v, x);
    const count = f32x4.splat(many);
    for (let j = 0; j < p; j++, dx += row) {
      if (j < from || j >= to || token(load<f32>(x + (<usize>j << 2)), v) < 0) {
        memory.fill(dx, 0, row);
        continue;
      }
      for (let left = d, at: usize = 0; left > 0; left -= 4, at += 16) storeUpTo(dx + at, f32x4.div(loadUpTo(dy + at, left), count), left);
    }
  }
}
