import { Ptr, above } from "../simd/vec";

// joinNorms refuses inputs beyond compute.MaxInput, 2⁶⁰.
export function joinNorms(n: i32, h: Ptr, d: Ptr, dst: Ptr): void {
  for (const end = h + (<usize>n << 2); h < end; h += 4, d += 4, dst += 4) {
    const x = <f64>load<f32>(h), y = <f64>load<f32>(d), z = <f64>load<f32>(dst);
    const norm = x <= 1152921504606846976 ? above(Math.sqrt(z * z + y * y * (x * x + 1))) : <f32>Infinity;
    store<f32>(dst, norm);
  }
}
