import { Ptr } from "../../simd/vec";
import { token } from "./embed";

// @divide n by 16: x 1, tokens 1, kinds 1; costing n * 4
export function typed(n: i32, many: i32, types: i32, x: Ptr, tokens: Ptr, kinds: Ptr): void {
  for (let i: usize = 0; i < <usize>n << 2; i += 4) {
    const k = token(load<f32>(x + i), many * types);
    store<f32>(tokens + i, k < 0 ? -1 : <f32>(k % many));
    store<f32>(kinds + i, k < 0 ? -1 : <f32>(k / many));
  }
}
