// Products of few columns, as of ten classes. Eight columns at a time would leave much of
// a tile empty, and a tile of the transpose would have the other operand, the large one,
// copied. So vectors lie along the sums: rows of A are read where they are, four terms at
// a time, columns of B as rows, and a tile of two by three to five has nothing to spare. In
// the end, the four sums of each element are added.

import { KC, square } from "./product";
import { NR } from "./tile";
import { Part, Parts, first } from "./team";
import { Ptr, loadPart, madd, storePart, sumLanes } from "./vec";
import { space } from "./window";

const NEAR = 1 << 13; // values of B that stay in the first-level cache, or nearly, beside two rows of A
const WIDE = 5; // columns of a tile

// isNarrow reports whether a product of A, of k columns, and a B of n is one for this
// file: a tenth of other tiles or more would be empty. How many rows there are is not
// asked, for none may depend on what is beside it.
export function isNarrow(n: i32, k: i32): bool {
  return k >= 16 && n >= 3 && n < 4 * NR && (n + NR - 1) / NR * NR * 10 > n * 11;
}

// narrow is C = A·B + beta·C. A part is some rows of C.
export function narrow(m: i32, n: i32, k: i32, a: Ptr, b: Ptr, beta: f32, c: Ptr, part: Part, parts: Parts): void {
  const most = min(NEAR / n, 4 * KC), blocks = (k + most - 1) / most, depth = ((k + blocks - 1) / blocks + 3) & ~3;
  const from = first(m, 2, part, parts), to = first(m, 2, part + 1, parts), groups = (n + WIDE - 1) / WIDE;
  const rows = space(<usize>n * <usize>depth), aRow = <usize>k << 2, row = <usize>n << 2, bRow = <usize>depth << 2;
  for (let l = 0; l < k; l += depth) {
    const terms = min(depth, k - l), scale: f32 = l == 0 ? beta : 1;
    turn(terms, n, b + <usize>l * row, rows, bRow);
    for (let i = from; i < to; i += 2) {
      const x = a + <usize>i * aRow + (<usize>l << 2), z = c + <usize>i * row, two = i + 1 < to;
      const aNext: usize = two ? aRow : 0, cNext: usize = two ? row : 0;
      for (let g = 0, j = 0; g < groups; g++) {
        const columns = n * (g + 1) / groups - j, p = rows + <usize>j * bRow, q = z + (<usize>j << 2);
        if (columns == 3) dots3(terms, x, aNext, p, bRow, scale, q, cNext);
        else if (columns == 5) dots5(terms, x, aNext, p, bRow, scale, q, cNext);
        else dots4(terms, x, aNext, p, bRow, scale, q, cNext);
        j += columns;
      }
    }
  }
}

// turn writes columns of b [k×n] as rows, rowStep bytes apart.
function turn(k: i32, n: i32, b: Ptr, dst: Ptr, rowStep: usize): void {
  const row = <usize>n << 2;
  for (let j = 0; j < n; j += 4, b += 16, dst += 4 * rowStep) {
    const whole = n - j < 4 ? 0 : k & ~3;
    let p = b, q = dst;
    for (let l = 0; l < whole; l += 4, p += 4 * row, q += 16) square(p, row, 2 * row, 3 * row, q, rowStep);
    for (let l = whole; l < k; l++, p += row, q += 4) {
      for (let r = 0; r < min(n - j, 4); r++) store<f32>(q + <usize>r * rowStep, load<f32>(p + (<usize>r << 2)));
    }
  }
}

