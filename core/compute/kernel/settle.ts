import { axpy } from "./axpy";
import { asWide, isEmpty, oneBlock } from "../simd/sums";
import { Part, Parts, first } from "../simd/team";
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

// @divide costing n * 2
export function settle(n: i32, dst: Ptr, src: Sums, part: Part, parts: Parts): void {
  if (isEmpty(src)) return;
  const from = first(n, 16, part, parts), off = <usize>from << 2, block = oneBlock(src);
  n = first(n, 16, part + 1, parts) - from;
  dst += off;
  if (block) axpy(n, 1, block + off, dst);
  else settleWide(n, asWide(src) + 2 * off, dst);
}
