import { add, asWide } from "../simd/sums";
import { Ptr, Sums } from "../simd/vec";

export function addScaled(n: i32, a: f64, x: Ptr, dst: Sums): void {
  add(n, a, x, asWide(dst));
}
