import { KC, mirror, product, turned } from "../simd/product";
import { Ptr } from "../simd/vec";

// gemm has tA and tB 0 or 1. Where it wastes less of the tiles at the edges, as for
// ten columns, it computes the transpose; of a matrix times its own transpose it
// computes the upper half and copies it.
export function gemm(tA: i32, tB: i32, m: i32, n: i32, k: i32, beta: f32, a: Ptr, b: Ptr, c: Ptr): void {
  if (m == 0 || n == 0) return;
  const row = <usize>n << 2;
  if (a == b && m == n && tA != tB && beta == 0) {
    product(tA, tB, n, n, k, a, b, 0, c, row, 4, KC, true, false);
    mirror(n, c);
  } else if (turned(m, n)) {
    product(1 - tB, 1 - tA, n, m, k, b, a, beta, c, 4, row, KC, false, false); // Cᵀ = op(B)ᵀ·op(A)ᵀ
  } else {
    product(tA, tB, m, n, k, a, b, beta, c, row, 4, KC, false, false);
  }
}
