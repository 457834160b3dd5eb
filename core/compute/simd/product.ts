// The matrix product behind several kernels, blocked as in Goto and van de Geijn
// 2008, "Anatomy of high-performance matrix multiplication", but for op(A), which is
// read where it is: op(B) is packed into strips of NR columns that stay in the
// second-level cache, a strip of op(A) stays in the first, and a tile of sums in registers.

import { pages } from "./pages";
import { Part, Parts, first } from "./team";
import { MR, NR, begins, covered, five, strip, strips, tile } from "./tile";
import { PIECE, Ptr, addWide } from "./vec";
import { starts } from "./window";

let scratch: Ptr = 0, held: i32 = 0;

// room is memory for n floats until the next call.
function room(n: i32): Ptr {
  if (n > held) {
    held = max(n, 2 * held);
    scratch = pages(<usize>held << 2);
  }
  return scratch;
}

export const KC = 400; // rows of op(B) packed at a time: so that pictures of 28×28 make two blocks of them
const NC = 512; // columns

// block adds to dst the sum of the outer products of one block of rows, m ≤ BLOCK:
// to its float64, or writes the float32 that it has.
export function block(m: i32, n: i32, k: i32, h: Ptr, d: Ptr, dst: Ptr, wide: bool, part: Part, parts: Parts): void {
  const size: usize = wide ? 8 : 4, row = <usize>k * size;
  if (turned(n, k)) product(1, 0, k, n, m, d, h, 0, dst, size, row, PIECE, false, wide, part, parts);
  else product(1, 0, n, k, m, h, d, 0, dst, row, size, PIECE, false, wide, part, parts);
}

// turned reports whether the transpose of an [m×n] product wastes less of the
// tiles at the edges.
// @ts-ignore: decorator
@inline
export function turned(m: i32, n: i32): bool {
  return <f64>covered(n) * padded(m, NR) * 10 < <f64>covered(m) * padded(n, NR) * 9;
}

// mirror copies what is above the diagonal of c [n×n] to below it.
export function mirror(n: i32, c: Ptr): void {
  const row = <usize>n << 2;
  for (let i = 1; i < n; i++) {
    let from = c + (<usize>i << 2), to = c + <usize>i * row;
    for (let j = 0; j < i; j++, from += row, to += 4) store<f32>(to, load<f32>(from));
  }
}

// padded is n rounded up to a multiple of unit, as a float: the product of two
// may be beyond an i32.
// @ts-ignore: decorator
@inline
function padded(n: i32, unit: i32): f64 {
  return <f64>((n + unit - 1) / unit * unit);
}

