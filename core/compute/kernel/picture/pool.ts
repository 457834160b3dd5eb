import { places } from "../../simd/window";
import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";

// pool has how as picture.Pooling: 0 Max, 1 Mean.
export function pool(
  m: i32, height: i32, width: i32, c: i32, how: i32, fHigh: f64, fWide: f64, fStride: f64, fPad: f64, x: Ptr, y: Ptr,
): void {
  const high = <i32>fHigh, wide = <i32>fWide, stride = <i32>fStride;
  const down = places(height, high, stride, 0), across = places(width, wide, stride, 0);
  const position = <usize>c << 2, row = <usize>width * position;
  const share = f32x4.splat(<f32>(1 / <f64>(high * wide)));
  for (let i = 0; i < m; i++, x += <usize>height * row) {
    for (let p = 0; p < down; p++) {
      for (let q = 0; q < across; q++) {
        let first = x + <usize>(p * stride) * row + <usize>(q * stride) * position;
        for (let left = c; left > 0; left -= 4, first += 16) {
          let v = how == 0 ? f32x4.splat(-Infinity) : f32x4.splat(0);
          for (let a = 0, at = first; a < high; a++, at += row) {
            for (let b = 0, from = at; b < wide; b++, from += position) {
              const u = loadUpTo(from, left);
              v = how == 0 ? f32x4.max(v, u) : f32x4.add(v, f32x4.mul(share, u));
            }
          }
          storeUpTo(y, v, left);
          y += <usize>min(left, 4) << 2;
        }
      }
    }
  }
}
