// The normal sequence of package chacha, four blocks at a time, one lane a block.

import { Key, Ptr, madd } from "../simd/vec";

// ROUNDS is chacha.Rounds.
const ROUNDS = 12;

// Powers of two: P32 is 2⁻³² and so on.
const P32: f32 = 2.3283064365386963e-10;
const P33: f32 = 1.1641532182693481e-10;
const P64: f32 = 5.421010862427522e-20;
const P65: f32 = 2.710505431213761e-20;

// @ts-ignore: decorator
@inline
function rotl(v: v128, n: i32): v128 {
  return v128.or(i32x4.shl(v, n), i32x4.shr_u(v, 32 - n));
}

// rotl16 swaps the halves of each word.
// @ts-ignore: decorator
@inline
function rotl16(v: v128): v128 {
  return i16x8.shuffle(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
}

// group writes the 16 words of the blocks with counters counter … counter+3 to
// out: word w of the four as one vector at out + 16·w. key holds the eight key
// words and the three nonce words, of which flip changes the first.
function group(key: Key, flip: u32, counter: u32, out: Ptr): void {
  const counters = i32x4.add(i32x4.splat(counter), i32x4(0, 1, 2, 3));
  let x0 = i32x4.splat(0x61707865), x1 = i32x4.splat(0x3320646e);
  let x2 = i32x4.splat(0x79622d32), x3 = i32x4.splat(0x6b206574);
  let x4 = v128.load_splat<u32>(key), x5 = v128.load_splat<u32>(key, 4);
  let x6 = v128.load_splat<u32>(key, 8), x7 = v128.load_splat<u32>(key, 12);
  let x8 = v128.load_splat<u32>(key, 16), x9 = v128.load_splat<u32>(key, 20);
  let x10 = v128.load_splat<u32>(key, 24), x11 = v128.load_splat<u32>(key, 28);
  let x12 = counters, x13 = i32x4.splat(load<u32>(key, 32) ^ flip);
  let x14 = v128.load_splat<u32>(key, 36), x15 = v128.load_splat<u32>(key, 40);
  for (let i = 0; i < ROUNDS; i += 2) {
    // The four columns, side by side, then the four diagonals.
    x0 = i32x4.add(x0, x4); x12 = rotl16(v128.xor(x12, x0));
    x1 = i32x4.add(x1, x5); x13 = rotl16(v128.xor(x13, x1));
    x2 = i32x4.add(x2, x6); x14 = rotl16(v128.xor(x14, x2));
    x3 = i32x4.add(x3, x7); x15 = rotl16(v128.xor(x15, x3));
    x8 = i32x4.add(x8, x12); x4 = rotl(v128.xor(x4, x8), 12);
    x9 = i32x4.add(x9, x13); x5 = rotl(v128.xor(x5, x9), 12);
    x10 = i32x4.add(x10, x14); x6 = rotl(v128.xor(x6, x10), 12);
    x11 = i32x4.add(x11, x15); x7 = rotl(v128.xor(x7, x11), 12);
    x0 = i32x4.add(x0, x4); x12 = rotl(v128.xor(x12, x0), 8);
    x1 = i32x4.add(x1, x5); x13 = rotl(v128.xor(x13, x1), 8);
    x2 = i32x4.add(x2, x6); x14 = rotl(v128.xor(x14, x2), 8);
    x3 = i32x4.add(x3, x7); x15 = rotl(v128.xor(x15, x3), 8);
    x8 = i32x4.add(x8, x12); x4 = rotl(v128.xor(x4, x8), 7);
    x9 = i32x4.add(x9, x13); x5 = rotl(v128.xor(x5, x9), 7);
    x10 = i32x4.add(x10, x14); x6 = rotl(v128.xor(x6, x10), 7);
    x11 = i32x4.add(x11, x15); x7 = rotl(v128.xor(x7, x11), 7);

    x0 = i32x4.add(x0, x5); x15 = rotl16(v128.xor(x15, x0));
    x1 = i32x4.add(x1, x6); x12 = rotl16(v128.xor(x12, x1));
    x2 = i32x4.add(x2, x7); x13 = rotl16(v128.xor(x13, x2));
    x3 = i32x4.add(x3, x4); x14 = rotl16(v128.xor(x14, x3));
    x10 = i32x4.add(x10, x15); x5 = rotl(v128.xor(x5, x10), 12);
    x11 = i32x4.add(x11, x12); x6 = rotl(v128.xor(x6, x11), 12);
    x8 = i32x4.add(x8, x13); x7 = rotl(v128.xor(x7, x8), 12);
    x9 = i32x4.add(x9, x14); x4 = rotl(v128.xor(x4, x9), 12);
    x0 = i32x4.add(x0, x5); x15 = rotl(v128.xor(x15, x0), 8);
    x1 = i32x4.add(x1, x6); x12 = rotl(v128.xor(x12, x1), 8);
    x2 = i32x4.add(x2, x7); x13 = rotl(v128.xor(x13, x2), 8);
    x3 = i32x4.add(x3, x4); x14 = rotl(v128.xor(x14, x3), 8);
    x10 = i32x4.add(x10, x15); x5 = rotl(v128.xor(x5, x10), 7);
    x11 = i32x4.add(x11, x12); x6 = rotl(v128.xor(x6, x11), 7);
    x8 = i32x4.add(x8, x13); x7 = rotl(v128.xor(x7, x8), 7);
    x9 = i32x4.add(x9, x14); x4 = rotl(v128.xor(x4, x9), 7);
  }
  v128.store(out, i32x4.add(x0, i32x4.splat(0x61707865)));
  v128.store(out, i32x4.add(x1, i32x4.splat(0x3320646e)), 16);
  v128.store(out, i32x4.add(x2, i32x4.splat(0x79622d32)), 32);
  v128.store(out, i32x4.add(x3, i32x4.splat(0x6b206574)), 48);
  v128.store(out, i32x4.add(x4, v128.load_splat<u32>(key)), 64);
  v128.store(out, i32x4.add(x5, v128.load_splat<u32>(key, 4)), 80);
  v128.store(out, i32x4.add(x6, v128.load_splat<u32>(key, 8)), 96);
  v128.store(out, i32x4.add(x7, v128.load_splat<u32>(key, 12)), 112);
  v128.store(out, i32x4.add(x8, v128.load_splat<u32>(key, 16)), 128);
  v128.store(out, i32x4.add(x9, v128.load_splat<u32>(key, 20)), 144);
  v128.store(out, i32x4.add(x10, v128.load_splat<u32>(key, 24)), 160);
  v128.store(out, i32x4.add(x11, v128.load_splat<u32>(key, 28)), 176);
  v128.store(out, i32x4.add(x12, counters), 192);
  v128.store(out, i32x4.add(x13, i32x4.splat(load<u32>(key, 32) ^ flip)), 208);
  v128.store(out, i32x4.add(x14, v128.load_splat<u32>(key, 36)), 224);
  v128.store(out, i32x4.add(x15, v128.load_splat<u32>(key, 40)), 240);
}

// extend replaces the lanes of u whose radius word is under 2¹⁶ by values of 48
// bits; rarely called, so it may be slow. The extension words are at tail,
// which it fills.
function extend(u: v128, key: Key, counter: u32, words: Ptr, tail: Ptr, offset: usize): v128 {
  group(key, 1 << 31, counter, tail);
  for (let lane: usize = 0; lane < 4; lane++) {
    const r = load<u32>(words + offset + 4 * lane);
    if (r >= 1 << 16) continue;
    const e = load<u32>(tail + offset + 4 * lane);
    const v: f32 = <f32>((<u64>r << 32) | <u64>e) * P64 + P65;
    const mask = i32x4.eq(i32x4(0, 1, 2, 3), i32x4.splat(<i32>lane));
    u = v128.bitselect(f32x4.splat(v), u, mask);
  }
  return u;
}

// An engine may make each vector constant anew wherever it is used, in three
// instructions; from memory it takes one, and a third less time for all of
// normals. So they are kept at the end of scratch, where setConstants puts them.

// @ts-ignore: decorator
@inline
function setConstants(at: Ptr): void {
  store<u32>(at, 0x3f3504f3, 0); // √½
  store<f32>(at, 1, 4);
  // −2·ln(1+f) = −2f + f² + f³·P(f), √½ ≤ 1+f < √2: a minimax fit, error 3·10⁻⁷.
  store<f32>(at, 0.20383489, 8);
  store<f32>(at, -0.32048795, 12);
  store<f32>(at, 0.3427426, 16);
  store<f32>(at, -0.39849004, 20);
  store<f32>(at, 0.49966535, 24);
  store<f32>(at, -0.6666849, 28);
  store<f32>(at, -2, 32);
  store<f32>(at, -1.38629436, 36); // −2·ln 2
  store<f32>(at, P32, 40);
  store<f32>(at, P33, 44);
  store<u32>(at, 1 << 16, 48);
  store<u32>(at, 1 << 29, 52);
  store<u32>(at, 0x3fffff00, 56);
  store<u32>(at, 1 << 30, 60);
  store<u32>(at, 1 << 31, 64);
  store<f32>(at, 1.46291807927e-9, 68); // 2π·2⁻³²
  // sin x = x + x³·P(x²), cos x = 1 − x²/2 + x⁴·P(x²), |x| ≤ π/4: minimax fits,
  // errors 3·10⁻⁹ and 7·10⁻⁸.
  store<f32>(at, -0.00019495568, 72);
  store<f32>(at, 0.008331978, 76);
  store<f32>(at, -0.16666651, 80);
  store<f32>(at, -0.0013652403, 84);
  store<f32>(at, 0.041661277, 88);
  store<f32>(at, -0.5, 92);
}

// addNormals turns the words of a group into its 64 normals, pairs of radius
// and angle words into pairs z₀, z₁, and writes std times these to to.
function addNormals(std: v128, key: Key, counter: u32, words: Ptr, tail: Ptr, at: Ptr, to: Ptr): void {
  for (let offset: usize = 0; offset < 256; offset += 32, to += 32) {
    const r = v128.load(words + offset);
    let u = madd(f32x4.convert_i32x4_u(r), v128.load_splat<f32>(at, 40), v128.load_splat<f32>(at, 44));
    if (v128.any_true(i32x4.lt_u(r, v128.load_splat<u32>(at, 48)))) {
      u = extend(u, key, counter, words, tail, offset);
    }

    // −2·ln u, where u = 2ᵏ·(1+f).
    const k = i32x4.shr_s(i32x4.sub(u, v128.load_splat<u32>(at, 0)), 23);
    const f = f32x4.sub(i32x4.sub(u, i32x4.shl(k, 23)), v128.load_splat<f32>(at, 4));
    const ff = f32x4.mul(f, f);
    let p = madd(v128.load_splat<f32>(at, 8), f, v128.load_splat<f32>(at, 12));
    p = madd(p, f, v128.load_splat<f32>(at, 16));
    p = madd(p, f, v128.load_splat<f32>(at, 20));
    p = madd(p, f, v128.load_splat<f32>(at, 24));
    p = madd(p, f, v128.load_splat<f32>(at, 28));
    p = madd(madd(p, f, v128.load_splat<f32>(at, 4)), ff, f32x4.mul(f, v128.load_splat<f32>(at, 32)));
    p = madd(f32x4.convert_i32x4_s(k), v128.load_splat<f32>(at, 36), p);
    const radius = f32x4.mul(std, f32x4.sqrt(p));

    // The angle a is a fraction of 2³² of a turn. An eighth of a turn more, its
    // top bits are the nearest quarter turn, and the others, less that eighth
    // and without the low byte, what is left: x, in ±π/4.
    const a = i32x4.add(v128.load(words + offset, 16), v128.load_splat<u32>(at, 52));
    const left = i32x4.sub(v128.and(a, v128.load_splat<u32>(at, 56)), v128.load_splat<u32>(at, 52));
    const x = f32x4.mul(f32x4.convert_i32x4_s(left), v128.load_splat<f32>(at, 68));
    const xx = f32x4.mul(x, x);
    let s = madd(v128.load_splat<f32>(at, 72), xx, v128.load_splat<f32>(at, 76));
    s = madd(s, xx, v128.load_splat<f32>(at, 80));
    s = madd(f32x4.mul(xx, x), s, x);
    let c = madd(v128.load_splat<f32>(at, 84), xx, v128.load_splat<f32>(at, 88));
    c = madd(c, xx, v128.load_splat<f32>(at, 92));
    c = madd(c, xx, v128.load_splat<f32>(at, 4));

    // Bit 30 of a swaps sine and cosine; bit 31 is the sign of the sine, and
    // of the cosine a quarter turn on.
    const swap = v128.and(v128.xor(s, c), i32x4.shr_s(i32x4.shl(a, 1), 31));
    const sign = v128.load_splat<u32>(at, 64);
    const cosSign = v128.and(i32x4.add(a, v128.load_splat<u32>(at, 60)), sign);
    const cos = v128.xor(v128.xor(c, swap), cosSign);
    const sin = v128.xor(v128.xor(s, swap), v128.and(a, sign));
    v128.store(to, f32x4.mul(radius, cos));
    v128.store(to, f32x4.mul(radius, sin), 16);
  }
}

// noise has room for 256 words: two groups', those of the last, short piece of
// dst, and the constants.
export function noise(n: i32, std: f32, dst: Ptr, key: Key): void {
  const scratch = memory.data(1024, 16), tail = scratch + 256, last = scratch + 512, at = scratch + 768;
  const sv = f32x4.splat(std);
  setConstants(at);
  let counter: u32 = 0;
  for (; n >= 64; n -= 64, dst += 256, counter += 4) {
    group(key, 0, counter, scratch);
    addNormals(sv, key, counter, scratch, tail, at, dst);
  }
  if (n) {
    group(key, 0, counter, scratch);
    addNormals(sv, key, counter, scratch, tail, at, last);
    memory.copy(dst, last, <usize>n << 2);
  }
}
