// The matrix product behind several kernels, blocked as in Goto and van de Geijn
// 2008, "Anatomy of high-performance matrix multiplication": op(B) is packed into
// strips of NR columns that stay in the second-level cache, op(A) into strips of MR rows that stay in the first,
// and a tile of MR×NR sums stays in registers. 6×8 floats are 12 of the 15
// vector registers that an engine for x86-64 leaves us.

import { pages } from "./pages";
import { Part, Parts, first } from "./team";
import { MR, NR, covered, five, strip, tile } from "./tile";
import { PIECE, Ptr, addWide, madd } from "./vec";

let scratch: Ptr = 0, held: i32 = 0;

// room is memory for n floats until the next call.
function room(n: i32): Ptr {
  if (n > held) {
    held = max(n, 2 * held);
    scratch = pages(<usize>held << 2);
  }
  return scratch;
}

export const KC = 320; // rows of op(B) packed at a time
const NC = 512; // columns
const NEAR = 1 << 14; // values that stay in the first-level cache, or nearly

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
// colStep. Sums of more than chain terms are added up in pieces. With upper, tiles that lie below the diagonal are left out. With wide,
// C is in float64 and is added to whatever beta is. A part is some rows or columns
// of C, whole tiles of them.
export function product(
  tA: i32, tB: i32, m: i32, n: i32, k: i32,
  a: Ptr, b: Ptr, beta: f32, c: Ptr, rowStep: usize, colStep: usize, chain: i32, upper: bool, wide: bool, part: Part, parts: Parts,
): void {
  let top = 0, bottom = m, near = 0, far = n;
  if (parts > 1 && rowsApart(m, n, parts)) {
    top = first(m, MR, part, parts);
    bottom = first(m, MR, part + 1, parts);
  } else if (parts > 1) {
    near = first(n, NR, part, parts);
    far = first(n, NR, part + 1, parts);
  }
  if ((m <= 2 * MR || n <= 2 * NR) && !upper && (beta == 0 || beta == 1)) {
    slender(tA, tB, m, n, k, a, b, beta != 0, c, rowStep, colStep, chain, wide, top, bottom, near, far);
    return;
  }
  const blocks = max((k + KC - 1) / KC, 1);
  const depth = (k + blocks - 1) / blocks; // of all blocks but the last
  const edge = room(MR * NR + depth * (MR + (min(n, NC) + NR - 1) / NR * NR));
  const slice = edge + ((MR * NR) << 2);
  const panel = slice + (<usize>(MR * depth) << 2);
  for (let j0 = near; j0 < far; j0 += NC) {
    const nc = min(far - j0, NC);
    for (let block = 0; block < blocks; block++) {
      const l0 = block * depth, kc = min(depth, k - l0);
      const scale: f32 = block == 0 ? beta : 1;
      packB(tB, n, k, b, l0, kc, j0, nc, panel);
      for (let i0 = top; i0 < bottom; i0 += MR) {
        const mr = min(bottom - i0, MR);
        const left = upper ? max(i0 - j0, 0) / NR * NR : 0;
        if (left >= nc) break;
        packA(tA, m, k, a, i0, mr, l0, kc, slice);
        let to = c + <usize>i0 * rowStep + <usize>(j0 + left) * colStep;
        for (let j = left; j < nc; j += NR, to += <usize>NR * colStep) {
          packed(kc, slice, panel + (<usize>(j * kc) << 2), scale, to, rowStep, colStep, mr, min(nc - j, NR), edge, chain, wide);
        }
      }
    }
  }
}

// rowsApart reports whether threads had better share the rows of an [m×n] product
// than its columns, by what the longest part does: whole tiles, and the packing of
// both operands, a value of which takes the time of a tile's row.
function rowsApart(m: i32, n: i32, parts: i32): bool {
  const rows = ((m + MR - 1) / MR + parts - 1) / parts * MR, columns = ((n + NR - 1) / NR + parts - 1) / parts * NR;
  const either = <f64>rows * n + NR * <f64>(rows + n), or = <f64>m * columns + NR * <f64>(m + columns);
  return either < or;
}

