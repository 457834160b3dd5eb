import { rowNorms } from "./rownorms";
import { scale } from "./scale";
import { Ptr, powerAbove } from "../simd/vec";

export function normalize(n: i32, x: Ptr, norm: Ptr): void {
  rowNorms(1, n, 0, x, norm);
  const v = load<f32>(norm);
  if (!(v > 0) || v == <f32>Infinity) return;
  scale(n, <f32>(1 / max(powerAbove(<f64>v), 1.1754943508222875e-38)), x); // 2⁻¹²⁶
}
