// The blocks of package chacha, four at a time, one lane a block.

import { Key, Ptr } from "./vec";

// ROUNDS is chacha.Rounds.
const ROUNDS = 12;

// @ts-ignore: decorator
@inline
function rotl(v: v128, n: i32): v128 {
  return v128.or(i32x4.shl(v, n), i32x4.shr_u(v, 32 - n));
}

// Where the bytes of four words come from that are rotated by 16 and by 8 bits.
const TURNS = memory.data<u8>([2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14], 16);

// rotl16 swaps the halves of each word.
// @ts-ignore: decorator
@inline
function rotl16(v: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i8x16.relaxed_swizzle(v, v128.load(TURNS));
  return i16x8.shuffle(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
}

// rotl8 is a permutation of bytes: one instruction in place of three. The relaxed one,
// whose indices are all in range, keeps its constant in memory, where it costs least.
// @ts-ignore: decorator
@inline
function rotl8(v: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i8x16.relaxed_swizzle(v, v128.load(TURNS, 16));
  return i8x16.shuffle(v, v, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14);
}

// group writes the 16 words of the blocks with counters counter … counter+3 to
// out: word w of the four as one vector at out + 16·w. key holds the eight key
// words and the three nonce words, of which flip changes the first.
export function group(key: Key, flip: u32, counter: u32, out: Ptr): void {
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
    x0 = i32x4.add(x0, x4); x12 = rotl8(v128.xor(x12, x0));
    x1 = i32x4.add(x1, x5); x13 = rotl8(v128.xor(x13, x1));
    x2 = i32x4.add(x2, x6); x14 = rotl8(v128.xor(x14, x2));
    x3 = i32x4.add(x3, x7); x15 = rotl8(v128.xor(x15, x3));
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
    x0 = i32x4.add(x0, x5); x15 = rotl8(v128.xor(x15, x0));
    x1 = i32x4.add(x1, x6); x12 = rotl8(v128.xor(x12, x1));
    x2 = i32x4.add(x2, x7); x13 = rotl8(v128.xor(x13, x2));
    x3 = i32x4.add(x3, x4); x14 = rotl8(v128.xor(x14, x3));
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
