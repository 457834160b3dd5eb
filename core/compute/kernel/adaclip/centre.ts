import { add, asWide } from "../../simd/sums";
import { Ptr, Sums } from "../../simd/vec";

export function centre(n: i32, w: Ptr, a: Ptr, dst: Sums): void {
  add(n, -(<f64>load<f32>(w) + <f64>load<f32>(w, 4)), a, asWide(dst));
}
