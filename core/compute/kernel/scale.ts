import { Ptr, loadPart, quads, storePart } from "../simd/vec";

// @divide n by 16: x 1
export function scale(n: i32, a: f32, x: Ptr): void {
  const va = f32x4.splat(a);
  const end = x + quads(n), rest = n & 3;
  for (; x < end; x += 16) v128.store(x, f32x4.mul(va, v128.load(x)));
  if (rest) storePart(x, f32x4.mul(va, loadPart(x, rest)), rest);
}
