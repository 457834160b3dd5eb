import { asWide } from "../../simd/sums";
import { Ptr, Sums } from "../../simd/vec";

export function total(n: i32, f: Ptr, dst: Sums): void {
  const at = asWide(dst);
  let s = load<f64>(at);
  for (const end = f + (<usize>n << 2); f < end; f += 4) s += <f64>load<f32>(f);
  store<f64>(at, s);
}
