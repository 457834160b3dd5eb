// Sums of outer products: a matrix product, unless their elements are changed one
// by one, when none can take its place.

import { greatest } from "../simd/greatest";
import { block } from "../simd/product";
import { isSparse, sparseOuter, sparseRounded } from "../simd/sparse";
import { asBlock, asWide, isEmpty, oneBlock, start, started } from "../simd/sums";
import { Part, Parts, first } from "../simd/team";
import { space } from "../simd/window";
import { BLOCK, PIECE, Ptr, ROUND, Sums, addWide, loadPart, loadUpTo, madd, storeUpTo } from "../simd/vec";

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
// the batch, for rows from … to−1 of dst. Inlined with a constant round, it costs no branch.
// @ts-ignore: decorator
@inline
function changed(m: i32, n: i32, k: i32, c: f32, h: Ptr, d: Ptr, dst: Ptr, round: bool, from: i32, to: i32): void {
  const high = f32x4.splat(c), low = f32x4.splat(-c);
  const hStride = <usize>n << 2, dStride = <usize>k << 2;
  h += <usize>from << 2;
  dst += <usize>from * <usize>k << 3;
  for (let j = from; j < to; j++, h += 4) {
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

const COLUMNS = 16;

// bounded reports that no product of row i of h and row i of d is beyond ±2²², or NaN.
function bounded(n: i32, k: i32, h: Ptr, d: Ptr): bool {
  return greatest(n, h) * greatest(k, d) <= 4194304;
}

// counted adds to dst, in float64 and of two rows of stride values where there are two,
// the rounded products of m ≤ BLOCK rows: of 16 columns, packed at d, of which the first
// are written. The bits of ROUND are added with them, m times, and taken away again.
// @ts-ignore: decorator
@inline
function counted(m: i32, h: Ptr, hStride: usize, d: Ptr, round: Ptr, dst: Ptr, stride: usize, columns: i32, two: bool): void {
  const all = v128.load32_splat(round);
  const start = i32x4.sub(i32x4.splat(0), i32x4.mul(all, i32x4.splat(m)));
  let a0 = start, a1 = start, a2 = start, a3 = start, b0 = start, b1 = start, b2 = start, b3 = start;
  for (const end = d + (<usize>m << 6); d < end; d += 64, h += hStride) {
    const x = v128.load32_splat(h), y = two ? v128.load32_splat(h, 4) : x;
    let v = v128.load(d);
    a0 = i32x4.add(a0, madd(x, v, all));
    if (two) b0 = i32x4.add(b0, madd(y, v, all));
    v = v128.load(d, 16);
    a1 = i32x4.add(a1, madd(x, v, all));
    if (two) b1 = i32x4.add(b1, madd(y, v, all));
    v = v128.load(d, 32);
    a2 = i32x4.add(a2, madd(x, v, all));
    if (two) b2 = i32x4.add(b2, madd(y, v, all));
    v = v128.load(d, 48);
    a3 = i32x4.add(a3, madd(x, v, all));
    if (two) b3 = i32x4.add(b3, madd(y, v, all));
  }
  addWhole(dst, columns, a0, a1, a2, a3, round);
  if (two) addWhole(dst + stride, columns, b0, b1, b2, b3, round);
}

// addWhole adds the first of 16 whole numbers to the float64 at p; spare has room for
// all of them.
function addWhole(p: Ptr, n: i32, v0: v128, v1: v128, v2: v128, v3: v128, spare: Ptr): void {
  spare += 16;
  v128.store(spare, v0);
  v128.store(spare, v1, 16);
  v128.store(spare, v2, 32);
  v128.store(spare, v3, 48);
  for (; n >= 2; n -= 2, p += 16, spare += 8) {
    v128.store(p, f64x2.add(v128.load(p), f64x2.convert_low_i32x4_s(v128.load_zero<u64>(spare))));
  }
  if (n) store<f64>(p, load<f64>(p) + <f64>load<i32>(spare));
}

// rounded is rows from … to−1 of a sum whose terms are rounded. Where all of them are
// within ±2²², adding ROUND does that, and they are counted in integers; sixteen columns
// of a block of d are packed and stay in the first-level cache.
function rounded(m: i32, n: i32, k: i32, h: Ptr, d: Ptr, dst: Ptr, from: i32, to: i32): void {
  const hStride = <usize>n << 2, dStride = <usize>k << 2, stride = <usize>k << 3;
  const packed = space(COLUMNS * (BLOCK + 2)), round = packed + (COLUMNS * BLOCK << 2);
  store<f32>(round, ROUND);
  for (; m > 0; m -= BLOCK, h += <usize>BLOCK * hStride, d += <usize>BLOCK * dStride) {
    const rows = min(m, BLOCK);
    for (let column = 0; column < k; column += COLUMNS) {
      const columns = min(k - column, COLUMNS);
      if (columns < COLUMNS) memory.fill(packed, 0, <usize>(COLUMNS * rows) << 2);
      for (let i = 0; i < rows; i++) {
        memory.copy(packed + (<usize>(i * COLUMNS) << 2), d + <usize>i * dStride + (<usize>column << 2), <usize>columns << 2);
      }
      let j = from, x = h + (<usize>from << 2), y = dst + <usize>from * stride + (<usize>column << 3);
      for (; j + 1 < to; j += 2, x += 8, y += 2 * stride) counted(rows, x, hStride, packed, round, y, stride, columns, true);
      if (j < to) counted(rows, x, hStride, packed, round, y, stride, columns, false);
    }
  }
}

const STRIP = 1024;

// weighed writes the sum of at most BLOCK rows of d [m×k], each times its factor
// in f, to dst, or adds it there in float64: outer products with one number, for
// which the tiles of a matrix product are too wide. A strip of columns stays in
// the first-level cache, and a part is some of the columns.
function weighed(m: i32, k: i32, f: Ptr, d: Ptr, dst: Ptr, wide: bool, part: Part, parts: Parts): void {
  const row = <usize>k << 2, size: usize = wide ? 8 : 4, strip = space(2 * STRIP), sums = strip + (STRIP << 2);
  for (let from = first(k, 16, part, parts), to = first(k, 16, part + 1, parts); from < to; from += STRIP) {
    const n = min(to - from, STRIP), rows = d + (<usize>from << 2), out = dst + <usize>from * size;
    const block = wide ? sums : out;
    memory.fill(block, 0, <usize>n << 2);
    for (let i = 0; i < m;) {
      memory.fill(strip, 0, STRIP << 2);
      for (const end = min(i + PIECE, m); i < end; i++) {
        const x = v128.load32_splat(f + (<usize>i << 2));
        let p = rows + <usize>i * row, q = strip;
        for (const end = q + ((<usize>n & ~3) << 2); q < end; q += 16, p += 16) v128.store(q, madd(x, v128.load(p), v128.load(q)));
        if (n & 3) v128.store(q, madd(x, loadPart(p, n & 3), v128.load(q)));
      }
      let p = strip, q = block;
      for (let j = n; j > 0; j -= 4, p += 16, q += 16) {
        storeUpTo(q, f32x4.add(loadUpTo(q, j), v128.load(p)), j);
      }
    }
    if (wide) {
      let p = sums, q = out;
      for (let j = n; j > 0; j -= 4, p += 16, q += 32) addLanes(q, v128.load(p), min(j, 4));
    }
  }
}

// plain is for at most BLOCK rows. Whether zeros are left out is asked once for all the
// rows of a call: parts do not wait for one another between its blocks, and what is a
// part's differs with the answer.
// @ts-ignore: decorator
@inline
function plain(m: i32, n: i32, k: i32, h: Ptr, d: Ptr, dst: Ptr, wide: bool, few: bool, part: Part, parts: Parts): void {
  if (few) sparseOuter(m, n, k, h, d, dst, wide, part, parts);
  else if (n != 1 || k <= 8) block(m, n, k, h, d, dst, wide, part, parts);
  else weighed(m, k, h, d, dst, wide, part, parts);
}

// addOuterBefore makes dst one block for a first call of no more rows, in which
// no float64 is needed, or else float64, which a first call's parts begin themselves where
// terms are changed: what they write is in the cache then, and in that of their thread.
export function addOuterBefore(m: i32, n: i32, k: i32, each: i32, dst: Sums): void {
  if (m == 0 && each == 0) return;
  if (m > 0 && isEmpty(dst) && (each != 0 || m <= BLOCK)) {
    if (each == 0) asBlock(dst, n * k);
    else start(dst, n * k);
  } else {
    asWide(dst);
  }
}

// addOuter has each as kernel.Each: 0 plain, 1 clamped, 2 rounded.
// @divide costing m * n * k / (each == 1 ? 2.0 : 8.0) + n * k
export function addOuter(m: i32, n: i32, k: i32, each: i32, c: f32, h: Ptr, d: Ptr, dst: Sums, part: Part, parts: Parts): void {
  if (m == 0) return;
  const one = oneBlock(dst), few = each != 1 && isSparse(m, n, h, k) && greatest(m * k, d) < Infinity;
  if (one) {
    plain(m, n, k, h, d, one, false, few, part, parts);
    return;
  }
  const begun = started(dst), wide = begun || asWide(dst);
  if (each != 0) {
    let all = each == 2 && n >= 8; // or packing would take longer
    for (let i: usize = 0; all && i < <usize>m; i++) all = bounded(n, k, h + (i * <usize>n << 2), d + (i * <usize>k << 2));
    if (all && few) {
      sparseRounded(m, n, k, h, d, wide, begun != 0, part, parts);
      return;
    }
    const from = first(n, 2, part, parts), to = first(n, 2, part + 1, parts), row = <usize>k << 3;
    if (begun) memory.fill(wide + <usize>from * row, 0, <usize>(to - from) * row);
    if (all) rounded(m, n, k, h, d, wide, from, to);
    else if (each == 2) changed(m, n, k, 0, h, d, wide, true, from, to);
    else changed(m, n, k, c, h, d, wide, false, from, to);
  } else {
    for (let i = 0; i < m; i += BLOCK) {
      plain(min(m - i, BLOCK), n, k, h + (<usize>(i * n) << 2), d + (<usize>i * <usize>k << 2), wide, true, few, part, parts);
    }
  }
}
