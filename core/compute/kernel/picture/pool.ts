import { isSlid, places } from "../../simd/window";
import { Part, Parts, first } from "../../simd/team";
import { Ptr, loadPart, storePart } from "../../simd/vec";

// vector pools four channels of a window that begins at first, or the n that are
// left. Inlined with constants how and whole, it costs no branch.
// @ts-ignore: decorator
@inline
function vector(how: i32, high: i32, wide: i32, position: usize, row: usize, share: v128, first: Ptr, n: i32, whole: bool): v128 {
  let v = how == 0 ? f32x4.splat(-Infinity) : f32x4.splat(0);
  for (let a = 0; a < high; a++, first += row) {
    for (let b = 0, from = first; b < wide; b++, from += position) {
      const u = whole ? v128.load(from) : loadPart(from, n);
      v = how == 0 ? f32x4.max(v, u) : f32x4.add(v, f32x4.mul(share, u));
    }
  }
  return v;
}

// slid is the greatest of each 2×2, one place from the next, c a multiple of 4: four channels
// of two lines at a time, in which what one window sees on its right the next has on its left.
function slid(m: i32, height: i32, width: i32, c: i32, x: Ptr, y: Ptr): void {
  const position = <usize>c << 2, row = <usize>width * position, out = row - position;
  for (let i = 0; i < m; i++, x += row) {
    for (let p = 1; p < height; p++, x += row, y += out) {
      for (let channel: usize = 0; channel < position; channel += 16) {
        let from = x + channel, to = y + channel;
        let left = f32x4.max(v128.load(from), v128.load(from + row));
        for (const end = to + out; to < end; to += position) {
          from += position;
          const right = f32x4.max(v128.load(from), v128.load(from + row));
          v128.store(to, f32x4.max(left, right));
          left = right;
        }
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function pooled(how: i32, m: i32, height: i32, width: i32, c: i32, high: i32, wide: i32, stride: i32, x: Ptr, y: Ptr): void {
  const down = places(height, high, stride, 0), across = places(width, wide, stride, 0);
  const position = <usize>c << 2, row = <usize>width * position, rest = c & 3;
  const share = f32x4.splat(<f32>(1 / <f64>(high * wide)));
  for (let i = 0; i < m; i++, x += <usize>height * row) {
    for (let p = 0; p < down; p++) {
      for (let q = 0; q < across; q++) {
        let first = x + <usize>(p * stride) * row + <usize>(q * stride) * position;
        if (high == 2 && wide == 2 && how == 0) { // the usual window, without loops
          for (const end = first + (position & ~15); first < end; first += 16, y += 16) {
            const below = first + row;
            v128.store(y, f32x4.max(
              f32x4.max(v128.load(first), v128.load(first + position)), f32x4.max(v128.load(below), v128.load(below + position))));
          }
        } else {
          for (const end = first + (position & ~15); first < end; first += 16, y += 16) {
            v128.store(y, vector(how, high, wide, position, row, share, first, 4, true));
          }
        }
        if (rest) {
          storePart(y, vector(how, high, wide, position, row, share, first, rest, false), rest);
          y += <usize>rest << 2;
        }
      }
    }
  }
}

// pool has how as picture.Pooling: 0 Max, 1 Mean.
// @divide costing m * height * width * c
export function pool(
  m: i32, height: i32, width: i32, c: i32, how: i32, fHigh: f64, fWide: f64, fStride: f64, fPad: f64, x: Ptr, y: Ptr, part: Part, parts: Parts,
): void {
  const from = first(m, 1, part, parts), t = places(height, <i32>fHigh, <i32>fStride, 0) * places(width, <i32>fWide, <i32>fStride, 0);
  m = first(m, 1, part + 1, parts) - from;
  x += <usize>from * <usize>(height * width * c) << 2;
  y += <usize>from * <usize>(t * c) << 2;
  if (isSlid(how, height, width, c, <i32>fHigh, <i32>fWide, <i32>fStride)) slid(m, height, width, c, x, y);
  else if (how == 0) pooled(0, m, height, width, c, <i32>fHigh, <i32>fWide, <i32>fStride, x, y);
  else pooled(1, m, height, width, c, <i32>fHigh, <i32>fWide, <i32>fStride, x, y);
}
