import { Ptr, aboveOrInf } from "../../simd/vec";

const GREATEST: f64 = 1.329227995784916e36; // Greatest², 2¹²⁰

// squared is Top's, in its order.
function squared(top: i32, f: f64): f64 {
  if (top == 0) {
    const e = Math.expm1(-f);
    return 2 * e * e;
  }
  return top == 1 ? min(f, f * f) : top == 2 ? 2 * f : top == 3 ? 8 * f : 4 * min<f64>(1, 2 * f);
}

export function gain(top: i32, n: i32, k: i32, layers: i32, stride: i32, above: f64, more: f64, after: Ptr, inputs: Ptr, losses: Ptr, outputs: Ptr, dst: Ptr): void {
  for (let i = 0; i < n; i++, inputs += 4, losses += 4, dst += 4) {
    let g: f64 = 0, longest: f64 = 0, largest: f64 = 0;
    for (let j = 0; j < layers; j++) {
      const at = after + (<usize>j << 4), one = <f64>load<f32>(at, 4), most = <f64>load<f32>(at, 12);
      if (most == 0) continue;
      const h = <f64>load<f32>(inputs + (<usize>(j * stride) << 2));
      const x = <f64>load<f32>(at) * h, far = <f64>load<f32>(at, 8) * h;
      g += x * x + one * one;
      longest = max(longest, far * far + most * most);
    }
    for (const end = outputs + (<usize>k << 2); outputs < end; outputs += 4) largest = max(largest, <f64>abs(load<f32>(outputs)));
    const f = <f64>load<f32>(losses) * (1.00001 + <f64>k * 5.9604644775390625e-8) + 1e-6 * (1 + largest) + above; // 2⁻²⁴
    if (!(longest <= GREATEST)) g = Infinity; // or NaN
    store<f32>(dst, aboveOrInf(Math.sqrt(g * squared(top, f) + more) * 1.00002));
  }
}