// slender is product where few rows or columns of C let each value of the operands
// be used but once or twice: those of op(A) are read where they are, strips of five
// rows leave little of ten columns' tiles empty, and whole strips of op(B) that stay
// in the first-level cache are not packed either. It takes the strips that begin in
// rows top … bottom−1, and columns near … far−1.
function slender(
  tA: i32, tB: i32, m: i32, n: i32, k: i32,
  a: Ptr, b: Ptr, add: bool, c: Ptr, rowStep: usize, colStep: usize, chain: i32, wide: bool, top: i32, bottom: i32, near: i32, far: i32,
): void {
  const blocks = max((k + KC - 1) / KC, 1);
  const depth = (k + blocks - 1) / blocks; // of all blocks but the last
  const width = min(n, NC);
  const edge = room(MR * NR + 2 * MR + depth * ((width + NR - 1) / NR * NR));
  const offsets = edge + ((MR * NR) << 2), panel = offsets + ((2 * MR) << 2);
  const aRow: usize = tA ? 4 : <usize>k << 2, step: usize = tA ? <usize>m << 2 : 4;
  const fives = five(m), last = (m - fives + 4) % 5; // a strip that is not full has its last row again for those it lacks
  for (let r: i32 = 0; r < MR; r++) {
    store<u32>(offsets + (r << 2), <usize>r * aRow);
    store<u32>(offsets + ((MR + r) << 2), <usize>min(r, last) * aRow);
  }
  for (let j0 = near; j0 < far; j0 += NC) {
    const nc = min(far - j0, NC);
    for (let block = 0; block < blocks; block++) {
      const l0 = block * depth, kc = min(depth, k - l0);
      const more = !wide && (add || block > 0);
      const direct = !tB && m <= 2 * MR && nc % NR == 0 && kc * n <= NEAR;
      const bStep: usize = direct ? <usize>n << 2 : NR << 2, stride: usize = direct ? NR << 2 : <usize>(kc * NR) << 2;
      const right = direct ? b + <usize>l0 * bStep + (<usize>j0 << 2) : panel;
      if (!direct) packB(tB, n, k, b, l0, kc, j0, nc, panel);
      for (let i0 = 0, mr = 0; i0 < m; i0 += mr) {
        mr = strip(m, i0, fives);
        if (i0 < top || i0 >= bottom) continue; // another part's
        const rows = mr < 5 ? offsets + (MR << 2) : offsets;
        const left = a + (tA ? (<usize>l0 * <usize>m + <usize>i0) << 2 : (<usize>i0 * <usize>k + <usize>l0) << 2);
        let to = c + <usize>i0 * rowStep + <usize>j0 * colStep, q = right;
        for (let j = 0; j < nc; j += NR, to += <usize>NR * colStep, q += stride) {
          const nr = min(nc - j, NR), whole = !wide && colStep == 4 && nr == NR && mr >= 5;
          const at = whole ? to : edge, row: usize = whole ? rowStep : NR << 2;
          let old: Ptr = whole && more ? at : 0;
          for (let l = 0; l < max(kc, 1); l += chain) {
            const terms = min(kc - l, chain), x = left + <usize>l * step, y = q + <usize>l * bStep;
            tile(mr, 1, terms, rows, x, step, 0, y, bStep, old, row, at, row);
            old = at;
          }
          if (wide) addTile(edge, to, rowStep, colStep, mr, nr);
          else if (!whole) place(edge, to, rowStep, colStep, mr, nr, more);
        }
      }
    }
  }
}

// place writes or adds the tile at v to c.
export function place(v: Ptr, c: Ptr, rowStep: usize, colStep: usize, mr: i32, nr: i32, add: bool): void {
  let i = 0;
  if (rowStep == 4 && nr == NR && !add) { // four rows at a time, transposed
    for (; i + 4 <= mr; i += 4, c += 16, v += (4 * NR) << 2) {
      square(v, NR << 2, 2 * (NR << 2), 3 * (NR << 2), c, colStep);
      square(v + 16, NR << 2, 2 * (NR << 2), 3 * (NR << 2), c + (colStep << 2), colStep);
    }
  }
  for (; i < mr; i++, c += rowStep, v += NR << 2) {
    let to = c;
    for (let j: usize = 0; j < <usize>nr << 2; j += 4, to += colStep) {
      let x = load<f32>(v + j);
      if (add) x += load<f32>(to);
      store<f32>(to, x);
    }
  }
}

