// What a window sees of pictures: see package kernel/picture.

import { Ptr, loadUpTo, quads, storeUpTo } from "./vec";

let scratch: Ptr = 0, held: usize = 0;

// space is memory for n floats until the next call.
export function space(n: usize): Ptr {
  if (n > held) {
    if (scratch) heap.free(scratch);
    scratch = heap.alloc(n << 2);
    held = n;
  }
  return scratch;
}

// places is how many a window takes in one direction.
export function places(n: i32, size: i32, stride: i32, pad: i32): i32 {
  n += 2 * pad - size;
  return n < 0 ? 0 : n / stride + 1;
}

// atOnce is how many pictures of so many places make a product that is long enough
// for what it costs to prepare one.
export function atOnce(places: i32): i32 {
  return max(256 / max(places, 1), 1);
}

// isWhole reports that patches are the picture itself.
// @ts-ignore: decorator
@inline
export function isWhole(high: i32, wide: i32, stride: i32, pad: i32): bool {
  return high == 1 && wide == 1 && stride == 1 && pad == 0;
}

// @ts-ignore: decorator
@inline
function move(n: i32, from: Ptr, to: Ptr): void {
  for (const end = to + quads(n); to < end; from += 16, to += 16) v128.store(to, v128.load(from));
  if (n & 3) storeUpTo(to, loadUpTo(from, n & 3), n & 3);
}

// @ts-ignore: decorator
@inline
function add(n: i32, from: Ptr, to: Ptr): void {
  for (const end = to + quads(n); to < end; from += 16, to += 16) v128.store(to, f32x4.add(v128.load(to), v128.load(from)));
  if (n & 3) storeUpTo(to, f32x4.add(loadUpTo(to, n & 3), loadUpTo(from, n & 3)), n & 3);
}

// walk copies what the window sees of picture x to patches [places×patch], or, with
// back, adds patches to where in x they were seen. Inlined with a constant back, it
// costs no branch.
// @ts-ignore: decorator
@inline
function walk(height: i32, width: i32, c: i32, high: i32, wide: i32, stride: i32, pad: i32, x: Ptr, patches: Ptr, back: bool): void {
  const down = places(height, high, stride, pad), across = places(width, wide, stride, pad);
  const run = <usize>(wide * c) << 2;
  for (let p = 0; p < down; p++) {
    for (let q = 0; q < across; q++) {
      const left = q * stride - pad;
      const from = max(-left, 0), to = min(wide, width - left);
      for (let a = 0; a < high; a++, patches += run) {
        const row = p * stride + a - pad;
        if (row < 0 || row >= height || from >= to) {
          if (!back) memory.fill(patches, 0, run);
          continue;
        }
        const first = <usize>(from * c) << 2, end = <usize>(to * c) << 2;
        const seen = x + (<usize>((row * width + left + from) * c) << 2);
        if (back) {
          add((to - from) * c, patches + first, seen);
          continue;
        }
        if (first > 0) memory.fill(patches, 0, first);
        move((to - from) * c, seen, patches + first);
        if (end < run) memory.fill(patches + end, 0, run - end);
      }
    }
  }
}

export function patches(height: i32, width: i32, c: i32, high: i32, wide: i32, stride: i32, pad: i32, x: Ptr, dst: Ptr): void {
  walk(height, width, c, high, wide, stride, pad, x, dst, false);
}

export function unpatch(height: i32, width: i32, c: i32, high: i32, wide: i32, stride: i32, pad: i32, from: Ptr, x: Ptr): void {
  walk(height, width, c, high, wide, stride, pad, x, from, true);
}
