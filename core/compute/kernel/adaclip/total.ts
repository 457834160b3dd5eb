import { asWide } from "../../simd/sums";
import { Ptr, Sums, powerAbove } from "../../simd/vec";

export function total(n: i32, reach: f64, away: Ptr, f: Ptr, dst: Sums): void {
  const at = asWide(dst), x = reach / <f64>load<f32>(away);
  const unit = x > 0 && x < Infinity ? powerAbove(x) : 0;
  let s = load<f64>(at);
  for (const end = f + (<usize>n << 2); f < end; f += 4) {
    let v = <f64>load<f32>(f);
    if (unit > 0) {
      v = Math.floor(v / unit) * unit;
      store<f32>(f, <f32>v);
    }
    s += v;
  }
  store<f64>(at, s);
}
