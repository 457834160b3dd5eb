import { Ptr, loadPart, quads, storePart } from "../simd/vec";

// kept is the mask of four units that stay.
// @ts-ignore: decorator
@inline
function kept(unit: v128, a: v128, b: v128, least: v128): v128 {
  let h = i32x4.add(i32x4.mul(unit, i32x4.splat(0x9e3779b1)), a);
  h = i32x4.mul(v128.xor(h, i32x4.shr_u(h, 16)), i32x4.splat(0x7feb352d));
  h = i32x4.mul(v128.xor(v128.xor(h, i32x4.shr_u(h, 15)), b), i32x4.splat(0x846ca68b));
  h = v128.xor(h, i32x4.shr_u(h, 16));
  return i32x4.ge_s(i32x4.shr_u(h, 8), least);
}

// @divide m: keys 2, x n, dst n; costing m * n * 2
export function dropUnits(m: i32, n: i32, first: i32, least: i32, gain: f32, keys: Ptr, x: Ptr, dst: Ptr): void {
  const rest = n & 3, limit = i32x4.splat(least), factor = f32x4.splat(gain), four = i32x4.splat(4);
  for (let i = 0; i < m; i++, keys += 8) {
    const a = i32x4.splat(<i32>load<f32>(keys)), b = i32x4.splat(<i32>load<f32>(keys, 4));
    let unit = i32x4.add(i32x4.splat(first), i32x4(0, 1, 2, 3));
    for (const end = x + quads(n); x < end; x += 16, dst += 16) {
      v128.store(dst, v128.and(kept(unit, a, b, limit), f32x4.mul(factor, v128.load(x))));
      unit = i32x4.add(unit, four);
    }
    if (rest) storePart(dst, v128.and(kept(unit, a, b, limit), f32x4.mul(factor, loadPart(x, rest))), rest);
    x += <usize>rest << 2;
    dst += <usize>rest << 2;
  }
}
