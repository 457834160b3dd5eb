import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";
import { token } from "./embed";

// tokens is the number of so many places of a row that have a token, at least 1.
// @ts-ignore: decorator
@inline
export function tokens(p: i32, v: i32, x: Ptr): f32 {
  let n = 0;
  for (const end = x + (<usize>p << 2); x < end; x += 4) n += <i32>(token(load<f32>(x), v) >= 0);
  return <f32>max(n, 1);
}

// @divide n: x t, e p * d, y d
export function mean(n: i32, t: i32, p: i32, v: i32, d: i32, x: Ptr, e: Ptr, y: Ptr): void {
  const row = <usize>d << 2;
  for (let i = 0; i < n; i++, x += <usize>t << 2, y += row) {
    const count = f32x4.splat(tokens(p, v, x));
    memory.fill(y, 0, row);
    for (let j: usize = 0; j < <usize>p; j++, e += row) {
      if (token(load<f32>(x + (j << 2)), v) < 0) continue;
      for (let left = d, at: usize = 0; left > 0; left -= 4, at += 16) {
        storeUpTo(y + at, f32x4.add(loadUpTo(y + at, left), loadUpTo(e + at, left)), left);
      }
    }
    for (let left = d, at: usize = 0; left > 0; left -= 4, at += 16) storeUpTo(y + at, f32x4.div(loadUpTo(y + at, left), count), left);
  }
}
