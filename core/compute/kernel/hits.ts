import { Ptr } from "../simd/vec";

// @divide m: z n, t (labels ? n : 1), dst 1; costing m * n * 4
export function hits(labels: i32, m: i32, n: i32, z: Ptr, t: Ptr, dst: Ptr): void {
  for (let i = 0; i < m; i++, dst += 4) {
    let right: f32 = 1;
    if (labels) {
      for (let j = 0; j < n; j++, z += 4, t += 4) {
        if ((load<f32>(z) > 0) != (load<f32>(t) > 0.5)) right = 0;
      }
    } else {
      let best = 0, top = load<f32>(z);
      for (let j = 0; j < n; j++, z += 4) {
        const v = load<f32>(z);
        if (v > top) {
          best = j;
          top = v;
        }
      }
      if (<f32>best != load<f32>(t)) right = 0;
      t += 4;
    }
    store<f32>(dst, right);
  }
}
