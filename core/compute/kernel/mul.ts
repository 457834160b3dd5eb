import { Ptr, loadPart, quads, storePart } from "../simd/vec";

// @divide n by 16: dst 1, x 1, y 1
export function mul(n: i32, dst: Ptr, x: Ptr, y: Ptr): void {
  const end = x + quads(n), rest = n & 3;
  for (; x < end; x += 16, y += 16, dst += 16) {
    v128.store(dst, f32x4.mul(v128.load(x), v128.load(y)));
  }
  if (rest) storePart(dst, f32x4.mul(loadPart(x, rest), loadPart(y, rest)), rest);
}
