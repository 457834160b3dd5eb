import { Ptr } from "../../simd/vec";

// token is the number of a token, of so many, or -1.
// @ts-ignore: decorator
@inline
export function token(x: f32, many: i32): i32 {
  if (!(x >= 0 && x < <f32>many)) return -1;
  const k = <i32>x;
  return <f32>k == x ? k : -1;
}

// @divide n: x 1, y d; costing n * d * 2
export function embed(n: i32, v: i32, d: i32, x: Ptr, table: Ptr, y: Ptr): void {
  const row = <usize>d << 2;
  for (let i = 0; i < n; i++, x += 4, y += row) {
    const k = token(load<f32>(x), v);
    if (k < 0) memory.fill(y, 0, row);
    else memory.copy(y, table + <usize>k * row, row);
  }
}
