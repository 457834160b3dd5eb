import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";

// @divide n by 16: u 1
export function atLeast(n: i32, times: f32, from: Ptr, u: Ptr): void {
  const least = f32x4.splat(times * load<f32>(from));
  for (let left = n; left > 0; left -= 4, u += 16) storeUpTo(u, f32x4.max(loadUpTo(u, left), least), left);
}
