import { Ptr, loadPart, madd, quads, storePart } from "../simd/vec";

// @divide n by 16: x 1, y 1
export function blend(n: i32, a: f32, b: f32, x: Ptr, y: Ptr): void {
  const va = f32x4.splat(a), vb = f32x4.splat(b), rest = n & 3;
  for (const end = y + quads(n); y < end; x += 16, y += 16) {
    v128.store(y, madd(va, v128.load(x), f32x4.mul(vb, v128.load(y))));
  }
  if (rest) storePart(y, madd(va, loadPart(x, rest), f32x4.mul(vb, loadPart(y, rest))), rest);
}
