import { places } from "../../simd/window";
import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";

// poolGrad has how as picture.Pooling: 0 Max, 1 Mean.
export function poolGrad(
  m: i32, height: i32, width: i32, c: i32, how: i32, fHigh: f64, fWide: f64, fStride: f64, fPad: f64,
  x: Ptr, y: Ptr, dy: Ptr, dx: Ptr,
): void {
  const high = <i32>fHigh, wide = <i32>fWide, stride = <i32>fStride;
  const down = places(height, high, stride, 0), across = places(width, wide, stride, 0);
  const position = <usize>c << 2, row = <usize>width * position, picture = <usize>height * row;
  const share = f32x4.splat(<f32>(1 / <f64>(high * wide)));
  memory.fill(dx, 0, <usize>m * picture);
  for (let i = 0; i < m; i++, x += picture, dx += picture) {
    for (let p = 0; p < down; p++) {
      for (let q = 0; q < across; q++) {
        let first = <usize>(p * stride) * row + <usize>(q * stride) * position;
        for (let left = c; left > 0; left -= 4, first += 16) {
          const greatest = loadUpTo(y, left), d = loadUpTo(dy, left), part = f32x4.mul(share, d);
          let given = f32x4.splat(0); // all bits where there has been a first
          for (let a = 0, at = first; a < high; a++, at += row) {
            for (let b = 0, from = at; b < wide; b++, from += position) {
              let u = part;
              if (how == 0) {
                const is = v128.andnot(f32x4.eq(loadUpTo(x + from, left), greatest), given);
                given = v128.or(given, is);
                u = v128.and(d, is);
              }
              storeUpTo(dx + from, f32x4.add(loadUpTo(dx + from, left), u), left);
            }
          }
          const done = <usize>min(left, 4) << 2;
          y += done;
          dy += done;
        }
      }
    }
  }
}
