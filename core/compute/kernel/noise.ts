// The normal sequence of package chacha, four blocks at a time, one lane a block.

import { groups } from "../simd/chacha";
import { pages } from "../simd/pages";
import { Part, Parts, first } from "../simd/team";
import { Key, Ptr, madd } from "../simd/vec";

// Powers of two: P32 is 2⁻³² and so on.
const P32: f32 = 2.3283064365386963e-10;
const P33: f32 = 1.1641532182693481e-10;
const P64: f64 = 5.421010862427522e-20;
const P96: f64 = 1.262177448353619e-29;

// extend replaces the lanes of x whose radius word is under 2¹⁶ by values of 80
// bits and more; rarely called, so it may be slow. The extension words are at tail,
// which it fills.
function extend(x: v128, key: Key, counter: u32, words: Ptr, tail: Ptr, offset: usize): v128 {
  groups(1, key, 1 << 31, counter, tail);
  for (let lane: usize = 0; lane < 4; lane++) {
    const r = load<u32>(words + offset + 4 * lane);
    if (r >= 1 << 16) continue;
    const e = tail + offset + 4 * lane;
    const v = <f32>(<f64>((<u64>r << 32) | <u64>load<u32>(e)) * P64 + (<f64>load<u32>(e, 16) + 0.5) * P96);
    const mask = i32x4.eq(i32x4(0, 1, 2, 3), i32x4.splat(<i32>lane));
    x = v128.bitselect(f32x4.splat(v), x, mask);
  }
  return x;
}

// An engine may make each vector constant anew wherever it is used, in three
// instructions; from memory it takes one, and a third less time for all of
// normals. So they are kept at the end of scratch, where setConstants puts them.

// @ts-ignore: decorator
@inline
function setConstants(at: Ptr): void {
  v128.store(at, i32x4.splat(0x3f3504f3)); // √½
  v128.store(at, f32x4.splat(1), 16);
  // −2·ln(1+f) = −2f + f² + f³·P(f), √½ ≤ 1+f < √2: a minimax fit, error 3·10⁻⁷.
  v128.store(at, f32x4.splat(0.20383489), 32);
  v128.store(at, f32x4.splat(-0.32048795), 48);
  v128.store(at, f32x4.splat(0.3427426), 64);
  v128.store(at, f32x4.splat(-0.39849004), 80);
  v128.store(at, f32x4.splat(0.49966535), 96);
  v128.store(at, f32x4.splat(-0.6666849), 112);
  v128.store(at, f32x4.splat(-2), 128);
  v128.store(at, f32x4.splat(-1.38629436), 144); // −2·ln 2
  v128.store(at, f32x4.splat(P32), 160);
  v128.store(at, f32x4.splat(P33), 176);
  v128.store(at, i32x4.splat((1 << 29) - 128), 192); // an eighth of a turn, less half a step
  v128.store(at, i32x4.splat(1 << 29), 208);
  v128.store(at, i32x4.splat(0x3fffff00), 224);
  v128.store(at, i32x4.splat(1 << 30), 240);
  v128.store(at, i32x4.splat(1 << 31), 256);
  v128.store(at, f32x4.splat(1.46291807927e-9), 272); // 2π·2⁻³²
  // sin y = y + y³·P(y²), cos y = 1 − y²/2 + y⁴·P(y²), |y| ≤ π/4: minimax fits,
  // errors 3·10⁻⁹ and 7·10⁻⁸.
  v128.store(at, f32x4.splat(-0.00019495568), 288);
  v128.store(at, f32x4.splat(0.008331978), 304);
  v128.store(at, f32x4.splat(-0.16666651), 320);
  v128.store(at, f32x4.splat(-0.0013652403), 336);
  v128.store(at, f32x4.splat(0.041661277), 352);
  v128.store(at, f32x4.splat(-0.5), 368);
}

