import { Ptr, loadPart, madd, quads, storePart } from "../simd/vec";

// @divide n by 16: x 1, y 1
export function axpy(n: i32, a: f32, x: Ptr, y: Ptr): void {
  const va = f32x4.splat(a);
  const end = x + quads(n), rest = n & 3;
  for (; x < end; x += 16, y += 16) {
    v128.store(y, madd(va, v128.load(x), v128.load(y)));
  }
  if (rest) storePart(y, madd(va, loadPart(x, rest), loadPart(y, rest)), rest);
}
