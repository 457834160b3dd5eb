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

// strips is how many strips m rows have, and begins the row with which one begins.
// @ts-ignore: decorator
@inline
export function strips(m: i32): i32 {
  return (m + MR - 1) / MR;
}

// @ts-ignore: decorator
@inline
export function begins(m: i32, strip: i32): i32 {
  const sixes = five(m) / MR;
  return min(strip <= sixes ? strip * MR : sixes * MR + (strip - sixes) * 5, m);
}

// covered is how many rows the tiles of m rows have.
// @ts-ignore: decorator
@inline
export function covered(m: i32): i32 {
  return five(m) + (m - five(m) + 4) / 5 * 5;
}

// alike is how many of the strips of m rows, that of row i and those after it, are whole
// and of as many rows.
// @ts-ignore: decorator
@inline
export function alike(m: i32, i: i32, five: i32): i32 {
  return i < five ? (five - i) / MR : (m - i) / 5;
}

// sums writes to c, whose rows are row bytes apart, the sums of the products of
//
//   rows of op(A): the first terms at a + offsets[r], runs of steps terms, which are
//     step bytes apart and, from the end of a run to the next, jump bytes more;
//   eight columns of op(B): the first terms at b, the next bStep bytes on.
//
// Where from is not 0, what is there is added to them at last, from rows fromRow
// bytes apart. It does so for several tiles: the next one's offsets are oNext bytes on,
// its columns bNext, its sums cNext, and what is added to them as well, unless that is
// the same for all rows, fromRow being 0.
// @ts-ignore: decorator
@inline
function sums(
  high: i32, tiles: i32, runs: i32, steps: i32, offsets: Ptr, oNext: usize, a: Ptr, step: usize, jump: usize, b: Ptr, bStep: usize, bNext: usize, from: Ptr, fromRow: usize, c: Ptr, row: usize, cNext: usize,
): void {
  for (; tiles > 0; tiles--, offsets += oNext, b += bNext, c += cNext) {
    let q = b, p0 = a + load<u32>(offsets), p1 = a + load<u32>(offsets, 4), p2 = a + load<u32>(offsets, 8);
    let p3 = a + load<u32>(offsets, 12), p4 = a + load<u32>(offsets, 16), p5 = high == 6 ? a + load<u32>(offsets, 20) : 0;
    let c00 = f32x4.splat(0), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00;
    let c30 = c00, c31 = c00, c40 = c00, c41 = c00, c50 = c00, c51 = c00;
    for (let r = runs; r > 0; r--) {
      for (let l = steps / 2; l > 0; l--) {
        for (let i = 0; i < 2; i++) {
          const b0 = v128.load(q), b1 = v128.load(q, 16);
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
          q += bStep;
        }
      }
      for (let l = steps % 2; l > 0; l--) {
        const b0 = v128.load(q), b1 = v128.load(q, 16);
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
        q += bStep;
      }
      p0 += jump; p1 += jump; p2 += jump; p3 += jump; p4 += jump;
      if (high == 6) p5 += jump;
    }
    if (from) {
      let p = from;
      c00 = f32x4.add(c00, v128.load(p)); c01 = f32x4.add(c01, v128.load(p, 16)); p += fromRow;
      c10 = f32x4.add(c10, v128.load(p)); c11 = f32x4.add(c11, v128.load(p, 16)); p += fromRow;
      c20 = f32x4.add(c20, v128.load(p)); c21 = f32x4.add(c21, v128.load(p, 16)); p += fromRow;
      c30 = f32x4.add(c30, v128.load(p)); c31 = f32x4.add(c31, v128.load(p, 16)); p += fromRow;
      c40 = f32x4.add(c40, v128.load(p)); c41 = f32x4.add(c41, v128.load(p, 16)); p += fromRow;
      if (high == 6) {
        c50 = f32x4.add(c50, v128.load(p)); c51 = f32x4.add(c51, v128.load(p, 16));
      }
      from += fromRow ? cNext : 0;
    }
    let to = c;
    v128.store(to, c00); v128.store(to, c01, 16); to += row;
    v128.store(to, c10); v128.store(to, c11, 16); to += row;
    v128.store(to, c20); v128.store(to, c21, 16); to += row;
    v128.store(to, c30); v128.store(to, c31, 16); to += row;
    v128.store(to, c40); v128.store(to, c41, 16); to += row;
    if (high == 6) {
      v128.store(to, c50); v128.store(to, c51, 16);
    }
  }
}

// tile picks by the number of rows in each tile; of fewer than five, five are written.
// @ts-ignore: decorator
@inline
export function tile(
  tiles: i32, rows: i32, runs: i32, steps: i32, offsets: Ptr, oNext: usize, a: Ptr, step: usize, jump: usize, b: Ptr, bStep: usize, bNext: usize, from: Ptr, fromRow: usize, c: Ptr, row: usize, cNext: usize,
): void {
  if (rows == MR) tile6(tiles, runs, steps, offsets, oNext, a, step, jump, b, bStep, bNext, from, fromRow, c, row, cNext);
  else tile5(tiles, runs, steps, offsets, oNext, a, step, jump, b, bStep, bNext, from, fromRow, c, row, cNext);
}

function tile6(
  tiles: i32, runs: i32, steps: i32, offsets: Ptr, oNext: usize, a: Ptr, step: usize, jump: usize, b: Ptr, bStep: usize, bNext: usize, from: Ptr, fromRow: usize, c: Ptr, row: usize, cNext: usize,
): void {
  sums(6, tiles, runs, steps, offsets, oNext, a, step, jump, b, bStep, bNext, from, fromRow, c, row, cNext);
}

function tile5(
  tiles: i32, runs: i32, steps: i32, offsets: Ptr, oNext: usize, a: Ptr, step: usize, jump: usize, b: Ptr, bStep: usize, bNext: usize, from: Ptr, fromRow: usize, c: Ptr, row: usize, cNext: usize,
): void {
  sums(5, tiles, runs, steps, offsets, oNext, a, step, jump, b, bStep, bNext, from, fromRow, c, row, cNext);
}
