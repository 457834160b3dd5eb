import { Ptr } from "../simd/vec";

const SHIFT = 16; // tableShift
const LEAST: f64 = 7.52316384526264e-37; // LeastFactor, 2⁻¹²⁰
const GREATEST: f64 = 1.2676506002282294e30; // GreatestFactor, 2¹⁰⁰

export function weigh(n: i32, c: f64, gain: f64, most: f64, u: Ptr, keep: Ptr, table: Ptr, f: Ptr): void {
  for (const end = u + (<usize>n << 2); u < end; u += 4, keep += 4, f += 4) {
    const bits = load<u32>(u);
    if (load<f32>(keep) == 0 || bits >= 0x7f800000) {
      store<f32>(f, 0);
      continue;
    }
    const at = table + (<usize>(bits >> SHIFT) << 2);
    const low = <f64>load<f32>(at), high = <f64>load<f32>(at, 4);
    const t = low + <f64>(bits & ((1 << SHIFT) - 1)) * 1.52587890625e-5 * (high - low); // 2⁻¹⁶
    store<f32>(f, factor(min(min(gain / t, most), GREATEST), c, <f64>reinterpret<f32>(bits)));
  }
}

// factor is the greatest that a weight and the threshold allow.
// @ts-ignore: decorator
@inline
function factor(weight: f64, c: f64, norm: f64): f32 {
  if (!(weight > 0 && c >= 0)) return 0;
  if (weight * norm > c) weight = c / norm;
  let v = <f32>weight;
  while (<f64>v > weight || <f64>v * norm > c) v = reinterpret<f32>(reinterpret<u32>(v) - 1);
  return <f64>v < LEAST ? 0 : v;
}
