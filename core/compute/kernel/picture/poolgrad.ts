import { isSlid, places } from "../../simd/window";
import { Part, Parts, first } from "../../simd/team";
import { Ptr, loadPart, storePart } from "../../simd/vec";

// vector hands the gradients of four channels, or of the n that are left, back to
// the window that begins at the first value of x and dx. Inlined with constants how
// and whole, it costs no branch.
// @ts-ignore: decorator
@inline
function vector(how: i32, high: i32, wide: i32, position: usize, row: usize, share: v128, x: Ptr, y: Ptr, dy: Ptr, dx: Ptr, n: i32, whole: bool): void {
  const greatest = whole ? v128.load(y) : loadPart(y, n), d = whole ? v128.load(dy) : loadPart(dy, n), part = f32x4.mul(share, d);
  let given = f32x4.splat(0); // all bits where there has been a first
  for (let a = 0; a < high; a++, x += row, dx += row) {
    for (let b = 0, off: usize = 0; b < wide; b++, off += position) {
      let u = part;
      if (how == 0) {
        const is = v128.andnot(f32x4.eq(whole ? v128.load(x + off) : loadPart(x + off, n), greatest), given);
        given = v128.or(given, is);
        u = v128.and(d, is);
      }
      if (whole) v128.store(dx + off, f32x4.add(v128.load(dx + off), u));
      else storePart(dx + off, f32x4.add(loadPart(dx + off, n), u), n);
    }
  }
}

// slid is for the windows of pool's slid: what a value is given is held while its line's
// windows see it, and stands in dx from one line of windows to the next.
function slid(m: i32, height: i32, width: i32, c: i32, x: Ptr, y: Ptr, dy: Ptr, dx: Ptr): void {
  const position = <usize>c << 2, row = <usize>width * position, out = row - position, zero = f32x4.splat(0);
  for (let i = 0; i < m; i++, x += row, dx += row) {
    for (let p = 1; p < height; p++, x += row, dx += row, y += out, dy += out) {
      for (let channel: usize = 0; channel < position; channel += 16) {
        let from = x + channel, to = dx + channel, at = channel;
        let left = v128.load(from), below = v128.load(from + row);
        let given = p > 1 ? v128.load(to) : zero, givenBelow = zero;
        for (; at < out; at += position, to += position) {
          from += position;
          const right = v128.load(from), corner = v128.load(from + row), greatest = v128.load(y + at), d = v128.load(dy + at);
          // The first of the four that is the greatest has all.
          const isLeft = f32x4.eq(left, greatest), isRight = f32x4.eq(right, greatest), isBelow = f32x4.eq(below, greatest);
          const above = v128.or(isLeft, isRight), but = v128.or(above, isBelow);
          v128.store(to, f32x4.add(given, v128.and(d, isLeft)));
          v128.store(to + row, f32x4.add(givenBelow, v128.and(d, v128.andnot(isBelow, above))));
          given = f32x4.add(p > 1 ? v128.load(to + position) : zero, v128.and(d, v128.andnot(isRight, isLeft)));
          givenBelow = f32x4.add(zero, v128.and(d, v128.andnot(f32x4.eq(corner, greatest), but)));
          left = right;
          below = corner;
        }
        v128.store(to, given);
        v128.store(to + row, givenBelow);
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function handed(how: i32, m: i32, height: i32, width: i32, c: i32, high: i32, wide: i32, stride: i32, x: Ptr, y: Ptr, dy: Ptr, dx: Ptr): void {
  const down = places(height, high, stride, 0), across = places(width, wide, stride, 0);
  const position = <usize>c << 2, row = <usize>width * position, picture = <usize>height * row, rest = c & 3;
  const share = f32x4.splat(<f32>(1 / <f64>(high * wide)));
  memory.fill(dx, 0, <usize>m * picture);
  for (let i = 0; i < m; i++, x += picture, dx += picture) {
    for (let p = 0; p < down; p++) {
      for (let q = 0; q < across; q++) {
        let off = <usize>(p * stride) * row + <usize>(q * stride) * position;
        for (const end = y + (position & ~15); y < end; y += 16, dy += 16, off += 16) {
          if (high == 2 && wide == 2) vector(how, 2, 2, position, row, share, x + off, y, dy, dx + off, 4, true);
          else vector(how, high, wide, position, row, share, x + off, y, dy, dx + off, 4, true);
        }
        if (rest) {
          vector(how, high, wide, position, row, share, x + off, y, dy, dx + off, rest, false);
          y += <usize>rest << 2;
          dy += <usize>rest << 2;
        }
      }
    }
  }
}

// poolGrad has how as picture.Pooling: 0 Max, 1 Mean.
// @divide costing m * height * width * c * 2
export function poolGrad(
  m: i32, height: i32, width: i32, c: i32, how: i32, fHigh: f64, fWide: f64, fStride: f64, fPad: f64,
  x: Ptr, y: Ptr, dy: Ptr, dx: Ptr, part: Part, parts: Parts,
): void {
  const from = first(m, 1, part, parts), t = places(height, <i32>fHigh, <i32>fStride, 0) * places(width, <i32>fWide, <i32>fStride, 0);
  m = first(m, 1, part + 1, parts) - from;
  x += <usize>from * <usize>(height * width * c) << 2;
  y += <usize>from * <usize>(t * c) << 2;
  dy += <usize>from * <usize>(t * c) << 2;
  dx += <usize>from * <usize>(height * width * c) << 2;
  if (isSlid(how, height, width, c, <i32>fHigh, <i32>fWide, <i32>fStride)) slid(m, height, width, c, x, y, dy, dx);
  else if (how == 0) handed(0, m, height, width, c, <i32>fHigh, <i32>fWide, <i32>fStride, x, y, dy, dx);
  else handed(1, m, height, width, c, <i32>fHigh, <i32>fWide, <i32>fStride, x, y, dy, dx);
}
