// Sums of outer products whose elements are changed one by one, so that no
// matrix product can take their place.

import { Ptr, loadPart, storePart } from "./vec";

// term is one vector of products, clamped to [low, high] or rounded.
// @ts-ignore: decorator
@inline
function term(x: v128, y: v128, low: v128, high: v128, round: bool): v128 {
  const p = f32x4.mul(x, y);
  if (round) return f32x4.nearest(p);
  // In this order of arguments the one-instruction forms keep NaN as well.
  return f32x4.pmin(f32x4.pmax(p, low), high);
}

// outer keeps 16 elements of a row of dst in registers while it walks the
// batch. Inlined with a constant round, it costs no branch.
// @ts-ignore: decorator
@inline
function outer(m: i32, n: i32, k: i32, c: f32, h: Ptr, d: Ptr, dst: Ptr, round: bool): void {
  const high = f32x4.splat(c), low = f32x4.splat(-c);
  const hStride = <usize>n << 2, dStride = <usize>k << 2;
  for (let j = 0; j < n; j++, h += 4) {
    let left = k, column = d;
    for (; left >= 16; left -= 16, column += 64, dst += 64) {
      let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
      for (let i = 0, p = column, q = h; i < m; i++, p += dStride, q += hStride) {
        const x = v128.load32_splat(q);
        s0 = f32x4.add(s0, term(x, v128.load(p), low, high, round));
        s1 = f32x4.add(s1, term(x, v128.load(p, 16), low, high, round));
        s2 = f32x4.add(s2, term(x, v128.load(p, 32), low, high, round));
        s3 = f32x4.add(s3, term(x, v128.load(p, 48), low, high, round));
      }
      v128.store(dst, f32x4.add(s0, v128.load(dst)));
      v128.store(dst, f32x4.add(s1, v128.load(dst, 16)), 16);
      v128.store(dst, f32x4.add(s2, v128.load(dst, 32)), 32);
      v128.store(dst, f32x4.add(s3, v128.load(dst, 48)), 48);
    }
    for (; left >= 4; left -= 4, column += 16, dst += 16) {
      let s = f32x4.splat(0);
      for (let i = 0, p = column, q = h; i < m; i++, p += dStride, q += hStride) {
        s = f32x4.add(s, term(v128.load32_splat(q), v128.load(p), low, high, round));
      }
      v128.store(dst, f32x4.add(s, v128.load(dst)));
    }
    if (left) {
      let s = f32x4.splat(0);
      for (let i = 0, p = column, q = h; i < m; i++, p += dStride, q += hStride) {
        s = f32x4.add(s, term(v128.load32_splat(q), loadPart(p, left), low, high, round));
      }
      storePart(dst, f32x4.add(s, loadPart(dst, left)), left);
      dst += <usize>left << 2;
    }
  }
}

export function clampedOuter(m: i32, n: i32, k: i32, c: f32, h: Ptr, d: Ptr, dst: Ptr): void {
  outer(m, n, k, c, h, d, dst, false);
}

export function roundedOuter(m: i32, n: i32, k: i32, h: Ptr, d: Ptr, dst: Ptr): void {
  outer(m, n, k, 0, h, d, dst, true);
}