// dots is c = scale·c + the products of two rows at x and some at y, of k terms. Where
// row is 0, there is but one at x.
// @ts-ignore: decorator
@inline
function dots(columns: i32, k: i32, x: Ptr, xRow: usize, y: Ptr, yRow: usize, scale: f32, c: Ptr, row: usize): void {
  let x1 = x + xRow, y1 = y + yRow, y2 = y1 + yRow, y3 = y2 + yRow, y4 = y3 + yRow;
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0, b4 = a0;
  for (let l = k >> 2; l > 0; l--) {
    const u = v128.load(x), v = v128.load(x1);
    let w = v128.load(y);
    a0 = madd(u, w, a0); b0 = madd(v, w, b0); w = v128.load(y1);
    a1 = madd(u, w, a1); b1 = madd(v, w, b1); w = v128.load(y2);
    a2 = madd(u, w, a2); b2 = madd(v, w, b2);
    if (columns > 3) {
      w = v128.load(y3);
      a3 = madd(u, w, a3); b3 = madd(v, w, b3);
      y3 += 16;
    }
    if (columns > 4) {
      w = v128.load(y4);
      a4 = madd(u, w, a4); b4 = madd(v, w, b4);
      y4 += 16;
    }
    x += 16; x1 += 16; y += 16; y1 += 16; y2 += 16;
  }
  const left = k & 3;
  if (left) {
    const u = loadPart(x, left), v = loadPart(x1, left);
    let w = loadPart(y, left);
    a0 = madd(u, w, a0); b0 = madd(v, w, b0); w = loadPart(y1, left);
    a1 = madd(u, w, a1); b1 = madd(v, w, b1); w = loadPart(y2, left);
    a2 = madd(u, w, a2); b2 = madd(v, w, b2);
    if (columns > 3) {
      w = loadPart(y3, left);
      a3 = madd(u, w, a3); b3 = madd(v, w, b3);
    }
    if (columns > 4) {
      w = loadPart(y4, left);
      a4 = madd(u, w, a4); b4 = madd(v, w, b4);
    }
  }
  write(columns, a0, a1, a2, a3, a4, scale, c);
  if (row) write(columns, b0, b1, b2, b3, b4, scale, c + row);
}

// write adds the lanes of each sum.
// @ts-ignore: decorator
@inline
function write(columns: i32, s0: v128, s1: v128, s2: v128, s3: v128, s4: v128, scale: f32, c: Ptr): void {
  const beta = f32x4.splat(scale);
  let v = four(pair(s0, s1), pair(s2, s3));
  if (columns == 3) {
    storePart(c, scale != 0 ? madd(beta, loadPart(c, 3), v) : v, 3);
    return;
  }
  v128.store(c, scale != 0 ? madd(beta, v128.load(c), v) : v);
  if (columns == 4) return;
  v = f32x4.splat(sumLanes(s4));
  storePart(c + 16, scale != 0 ? madd(beta, loadPart(c + 16, 1), v) : v, 1);
}

// pair has in its first two lanes, and in the other two, what is to be added for a and b.
// @ts-ignore: decorator
@inline
function pair(a: v128, b: v128): v128 {
  return f32x4.add(i32x4.shuffle(a, b, 0, 4, 1, 5), i32x4.shuffle(a, b, 2, 6, 3, 7));
}

// four is the sums of four vectors, of which two pairs are made.
// @ts-ignore: decorator
@inline
function four(a: v128, b: v128): v128 {
  return f32x4.add(i64x2.shuffle(a, b, 0, 2), i64x2.shuffle(a, b, 1, 3));
}

function dots4(k: i32, x: Ptr, xRow: usize, y: Ptr, yRow: usize, scale: f32, c: Ptr, row: usize): void {
  dots(4, k, x, xRow, y, yRow, scale, c, row);
}

function dots5(k: i32, x: Ptr, xRow: usize, y: Ptr, yRow: usize, scale: f32, c: Ptr, row: usize): void {
  dots(5, k, x, xRow, y, yRow, scale, c, row);
}

function dots3(k: i32, x: Ptr, xRow: usize, y: Ptr, yRow: usize, scale: f32, c: Ptr, row: usize): void {
  dots(3, k, x, xRow, y, yRow, scale, c, row);
}
