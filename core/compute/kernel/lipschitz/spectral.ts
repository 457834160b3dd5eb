import { Ptr, aboveOrInf, powerAbove } from "../../simd/vec";

export function spectral(k: i32, overlap: i32, places: i32, square: f64, gram: f64, gramLost: f64, frobenius: f64, bias: f64, product: f64, norms: Ptr, dst: Ptr): void {
  const at = norms + (<usize>k << 2);
  let g = <f64>load<f32>(at);
  for (let p = at - 4; p >= norms; p -= 4) {
    const v = load<f32>(p);
    if (v == 0) g = 0; // nothing but zeros
    else if (!(abs(v) < Infinity)) g = Infinity;
    else g = max(powerAbove(<f64>v), 1.1754943508222875e-38) * Math.sqrt(g + square); // 2⁻¹²⁶, as normalize
  }
  let w = <f64>load<f32>(at, 4), b = <f64>load<f32>(at, 8);
  g += gram * w * w + gramLost;
  g *= <f64>overlap;
  w = <f64>overlap * (w * w + frobenius);
  b = <f64>places * (b * b + bias);
  const more = 1.000001 + <f64>overlap * 1.1920928955078125e-7; // 2⁻²³
  store<f32>(dst, aboveOrInf((Math.sqrt(g) + product * Math.sqrt(w)) * more));
  store<f32>(dst, aboveOrInf((Math.sqrt(g + b + 1) + product * Math.sqrt(w + b)) * more), 4);
}
