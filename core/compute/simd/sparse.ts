// Products whose left operand is mostly zeros, as pictures of letters are and columns
// of categories. Terms in which it is 0 are left out, the others are added in the order
// in which product.ts adds them, so that every sum is the same to the bit, but for the
// sign of a zero (and, where multiply-add is fused, for a β other than 0 and 1): x·0 + s is
// s for every x that is finite. Where the right operand is narrow, so that a value found is
// used too few times, these are not for it.

import { greatest } from "./greatest";
import { pages } from "./pages";
import { add } from "./sums";
import { Part, Parts, first, laid, lay, several } from "./team";
import { BLOCK, PIECE, Ptr, ROUND, loadPart, madd, quads, storePart } from "./vec";
import { space } from "./window";

const LEAST = 32; // columns of the right operand that are worth the search
const ROWS = 16; // of the left one that are looked at, or nearly so many
const STRIP = 32; // columns of the left one whose lists stay in the first-level cache
const TERM: usize = 8; // a value, and where the row that it multiplies begins

// PICKS has, for each set of four lanes, the bytes of those in it, moved to the front.
const PICKS = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0,
  8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0,
  4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0, 0,
  12, 13, 14, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 12, 13, 14, 15, 0, 0, 0, 0, 0, 0, 0, 0,
  4, 5, 6, 7, 12, 13, 14, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 0, 0, 0, 0,
  8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0, 0,
  4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
], 16);

// isSparse reports whether a product of a [m×k], or of its transpose, with one of n
// columns is one for this file. It is the same for all parts of a call.
export function isSparse(m: i32, k: i32, a: Ptr, n: i32): bool {
  return mayBe(m, k, n) && 2 * others(m, k, a, 0, k >> 2) <= looked(m, k >> 2);
}

// @ts-ignore: decorator
@inline
function mayBe(m: i32, k: i32, n: i32): bool {
  return n >= LEAST && m >= ROWS && k >= STRIP;
}

// others is how many values of some rows of a [m×k] are other than 0, of those fours of
// columns, and looked how many of so many fours are looked at.
function others(m: i32, k: i32, a: Ptr, from: i32, to: i32): i32 {
  const step = m / ROWS;
  let zeros = i32x4.splat(0);
  for (let i = 0; i < m; i += step) {
    const row = a + (<usize>i * <usize>k << 2), end = row + (<usize>to << 4);
    for (let x = row + (<usize>from << 4); x < end; x += 16) zeros = i32x4.sub(zeros, f32x4.eq(v128.load(x), f32x4.splat(0)));
  }
  const all = i32x4.extract_lane(zeros, 0) + i32x4.extract_lane(zeros, 1) + i32x4.extract_lane(zeros, 2) + i32x4.extract_lane(zeros, 3);
  return looked(m, to - from) - all;
}

function looked(m: i32, fours: i32): i32 {
  const step = m / ROWS;
  return (m + step - 1) / step * fours << 2;
}

// swizzle has bytes of v, of which all of picks are.
// @ts-ignore: decorator
@inline
function swizzle(v: v128, picks: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i8x16.relaxed_swizzle(v, picks) : i8x16.swizzle(v, picks);
}

// pick writes the terms of four values, all of them or those other than 0, the first at
// offset and the next step bytes on, and returns where the next ones are to be.
// @ts-ignore: decorator
@inline
function pick(v: v128, all: i32, offsets: v128, dst: Ptr): Ptr {
  const lanes = all | i32x4.bitmask(f32x4.ne(v, f32x4.splat(0)));
  const picks = v128.load(PICKS + (<usize>lanes << 4));
  v = swizzle(v, picks);
  const o = swizzle(offsets, picks);
  v128.store(dst, i32x4.shuffle(v, o, 0, 4, 1, 5));
  v128.store(dst, i32x4.shuffle(v, o, 2, 6, 3, 7), 16);
  return dst + <usize>popcnt(lanes) * TERM;
}

// list writes the terms of n values, all of them or those other than 0, whose rows are
// step bytes apart, and returns their end. It may write four terms more.
// @ts-ignore: decorator
@inline
function list(n: i32, x: Ptr, all: bool, step: usize, dst: Ptr): Ptr {
  let offsets = i32x4.mul(i32x4(0, 1, 2, 3), i32x4.splat(<i32>step));
  const four = i32x4.splat(<i32>step << 2);
  for (const end = x + ((<usize>n >> 2) << 4); x < end; x += 16) {
    dst = pick(v128.load(x), all ? 15 : 0, offsets, dst);
    offsets = i32x4.add(offsets, four);
  }
  if (n & 3) dst = pick(loadPart(x, n & 3), all ? (1 << (n & 3)) - 1 : 0, offsets, dst);
  return dst;
}

