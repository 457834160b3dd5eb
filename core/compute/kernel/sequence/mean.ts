import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";
import { token } from "./embed";

// tokens is the number of places of a row that have a token, at least 1.
// @ts-ignore: decorator
@inline
export function tokens(t: i32, v: i32, x: Ptr): f32 {
  let n = 0;
  for (const end = x + (<usize>t << 2); x < end; x += 4) n += <i32>(token(load<f32>(x), v) >= 0);
  return <f32>max(n, 1);
}

// @divide n: x t, e t * d, y d
export function mean(n: i32, t: i32, v: i32, d: i32, x: Ptr, e: Ptr, y: Ptr): void {
  const row = <usize>d << 2;
  for (let i = 0; i < n; i++, y += row) {
    const count = f32x4.splat(tokens(t, v, x));
    memory.fill(y, 0, row);
    for (let j = 0; j < t; j++, x += 4, e += row) {
      if (token(load<f32>(x), v) < 0) continue;
      for (let left = d, at: usize = 0; left > 0; left -= 4, at += 16) {
        storeUpTo(y + at, f32x4.add(loadUpTo(y + at, left), loadUpTo(e + at, left)), left);
      }
    }
    for (let left = d, at: usize = 0; left > 0; left -= 4, at += 16) storeUpTo(y + at, f32x4.div(loadUpTo(y + at, left), count), left);
  }
}
