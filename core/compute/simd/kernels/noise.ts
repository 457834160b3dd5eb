// AddNoise: the normal sequence of package chacha, four blocks at a time, one
// lane a block.

import { log } from "./functions";
import { Ptr, loadPart, madd, quads, storePart } from "./vec";

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
function group(key: Ptr, flip: u32, counter: u32, out: Ptr): void {
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
function extend(u: v128, key: Ptr, counter: u32, words: Ptr, tail: Ptr, offset: usize): v128 {
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

// normals turns the words of a group into its 64 normals, in place: each pair
// of vectors, radius and angle words, becomes the pair z₀, z₁.
function normals(key: Ptr, counter: u32, words: Ptr, tail: Ptr): void {
  for (let offset: usize = 0; offset < 256; offset += 32) {
    const r = v128.load(words + offset);
    let u = madd(f32x4.convert_i32x4_u(r), f32x4.splat(P32), f32x4.splat(P33));
    if (v128.any_true(i32x4.lt_u(r, i32x4.splat(1 << 16)))) {
      u = extend(u, key, counter, words, tail, offset);
    }
    const radius = f32x4.sqrt(f32x4.mul(log(u), f32x4.splat(-2)));

    // The angle, without the low byte, as a fraction of 2³² of a turn: the
    // nearest quarter turn q, and what is left, exactly, in ±π/4.
    const a = v128.and(v128.load(words + offset, 16), i32x4.splat(0xffffff00));
    const q = i32x4.shr_s(i32x4.add(a, i32x4.splat(1 << 29)), 30);
    const left = f32x4.convert_i32x4_s(i32x4.sub(a, i32x4.shl(q, 30)));
    const x = f32x4.mul(left, f32x4.splat(1.46291807927e-9)); // 2π·2⁻³²
    const xx = f32x4.mul(x, x);
    // Minimax fits on ±π/4, errors 3·10⁻⁹ and 7·10⁻⁸.
    let s = madd(f32x4.splat(-0.00019495568), xx, f32x4.splat(0.008331978));
    s = madd(s, xx, f32x4.splat(-0.16666651));
    s = madd(f32x4.mul(xx, x), s, x);
    let c = madd(f32x4.splat(-0.0013652403), xx, f32x4.splat(0.041661277));
    c = madd(c, xx, f32x4.splat(-0.5));
    c = madd(c, xx, f32x4.splat(1));

    const odd = i32x4.sub(i32x4.splat(0), v128.and(q, i32x4.splat(1)));
    const two = i32x4.splat(2);
    const cosSign = i32x4.shl(v128.and(i32x4.add(q, i32x4.splat(1)), two), 30);
    const sinSign = i32x4.shl(v128.and(q, two), 30);
    const cos = v128.xor(v128.bitselect(s, c, odd), cosSign);
    const sin = v128.xor(v128.bitselect(c, s, odd), sinSign);
    v128.store(words + offset, f32x4.mul(radius, cos));
    v128.store(words + offset, f32x4.mul(radius, sin), 16);
  }
}

// addNoise is the kernel. scratch has room for 128 words.
export function addNoise(n: i32, std: f32, key: Ptr, dst: Ptr, scratch: Ptr): void {
  const sv = f32x4.splat(std);
  const tail = scratch + 256;
  for (let counter: u32 = 0; n > 0; counter += 4, n -= 64) {
    group(key, 0, counter, scratch);
    normals(key, counter, scratch, tail);
    const m = min(n, 64), rest = m & 3;
    let z = scratch;
    for (const end = dst + quads(m); dst < end; dst += 16, z += 16) {
      v128.store(dst, madd(sv, v128.load(z), v128.load(dst)));
    }
    if (rest) storePart(dst, madd(sv, loadPart(z, rest), loadPart(dst, rest)), rest);
  }
}
