// Sums of outer products: a matrix product, unless their elements are changed one
// by one, when none can take its place.

import { block } from "../simd/product";
import { asBlock, asWide, isEmpty } from "../simd/sums";
import { space } from "../simd/window";
import { BLOCK, PIECE, Ptr, Sums, addWide, loadPart, loadUpTo, madd, storeUpTo } from "../simd/vec";

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


const STRIP = 1024;

// weighed writes the sum of at most BLOCK rows of d [m×k], each times its factor
// in f, to dst, or adds it there in float64: outer products with one number, for
// which the tiles of a matrix product are too wide. A strip of columns stays in
// the first-level cache.
function weighed(m: i32, k: i32, f: Ptr, d: Ptr, dst: Ptr, wide: bool): void {
  const row = <usize>k << 2, strip = space(STRIP);
  for (let left = k; left > 0; left -= STRIP, d += STRIP << 2) {
    const n = min(left, STRIP);
    if (!wide) memory.fill(dst, 0, <usize>n << 2);
    for (let i = 0; i < m;) {
      memory.fill(strip, 0, STRIP << 2);
      for (const end = min(i + PIECE, m); i < end; i++) {
        const x = v128.load32_splat(f + (<usize>i << 2));
        let from = d + <usize>i * row, to = strip;
        for (const end = to + ((<usize>n & ~3) << 2); to < end; to += 16, from += 16) v128.store(to, madd(x, v128.load(from), v128.load(to)));
        if (n & 3) v128.store(to, madd(x, loadPart(from, n & 3), v128.load(to)));
      }
      let to = dst, from = strip;
      for (let j = n; j > 0; j -= 4, from += 16) {
        if (wide) {
          addLanes(to, v128.load(from), min(j, 4));
          to += 32;
        } else {
          storeUpTo(to, f32x4.add(loadUpTo(to, j), v128.load(from)), j);
          to += 16;
        }
      }
    }
    dst += wide ? STRIP << 3 : STRIP << 2;
  }
}

// @ts-ignore: decorator
@inline
function plain(m: i32, n: i32, k: i32, h: Ptr, d: Ptr, dst: Ptr, wide: bool): void {
  if (n == 1 && k > 8) weighed(m, k, h, d, dst, wide);
  else block(m, n, k, h, d, dst, wide);
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
      plain(i, n, k, h, d, asBlock(dst, n * k), false);
    }
    for (; i < m; i += BLOCK) {
      plain(min(m - i, BLOCK), n, k, h + (<usize>(i * n) << 2), d + (<usize>i * <usize>k << 2), asWide(dst), true);
    }
  }
}
