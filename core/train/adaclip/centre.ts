import { add, asWide } from "../../compute/simd/sums";
import { Ptr, Sums } from "../../compute/simd/vec";

export function centre(n: i32, w: Ptr, a: Ptr, dst: Sums): void {
  add(n, -(<f64>load<f32>(w) + <f64>load<f32>(w, 4)), a, asWide(dst));
}
