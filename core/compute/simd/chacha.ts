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

// quarter is ChaCha's quarter round, of four words of each of four blocks.
// @ts-ignore: decorator
@inline
function quarter(p: Ptr, a: usize, b: usize, c: usize, d: usize): void {
  let x = v128.load(p + 16 * a), y = v128.load(p + 16 * b), z = v128.load(p + 16 * c), w = v128.load(p + 16 * d);
  x = i32x4.add(x, y); w = rotl16(v128.xor(w, x));
  z = i32x4.add(z, w); y = rotl(v128.xor(y, z), 12);
  x = i32x4.add(x, y); w = rotl8(v128.xor(w, x));
  z = i32x4.add(z, w); y = rotl(v128.xor(y, z), 7);
  v128.store(p + 16 * a, x);
  v128.store(p + 16 * b, y);
  v128.store(p + 16 * c, z);
  v128.store(p + 16 * d, w);
}

// put writes v to p, or adds it to the word that is there.
// @ts-ignore: decorator
@inline
function put(p: Ptr, v: v128, add: bool): void {
  v128.store(p, add ? i32x4.add(v128.load(p), v) : v);
}

// putStart puts what the words of a group begin with: constants, the key's eight
// words, counters and the nonce's three, of which flip changes the first.
// @ts-ignore: decorator
@inline
function putStart(key: Key, flip: u32, counter: u32, p: Ptr, add: bool): void {
  put(p, i32x4.splat(0x61707865), add);
  put(p + 16, i32x4.splat(0x3320646e), add);
  put(p + 32, i32x4.splat(0x79622d32), add);
  put(p + 48, i32x4.splat(0x6b206574), add);
  for (let i: usize = 0; i < 8; i++) put(p + 64 + 16 * i, v128.load_splat<u32>(key + 4 * i), add);
  put(p + 192, i32x4.add(i32x4.splat(counter), i32x4(0, 1, 2, 3)), add);
  put(p + 208, i32x4.splat(load<u32>(key, 32) ^ flip), add);
  put(p + 224, v128.load_splat<u32>(key, 36), add);
  put(p + 240, v128.load_splat<u32>(key, 40), add);
}

// groups writes the 16 words of n groups of four blocks, whose counters follow each
// other from counter on, to out: word w of a group as one vector at 16·w, and the next
// group 256 bytes on. One group's rounds wait for each other most of the time, so that
// those of four take little more than twice as long; and as no engine has registers for
// them, they are in memory.
export function groups(n: i32, key: Key, flip: u32, counter: u32, out: Ptr): void {
  const end = out + (<usize>n << 8);
  for (let p = out, c = counter; p < end; p += 256, c += 4) putStart(key, flip, c, p, false);
  for (let i = 0; i < ROUNDS; i += 2) {
    for (let p = out; p < end; p += 256) { // columns
      quarter(p, 0, 4, 8, 12);
      quarter(p, 1, 5, 9, 13);
      quarter(p, 2, 6, 10, 14);
      quarter(p, 3, 7, 11, 15);
    }
    for (let p = out; p < end; p += 256) { // diagonals
      quarter(p, 0, 5, 10, 15);
      quarter(p, 1, 6, 11, 12);
      quarter(p, 2, 7, 8, 13);
      quarter(p, 3, 4, 9, 14);
    }
  }
  for (let p = out, c = counter; p < end; p += 256, c += 4) putStart(key, flip, c, p, true);
}
