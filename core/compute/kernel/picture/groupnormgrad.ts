import { Ptr, high, loadUpTo, low, nmadd, storeUpTo } from "../../simd/vec";

// @ts-ignore: decorator
@inline
function widen(s: v128, v: v128): v128 {
  return f64x2.add(s, f64x2.add(low(v), high(v)));
}

// @ts-ignore: decorator
@inline
function total(s: v128): f64 {
  return f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1);
}

// @divide m: x t * c, stats 2 * groups, dy t * c, dx t * c; costing m * t * c * 8
export function groupNormGrad(m: i32, t: i32, c: i32, groups: i32, x: Ptr, p: Ptr, stats: Ptr, dy: Ptr, dx: Ptr): void {
  const n = c / groups, count = <f64>(t * n), step = <usize>c << 2;
  for (let i = 0; i < m; i++, x += <usize>t * step, dy += <usize>t * step, dx += <usize>t * step) {
    for (let g = 0; g < groups; g++, stats += 8) {
      const off = <usize>(g * n) << 2;
      const mean = v128.load32_splat(stats), r = v128.load32_splat(stats, 4);
      let su = f64x2.splat(0), suh = su;
      for (let j = 0; j < t; j++) {
        const at = <usize>j * step + off;
        for (let left = n, o: usize = 0; left > 0; left -= 4, o += 16) {
          const u = f32x4.mul(loadUpTo(dy + at + o, left), loadUpTo(p + off + o, left));
          const h = f32x4.mul(f32x4.sub(loadUpTo(x + at + o, left), mean), r);
          su = widen(su, u);
          suh = widen(suh, f32x4.mul(u, h));
        }
      }
      const mu = f32x4.splat(<f32>(total(su) / count)), muh = f32x4.splat(<f32>(total(suh) / count));
      for (let j = 0; j < t; j++) {
        const at = <usize>j * step + off;
        for (let left = n, o: usize = 0; left > 0; left -= 4, o += 16) {
          const u = f32x4.mul(loadUpTo(dy + at + o, left), loadUpTo(p + off + o, left));
          const h = f32x4.mul(f32x4.sub(loadUpTo(x + at + o, left), mean), r);
          storeUpTo(dx + at + o, f32x4.mul(r, nmadd(h, muh, f32x4.sub(u, mu))), left);
        }
      }
    }
  }
}
