import { Ptr, loadPart, quads, storePart } from "../simd/vec";

// scaleRows fills the row of a factor of 0 with zeros whatever it held.
// @divide m: f 1, x n, dst n
export function scaleRows(m: i32, n: i32, f: Ptr, x: Ptr, dst: Ptr): void {
  const rest = n & 3;
  for (let i = 0; i < m; i++, f += 4) {
    const a = load<f32>(f);
    const keep = a == 0 ? i32x4.splat(0) : i32x4.splat(-1);
    const va = f32x4.splat(a);
    for (const end = x + quads(n); x < end; x += 16, dst += 16) {
      v128.store(dst, v128.and(keep, f32x4.mul(va, v128.load(x))));
    }
    if (rest) storePart(dst, v128.and(keep, f32x4.mul(va, loadPart(x, rest))), rest);
    x += <usize>rest << 2;
    dst += <usize>rest << 2;
  }
}