// row is c = Σ terms + beta·c for n values of a row.
function row(n: i32, terms: Ptr, end: Ptr, b: Ptr, beta: f32, c: Ptr): void {
  for (; n >= 32; n -= 32, b += 128, c += 128) columns(8, 4, false, terms, end, b, beta, c);
  for (; n >= 16; n -= 16, b += 64, c += 64) columns(4, 4, false, terms, end, b, beta, c);
  for (; n >= 4; n -= 4, b += 16, c += 16) columns(1, 4, false, terms, end, b, beta, c);
  if (n) columns(1, n, false, terms, end, b, beta, c);
}

// wholeRow adds to n float64 the sums of terms that are rounded, none of them beyond ±2²².
function wholeRow(n: i32, terms: Ptr, end: Ptr, b: Ptr, c: Ptr): void {
  for (; n >= 32; n -= 32, b += 128, c += 256) columns(8, 4, true, terms, end, b, 1, c);
  for (; n >= 16; n -= 16, b += 64, c += 128) columns(4, 4, true, terms, end, b, 1, c);
  for (; n >= 4; n -= 4, b += 16, c += 32) columns(1, 4, true, terms, end, b, 1, c);
  if (n) columns(1, n, true, terms, end, b, 1, c);
}

// columns is row, or wholeRow, for that many vectors, the last of them of so many values.
// @ts-ignore: decorator
@inline
function columns(vectors: i32, last: i32, whole: bool, terms: Ptr, end: Ptr, b: Ptr, beta: f32, c: Ptr): void {
  const round = f32x4.splat(ROUND);
  let c0 = whole ? i32x4.mul(round, i32x4.splat(-<i32>((end - terms) / TERM))) : f32x4.splat(0);
  let c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0, c6 = c0, c7 = c0;
  for (; terms < end; terms += TERM) {
    const x = v128.load32_splat(terms), p = b + load<u32>(terms, 4);
    c0 = term(x, last < 4 ? loadPart(p, last) : v128.load(p), c0, round, whole);
    if (vectors >= 4) {
      c1 = term(x, v128.load(p, 16), c1, round, whole);
      c2 = term(x, v128.load(p, 32), c2, round, whole);
      c3 = term(x, v128.load(p, 48), c3, round, whole);
    }
    if (vectors == 8) {
      c4 = term(x, v128.load(p, 64), c4, round, whole);
      c5 = term(x, v128.load(p, 80), c5, round, whole);
      c6 = term(x, v128.load(p, 96), c6, round, whole);
      c7 = term(x, v128.load(p, 112), c7, round, whole);
    }
  }
  if (last < 4) {
    writePart(c, c0, beta, last, whole);
    return;
  }
  const size: usize = whole ? 32 : 16;
  write(c, c0, beta, whole);
  if (vectors >= 4) {
    write(c + size, c1, beta, whole);
    write(c + 2 * size, c2, beta, whole);
    write(c + 3 * size, c3, beta, whole);
  }
  if (vectors == 8) {
    write(c + 4 * size, c4, beta, whole);
    write(c + 5 * size, c5, beta, whole);
    write(c + 6 * size, c6, beta, whole);
    write(c + 7 * size, c7, beta, whole);
  }
}

// term is sum and x·v. Where that is rounded, the bits of ROUND are added with it.
// @ts-ignore: decorator
@inline
function term(x: v128, v: v128, sum: v128, round: v128, whole: bool): v128 {
  return whole ? i32x4.add(sum, madd(x, v, round)) : madd(x, v, sum);
}

// @ts-ignore: decorator
@inline
function write(c: Ptr, v: v128, beta: f32, whole: bool): void {
  if (whole) {
    v128.store(c, f64x2.add(v128.load(c), f64x2.convert_low_i32x4_s(v)));
    v128.store(c, f64x2.add(v128.load(c, 16), f64x2.convert_low_i32x4_s(i32x4.shuffle(v, v, 2, 3, 2, 3))), 16);
    return;
  }
  v128.store(c, beta != 0 ? madd(f32x4.splat(beta), v128.load(c), v) : v);
}

// writePart is write for the first n of four values.
// @ts-ignore: decorator
@inline
function writePart(c: Ptr, v: v128, beta: f32, n: i32, whole: bool): void {
  if (whole) {
    store<f64>(c, load<f64>(c) + <f64>i32x4.extract_lane(v, 0));
    if (n > 1) store<f64>(c, load<f64>(c, 8) + <f64>i32x4.extract_lane(v, 1), 8);
    if (n > 2) store<f64>(c, load<f64>(c, 16) + <f64>i32x4.extract_lane(v, 2), 16);
    return;
  }
  storePart(c, beta != 0 ? madd(f32x4.splat(beta), loadPart(c, n), v) : v, n);
}

