import { Ptr, above, high, loadPart, low } from "../simd/vec";

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
  return f64x2.add(s, f64x2.add(low(v), high(v)));
}

// sqNorm is the squared norm of n values. It sums four squares a lane in
// float32 and those sums in float64, so that no term sees more than six
// roundings and the relative error is below 6·2⁻²⁴ for any n.
// @ts-ignore: decorator
@inline
function sqNorm(n: i32, x: Ptr): f64 {
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
  return f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1);
}

// exactSqNorm squares in float64, where no float32 under- or overflows.
function exactSqNorm(n: i32, x: Ptr): f64 {
  let s: f64 = 0;
  for (const end = x + (<usize>n << 2); x < end; x += 4) {
    const v = <f64>load<f32>(x);
    s += v * v;
  }
  return s;
}


// rowNorms takes the long way where squares may have been lost: a sum above 2⁻⁶⁰
// does not miss what 2⁴⁰ of them lose.
// It joins norms to those in dst where join is 1.
// @divide m: x n, dst 1
export function rowNorms(m: i32, n: i32, join: i32, x: Ptr, dst: Ptr): void {
  const stride = <usize>n << 2;
  for (let i = 0; i < m; i++, x += stride, dst += 4) {
    let s = sqNorm(n, x);
    if (s > 8.673617379884035e-19 && s < 1.329227995784916e36) s *= 1.000000476837158; // 1 + 2⁻²¹
    else s = exactSqNorm(n, x);
    if (join) {
      const v = <f64>load<f32>(dst);
      s += v * v;
    }
    store<f32>(dst, above(Math.sqrt(s)));
  }
}
