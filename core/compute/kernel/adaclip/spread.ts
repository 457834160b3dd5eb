import { Ptr, loadUpTo, madd, storeUpTo } from "../../simd/vec";

// spread takes the scalars of SpreadParams one by one.
// @divide n by 16: g 1, m 1, r 1; costing n * 12
export function spread(
  n: i32, beta1: f32, beta2: f32, times: f32, noise: f64, least: f32, greatest: f32,
  size: Ptr, g: Ptr, m: Ptr, r: Ptr,
): void {
  const b1 = f32x4.splat(beta1), a1 = f32x4.splat(1 - beta1);
  const b2 = f32x4.splat(beta2), a2 = f32x4.splat(1 - beta2);
  const all = <f64>load<f32>(size);
  const t = f32x4.splat(times), own = f32x4.splat(<f32>(noise * all * all));
  const lo = f32x4.splat(least), hi = f32x4.splat(greatest), zero = f32x4.splat(0);
  for (let left = n; left > 0; left -= 4, g += 16, m += 16, r += 16) {
    const gv = loadUpTo(g, left);
    const mv = loadUpTo(m, left);
    const rv = loadUpTo(r, left);
    const dev = f32x4.sub(gv, mv), s = f32x4.mul(rv, rv);
    const v = f32x4.mul(t, f32x4.sub(f32x4.mul(dev, dev), f32x4.mul(own, s)));
    const finite = f32x4.eq(f32x4.sub(v, v), zero);
    const kept = f32x4.min(f32x4.max(v, lo), hi);
    const deviation = f32x4.sqrt(madd(a2, kept, f32x4.mul(b2, f32x4.mul(s, s))));
    const root = v128.bitselect(f32x4.sqrt(deviation), rv, finite);
    const mean = v128.bitselect(madd(a1, gv, f32x4.mul(b1, mv)), mv, finite);
    storeUpTo(m, mean, left);
    storeUpTo(r, root, left);
  }
}
