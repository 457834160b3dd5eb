import { atOnce, isWhole, places, space, unpatch } from "../../simd/window";
import { Part, Parts, first } from "../../simd/team";
import { Ptr } from "../../simd/vec";
import { gemm } from "../gemm";

// @divide costing m * height * width * c * k * fHigh * fWide / (fStride * fStride) / 8 + m * height * width * (c + k)
export function convGrad(
  m: i32, height: i32, width: i32, c: i32, k: i32, fHigh: f64, fWide: f64, fStride: f64, fPad: f64,
  dy: Ptr, w: Ptr, dx: Ptr, part: Part, parts: Parts,
): void {
  const high = <i32>fHigh, wide = <i32>fWide, stride = <i32>fStride, pad = <i32>fPad;
  const t = places(height, high, stride, pad) * places(width, wide, stride, pad);
  const patch = high * wide * c;
  if (isWhole(high, wide, stride, pad)) {
    gemm(0, 1, m * t, patch, k, 0, dy, w, dx, part, parts);
    return;
  }
  const some = min(m, atOnce(t)), picture = <usize>(height * width * c) << 2, seen = <usize>(t * patch) << 2;
  const room = space(<usize>some * <usize>(t * patch));
  let i = first(m, 1, part, parts);
  const end = first(m, 1, part + 1, parts);
  dy += <usize>(i * t * k) << 2;
  dx += <usize>i * picture;
  memory.fill(dx, 0, <usize>(end - i) * picture);
  for (; i < end; i += some) {
    const n = min(some, end - i);
    gemm(0, 1, n * t, patch, k, 0, dy, w, room, 0, 1);
    for (let j: usize = 0; j < <usize>n; j++, dx += picture) unpatch(height, width, c, high, wide, stride, pad, room + j * seen, dx);
    dy += <usize>(n * t * k) << 2;
  }
}