// addBlock is rows from … to−1 of C = A·B + beta·C for depth columns of A [m×k], those
// from l on, and as many rows of B, all of whose terms count unless B is finite.
function addBlock(from: i32, to: i32, n: i32, k: i32, l: i32, depth: i32, a: Ptr, b: Ptr, all: bool, beta: f32, c: Ptr): void {
  const step = <usize>n << 2, terms = space(2 * (depth + 4));
  a += <usize>l << 2;
  b += <usize>l * step;
  for (let i = from; i < to; i++) {
    const end = list(depth, a + (<usize>i * <usize>k << 2), all, step, terms);
    row(n, terms, end, b, beta, c + <usize>i * step);
  }
}

// isFinite reports whether rows l … l+depth−1 of B are.
// @ts-ignore: decorator
@inline
function isFinite(n: i32, l: i32, depth: i32, b: Ptr): bool {
  return greatest(depth * n, b + (<usize>l * <usize>n << 2)) < Infinity;
}

// sparse is C = A·B + beta·C for a sparse A [m×k], in sums of up to chain terms before
// they are added. A part is some rows of C; or, where such sums are two, one of them.
export function sparse(m: i32, n: i32, k: i32, a: Ptr, b: Ptr, beta: f32, c: Ptr, chain: i32, part: Part, parts: Parts): void {
  const blocks = (k + chain - 1) / chain, depth = (k + blocks - 1) / blocks;
  if (ASC_FEATURE_THREADS && parts % 2 == 0 && inTwo(m, n, k, chain) && alike(m, k, a, depth)) {
    half(m, n, k, depth, a, b, beta, c, part, parts);
    return;
  }
  const from = first(m, 1, part, parts), to = first(m, 1, part + 1, parts);
  for (let l = 0; l < k; l += depth) {
    const terms = min(k - l, depth);
    addBlock(from, to, n, k, l, terms, a, b, !isFinite(n, l, terms, b), l == 0 ? beta : 1, c);
  }
}

// Two threads that have all of B in hand take it from each other at every step, as what
// changes B is cut into its first rows and its last, and A, which bytes become and whose
// columns are shared in a sum of outer products, as well. So each has the terms of one
// half, if those are two blocks in any case, and of every few rows whoever is second adds
// the other's sums to its own.

const TURN = 16; // rows
const MOST = 1 << 18; // values that are added, a megabyte
const TURNS = MOST / LEAST / TURN; // the most there can be

// inTwo reports whether a product may be cut like that.
function inTwo(m: i32, n: i32, k: i32, chain: i32): bool {
  return mayBe(m, k, n) && k > chain && k <= 2 * chain && n <= MOST / m;
}

// alike reports whether the columns before depth have as many values other than 0 as
// those after, or nearly: or one thread would wait for the other.
function alike(m: i32, k: i32, a: Ptr, depth: i32): bool {
  const before = others(m, k, a, 0, depth >> 2), after = others(m, k, a, depth >> 2, k >> 2);
  return 5 * before <= 6 * after && 5 * after <= 6 * before;
}

let room: usize = 0; // bytes that are laid

// sparseBefore has memory for the second half's sums where threads may share a product.
// It begins with how many halves of every turn are done, 0 between calls.
export function sparseBefore(m: i32, n: i32, k: i32, chain: i32): void {
  if (!ASC_FEATURE_THREADS || !several() || !inTwo(m, n, k, chain)) return;
  const bytes = <usize>(TURNS + m * n) << 2;
  if (bytes <= room) return;
  room = max(bytes, 2 * room);
  lay(pages(room));
}

function half(m: i32, n: i32, k: i32, depth: i32, a: Ptr, b: Ptr, beta: f32, c: Ptr, part: Part, parts: Parts): void {
  const each = parts / 2, second = part >= each, l = second ? depth : 0, terms = second ? k - depth : depth;
  const to = first(m, TURN, part % each + 1, each), turns = laid(), other = turns + (TURNS << 2), all = !isFinite(n, l, terms, b);
  for (let i = first(m, TURN, part % each, each); i < to; i += TURN) {
    const end = min(i + TURN, to), turn = turns + (<usize>(i / TURN) << 2), at = <usize>i * <usize>n << 2;
    addBlock(i, end, n, k, l, terms, a, b, all, second ? 0 : beta, second ? other : c);
    if (ASC_FEATURE_THREADS && atomic.add<i32>(turn, 1) == 1) {
      atomic.store<i32>(turn, 0);
      addTo((end - i) * n, other + at, c + at);
    }
  }
}

