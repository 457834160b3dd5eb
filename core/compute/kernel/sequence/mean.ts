import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";
import { token } from "./embed";

// from and to are the places of those tokens of a row that are meant, of its first p places: all for
// 0, the first for 1, the last for 2. Both are set by meant, and so is their number, at least 1.
export let from = 0, to = 0, many: f32 = 1;

export function meant(over: i32, p: i32, v: i32, x: Ptr): void {
  let n = 0;
  from = to = 0;
  for (let j = 0; j < p; j++, x += 4) {
    if (token(load<f32>(x), v) < 0) continue;
    if (over == 2 || n == 0) from = j;
    to = j + 1;
    n++;
    if (over == 1) break;
  }
  many = over == 0 ? <f32>max(n, 1) : 1;
}

// @divide n: x t, e p * d, y d
export function mean(n: i32, t: i32, p: i32, v: i32, d: i32, over: f64, x: Ptr, e: Ptr, y: Ptr): void {
  const row = <usize>d << 2;
  for (let i = 0; i < n; i++, x += <usize>t << 2, y += row, e += <usize>p * row) {
    meant(<i32>over, p, v, x);
    const count = f32x4.splat(many);
    memory.fill(y, 0, row);
    for (let j: usize = from; j < <usize>to; j++) {
      if (token(load<f32>(x + (j << 2)), v) < 0) continue;
      const at = e + j * row;
      for (let left = d, k: usize = 0; left > 0; left -= 4, k += 16) {
        storeUpTo(y + k, f32x4.add(loadUpTo(y + k, left), loadUpTo(at + k, left)), left);
      }
    }
    for (let left = d, k: usize = 0; left > 0; left -= 4, k += 16) storeUpTo(y + k, f32x4.div(loadUpTo(y + k, left), count), left);
  }
}
