import { exp, log1p } from "../simd/functions";
import { Ptr, firstLanes, loadPart, madd, nmadd, quads, storePart, sumLanes } from "../simd/vec";

// log1pOf is log1p of one value.
// @ts-ignore: decorator
@inline
function log1pOf(x: f32): f32 {
  return f32x4.extract_lane(log1p(f32x4.splat(x)), 0);
}

// largest is the largest of n values at z, or NaN if one of them is.
// @ts-ignore: decorator
@inline
function largest(n: i32, z: Ptr): f32 {
  let peak: f32 = -Infinity;
  let v = f32x4.splat(peak);
  let p = z;
  for (const end = z + quads(n); p < end; p += 16) v = f32x4.max(v, v128.load(p));
  for (const end = z + (<usize>n << 2); p < end; p += 4) peak = max<f32>(peak, load<f32>(p));
  peak = max<f32>(peak, max<f32>(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)));
  return max<f32>(peak, max<f32>(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)));
}

// softmaxCE keeps the term of the largest logit, which is 1, apart from the sum
// s of the others, as the reference does: loss and gradient of a row that is
// nearly certain would drown in it. A label that is no class index gives NaN.
function softmaxCE(m: i32, n: i32, z: Ptr, labels: Ptr, loss: Ptr, dz: Ptr): void {
  const stride = <usize>n << 2;
  for (let i = 0; i < m; i++, z += stride, dz += stride, labels += 4, loss += 4) {
    const label = load<f32>(labels);
    const peak = largest(n, z);
    if (!(abs<f32>(peak) < Infinity && label >= 0 && label < <f32>n && floor<f32>(label) == label)) {
      store<f32>(loss, NaN);
      for (let p = dz, end = dz + stride; p < end; p += 4) store<f32>(p, NaN);
      continue;
    }
    const at = <usize>(<i32>label) << 2;
    const atLabel = load<f32>(z + at);
    let top: usize = 0;
    while (load<f32>(z + top) != peak) top += 4;

    exponentials(n, z, peak, dz);
    store<f32>(dz + top, 0);
    const s = total(n, dz);
    const r: f32 = 1 / (1 + s);
    multiply(n, r, dz);
    store<f32>(dz + top, r);
    store<f32>(dz + at, at == top ? -s * r : load<f32>(dz + at) - 1);
    store<f32>(loss, (peak - atLabel) + log1pOf(s));
  }
}

// exponentials writes exp(z − peak) to e.
// @ts-ignore: decorator
@inline
function exponentials(n: i32, z: Ptr, peak: f32, e: Ptr): void {
  const v = f32x4.splat(peak), rest = n & 3;
  for (const end = z + quads(n); z < end; z += 16, e += 16) {
    v128.store(e, exp(f32x4.sub(v128.load(z), v)));
  }
  if (rest) storePart(e, exp(f32x4.sub(loadPart(z, rest), v)), rest);
}

// @ts-ignore: decorator
@inline
function total(n: i32, x: Ptr): f32 {
  let s = f32x4.splat(0);
  const rest = n & 3;
  for (const end = x + quads(n); x < end; x += 16) s = f32x4.add(s, v128.load(x));
  if (rest) s = f32x4.add(s, loadPart(x, rest));
  return sumLanes(s);
}

// @ts-ignore: decorator
@inline
function multiply(n: i32, a: f32, x: Ptr): void {
  const va = f32x4.splat(a), rest = n & 3;
  for (const end = x + quads(n); x < end; x += 16) v128.store(x, f32x4.mul(va, v128.load(x)));
  if (rest) storePart(x, f32x4.mul(va, loadPart(x, rest)), rest);
}

// sigmoidGrad is 1/(1+exp(−z)) − t, given e = exp(−|z|), without cancellation
// where t is 0 or 1.
// @ts-ignore: decorator
@inline
function sigmoidGrad(z: v128, t: v128, e: v128): v128 {
  const one = f32x4.splat(1);
  const p = f32x4.div(e, f32x4.add(one, e));
  const positive = f32x4.sub(f32x4.sub(one, t), p);
  return v128.bitselect(positive, f32x4.sub(p, t), f32x4.ge(z, f32x4.splat(0)));
}

// @ts-ignore: decorator
@inline
function sigmoidLoss(z: v128, t: v128, e: v128): v128 {
  return f32x4.add(nmadd(z, t, f32x4.pmax(z, f32x4.splat(0))), log1p(e));
}

function sigmoidBCE(m: i32, n: i32, z: Ptr, t: Ptr, loss: Ptr, dz: Ptr): void {
  const rest = n & 3;
  for (let i = 0; i < m; i++, loss += 4) {
    let s = f32x4.splat(0);
    for (const end = z + quads(n); z < end; z += 16, t += 16, dz += 16) {
      const x = v128.load(z), y = v128.load(t), e = exp(f32x4.neg(f32x4.abs(x)));
      s = f32x4.add(s, sigmoidLoss(x, y, e));
      v128.store(dz, sigmoidGrad(x, y, e));
    }
    if (rest) {
      const x = loadPart(z, rest), y = loadPart(t, rest), e = exp(f32x4.neg(f32x4.abs(x)));
      s = f32x4.add(s, v128.and(firstLanes(rest), sigmoidLoss(x, y, e)));
      storePart(dz, sigmoidGrad(x, y, e), rest);
    }
    z += <usize>rest << 2;
    t += <usize>rest << 2;
    dz += <usize>rest << 2;
    store<f32>(loss, sumLanes(s));
  }
}

function squared(m: i32, n: i32, z: Ptr, t: Ptr, loss: Ptr, dz: Ptr): void {
  const rest = n & 3;
  for (let i = 0; i < m; i++, loss += 4) {
    let s = f32x4.splat(0);
    for (const end = z + quads(n); z < end; z += 16, t += 16, dz += 16) {
      const d = f32x4.sub(v128.load(z), v128.load(t));
      s = madd(d, d, s);
      v128.store(dz, d);
    }
    if (rest) {
      const d = f32x4.sub(loadPart(z, rest), loadPart(t, rest)); // 0 − 0 beyond
      s = madd(d, d, s);
      storePart(dz, d, rest);
    }
    z += <usize>rest << 2;
    t += <usize>rest << 2;
    dz += <usize>rest << 2;
    store<f32>(loss, 0.5 * sumLanes(s));
  }
}

// loss takes the kinds of kernel.LossKind.
// @divide m: z n, t (kind == 0 ? 1 : n), to 1, dz n; costing m * n * 10
export function loss(kind: i32, m: i32, n: i32, z: Ptr, t: Ptr, to: Ptr, dz: Ptr): void {
  if (kind == 0) softmaxCE(m, n, z, t, to, dz);
  else if (kind == 1) sigmoidBCE(m, n, z, t, to, dz);
  else squared(m, n, z, t, to, dz);
}