// addNormals turns the words of a group into its 64 normals, pairs of radius
// and angle words into pairs z₀, z₁, and writes std times these to to.
function addNormals(std: v128, key: Key, counter: u32, words: Ptr, tail: Ptr, at: Ptr, to: Ptr): void {
  for (let offset: usize = 0; offset < 256; offset += 32, to += 32) {
    const r = v128.load(words + offset);
    // As numbers with a sign, words of 2³¹ and more say how far u is from 1: x is u
    // or, below 0, u − 1.
    let x = madd(f32x4.convert_i32x4_s(r), v128.load(at, 160), v128.load(at, 176));
    if (!i32x4.all_true(i32x4.shr_u(r, 16))) {
      x = extend(x, key, counter, words, tail, offset);
    }
    const u = f32x4.add(x, v128.and(i32x4.shr_s(r, 31), v128.load(at, 16)));

    // −2·ln u, where u = 2ᵏ·(1+f) and k ≤ 0. Where k is 0, f is x, of which u has lost
    // digits.
    const k = i32x4.shr_s(i32x4.sub(u, v128.load(at)), 23);
    const rest = f32x4.sub(i32x4.sub(u, i32x4.shl(k, 23)), v128.load(at, 16));
    const f = v128.bitselect(rest, x, i32x4.shr_s(k, 31));
    const ff = f32x4.mul(f, f);
    let p = madd(v128.load(at, 32), f, v128.load(at, 48));
    p = madd(p, f, v128.load(at, 64));
    p = madd(p, f, v128.load(at, 80));
    p = madd(p, f, v128.load(at, 96));
    p = madd(p, f, v128.load(at, 112));
    p = madd(madd(p, f, v128.load(at, 16)), ff, f32x4.mul(f, v128.load(at, 128)));
    p = madd(f32x4.convert_i32x4_s(k), v128.load(at, 144), p);
    const radius = f32x4.mul(std, f32x4.sqrt(p));

    // The angle a is a fraction of 2³² of a turn. An eighth of a turn more, its
    // top bits are the nearest quarter turn, and the others, less that eighth and
    // with 128 for the low byte, what is left: y, in ±π/4 and never 0.
    const a = i32x4.add(v128.load(words + offset, 16), v128.load(at, 208));
    const left = i32x4.sub(v128.and(a, v128.load(at, 224)), v128.load(at, 192));
    const y = f32x4.mul(f32x4.convert_i32x4_s(left), v128.load(at, 272));
    const yy = f32x4.mul(y, y);
    let s = madd(v128.load(at, 288), yy, v128.load(at, 304));
    s = madd(s, yy, v128.load(at, 320));
    s = madd(f32x4.mul(yy, y), s, y);
    let c = madd(v128.load(at, 336), yy, v128.load(at, 352));
    c = madd(c, yy, v128.load(at, 368));
    c = madd(c, yy, v128.load(at, 16));

    // Bit 30 of a swaps sine and cosine; bit 31 is the sign of the sine, and
    // of the cosine a quarter turn on.
    const swap = v128.and(v128.xor(s, c), i32x4.shr_s(i32x4.shl(a, 1), 31));
    const sign = v128.load(at, 256);
    const cosSign = v128.and(i32x4.add(a, v128.load(at, 240)), sign);
    const cos = v128.xor(v128.xor(c, swap), cosSign);
    const sin = v128.xor(v128.xor(s, swap), v128.and(a, sign));
    v128.store(to, f32x4.mul(radius, cos));
    v128.store(to, f32x4.mul(radius, sin), 16);
  }
}

const GROUPS = 4; // whose words are drawn at a time
const PIECE = 64 * GROUPS;

let scratch: Ptr = 0; // their words, those of an extension, the last, short piece of dst, and the constants

// noise draws the groups of its part: which counters they have depends on where in
// dst they are, and on nothing else.
// @divide costing n * 10, lent
export function noise(n: i32, std: f32, dst: Ptr, key: Key, part: Part, parts: Parts): void {
  if (!scratch) scratch = pages(256 * (GROUPS + 2) + 384);
  const tail = scratch + 256 * GROUPS, last = tail + 256, at = last + 256;
  const sv = f32x4.splat(std);
  setConstants(at);
  const from = first(n, PIECE, part, parts);
  dst += <usize>from << 2;
  let counter: u32 = from >> 4;
  for (let left = first(n, PIECE, part + 1, parts) - from; left > 0; ) {
    const some = min((left + 63) >> 6, GROUPS);
    groups(some, key, 0, counter, scratch);
    for (let g = 0, words = scratch; g < some; g++, words += 256, counter += 4, left -= 64, dst += 256) {
      addNormals(sv, key, counter, words, tail, at, left < 64 ? last : dst);
      if (left < 64) memory.copy(dst, last, <usize>left << 2);
    }
  }
}
