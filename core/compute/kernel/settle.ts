import { axpy } from "./axpy";
import { asWide, isEmpty, oneBlock } from "../simd/sums";
import { Ptr, Sums, high, low } from "../simd/vec";

function settleWide(n: i32, src: Ptr, dst: Ptr): void {
  for (; n >= 4; n -= 4, src += 32, dst += 16) {
    const v = v128.load(dst);
    const lo = f32x4.demote_f64x2_zero(f64x2.add(v128.load(src), low(v)));
    const hi = f32x4.demote_f64x2_zero(f64x2.add(v128.load(src, 16), high(v)));
    v128.store(dst, i64x2.shuffle(lo, hi, 0, 2));
  }
  for (; n > 0; n--, src += 8, dst += 4) store<f32>(dst, <f32>(load<f64>(src) + <f64>load<f32>(dst)));
}

export function settle(n: i32, dst: Ptr, src: Sums): void {
  if (isEmpty(src)) return;
  const block = oneBlock(src);
  if (block) axpy(n, 1, block, dst);
  else settleWide(n, asWide(src), dst);
}
