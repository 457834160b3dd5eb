import { asWide } from "../../simd/sums";
import { Part, Parts, first } from "../../simd/team";
import { Ptr, Sums } from "../../simd/vec";
import { token } from "./embed";

export function addTokensBefore(dst: Sums): void {
  asWide(dst);
}

// A part has some of the columns, and adds each value in float64 by itself.
// @divide costing m * t * (d + 4) * 2
export function addTokens(m: i32, t: i32, v: i32, d: i32, each: i32, c: f32, x: Ptr, f: Ptr, g: Ptr, dst: Sums, part: Part, parts: Parts): void {
  const wide = asWide(dst), row = <usize>d << 2;
  const from = <usize>first(d, 4, part, parts) << 2, to = <usize>first(d, 4, part + 1, parts) << 2;
  for (const end = f + (<usize>m << 2); f < end; f += 4) {
    const factor = load<f32>(f);
    for (let j = 0; j < t; j++, x += 4, g += row) {
      const k = token(load<f32>(x), v);
      if (factor == 0 || k < 0) continue;
      const at = wide + 2 * <usize>k * row;
      for (let l = from; l < to; l += 4) {
        let p = factor * load<f32>(g + l);
        if (each == 1) p = p < -c ? -c : p > c ? c : p;
        else if (each == 2) p = nearest(p);
        store<f64>(at + 2 * l, load<f64>(at + 2 * l) + <f64>p);
      }
    }
  }
}
