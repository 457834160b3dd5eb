import { empty } from "../simd/sums";
import { Sums } from "../simd/vec";

export function clear(n: i32, s: Sums): void {
  empty(s);
}
