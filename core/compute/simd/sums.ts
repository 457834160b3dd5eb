// Sums are zero at first and when cleared, then those of one block of rows, which
// float32 holds, and float64 from the next on: batches of up to a block, the usual
// ones, never need the latter. A call that adds to nothing, in float64, may leave it to
// each of its parts to write 0 first where it adds: they are started then, and all of
// them once the call has ended. In memory: which of these, how many, where the float64
// are (or 0), and the float32.

import { giveBack, take } from "./lines";
import { Ptr, Sums, high, low } from "./vec";

const NOTHING = 0, ONE_BLOCK = 1, ALL = 2, STARTED = 3;
const HEADER = 64; // a line of the cache

export function newSums(n: i32): Sums {
  const s = take(HEADER + (<usize>n << 2));
  store<i32>(s, NOTHING);
  store<i32>(s, n, 4);
  store<usize>(s, 0, 8);
  return s;
}

export function freeSums(s: Sums): void {
  const wide = load<usize>(s, 8);
  if (wide) giveBack(wide);
  giveBack(s);
}

// @ts-ignore: decorator
@inline
export function isEmpty(s: Sums): bool {
  return load<i32>(s) == NOTHING;
}

export function empty(s: Sums): void {
  store<i32>(s, NOTHING);
}

// @ts-ignore: decorator
@inline
function blockOf(s: Sums): Ptr {
  return s + HEADER;
}

// asBlock is where one block's sums are to be written, of n values; the others are 0.
export function asBlock(s: Sums, n: i32): Ptr {
  store<i32>(s, ONE_BLOCK);
  memory.fill(blockOf(s) + (<usize>n << 2), 0, <usize>(load<i32>(s, 4) - n) << 2);
  return blockOf(s);
}

// wideOf is where s has its float64.
function wideOf(s: Sums): Ptr {
  let wide = load<usize>(s, 8);
  if (!wide) {
    wide = take(<usize>load<i32>(s, 4) << 3);
    store<usize>(s, wide, 8);
  }
  return wide;
}

// asWide is where s is held in float64, to be added to.
export function asWide(s: Sums): Ptr {
  const held = load<i32>(s), n = load<i32>(s, 4), wide = wideOf(s);
  if (held == NOTHING || held == ONE_BLOCK) memory.fill(wide, 0, <usize>n << 3);
  if (held == ONE_BLOCK) add(n, 1, blockOf(s), wide);
  store<i32>(s, ALL);
  return wide;
}

// start has s, which holds nothing, be started: the first n values are written by
// whoever is called next, the others are 0.
export function start(s: Sums, n: i32): void {
  memory.fill(wideOf(s) + (<usize>n << 3), 0, <usize>(load<i32>(s, 4) - n) << 3);
  store<i32>(s, STARTED);
}

// started is where the float64 are that are to be written first, or 0.
// @ts-ignore: decorator
@inline
export function started(s: Sums): Ptr {
  return load<i32>(s) == STARTED ? load<usize>(s, 8) : 0;
}

// oneBlock is where one block's sums are, or 0 where s holds something else.
// @ts-ignore: decorator
@inline
export function oneBlock(s: Sums): Ptr {
  return load<i32>(s) == ONE_BLOCK ? blockOf(s) : 0;
}

// add adds a·x to the float64 at dst.
export function add(n: i32, a: f64, x: Ptr, dst: Ptr): void {
  const va = f64x2.splat(a);
  for (; n >= 4; n -= 4, x += 16, dst += 32) {
    const v = v128.load(x);
    v128.store(dst, f64x2.add(v128.load(dst), f64x2.mul(va, low(v))));
    v128.store(dst, f64x2.add(v128.load(dst, 16), f64x2.mul(va, high(v))), 16);
  }
  for (; n > 0; n--, x += 4, dst += 8) store<f64>(dst, load<f64>(dst) + a * <f64>load<f32>(x));
}
