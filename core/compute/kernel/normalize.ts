import { rowNorms } from "./rownorms";
import { scale } from "./scale";
import { Ptr } from "../simd/vec";

export function normalize(n: i32, x: Ptr, norm: Ptr): void {
  rowNorms(1, n, x, norm);
  const v = load<f32>(norm);
  if (!(v > 0) || v == <f32>Infinity) return;
  const bits = reinterpret<u64>(<f64>v);
  const exponent = <i32>(bits >> 52) - 1023 + (bits << 12 ? 1 : 0);
  scale(n, <f32>reinterpret<f64>(<u64>(1023 - max(exponent, -126)) << 52), x);
}
