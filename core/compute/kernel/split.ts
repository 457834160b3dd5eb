import { asWide } from "../simd/sums";
import { Ptr, Sums } from "../simd/vec";

export function split(n: i32, high: Ptr, low: Ptr, src: Sums): void {
  const s = asWide(src);
  for (let i: usize = 0; i < <usize>n; i++) {
    const v = load<f64>(s + (i << 3)), h = <f32>v;
    store<f32>(high + (i << 2), h);
    store<f32>(low + (i << 2), isFinite(h) ? <f32>(v - <f64>h) : 0);
  }
}
