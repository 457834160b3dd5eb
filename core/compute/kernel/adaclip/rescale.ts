import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";

// @divide n by 16: m 1, b 1, inv 1, lin 1
export function rescale(n: i32, m: Ptr, b: Ptr, inv: Ptr, lin: Ptr): void {
  const one = f32x4.splat(1);
  for (let left = n; left > 0; left -= 4, m += 16, b += 16, inv += 16, lin += 16) {
    const bv = loadUpTo(b, left);
    const iv = f32x4.div(one, f32x4.mul(bv, bv));
    const lv = f32x4.mul(loadUpTo(m, left), iv);
    storeUpTo(inv, iv, left);
    storeUpTo(lin, lv, left);
  }
}
