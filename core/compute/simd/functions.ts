// exp, log, tanh and the normal distribution of four values at once. The polynomials are minimax fits
// (Remez exchange) on the intervals named here; "error" is that of the fit with
// its coefficients rounded to float32.

import { madd, nmadd } from "./vec";

// exp is eˣ for x ≤ 0. What would be denormal is 0; NaN stays NaN.
//
// x = k·ln 2 + r with |r| ≤ ln2/2, eʳ = 1 + r + r²·P(r), error 4·10⁻⁹.
// @ts-ignore: decorator
@inline
export function exp(x: v128): v128 {
  // Adding 1.5·2²³ rounds to an integer and leaves it in the low bits.
  const magic = f32x4.splat(12582912);
  const low = f32x4.splat(-88);
  const xc = f32x4.pmax(x, low); // x where x is NaN
  const t = madd(xc, f32x4.splat(1.44269502), magic);
  const k = f32x4.sub(t, magic);
  let r = nmadd(k, f32x4.splat(0.693359375), xc); // 355/512, exact products
  r = nmadd(k, f32x4.splat(-2.12194440e-4), r);
  let p = madd(f32x4.splat(0.0013814599), r, f32x4.splat(0.008368717));
  p = madd(p, r, f32x4.splat(0.04166839));
  p = madd(p, r, f32x4.splat(0.16666521));
  p = madd(p, r, f32x4.splat(0.49999994));
  const e = f32x4.add(madd(f32x4.mul(r, r), p, r), f32x4.splat(1));
  const power = i32x4.add(i32x4.shl(t, 23), i32x4.splat(0x3f800000));
  return v128.andnot(f32x4.mul(e, power), f32x4.lt(x, f32x4.splat(-87.33)));
}

// log is ln u for normal, positive, finite u; anything else gives a number
// without meaning.
//
// u = 2ᵏ·(1+f) with √½ ≤ 1+f < √2, ln(1+f) = f − f²/2 + f³·P(f), error 4·10⁻⁸.
// @ts-ignore: decorator
@inline
export function log(u: v128): v128 {
  const k = i32x4.shr_s(i32x4.sub(u, i32x4.splat(0x3f3504f3)), 23);
  const f = f32x4.sub(i32x4.sub(u, i32x4.shl(k, 23)), f32x4.splat(1));
  let p = madd(f32x4.splat(0.08700448), f, f32x4.splat(-0.14267504));
  p = madd(p, f, f32x4.splat(0.1491477));
  p = madd(p, f, f32x4.splat(-0.16577584));
  p = madd(p, f, f32x4.splat(0.19963063));
  p = madd(p, f, f32x4.splat(-0.25001338));
  p = madd(p, f, f32x4.splat(0.3333391));
  const ff = f32x4.mul(f, f);
  p = madd(f32x4.mul(f, ff), p, f32x4.mul(ff, f32x4.splat(-0.5)));
  return madd(f32x4.convert_i32x4_s(k), f32x4.splat(0.693147182), f32x4.add(f, p));
}

// log1p is ln(1+x) for finite x ≥ 0, with a small relative error for small x
// too: the rounding of 1+x is undone by the factor x/((1+x)−1) (Kahan). NaN
// stays NaN.
// @ts-ignore: decorator
@inline
export function log1p(x: v128): v128 {
  const one = f32x4.splat(1);
  const u = f32x4.add(x, one);
  const d = f32x4.sub(u, one);
  const v = f32x4.div(f32x4.mul(log(u), x), d);
  return v128.bitselect(x, v, f32x4.eq(d, f32x4.splat(0)));
}

// tanh: x + x³·P(x²) for |x| < 0.625, error 10⁻⁸, else (1−t)/(1+t) with
// t = exp(−2|x|) and the sign of x. NaN stays NaN.
// @ts-ignore: decorator
@inline
export function tanh(x: v128): v128 {
  const xx = f32x4.mul(x, x);
  let p = madd(f32x4.splat(-0.005704227), xx, f32x4.splat(0.020638434));
  p = madd(p, xx, f32x4.splat(-0.053739525));
  p = madd(p, xx, f32x4.splat(0.1333144));
  p = madd(p, xx, f32x4.splat(-0.3333328));
  const small = madd(f32x4.mul(xx, p), x, x);

  const one = f32x4.splat(1);
  const a = f32x4.abs(x);
  const t = exp(f32x4.mul(a, f32x4.splat(-2)));
  const big = f32x4.div(f32x4.sub(one, t), f32x4.add(one, t));
  const signed = v128.or(big, v128.and(x, f32x4.splat(-0.0)));
  return v128.bitselect(small, signed, f32x4.lt(a, f32x4.splat(0.625)));
}

// normal is the normal distribution Φ. NaN stays NaN.
//
// Φ(−a) = exp(−a²/2)·t·P(t) with t = 1/(1 + a/4) for a ≥ 0, relative error 7·10⁻⁸.
// @ts-ignore: decorator
@inline
export function normal(x: v128): v128 {
  const one = f32x4.splat(1);
  const a = f32x4.abs(x);
  const t = f32x4.div(one, madd(a, f32x4.splat(0.25), one));
  let p = madd(f32x4.splat(0.026772473), t, f32x4.splat(-0.15800475));
  p = madd(p, t, f32x4.splat(0.3070897));
  p = madd(p, t, f32x4.splat(-0.21864702));
  p = madd(p, t, f32x4.splat(0.21090746));
  p = madd(p, t, f32x4.splat(0.028895317));
  p = madd(p, t, f32x4.splat(0.10482036));
  p = madd(p, t, f32x4.splat(0.098359205));
  p = madd(p, t, f32x4.splat(0.09980724));
  const tail = f32x4.mul(exp(f32x4.mul(f32x4.mul(a, a), f32x4.splat(-0.5))), f32x4.mul(p, t));
  return v128.bitselect(tail, f32x4.sub(one, tail), f32x4.lt(x, f32x4.splat(0)));
}
