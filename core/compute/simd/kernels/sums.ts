// The kernels over vectors of sums, which are float64.

import { Ptr, high, low } from "./vec";

export function addScaled(n: i32, a: f64, x: Ptr, dst: Ptr): void {
  const va = f64x2.splat(a);
  for (; n >= 4; n -= 4, x += 16, dst += 32) {
    const v = v128.load(x);
    v128.store(dst, f64x2.add(v128.load(dst), f64x2.mul(va, low(v))));
    v128.store(dst, f64x2.add(v128.load(dst, 16), f64x2.mul(va, high(v))), 16);
  }
  for (; n > 0; n--, x += 4, dst += 8) store<f64>(dst, load<f64>(dst) + a * <f64>load<f32>(x));
}

export function settle(n: i32, src: Ptr, dst: Ptr): void {
  for (; n >= 4; n -= 4, src += 32, dst += 16) {
    const v = v128.load(dst);
    const lo = f32x4.demote_f64x2_zero(f64x2.add(v128.load(src), low(v)));
    const hi = f32x4.demote_f64x2_zero(f64x2.add(v128.load(src, 16), high(v)));
    v128.store(dst, i64x2.shuffle(lo, hi, 0, 2));
  }
  for (; n > 0; n--, src += 8, dst += 4) store<f32>(dst, <f32>(load<f64>(src) + <f64>load<f32>(dst)));
}
