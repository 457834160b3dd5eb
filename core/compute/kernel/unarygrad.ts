import { exp, normal } from "../simd/functions";
import { Ptr, loadPart, madd, quads, storePart } from "../simd/vec";

// @ts-ignore: decorator
@inline
function apply(f: i32, y: v128, dy: v128): v128 {
  if (f == 3) {
    const density = f32x4.mul(exp(f32x4.mul(f32x4.mul(y, y), f32x4.splat(-0.5))), f32x4.splat(0.3989423)); // 1/√(2π)
    return f32x4.mul(dy, madd(y, density, normal(y)));
  }
  return f == 1
    ? f32x4.mul(dy, f32x4.sub(f32x4.splat(1), f32x4.mul(y, y)))
    : v128.and(dy, f32x4.gt(y, f32x4.splat(0)));
}

// @ts-ignore: decorator
@inline
function each(f: i32, n: i32, y: Ptr, dy: Ptr, dx: Ptr): void {
  const end = y + quads(n), rest = n & 3;
  for (; y < end; y += 16, dy += 16, dx += 16) v128.store(dx, apply(f, v128.load(y), v128.load(dy)));
  if (rest) storePart(dx, apply(f, loadPart(y, rest), loadPart(dy, rest)), rest);
}

// @divide n by 16: y 1, dy 1, dx 1
export function unaryGrad(f: i32, n: i32, y: Ptr, dy: Ptr, dx: Ptr): void {
  if (f == 1) each(1, n, y, dy, dx);
  else if (f == 3) each(3, n, y, dy, dx);
  else each(0, n, y, dy, dx);
}