// addTo is c += x for n values.
function addTo(n: i32, x: Ptr, c: Ptr): void {
  for (const end = c + quads(n); c < end; c += 16, x += 16) v128.store(c, f32x4.add(v128.load(c), v128.load(x)));
  if (n & 3) storePart(c, f32x4.add(loadPart(c, n & 3), loadPart(x, n & 3)), n & 3);
}

// Lists are those of STRIP columns of a matrix, of up to depth rows each: where the
// first begins, where each ends, and room to find the terms of a row.
let lists: Ptr = 0, ends: Ptr = 0, found: Ptr = 0;

// listsOf has room for n floats beside lists of that depth, and returns where.
function listsOf(depth: i32, n: i32): Ptr {
  ends = space(STRIP + 2 * (STRIP + 4) + 2 * STRIP * depth + n);
  found = ends + (STRIP << 2);
  lists = found + <usize>(STRIP + 4) * TERM;
  return lists + <usize>(STRIP * depth) * TERM;
}

// listColumns lists the terms of n columns at x, in rows xStep bytes apart, of which
// yStep bytes of the other operand go with each.
function listColumns(rows: i32, n: i32, depth: i32, x: Ptr, xStep: usize, yStep: usize): void {
  for (let j = 0, at = lists, end = ends; j < n; j++, at += <usize>depth * TERM, end += 4) store<u32>(end, at);
  for (let i = 0, y: usize = 0; i < rows; i++, x += xStep, y += yStep) {
    const last = list(n, x, false, 4, found);
    for (let t = found; t < last; t += TERM) {
      const end = ends + load<u32>(t, 4), at = load<u32>(end);
      store<u32>(at, load<u32>(t));
      store<u32>(at, <u32>y, 4);
      store<u32>(end, at + <u32>TERM);
    }
  }
}

// sparseOuter is block for a sparse h [m×n], and its parts are some rows of dst.
export function sparseOuter(m: i32, n: i32, k: i32, h: Ptr, d: Ptr, dst: Ptr, wide: bool, part: Part, parts: Parts): void {
  const to = first(n, STRIP, part + 1, parts), step = <usize>k << 2, hStep = <usize>n << 2;
  const held = listsOf(PIECE, wide ? STRIP * k : 0);
  for (let j0 = first(n, STRIP, part, parts); j0 < to; j0 += STRIP) {
    const columns = min(to - j0, STRIP), sums = wide ? held : dst + <usize>j0 * step;
    for (let i = 0; i < m; i += PIECE) {
      listColumns(min(m - i, PIECE), columns, PIECE, h + <usize>i * hStep + (<usize>j0 << 2), hStep, step);
      for (let j = 0, terms = lists, to = sums; j < columns; j++, terms += PIECE * TERM, to += step) {
        row(k, terms, load<u32>(ends + (<usize>j << 2)), d + <usize>i * step, i == 0 ? 0 : 1, to);
      }
    }
    if (wide) add(columns * k, 1, held, dst + 2 * <usize>j0 * step);
  }
}

// sparseRounded adds to dst, in float64, the outer products of a sparse h [m×n] and d,
// each element rounded, none of them beyond ±2²². Its parts are some rows of dst, where they
// write 0 first if it is new.
export function sparseRounded(m: i32, n: i32, k: i32, h: Ptr, d: Ptr, dst: Ptr, fresh: bool, part: Part, parts: Parts): void {
  const to = first(n, STRIP, part + 1, parts), step = <usize>k << 2, hStep = <usize>n << 2;
  listsOf(BLOCK, 0);
  for (let j0 = first(n, STRIP, part, parts); j0 < to; j0 += STRIP) {
    const columns = min(to - j0, STRIP);
    if (fresh) memory.fill(dst + 2 * <usize>j0 * step, 0, 2 * <usize>columns * step);
    for (let i = 0; i < m; i += BLOCK) {
      listColumns(min(m - i, BLOCK), columns, BLOCK, h + <usize>i * hStep + (<usize>j0 << 2), hStep, step);
      for (let j = 0, terms = lists, to = dst + 2 * <usize>j0 * step; j < columns; j++, terms += BLOCK * TERM, to += 2 * step) {
        wholeRow(k, terms, load<u32>(ends + (<usize>j << 2)), d + <usize>i * step, to);
      }
    }
  }
}
