import { Ptr, loadUpTo, madd, storeUpTo } from "../../simd/vec";

// @divide m: x t * c, stats 2 * groups * (apart ? t : 1), dy t * c, dst 2 * c; costing m * t * c * 4
export function groupNormParams(m: i32, t: i32, c: i32, groups: i32, apart: i32, x: Ptr, stats: Ptr, dy: Ptr, dst: Ptr): void {
  const n = c / groups, step = <usize>c << 2, next = apart ? <usize>groups << 3 : 0;
  for (let i = 0; i < m; i++, x += <usize>t * step, dy += <usize>t * step, dst += 2 * step, stats += next * <usize>(t - 1)) {
    for (let g = 0; g < groups; g++, stats += 8) {
      for (let left = n, off = <usize>(g * n) << 2; left > 0; left -= 4, off += 16) {
        let gamma = f32x4.splat(0), beta = gamma;
        for (let j = 0, at = off, s = stats; j < t; j++, at += step, s += next) {
          const d = loadUpTo(dy + at, left), h = f32x4.sub(loadUpTo(x + at, left), v128.load32_splat(s));
          gamma = madd(d, f32x4.mul(h, v128.load32_splat(s, 4)), gamma);
          beta = f32x4.add(beta, d);
        }
        storeUpTo(dst + off, gamma, left);
        storeUpTo(dst + step + off, beta, left);
      }
    }
  }
}
