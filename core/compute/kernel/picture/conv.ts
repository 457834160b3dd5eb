import { atOnce, isWhole, patches, places, space } from "../../simd/window";
import { Ptr } from "../../simd/vec";
import { gemm } from "../gemm";

export function conv(
  m: i32, height: i32, width: i32, c: i32, k: i32, fHigh: f64, fWide: f64, fStride: f64, fPad: f64,
  x: Ptr, w: Ptr, b: Ptr, y: Ptr,
): void {
  const high = <i32>fHigh, wide = <i32>fWide, stride = <i32>fStride, pad = <i32>fPad;
  const t = places(height, high, stride, pad) * places(width, wide, stride, pad);
  const patch = high * wide * c, some = min(m, atOnce(t)), whole = isWhole(high, wide, stride, pad);
  const picture = <usize>(height * width * c) << 2, seen = <usize>(t * patch) << 2, bias = <usize>k << 2;
  const room = whole ? 0 : space(<usize>some * <usize>(t * patch));
  for (let i = 0; i < m; i += some) {
    const n = min(some, m - i);
    let from = x;
    if (!whole) {
      from = room;
      for (let j: usize = 0; j < <usize>n; j++) patches(height, width, c, high, wide, stride, pad, x + j * picture, room + j * seen);
    }
    for (let j: usize = 0; j < <usize>(n * t); j++) memory.copy(y + j * bias, b, bias);
    gemm(0, 0, n * t, k, patch, 1, from, w, y);
    x += <usize>n * picture;
    y += <usize>(n * t) * bias;
  }
}
