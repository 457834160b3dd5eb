// Sums of outer products: a matrix product, unless their elements are changed one
// by one, when none can take its place.

import { block } from "../simd/product";
import { asBlock, asWide, isEmpty } from "../simd/sums";
import { BLOCK, PIECE, Ptr, Sums, addWide, loadPart } from "../simd/vec";

// term is one vector of products, clamped to [low, high] or rounded.
// @ts-ignore: decorator
@inline
function term(x: v128, y: v128, low: v128, high: v128, round: bool): v128 {
  const p = f32x4.mul(x, y);
  if (round) return f32x4.nearest(p);
  // In this order of arguments the one-instruction forms keep NaN as well.
  return f32x4.pmin(f32x4.pmax(p, low), high);
}

// changed keeps 16 elements of a row of dst in registers while it walks a piece of
// the batch. Inlined with a constant round, it costs no branch.
// @ts-ignore: decorator
@inline
function changed(m: i32, n: i32, k: i32, c: f32, h: Ptr, d: Ptr, dst: Ptr, round: bool): void {
  const high = f32x4.splat(c), low = f32x4.splat(-c);
  const hStride = <usize>n << 2, dStride = <usize>k << 2;
  for (let j = 0; j < n; j++, h += 4) {
    let left = k, column = d;
    for (; left >= 16; left -= 16, column += 64, dst += 128) {
      for (let i = 0, p = column, q = h; i < m;) {
        let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
        for (const end = min(i + PIECE, m); i < end; i++, p += dStride, q += hStride) {
          const x = v128.load32_splat(q);
          s0 = f32x4.add(s0, term(x, v128.load(p), low, high, round));
          s1 = f32x4.add(s1, term(x, v128.load(p, 16), low, high, round));
          s2 = f32x4.add(s2, term(x, v128.load(p, 32), low, high, round));
          s3 = f32x4.add(s3, term(x, v128.load(p, 48), low, high, round));
        }
        addWide(dst, s0);
        addWide(dst + 32, s1);
        addWide(dst + 64, s2);
        addWide(dst + 96, s3);
      }
    }
    for (; left > 0; left -= 4, column += 16) {
      const lanes = min(left, 4);
      for (let i = 0, p = column, q = h; i < m;) {
        let s = f32x4.splat(0);
        for (const end = min(i + PIECE, m); i < end; i++, p += dStride, q += hStride) {
          const v = lanes < 4 ? loadPart(p, lanes) : v128.load(p);
          s = f32x4.add(s, term(v128.load32_splat(q), v, low, high, round));
        }
        addLanes(dst, s, lanes);
      }
      dst += <usize>lanes << 3;
    }
  }
}

// addLanes adds the first n lanes of v (1 ≤ n ≤ 4) to the float64 at p.
function addLanes(p: Ptr, v: v128, n: i32): void {
  if (n == 4) {
    addWide(p, v);
    return;
  }
  store<f64>(p, load<f64>(p) + <f64>f32x4.extract_lane(v, 0));
  if (n > 1) store<f64>(p, load<f64>(p, 8) + <f64>f32x4.extract_lane(v, 1), 8);
  if (n > 2) store<f64>(p, load<f64>(p, 16) + <f64>f32x4.extract_lane(v, 2), 16);
}


// addOuter has each as kernel.Each: 0 plain, 1 clamped, 2 rounded.
export function addOuter(m: i32, n: i32, k: i32, each: i32, c: f32, h: Ptr, d: Ptr, dst: Sums): void {
  if (each == 1) {
    changed(m, n, k, c, h, d, asWide(dst), false);
  } else if (each == 2) {
    changed(m, n, k, 0, h, d, asWide(dst), true);
  } else {
    let i = 0;
    if (isEmpty(dst) && m > 0) {
      i = min(m, BLOCK);
      block(i, n, k, h, d, asBlock(dst, n * k), false);
    }
    for (; i < m; i += BLOCK) {
      block(min(m - i, BLOCK), n, k, h + (<usize>(i * n) << 2), d + (<usize>(i * k) << 2), asWide(dst), true);
    }
  }
}