// product is gemm into a C whose rows are rowStep bytes apart and columns
// colStep. Sums of more than chain terms are added up in pieces. With upper, tiles that
// lie below the diagonal are left out. With wide, C is in float64 and is added to
// whatever beta is. A part is some rows or columns of C, whole tiles of them.
export function product(
  tA: i32, tB: i32, m: i32, n: i32, k: i32,
  a: Ptr, b: Ptr, beta: f32, c: Ptr, rowStep: usize, colStep: usize, chain: i32, upper: bool, wide: bool, part: Part, parts: Parts,
): void {
  let top = 0, bottom = m, near = 0, far = n;
  if (parts > 1 && rowsApart(m, n, parts)) {
    top = begins(m, first(strips(m), 1, part, parts));
    bottom = begins(m, first(strips(m), 1, part + 1, parts));
  } else if (parts > 1) {
    near = first(n, NR, part, parts);
    far = first(n, NR, part + 1, parts);
  }
  const blocks = max((k + KC - 1) / KC, 1);
  const depth = (k + blocks - 1) / blocks; // of all blocks but the last
  const edge = room(MR * NR + m + MR + depth * ((min(n, NC) + NR - 1) / NR * NR));
  const offsets = edge + ((MR * NR) << 2), panel = offsets + (<usize>(m + MR) << 2);
  const step: usize = tA ? <usize>m << 2 : 4;
  starts(1, 0, 1, m, 0, tA ? 1 : k, offsets, 0);
  const fives = five(m), plain = !wide && colStep == 4;
  for (let j0 = near; j0 < far; j0 += NC) {
    const nc = min(far - j0, NC);
    const there = !tB && m <= 2 * MR ? nc / NR * NR : 0; // columns that are used but once or twice are read where they are
    for (let block = 0; block < blocks; block++) {
      const l0 = block * depth, kc = min(depth, k - l0), left = a + <usize>l0 * step;
      const scale: f32 = wide ? 0 : block == 0 ? beta : 1;
      packB(tB, n, k, b, l0, kc, j0 + there, nc - there, panel);
      for (let i0 = top, mr = 0; i0 < bottom; i0 += mr) {
        mr = strip(m, i0, fives);
        const rows = offsets + (<usize>i0 << 2);
        for (let j = upper ? max(i0 - j0, 0) / NR * NR : 0, tiles = 0; j < nc; j += NR * tiles) {
          const packed = j >= there, nr = min(nc - j, NR), whole = plain && (scale == 0 || scale == 1) && nr == NR && mr >= 5;
          tiles = whole ? ((packed ? nc : there) - j) / NR : 1;
          const bStep: usize = packed ? NR << 2 : <usize>n << 2, bNext: usize = packed ? <usize>(kc * NR) << 2 : NR << 2;
          const right = packed ? panel + (<usize>((j - there) * kc) << 2) : b + <usize>l0 * bStep + (<usize>(j0 + j) << 2);
          const to = c + <usize>i0 * rowStep + <usize>(j0 + j) * colStep;
          const at = whole ? to : edge, row: usize = whole ? rowStep : NR << 2;
          let old: Ptr = whole && scale != 0 ? at : 0;
          for (let l = 0; l < max(kc, 1); l += chain) {
            const x = left + <usize>l * step, y = right + <usize>l * bStep;
            tile(tiles, mr, 1, min(kc - l, chain), rows, 0, x, step, 0, y, bStep, bNext, old, row, at, row, NR << 2);
            old = at;
          }
          if (wide) addTile(edge, to, rowStep, colStep, mr, nr);
          else if (!whole) place(edge, to, rowStep, colStep, mr, nr, scale);
        }
      }
    }
  }
}

// rowsApart reports whether threads had better share the rows of an [m×n] product
// than its columns, by what the longest part does: whole tiles, and the packing of
// op(B), a value of which takes the time of a tile's row.
function rowsApart(m: i32, n: i32, parts: i32): bool {
  const rows = (strips(m) + parts - 1) / parts * MR, columns = ((n + NR - 1) / NR + parts - 1) / parts * NR;
  return <f64>(rows + NR) * n < <f64>(m + NR) * columns;
}

// place is c = v + beta·c for the tile at v.
export function place(v: Ptr, c: Ptr, rowStep: usize, colStep: usize, mr: i32, nr: i32, beta: f32): void {
  let i = 0;
  if (rowStep == 4 && nr == NR && beta == 0) { // four rows at a time, transposed
    for (; i + 4 <= mr; i += 4, c += 16, v += (4 * NR) << 2) {
      square(v, NR << 2, 2 * (NR << 2), 3 * (NR << 2), c, colStep);
      square(v + 16, NR << 2, 2 * (NR << 2), 3 * (NR << 2), c + (colStep << 2), colStep);
    }
  }
  for (; i < mr; i++, c += rowStep, v += NR << 2) {
    let to = c;
    for (let j: usize = 0; j < <usize>nr << 2; j += 4, to += colStep) {
      let x = load<f32>(v + j);
      if (beta != 0) x += beta * load<f32>(to);
      store<f32>(to, x);
    }
  }
}

