import { isNarrow, narrow } from "../simd/narrow";
import { KC, mirror, product, turned } from "../simd/product";
import { isSparse, sparse, sparseBefore } from "../simd/sparse";
import { Part, Parts, first } from "../simd/team";
import { Ptr, loadPart, madd, sumLanes } from "../simd/vec";

export function gemmBefore(tA: i32, tB: i32, m: i32, n: i32, k: i32): void {
  if (!tA && !tB) sparseBefore(m, n, k, KC);
}

// gemm has tA and tB 0 or 1. Where it wastes less of the tiles at the edges, as for
// ten columns, it computes the transpose; of a matrix times its own transpose it
// computes the upper half and copies it, all in one part.
// @divide costing m * n * k / 8 + m * n
export function gemm(tA: i32, tB: i32, m: i32, n: i32, k: i32, beta: f32, a: Ptr, b: Ptr, c: Ptr, part: Part, parts: Parts): void {
  if (m == 0 || n == 0) return;
  const row = <usize>n << 2;
  if (n == 1 && !tA) {
    const from = first(m, 16, part, parts), to = first(m, 16, part + 1, parts);
    column(to - from, k, beta, a + (<usize>from * <usize>k << 2), b, c + (<usize>from << 2));
  } else if (a == b && m == n && tA != tB && beta == 0) {
    if (part > 0) return;
    product(tA, tB, n, n, k, a, b, 0, c, row, 4, KC, true, false, 0, 1);
    mirror(n, c);
  } else if (!tA && !tB && isSparse(m, k, a, n)) {
    sparse(m, n, k, a, b, beta, c, KC, part, parts);
  } else if (!tA && !tB && isNarrow(n, k)) {
    narrow(m, n, k, a, b, beta, c, part, parts);
  } else if (turned(m, n)) {
    product(1 - tB, 1 - tA, n, m, k, b, a, beta, c, 4, row, KC, false, false, part, parts); // Cᵀ = op(B)ᵀ·op(A)ᵀ
  } else {
    product(tA, tB, m, n, k, a, b, beta, c, row, 4, KC, false, false, part, parts);
  }
}

// column is c = A·b + beta·c for one column, for which every tile is too wide: 16
// sums side by side for each row of A, of up to KC terms each before they are added.
function column(m: i32, k: i32, beta: f32, a: Ptr, b: Ptr, c: Ptr): void {
  const rest = k & 3;
  for (let i = 0; i < m; i++, c += 4) {
    let sum: f32 = beta != 0 ? beta * load<f32>(c) : 0, left = k, p = b;
    while (left > 0) {
      let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
      for (let l = min(KC - 4, left >> 4); l > 0; l--, left -= 16, a += 64, p += 64) {
        s0 = madd(v128.load(a), v128.load(p), s0);
        s1 = madd(v128.load(a, 16), v128.load(p, 16), s1);
        s2 = madd(v128.load(a, 32), v128.load(p, 32), s2);
        s3 = madd(v128.load(a, 48), v128.load(p, 48), s3);
      }
      if (left < 16) {
        for (; left >= 4; left -= 4, a += 16, p += 16) s0 = madd(v128.load(a), v128.load(p), s0);
        if (rest) s1 = madd(loadPart(a, rest), loadPart(p, rest), s1);
        a += <usize>rest << 2;
        left = 0;
      }
      sum += sumLanes(f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3)));
    }
    store<f32>(c, sum);
  }
}
