// The loop in which products spend their time. A tile of six or five rows and eight
// columns of C stays in registers: 6×8 floats are 12 of the 15 vector registers that
// an engine for x86-64 leaves us, 5×8 are 10, and with both nearly every number of
// rows is made up without waste.
//
// What is multiplied is read where it is. A row of op(A) begins at an address of its
// own, and the terms of all rows follow each other in the same way, so that strips
// of a matrix, either way round, and what a window sees of a picture need not be
// copied before.

import { Ptr, madd } from "./vec";

export const MR = 6;
export const NR = 8;

// five is the row from which strips of m rows are of five.
// @ts-ignore: decorator
@inline
export function five(m: i32): i32 {
  const all = (m + MR - 1) / MR;
  return (all - min(all, all * MR - m)) * MR;
}

// strip is how many rows the strip from row i on has.
// @ts-ignore: decorator
@inline
export function strip(m: i32, i: i32, five: i32): i32 {
  return min(m - i, i < five ? MR : 5);
}

// covered is how many rows the tiles of m rows have.
// @ts-ignore: decorator
@inline
export function covered(m: i32): i32 {
  return five(m) + (m - five(m) + 4) / 5 * 5;
}

// sums writes to c, whose rows are row bytes apart, the sums of the products of
//
//   rows of op(A): the first terms at a + offsets[r], runs of steps terms, which are
//     step bytes apart and, from the end of a run to the next, jump bytes more;
//   eight columns of op(B): the first terms at b, the next bStep bytes on.
//
// Where from is not 0, what is there is added to them at last, from rows fromRow
// bytes apart.
// @ts-ignore: decorator
@inline
function sums(
  high: i32, runs: i32, steps: i32, offsets: Ptr, a: Ptr, step: usize, jump: usize, b: Ptr, bStep: usize, from: Ptr, fromRow: usize, c: Ptr, row: usize,
): void {
  let p0 = a + load<u32>(offsets), p1 = a + load<u32>(offsets, 4), p2 = a + load<u32>(offsets, 8);
  let p3 = a + load<u32>(offsets, 12), p4 = a + load<u32>(offsets, 16), p5 = high == 6 ? a + load<u32>(offsets, 20) : 0;
  let c00 = f32x4.splat(0), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00;
  let c30 = c00, c31 = c00, c40 = c00, c41 = c00, c50 = c00, c51 = c00;
  for (; runs > 0; runs--) {
    for (let l = steps / 2; l > 0; l--) {
      for (let i = 0; i < 2; i++) {
      const b0 = v128.load(b), b1 = v128.load(b, 16);
      let x = v128.load32_splat(p0);
      c00 = madd(x, b0, c00); c01 = madd(x, b1, c01); x = v128.load32_splat(p1);
      c10 = madd(x, b0, c10); c11 = madd(x, b1, c11); x = v128.load32_splat(p2);
      c20 = madd(x, b0, c20); c21 = madd(x, b1, c21); x = v128.load32_splat(p3);
      c30 = madd(x, b0, c30); c31 = madd(x, b1, c31); x = v128.load32_splat(p4);
      c40 = madd(x, b0, c40); c41 = madd(x, b1, c41);
      if (high == 6) {
        x = v128.load32_splat(p5);
        c50 = madd(x, b0, c50); c51 = madd(x, b1, c51);
        p5 += step;
      }
      p0 += step; p1 += step; p2 += step; p3 += step; p4 += step;
      b += bStep;
      }
    }
    for (let l = steps % 2; l > 0; l--) {
      const b0 = v128.load(b), b1 = v128.load(b, 16);
      let x = v128.load32_splat(p0);
      c00 = madd(x, b0, c00); c01 = madd(x, b1, c01); x = v128.load32_splat(p1);
      c10 = madd(x, b0, c10); c11 = madd(x, b1, c11); x = v128.load32_splat(p2);
      c20 = madd(x, b0, c20); c21 = madd(x, b1, c21); x = v128.load32_splat(p3);
      c30 = madd(x, b0, c30); c31 = madd(x, b1, c31); x = v128.load32_splat(p4);
      c40 = madd(x, b0, c40); c41 = madd(x, b1, c41);
      if (high == 6) {
        x = v128.load32_splat(p5);
        c50 = madd(x, b0, c50); c51 = madd(x, b1, c51);
        p5 += step;
      }
      p0 += step; p1 += step; p2 += step; p3 += step; p4 += step;
      b += bStep;
    }
    p0 += jump; p1 += jump; p2 += jump; p3 += jump; p4 += jump;
    if (high == 6) p5 += jump;
  }
  if (from) {
    c00 = f32x4.add(c00, v128.load(from)); c01 = f32x4.add(c01, v128.load(from, 16)); from += fromRow;
    c10 = f32x4.add(c10, v128.load(from)); c11 = f32x4.add(c11, v128.load(from, 16)); from += fromRow;
    c20 = f32x4.add(c20, v128.load(from)); c21 = f32x4.add(c21, v128.load(from, 16)); from += fromRow;
    c30 = f32x4.add(c30, v128.load(from)); c31 = f32x4.add(c31, v128.load(from, 16)); from += fromRow;
    c40 = f32x4.add(c40, v128.load(from)); c41 = f32x4.add(c41, v128.load(from, 16)); from += fromRow;
    if (high == 6) {
      c50 = f32x4.add(c50, v128.load(from)); c51 = f32x4.add(c51, v128.load(from, 16));
    }
  }
  v128.store(c, c00); v128.store(c, c01, 16); c += row;
  v128.store(c, c10); v128.store(c, c11, 16); c += row;
  v128.store(c, c20); v128.store(c, c21, 16); c += row;
  v128.store(c, c30); v128.store(c, c31, 16); c += row;
  v128.store(c, c40); v128.store(c, c41, 16); c += row;
  if (high == 6) {
    v128.store(c, c50); v128.store(c, c51, 16);
  }
}

// tile picks by the number of rows; of fewer than five, five are written.
// @ts-ignore: decorator
@inline
export function tile(
  rows: i32, runs: i32, steps: i32, offsets: Ptr, a: Ptr, step: usize, jump: usize, b: Ptr, bStep: usize, from: Ptr, fromRow: usize, c: Ptr, row: usize,
): void {
  if (rows == MR) tile6(runs, steps, offsets, a, step, jump, b, bStep, from, fromRow, c, row);
  else tile5(runs, steps, offsets, a, step, jump, b, bStep, from, fromRow, c, row);
}

function tile6(
  runs: i32, steps: i32, offsets: Ptr, a: Ptr, step: usize, jump: usize, b: Ptr, bStep: usize, from: Ptr, fromRow: usize, c: Ptr, row: usize,
): void {
  sums(6, runs, steps, offsets, a, step, jump, b, bStep, from, fromRow, c, row);
}

function tile5(
  runs: i32, steps: i32, offsets: Ptr, a: Ptr, step: usize, jump: usize, b: Ptr, bStep: usize, from: Ptr, fromRow: usize, c: Ptr, row: usize,
): void {
  sums(5, runs, steps, offsets, a, step, jump, b, bStep, from, fromRow, c, row);
}
