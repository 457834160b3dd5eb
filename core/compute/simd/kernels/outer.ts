// Sums of outer products whose elements are clamped one by one.

import { Ptr, loadPart, storePart } from "./vec";

// @ts-ignore: decorator
@inline
function clamped(x: v128, low: v128, high: v128): v128 {
  return f32x4.min(f32x4.max(x, low), high); // NaN stays NaN
}

// clampedOuter keeps 16 elements of a row of dst in registers while it walks
// the batch.
export function clampedOuter(m: i32, n: i32, k: i32, c: f32, h: Ptr, d: Ptr, dst: Ptr): void {
  const high = f32x4.splat(c), low = f32x4.splat(-c);
  const hStride = <usize>n << 2, dStride = <usize>k << 2;
  for (let j = 0; j < n; j++, h += 4) {
    let left = k, column = d;
    for (; left >= 16; left -= 16, column += 64, dst += 64) {
      let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
      for (let i = 0, p = column, q = h; i < m; i++, p += dStride, q += hStride) {
        const x = v128.load32_splat(q);
        s0 = f32x4.add(s0, clamped(f32x4.mul(x, v128.load(p)), low, high));
        s1 = f32x4.add(s1, clamped(f32x4.mul(x, v128.load(p, 16)), low, high));
        s2 = f32x4.add(s2, clamped(f32x4.mul(x, v128.load(p, 32)), low, high));
        s3 = f32x4.add(s3, clamped(f32x4.mul(x, v128.load(p, 48)), low, high));
      }
      v128.store(dst, f32x4.add(s0, v128.load(dst)));
      v128.store(dst, f32x4.add(s1, v128.load(dst, 16)), 16);
      v128.store(dst, f32x4.add(s2, v128.load(dst, 32)), 32);
      v128.store(dst, f32x4.add(s3, v128.load(dst, 48)), 48);
    }
    for (; left >= 4; left -= 4, column += 16, dst += 16) {
      let s = f32x4.splat(0);
      for (let i = 0, p = column, q = h; i < m; i++, p += dStride, q += hStride) {
        s = f32x4.add(s, clamped(f32x4.mul(v128.load32_splat(q), v128.load(p)), low, high));
      }
      v128.store(dst, f32x4.add(s, v128.load(dst)));
    }
    if (left) {
      let s = f32x4.splat(0);
      for (let i = 0, p = column, q = h; i < m; i++, p += dStride, q += hStride) {
        s = f32x4.add(s, clamped(f32x4.mul(v128.load32_splat(q), loadPart(p, left)), low, high));
      }
      storePart(dst, f32x4.add(s, loadPart(dst, left)), left);
      dst += <usize>left << 2;
    }
  }
}