// addTile adds the tile at v to c in float64.
function addTile(v: Ptr, c: Ptr, rowStep: usize, colStep: usize, mr: i32, nr: i32): void {
  for (let i = 0; i < mr; i++, c += rowStep, v += NR << 2) {
    if (nr == NR && colStep == 8) {
      addWide(c, v128.load(v));
      addWide(c + 32, v128.load(v, 16));
      continue;
    }
    let to = c;
    for (let j: usize = 0; j < <usize>nr << 2; j += 4, to += colStep) store<f64>(to, load<f64>(to) + <f64>load<f32>(v + j));
  }
}

// packB writes rows l0 … l0+kc−1 and columns j0 … j0+nc−1 of op(B) in strips of
// NR columns, row by row, missing columns as 0.
export function packB(t: i32, n: i32, k: i32, b: Ptr, l0: i32, kc: i32, j0: i32, nc: i32, dst: Ptr): void {
  const rowStep = (t ? 1 : n) << 2; // between neighbours in a column of op(B)
  const colStep = (t ? <usize>k : 1) << 2;
  b += <usize>l0 * rowStep + <usize>j0 * colStep;
  for (let j = 0; j < nc; j += NR, b += <usize>NR * colStep, dst += <usize>(kc * NR) << 2) {
    const nr = min(nc - j, NR);
    if (nr < NR) {
      packEdge(b, colStep, rowStep, nr, NR, kc, dst);
    } else if (t) {
      packSquares(b, colStep, kc, dst);
    } else {
      let p = b, q = dst;
      for (let l = 0; l < kc; l++, p += rowStep, q += NR << 2) {
        v128.store(q, v128.load(p));
        v128.store(q, v128.load(p, 16), 16);
      }
    }
  }
}

// packSquares packs NR = 8 columns of op(B) that are stored as rows step bytes
// apart, transposing four rows by four at a time.
function packSquares(b: Ptr, step: usize, kc: i32, dst: Ptr): void {
  const lower = b + (step << 2);
  const s1 = step, s2 = s1 + s1, s3 = s2 + s1;
  let l = 0, off: usize = 0, q = dst;
  for (; l + 4 <= kc; l += 4, off += 16, q += (4 * NR) << 2) {
    square(b + off, s1, s2, s3, q, NR << 2);
    square(lower + off, s1, s2, s3, q + 16, NR << 2);
  }
  packEdge(b + off, step, 4, NR, NR, kc - l, q);
}

// square transposes four rows by four into rows step bytes apart.
// @ts-ignore: decorator
@inline
export function square(p: Ptr, s1: usize, s2: usize, s3: usize, q: Ptr, step: usize): void {
  const r0 = v128.load(p), r1 = v128.load(p + s1), r2 = v128.load(p + s2), r3 = v128.load(p + s3);
  const t0 = i32x4.shuffle(r0, r1, 0, 4, 1, 5), t1 = i32x4.shuffle(r0, r1, 2, 6, 3, 7);
  const t2 = i32x4.shuffle(r2, r3, 0, 4, 1, 5), t3 = i32x4.shuffle(r2, r3, 2, 6, 3, 7);
  v128.store(q, i64x2.shuffle(t0, t2, 0, 2));
  v128.store(q + step, i64x2.shuffle(t0, t2, 1, 3));
  v128.store(q + 2 * step, i64x2.shuffle(t1, t3, 0, 2));
  v128.store(q + 3 * step, i64x2.shuffle(t1, t3, 1, 3));
}

// packEdge packs one value at a time: for each of kc steps, colStep bytes apart,
// have values rowStep bytes apart, then zeros up to width.
function packEdge(p: Ptr, rowStep: usize, colStep: usize, have: i32, width: i32, kc: i32, dst: Ptr): void {
  for (let l = 0; l < kc; l++, p += colStep) {
    let q = p;
    for (let r = 0; r < have; r++, q += rowStep, dst += 4) store<f32>(dst, load<f32>(q));
    for (let r = have; r < width; r++, dst += 4) store<f32>(dst, 0);
  }
}
