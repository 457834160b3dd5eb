// The kernels over the rows of a row-major matrix [m×n].

import { Ptr, loadPart, quads, storePart } from "./vec";

export function addRow(m: i32, n: i32, b: Ptr, y: Ptr): void {
  const rest = n & 3;
  for (let i = 0; i < m; i++) {
    let p = b;
    for (const end = y + quads(n); y < end; y += 16, p += 16) {
      v128.store(y, f32x4.add(v128.load(y), v128.load(p)));
    }
    if (rest) storePart(y, f32x4.add(loadPart(y, rest), loadPart(p, rest)), rest);
    y += <usize>rest << 2;
  }
}

// colSums keeps 16 columns in registers on the way down.
export function colSums(m: i32, n: i32, x: Ptr, dst: Ptr): void {
  const stride = <usize>n << 2;
  let left = n;
  for (; left >= 16; left -= 16, x += 64, dst += 64) {
    let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
    for (let i = 0, p = x; i < m; i++, p += stride) {
      s0 = f32x4.add(s0, v128.load(p));
      s1 = f32x4.add(s1, v128.load(p, 16));
      s2 = f32x4.add(s2, v128.load(p, 32));
      s3 = f32x4.add(s3, v128.load(p, 48));
    }
    v128.store(dst, f32x4.add(s0, v128.load(dst)));
    v128.store(dst, f32x4.add(s1, v128.load(dst, 16)), 16);
    v128.store(dst, f32x4.add(s2, v128.load(dst, 32)), 32);
    v128.store(dst, f32x4.add(s3, v128.load(dst, 48)), 48);
  }
  for (; left >= 4; left -= 4, x += 16, dst += 16) {
    let s = f32x4.splat(0);
    for (let i = 0, p = x; i < m; i++, p += stride) s = f32x4.add(s, v128.load(p));
    v128.store(dst, f32x4.add(s, v128.load(dst)));
  }
  if (left) {
    let s = f32x4.splat(0);
    for (let i = 0, p = x; i < m; i++, p += stride) s = f32x4.add(s, loadPart(p, left));
    storePart(dst, f32x4.add(s, loadPart(dst, left)), left);
  }
}

// @ts-ignore: decorator
@inline
function square(p: Ptr): v128 {
  const v = v128.load(p);
  return f32x4.mul(v, v);
}

// widen adds the four lanes of v to the two of s, in float64.
// @ts-ignore: decorator
@inline
function widen(s: v128, v: v128): v128 {
  const high = i32x4.shuffle(v, v, 2, 3, 2, 3);
  return f64x2.add(s, f64x2.add(f64x2.promote_low_f32x4(v), f64x2.promote_low_f32x4(high)));
}

// sqNorm is the squared norm of n values. It sums four squares a lane in
// float32 and those sums in float64, so that no term sees more than six
// roundings and the relative error is below 6·2⁻²⁴ < 4·10⁻⁷ for any n.
// @ts-ignore: decorator
@inline
function sqNorm(n: i32, x: Ptr): f32 {
  let s = f64x2.splat(0);
  for (const end = x + ((<usize>n & ~15) << 2); x < end; x += 64) {
    const v = f32x4.add(
      f32x4.add(square(x), square(x + 16)),
      f32x4.add(square(x + 32), square(x + 48)),
    );
    s = widen(s, v);
  }
  let left = n & 15;
  for (; left >= 4; left -= 4, x += 16) s = widen(s, square(x));
  if (left) {
    const v = loadPart(x, left);
    s = widen(s, f32x4.mul(v, v));
  }
  return <f32>(f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1));
}

export function rowSqNorms(m: i32, n: i32, x: Ptr, dst: Ptr): void {
  const stride = <usize>n << 2;
  for (let i = 0; i < m; i++, x += stride, dst += 4) store<f32>(dst, sqNorm(n, x));
}

// scaleRows fills the row of a factor of 0 with zeros whatever it held.
export function scaleRows(m: i32, n: i32, f: Ptr, x: Ptr, dst: Ptr): void {
  const rest = n & 3;
  for (let i = 0; i < m; i++, f += 4) {
    const a = load<f32>(f);
    const keep = a == 0 ? i32x4.splat(0) : i32x4.splat(-1);
    const va = f32x4.splat(a);
    for (const end = x + quads(n); x < end; x += 16, dst += 16) {
      v128.store(dst, v128.and(keep, f32x4.mul(va, v128.load(x))));
    }
    if (rest) storePart(dst, v128.and(keep, f32x4.mul(va, loadPart(x, rest))), rest);
    x += <usize>rest << 2;
    dst += <usize>rest << 2;
  }
}
