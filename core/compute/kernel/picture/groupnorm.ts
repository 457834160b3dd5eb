import { Ptr, high, loadUpTo, low, madd, storeUpTo } from "../../simd/vec";

// sums adds up the values of a group, or the squares of how far they are from mean:
// runs of n, one in each of t positions step bytes apart.
function sums(t: i32, n: i32, step: usize, x: Ptr, squares: bool, mean: f64): f64 {
  const shift = f64x2.splat(mean);
  let s = f64x2.splat(0), rest: f64 = 0;
  for (let i = 0; i < t; i++, x += step) {
    let p = x, left = n;
    for (; left >= 4; left -= 4, p += 16) {
      const v = v128.load(p), a = f64x2.sub(low(v), shift), b = f64x2.sub(high(v), shift);
      s = f64x2.add(s, squares ? f64x2.add(f64x2.mul(a, a), f64x2.mul(b, b)) : f64x2.add(a, b));
    }
    for (; left > 0; left--, p += 4) {
      const d = <f64>load<f32>(p) - mean;
      rest += squares ? d * d : d;
    }
  }
  return f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1) + rest;
}

// @divide m: x t * c, stats 2 * groups, y t * c; costing m * t * c * 6
export function groupNorm(m: i32, t: i32, c: i32, groups: i32, epsilon: f64, x: Ptr, p: Ptr, stats: Ptr, y: Ptr): void {
  const n = c / groups, count = <f64>(t * n), step = <usize>c << 2, add = p + step;
  for (let i = 0; i < m; i++, x += <usize>t * step, y += <usize>t * step) {
    for (let g = 0; g < groups; g++, stats += 8) {
      const off = <usize>(g * n) << 2;
      const mean = sums(t, n, step, x + off, false, 0) / count;
      const r = 1 / Math.sqrt(sums(t, n, step, x + off, true, mean) / count + epsilon);
      store<f32>(stats, <f32>mean);
      store<f32>(stats, <f32>r, 4);
      const vm = f32x4.splat(<f32>mean), vr = f32x4.splat(<f32>r);
      for (let j = 0; j < t; j++) {
        const at = <usize>j * step + off;
        for (let left = n, o: usize = 0; left > 0; left -= 4, o += 16) {
          const h = f32x4.mul(f32x4.sub(loadUpTo(x + at + o, left), vm), vr);
          storeUpTo(y + at + o, madd(h, loadUpTo(p + off + o, left), loadUpTo(add + off + o, left)), left);
        }
      }
    }
  }
}
