// Small pieces that every kernel uses, all of them inlined.

export type Ptr = usize; // of float32
export type Sums = usize; // see sums.ts
export type Key = usize; // eight words of key and three of nonce

// PIECE is compute.PieceRows, BLOCK compute.BlockRows.
export const PIECE = 64;
export const BLOCK = 256;

// ROUND is 3·2²²: a number within ±2²² added to it is rounded to a whole one, ties to
// even, and the sum's bits are those of ROUND and that many more.
export const ROUND: f32 = 12582912;

// low and high are the two halves of a vector in float64.
// @ts-ignore: decorator
@inline
export function low(v: v128): v128 {
  return f64x2.promote_low_f32x4(v);
}

// @ts-ignore: decorator
@inline
export function high(v: v128): v128 {
  return f64x2.promote_low_f32x4(i32x4.shuffle(v, v, 2, 3, 2, 3));
}

// powerAbove is the least power of two that is not below x, a normal number.
// @ts-ignore: decorator
@inline
export function powerAbove(x: f64): f64 {
  const fraction: u64 = (1 << 52) - 1;
  return reinterpret<f64>((reinterpret<u64>(x) + fraction) & ~fraction);
}

// addWide adds four values to the four float64 at p.
// @ts-ignore: decorator
@inline
export function addWide(p: Ptr, v: v128): void {
  v128.store(p, f64x2.add(v128.load(p), low(v)));
  v128.store(p, f64x2.add(v128.load(p, 16), high(v)), 16);
}

// madd is a·b + c: fused in the relaxed build, two roundings in the plain one.
// @ts-ignore: decorator
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}

// nmadd is c − a·b.
// @ts-ignore: decorator
@inline
export function nmadd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_nmadd(a, b, c);
  return f32x4.sub(c, f32x4.mul(a, b));
}

// loadPart loads the first n values (1 ≤ n ≤ 3) at p and reads nothing beyond;
// the other lanes are 0.
// @ts-ignore: decorator
@inline
export function loadPart(p: Ptr, n: i32): v128 {
  if (n == 1) return v128.load_zero<f32>(p);
  let v = v128.load_zero<u64>(p);
  if (n == 3) v = v128.load_lane<f32>(p, v, 2, 8);
  return v;
}

// storePart stores the first n lanes (1 ≤ n ≤ 3) at p.
// @ts-ignore: decorator
@inline
export function storePart(p: Ptr, v: v128, n: i32): void {
  if (n == 1) {
    v128.store_lane<f32>(p, v, 0);
    return;
  }
  v128.store_lane<u64>(p, v, 0);
  if (n == 3) v128.store_lane<f32>(p, v, 2, 8);
}

// loadUpTo is a whole vector, or what is left of one.
// @ts-ignore: decorator
@inline
export function loadUpTo(p: Ptr, left: i32): v128 {
  return left < 4 ? loadPart(p, left) : v128.load(p);
}

// storeUpTo stores a whole vector, or what is left of one.
// @ts-ignore: decorator
@inline
export function storeUpTo(p: Ptr, v: v128, left: i32): void {
  if (left < 4) storePart(p, v, left);
  else v128.store(p, v);
}

// firstLanes is a mask of the first n lanes.
// @ts-ignore: decorator
@inline
export function firstLanes(n: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(n));
}

// sumLanes adds the four lanes.
// @ts-ignore: decorator
@inline
export function sumLanes(v: v128): f32 {
  return f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) +
    (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3));
}

// quads is the number of bytes of the whole vectors among n values.
// @ts-ignore: decorator
@inline
export function quads(n: i32): usize {
  return (<usize>n & ~3) << 2;
}

// above is the least f32 that is not below x ≥ 0, with room for what rounding
// has done to x in float64.
// @ts-ignore: decorator
@inline
export function above(x: f64): f32 {
  x *= 1.0000000000009095; // 1 + 2⁻⁴⁰
  const f = <f32>x;
  return <f64>f < x ? reinterpret<f32>(reinterpret<u32>(f) + 1) : f;
}

// aboveOrInf is above, and +Inf where x is NaN.
// @ts-ignore: decorator
@inline
export function aboveOrInf(x: f64): f32 {
  return x == x ? above(x) : <f32>Infinity;
}
