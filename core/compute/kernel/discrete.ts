// The discrete sequence of package chacha: a group of four blocks gives 64 samples,
// which are looked up four at a time.

import { groups } from "../simd/chacha";
import { pages } from "../simd/pages";
import { asWide, oneBlock } from "../simd/sums";
import { Part, Parts, first } from "../simd/team";
import { Key, Ptr, Sums, high, low } from "../simd/vec";

// What package chacha has of these names; the table's first entries are 30 bits, a
// threshold's first digits over the alias.
const COLUMNS = 16384, COLUMN_BITS = 14;
const FIRST_BITS = 16;
const DIGITS = 11, DIGIT_BITS = 24;

// entry is where the table has the column in the top bits of the word at p.
// @ts-ignore: decorator
@inline
function entry(table: Ptr, p: Ptr): Ptr {
  return table + (<usize>(load<u32>(p) >>> (32 - COLUMN_BITS)) << 2);
}

// below says whether the further digits of sample index are below the threshold's of
// that column: those of the block with that counter, of the other stream. It is
// seldom called, so that it makes four blocks for one matters little.
function below(column: i32, index: u32, table: Ptr, key: Key, tail: Ptr): bool {
  groups(1, key, 1 << 31, index, tail);
  const digits = table + ((<usize>COLUMNS + <usize>column * <usize>DIGITS) << 2);
  for (let i: usize = 0; i < <usize>DIGITS; i++) {
    const e = load<u32>(tail + (i << 4)) >>> (32 - DIGIT_BITS), d = <u32>load<f32>(digits + (i << 2));
    if (e != d) return e < d;
  }
  return false;
}

// settled is which columns are kept once the lanes in equal have been looked at more
// closely.
function settled(kept: v128, equal: v128, columns: v128, index: u32, table: Ptr, key: Key, tail: Ptr): v128 {
  const at = tail + 256;
  v128.store(at, columns);
  v128.store(at, equal, 16);
  for (let lane: usize = 0; lane < 4; lane++) {
    if (!load<i32>(at + (lane << 2), 16)) continue;
    if (!below(load<i32>(at + (lane << 2)), index + <u32>lane, table, key, tail)) continue;
    kept = v128.or(kept, i32x4.eq(i32x4(0, 1, 2, 3), i32x4.splat(<i32>lane)));
  }
  return kept;
}

// samples are the four of the words at p, of which index is the first.
// @ts-ignore: decorator
@inline
function samples(p: Ptr, index: u32, table: Ptr, key: Key, tail: Ptr): v128 {
  let e = v128.load_zero<u32>(entry(table, p));
  e = v128.load_lane<u32>(entry(table, p + 4), e, 1);
  e = v128.load_lane<u32>(entry(table, p + 8), e, 2);
  e = v128.load_lane<u32>(entry(table, p + 12), e, 3);
  const w = v128.load(p);
  const columns = i32x4.shr_u(w, 32 - COLUMN_BITS);
  const fraction = i32x4.shr_u(i32x4.shl(w, COLUMN_BITS + 1), 32 - FIRST_BITS);
  const threshold = i32x4.shr_u(e, COLUMN_BITS);
  let kept = i32x4.lt_s(fraction, threshold);
  const equal = i32x4.eq(fraction, threshold);
  if (v128.any_true(equal)) kept = settled(kept, equal, columns, index, table, key, tail);
  const magnitude = v128.bitselect(columns, v128.and(e, i32x4.splat(COLUMNS - 1)), kept);
  const sign = i32x4.shr_s(i32x4.shl(w, COLUMN_BITS), 31);
  return i32x4.sub(v128.xor(magnitude, sign), sign);
}

// finish writes four sums, in float32 or in float64, with their noise, lo and hi.
// @ts-ignore: decorator
@inline
function finish(lo: v128, hi: v128, u: v128, src: Ptr, wide: bool, dst: Ptr): void {
  if (wide) {
    lo = f64x2.add(lo, v128.load(src));
    hi = f64x2.add(hi, v128.load(src, 16));
  } else {
    const v = v128.load(src);
    lo = f64x2.add(lo, low(v));
    hi = f64x2.add(hi, high(v));
  }
  lo = f32x4.demote_f64x2_zero(f64x2.mul(u, lo));
  hi = f32x4.demote_f64x2_zero(f64x2.mul(u, hi));
  v128.store(dst, i64x2.shuffle(lo, hi, 0, 2));
}

// upper are the last two of four integers.
// @ts-ignore: decorator
@inline
function upper(x: v128): v128 { return f64x2.convert_low_i32x4_s(i32x4.shuffle(x, x, 2, 3, 2, 3)); }