// packed is c = a·b + beta·c for one strip of each operand, where c has mr ≤ MR
// rows and nr ≤ NR columns, in pieces of up to chain terms. edge is room for a
// whole tile. One step of the sum at
// a time is faster by a third where multiply-add is fused, two where it is not:
// the engine's choice of registers decides it, and "make bench" shows it.
function packed(
  kc: i32, a: Ptr, b: Ptr, beta: f32, c: Ptr, rowStep: usize, colStep: usize, mr: i32, nr: i32, edge: Ptr, chain: i32, wide: bool,
): void {
  let c00 = f32x4.splat(0), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00;
  let c30 = c00, c31 = c00, c40 = c00, c41 = c00, c50 = c00, c51 = c00;
  for (let left = kc; ;) {
    const steps = min(left, chain);
    const pairs = ASC_FEATURE_RELAXED_SIMD ? 0 : steps >> 1;
    for (let l = pairs; l > 0; l--) {
      let b0 = v128.load(b), b1 = v128.load(b, 16), x = v128.load_splat<f32>(a);
      c00 = madd(x, b0, c00); c01 = madd(x, b1, c01); x = v128.load_splat<f32>(a, 4);
      c10 = madd(x, b0, c10); c11 = madd(x, b1, c11); x = v128.load_splat<f32>(a, 8);
      c20 = madd(x, b0, c20); c21 = madd(x, b1, c21); x = v128.load_splat<f32>(a, 12);
      c30 = madd(x, b0, c30); c31 = madd(x, b1, c31); x = v128.load_splat<f32>(a, 16);
      c40 = madd(x, b0, c40); c41 = madd(x, b1, c41); x = v128.load_splat<f32>(a, 20);
      c50 = madd(x, b0, c50); c51 = madd(x, b1, c51);
      b0 = v128.load(b, 32); b1 = v128.load(b, 48); x = v128.load_splat<f32>(a, 24);
      c00 = madd(x, b0, c00); c01 = madd(x, b1, c01); x = v128.load_splat<f32>(a, 28);
      c10 = madd(x, b0, c10); c11 = madd(x, b1, c11); x = v128.load_splat<f32>(a, 32);
      c20 = madd(x, b0, c20); c21 = madd(x, b1, c21); x = v128.load_splat<f32>(a, 36);
      c30 = madd(x, b0, c30); c31 = madd(x, b1, c31); x = v128.load_splat<f32>(a, 40);
      c40 = madd(x, b0, c40); c41 = madd(x, b1, c41); x = v128.load_splat<f32>(a, 44);
      c50 = madd(x, b0, c50); c51 = madd(x, b1, c51);
      a += 48;
      b += 64;
    }
    for (let l = steps - 2 * pairs; l > 0; l--) {
      const b0 = v128.load(b), b1 = v128.load(b, 16);
      let x = v128.load_splat<f32>(a);
      c00 = madd(x, b0, c00); c01 = madd(x, b1, c01); x = v128.load_splat<f32>(a, 4);
      c10 = madd(x, b0, c10); c11 = madd(x, b1, c11); x = v128.load_splat<f32>(a, 8);
      c20 = madd(x, b0, c20); c21 = madd(x, b1, c21); x = v128.load_splat<f32>(a, 12);
      c30 = madd(x, b0, c30); c31 = madd(x, b1, c31); x = v128.load_splat<f32>(a, 16);
      c40 = madd(x, b0, c40); c41 = madd(x, b1, c41); x = v128.load_splat<f32>(a, 20);
      c50 = madd(x, b0, c50); c51 = madd(x, b1, c51);
      a += 24;
      b += 32;
    }
    if (left < kc) { // the pieces before
      c00 = f32x4.add(v128.load(edge), c00); c01 = f32x4.add(v128.load(edge, 16), c01);
      c10 = f32x4.add(v128.load(edge, 32), c10); c11 = f32x4.add(v128.load(edge, 48), c11);
      c20 = f32x4.add(v128.load(edge, 64), c20); c21 = f32x4.add(v128.load(edge, 80), c21);
      c30 = f32x4.add(v128.load(edge, 96), c30); c31 = f32x4.add(v128.load(edge, 112), c31);
      c40 = f32x4.add(v128.load(edge, 128), c40); c41 = f32x4.add(v128.load(edge, 144), c41);
      c50 = f32x4.add(v128.load(edge, 160), c50); c51 = f32x4.add(v128.load(edge, 176), c51);
    }
    left -= steps;
    if (left == 0) break;
    v128.store(edge, c00); v128.store(edge, c01, 16);
    v128.store(edge, c10, 32); v128.store(edge, c11, 48);
    v128.store(edge, c20, 64); v128.store(edge, c21, 80);
    v128.store(edge, c30, 96); v128.store(edge, c31, 112);
    v128.store(edge, c40, 128); v128.store(edge, c41, 144);
    v128.store(edge, c50, 160); v128.store(edge, c51, 176);
    c00 = c01 = c10 = c11 = c20 = c21 = c30 = c31 = c40 = c41 = c50 = c51 = f32x4.splat(0);
  }
  if (!wide && mr == MR && nr == NR && colStep == 4) {
    write(c, c00, c01, beta); c += rowStep;
    write(c, c10, c11, beta); c += rowStep;
    write(c, c20, c21, beta); c += rowStep;
    write(c, c30, c31, beta); c += rowStep;
    write(c, c40, c41, beta); c += rowStep;
    write(c, c50, c51, beta);
    return;
  }
  v128.store(edge, c00); v128.store(edge, c01, 16);
  v128.store(edge, c10, 32); v128.store(edge, c11, 48);
  v128.store(edge, c20, 64); v128.store(edge, c21, 80);
  v128.store(edge, c30, 96); v128.store(edge, c31, 112);
  v128.store(edge, c40, 128); v128.store(edge, c41, 144);
  v128.store(edge, c50, 160); v128.store(edge, c51, 176);
  if (wide) {
    addTile(edge, c, rowStep, colStep, mr, nr);
    return;
  }
  for (let i = 0; i < mr; i++, c += rowStep, edge += NR << 2) {
    let to = c;
    for (let j: usize = 0; j < <usize>nr << 2; j += 4, to += colStep) {
      let v = load<f32>(edge + j);
      if (beta != 0) v += beta * load<f32>(to);
      store<f32>(to, v);
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

// write is c = v + beta·c for the eight values of a tile's row.
// @ts-ignore: decorator
@inline
function write(c: Ptr, v0: v128, v1: v128, beta: f32): void {
  if (beta != 0) {
    const vb = f32x4.splat(beta);
    v0 = madd(vb, v128.load(c), v0);
    v1 = madd(vb, v128.load(c, 16), v1);
  }
  v128.store(c, v0);
  v128.store(c, v1, 16);
}

// packA writes rows i0 … i0+mr−1 and columns l0 … l0+kc−1 of op(A) column by
// column, MR values each, missing rows as 0.
function packA(t: i32, m: i32, k: i32, a: Ptr, i0: i32, mr: i32, l0: i32, kc: i32, dst: Ptr): void {
  const rowStep = (t ? 1 : k) << 2; // between neighbours in a column of op(A)
  const colStep = (t ? <usize>m : 1) << 2; // in a row
  a += <usize>i0 * rowStep + <usize>l0 * colStep;
  if (mr < MR) {
    packEdge(a, rowStep, colStep, mr, MR, kc, dst);
    return;
  }
  if (t) {
    for (let l = 0; l < kc; l++, a += colStep, dst += MR << 2) {
      v128.store(dst, v128.load(a));
      store<u64>(dst, load<u64>(a, 16), 16);
    }
    return;
  }
  const a1 = rowStep, a2 = a1 + a1, a3 = a2 + a1, a4 = a2 + a2, a5 = a4 + a1;
  let l = 0;
  for (; l + 4 <= kc; l += 4, a += 16, dst += (4 * MR) << 2) {
    const r0 = v128.load(a), r1 = v128.load(a + a1), r2 = v128.load(a + a2), r3 = v128.load(a + a3);
    const r4 = v128.load(a + a4), r5 = v128.load(a + a5);
    // Rows 0 to 3 are transposed as a square, 4 and 5 as pairs.
    const t0 = i32x4.shuffle(r0, r1, 0, 4, 1, 5), t1 = i32x4.shuffle(r0, r1, 2, 6, 3, 7);
    const t2 = i32x4.shuffle(r2, r3, 0, 4, 1, 5), t3 = i32x4.shuffle(r2, r3, 2, 6, 3, 7);
    const p0 = i32x4.shuffle(r4, r5, 0, 4, 1, 5), p1 = i32x4.shuffle(r4, r5, 2, 6, 3, 7);
    v128.store(dst, i64x2.shuffle(t0, t2, 0, 2));
    v128.store_lane<u64>(dst, p0, 0, 16);
    v128.store(dst, i64x2.shuffle(t0, t2, 1, 3), 24);
    v128.store_lane<u64>(dst, p0, 1, 40);
    v128.store(dst, i64x2.shuffle(t1, t3, 0, 2), 48);
    v128.store_lane<u64>(dst, p1, 0, 64);
    v128.store(dst, i64x2.shuffle(t1, t3, 1, 3), 72);
    v128.store_lane<u64>(dst, p1, 1, 88);
  }
  packEdge(a, rowStep, colStep, MR, MR, kc - l, dst);
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
function square(p: Ptr, s1: usize, s2: usize, s3: usize, q: Ptr, step: usize): void {
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
