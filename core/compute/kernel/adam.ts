import { Ptr, loadUpTo, madd, storeUpTo } from "../simd/vec";

// adam takes the scalars of AdamParams one by one. Its products are ordered so
// that none overflows where the loop's result does not.
// @divide n by 16: g 1, m 1, v 1, w 1; costing n * 12
export function adam(
  n: i32, rate: f32, beta1: f32, beta2: f32, eps: f32, noise: f32, floor: f32,
  g: Ptr, m: Ptr, v: Ptr, w: Ptr,
): void {
  const b1 = f32x4.splat(beta1), a1 = f32x4.splat(1 - beta1);
  const b2 = f32x4.splat(beta2), a2 = f32x4.splat(1 - beta2);
  const taken = f32x4.splat((1 - beta2) * noise), least = f32x4.splat(floor);
  const r = f32x4.splat(rate), e = f32x4.splat(eps);
  for (let left = n; left > 0; left -= 4, g += 16, m += 16, v += 16, w += 16) {
    const gv = loadUpTo(g, left);
    let mv = loadUpTo(m, left);
    let vv = loadUpTo(v, left);
    let wv = loadUpTo(w, left);
    mv = madd(a1, gv, f32x4.mul(b1, mv));
    vv = madd(f32x4.mul(a2, gv), gv, f32x4.sub(f32x4.mul(b2, vv), taken));
    const root = f32x4.add(f32x4.sqrt(f32x4.max(vv, least)), e);
    wv = f32x4.sub(wv, f32x4.div(f32x4.mul(r, mv), root));
    storeUpTo(m, mv, left);
    storeUpTo(v, vv, left);
    storeUpTo(w, wv, left);
  }
}
