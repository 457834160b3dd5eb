import { isWhole, patches, places, space } from "../../simd/window";
import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";
import { gemm } from "../gemm";

// columns writes the sums of the columns of x [m×n].
function columns(m: i32, n: i32, x: Ptr, dst: Ptr): void {
  const row = <usize>n << 2;
  for (let left = n; left > 0; left -= 4, x += 16, dst += 16) {
    let s = f32x4.splat(0);
    for (let i = 0, p = x; i < m; i++, p += row) s = f32x4.add(s, loadUpTo(p, left));
    storeUpTo(dst, s, left);
  }
}

export function convWeights(
  m: i32, height: i32, width: i32, c: i32, k: i32, fHigh: f64, fWide: f64, fStride: f64, fPad: f64,
  x: Ptr, dy: Ptr, g: Ptr,
): void {
  const high = <i32>fHigh, wide = <i32>fWide, stride = <i32>fStride, pad = <i32>fPad;
  const t = places(height, high, stride, pad) * places(width, wide, stride, pad);
  const patch = high * wide * c, whole = isWhole(high, wide, stride, pad);
  const room = whole ? 0 : space(<usize>(t * patch));
  for (let i = 0; i < m; i++) {
    if (!whole) patches(height, width, c, high, wide, stride, pad, x, room);
    gemm(1, 0, patch, k, t, 0, whole ? x : room, dy, g);
    g += <usize>(patch * k) << 2;
    columns(t, k, dy, g);
    g += <usize>k << 2;
    x += <usize>(height * width * c) << 2;
    dy += <usize>(t * k) << 2;
  }
}
