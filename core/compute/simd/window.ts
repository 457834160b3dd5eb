// What a window sees of pictures: see package kernel/picture.

import { pages } from "./pages";
import { Ptr, loadUpTo, quads, storeUpTo } from "./vec";

let scratch: Ptr = 0, held: usize = 0;

// space is memory for n floats until the next call.
export function space(n: usize): Ptr {
  if (n > held) {
    held = max(n, 2 * held);
    scratch = pages(held << 2);
  }
  return scratch;
}

// places is how many a window takes in one direction.
export function places(n: i32, size: i32, stride: i32, pad: i32): i32 {
  n += 2 * pad - size;
  return n < 0 ? 0 : n / stride + 1;
}

// isSlid reports that windows of a pool of whole vectors take the greatest of 2×2, each one
// place from the next: the usual one of those that overlap.
export function isSlid(how: i32, height: i32, width: i32, c: i32, high: i32, wide: i32, stride: i32): bool {
  return how == 0 && high == 2 && wide == 2 && stride == 1 && (c & 3) == 0 && height > 1 && width > 1;
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

// starts writes in which of the values of n pictures, one after the other, a window
// begins at each place, down×across of them, step values apart in a line and rows
// lines apart; and the last once more for each row that a strip of tiles may lack.
export function starts(n: i32, picture: i32, down: i32, across: i32, line: i32, step: i32, dst: Ptr, rows: i32): void {
  let at: usize = 0;
  for (let i = 0; i < n; i++) {
    for (let p = 0; p < down; p++) {
      for (let q = 0; q < across; q++, dst += 4) {
        at = <usize>(i * picture + p * rows * line + q * step) << 2;
        store<u32>(dst, at);
      }
    }
  }
  for (let i: usize = 0; i < 6; i++) store<u32>(dst + 4 * i, at);
}

// embed copies n pictures of height lines of n values into ones with pad lines above
// and below and side values left and right of each, which it leaves as they are.
export function embed(n: i32, height: i32, line: i32, pad: i32, side: i32, x: Ptr, dst: Ptr): void {
  const wide = <usize>(line + 2 * side) << 2, margin = <usize>pad * wide;
  for (; n > 0; n--) {
    dst += margin;
    for (let i = 0; i < height; i++, x += <usize>line << 2, dst += wide) move(line, x, dst + (<usize>side << 2));
    dst += margin;
  }
}

// gather copies what a window of high lines of run values sees of picture x at each
// place, one below the other, gap bytes between them.
export function gather(down: i32, across: i32, high: i32, run: i32, line: i32, step: i32, rows: i32, x: Ptr, dst: Ptr, gap: usize): void {
  for (let p = 0; p < down; p++) {
    for (let q = 0; q < across; q++, dst += gap) {
      let from = x + (<usize>(p * rows * line + q * step) << 2);
      for (let a = 0; a < high; a++, from += <usize>line << 2, dst += <usize>run << 2) move(run, from, dst);
    }
  }
}

// unpatch adds patches [places×patch] to where in picture x the window saw them.
export function unpatch(height: i32, width: i32, c: i32, high: i32, wide: i32, stride: i32, pad: i32, patches: Ptr, x: Ptr): void {
  const down = places(height, high, stride, pad), across = places(width, wide, stride, pad);
  const run = <usize>(wide * c) << 2;
  for (let p = 0; p < down; p++) {
    for (let q = 0; q < across; q++) {
      const left = q * stride - pad;
      const from = max(-left, 0), to = min(wide, width - left);
      for (let a = 0; a < high; a++, patches += run) {
        const row = p * stride + a - pad;
        if (row < 0 || row >= height || from >= to) continue;
        add((to - from) * c, patches + (<usize>(from * c) << 2), x + (<usize>((row * width + left + from) * c) << 2));
      }
    }
  }
}