// chunk writes 64 sums with their noise: of k samples each, of which those of group g,
// whose words are at words, are the first.
// @ts-ignore: decorator
@inline
function chunk(k: i32, g: u32, words: Ptr, unit: f64, at: Ptr, table: Ptr, src: Ptr, wide: bool, dst: Ptr, key: Key): void {
  const tail = at + TAIL, m = at + MULTIPLIERS, u = f64x2.splat(unit), size: usize = wide ? 32 : 16;
  for (let p: usize = 0; p < 256; p += 16, src += size, dst += 16) {
    let lo = f64x2.splat(0), hi = lo, word = words + p, index = (g << 6) + <u32>(p >> 2);
    for (let q = m, end = m + (<usize>k << 3); q < end; q += 8, word += 256, index += 64) {
      const x = samples(word, index, table, key, tail), mm = v128.load64_splat(q);
      lo = f64x2.add(lo, f64x2.mul(mm, f64x2.convert_low_i32x4_s(x)));
      hi = f64x2.add(hi, f64x2.mul(mm, upper(x)));
    }
    finish(lo, hi, u, src, wide, dst);
  }
}

// pairs is chunk for two samples, which are joined as integers: with multipliers up to
// MOST_JOINED they stay within 32 bits.
const MOST_JOINED: f64 = 65536;
// @ts-ignore: decorator
@inline
function pairs(g: u32, words: Ptr, unit: f64, at: Ptr, table: Ptr, src: Ptr, wide: bool, dst: Ptr, key: Key): void {
  const tail = at + TAIL, u = f64x2.splat(unit), size: usize = wide ? 32 : 16;
  const first = i32x4.splat(<i32>load<f64>(at + MULTIPLIERS)), second = i32x4.splat(<i32>load<f64>(at + MULTIPLIERS, 8));
  for (let p: usize = 0; p < 256; p += 16, src += size, dst += 16) {
    const index = (g << 6) + <u32>(p >> 2);
    const x = samples(words + p, index, table, key, tail), y = samples(words + p + 256, index + 64, table, key, tail);
    const z = i32x4.add(i32x4.mul(first, x), i32x4.mul(second, y));
    finish(f64x2.convert_low_i32x4_s(z), upper(z), u, src, wide, dst);
  }
}

// joined is chunk, or pairs where that will do.
function joined(k: i32, g: u32, words: Ptr, unit: f64, at: Ptr, table: Ptr, src: Ptr, wide: bool, dst: Ptr, key: Key): void {
  const m = at + MULTIPLIERS;
  if (k == 2 && load<f64>(m) <= MOST_JOINED && load<f64>(m, 8) <= MOST_JOINED) pairs(g, words, unit, at, table, src, wide, dst, key);
  else chunk(k, g, words, unit, at, table, src, wide, dst, key);
}

// chunks writes n, the first with the samples of group g: which groups a chunk has depends
// on where it is, and on nothing else. The words of as many chunks as there is room for
// are drawn at a time.
function chunks(n: i32, k: i32, unit: f64, at: Ptr, table: Ptr, src: Ptr, wide: bool, dst: Ptr, key: Key, g: u32): void {
  const size: usize = wide ? 8 : 4, most = max(<i32>TAIL / (256 * k), 1);
  while (n > 0) {
    const some = min((n + 63) >> 6, most);
    groups(some * k, key, 0, g << 2, at);
    for (let i = 0, words = at; i < some; i++, words += <usize>k << 8, g += k, n -= 64, dst += 256, src += 64 * size) {
      if (n >= 64) {
        joined(k, g, words, unit, at, table, src, wide, dst, key);
        continue;
      }
      memory.copy(at + LAST, src, <usize>n * size);
      joined(k, g, words, unit, at, table, at + LAST, wide, at + LAST + 512, key);
      memory.copy(dst, at + LAST + 512, <usize>n << 2);
    }
  }
}

// What scratch holds beside the words of MostJoined groups: those of another, and what
// below keeps; the multipliers; a last, short chunk, before and after.
const TAIL = 1280, MULTIPLIERS = TAIL + 288, LAST = MULTIPLIERS + 48;

let scratch: Ptr = 0;

// discreteBefore has the sums where several threads find them.
export function discreteBefore(src: Sums): void {
  if (!oneBlock(src)) asWide(src);
}

// @divide costing n * k * 10
export function discrete(n: i32, k: i32, unit: f64, m0: f64, m1: f64, m2: f64, m3: f64, m4: f64, table: Ptr, dst: Ptr, src: Sums, key: Key, part: Part, parts: Parts): void {
  if (!scratch) scratch = pages(2384);
  const at = scratch, m = at + MULTIPLIERS;
  store<f64>(m, m0);
  store<f64>(m, m1, 8);
  store<f64>(m, m2, 16);
  store<f64>(m, m3, 24);
  store<f64>(m, m4, 32);
  const from = first(n, 64, part, parts), g: u32 = (from >> 6) * k, off = <usize>from << 2, block = oneBlock(src);
  n = first(n, 64, part + 1, parts) - from;
  if (block) chunks(n, k, unit, at, table, block + off, false, dst + off, key, g);
  else chunks(n, k, unit, at, table, asWide(src) + 2 * off, true, dst + off, key, g);
}
