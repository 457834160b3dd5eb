import { Ptr, quads, storePart } from "../simd/vec";

// @divide n by 16: dst 1
export function fill(n: i32, v: f32, dst: Ptr): void {
  const vv = f32x4.splat(v);
  const end = dst + quads(n), rest = n & 3;
  for (; dst < end; dst += 16) v128.store(dst, vv);
  if (rest) storePart(dst, vv, rest);
}
