// The kernels over vectors. Each is the loop of the same name in
// core/compute/backend.go: whole vectors first, then what is left of one.

import { Ptr, loadPart, loadUpTo, madd, quads, storePart, storeUpTo } from "./vec";
import { tanh as tanhOf } from "./functions";

export function fill(n: i32, v: f32, dst: Ptr): void {
  const vv = f32x4.splat(v);
  const end = dst + quads(n), rest = n & 3;
  for (; dst < end; dst += 16) v128.store(dst, vv);
  if (rest) storePart(dst, vv, rest);
}

export function scale(n: i32, a: f32, x: Ptr): void {
  const va = f32x4.splat(a);
  const end = x + quads(n), rest = n & 3;
  for (; x < end; x += 16) v128.store(x, f32x4.mul(va, v128.load(x)));
  if (rest) storePart(x, f32x4.mul(va, loadPart(x, rest)), rest);
}

export function axpy(n: i32, a: f32, x: Ptr, y: Ptr): void {
  const va = f32x4.splat(a);
  const end = x + quads(n), rest = n & 3;
  for (; x < end; x += 16, y += 16) {
    v128.store(y, madd(va, v128.load(x), v128.load(y)));
  }
  if (rest) storePart(y, madd(va, loadPart(x, rest), loadPart(y, rest)), rest);
}

export function mul(n: i32, dst: Ptr, x: Ptr, y: Ptr): void {
  const end = x + quads(n), rest = n & 3;
  for (; x < end; x += 16, y += 16, dst += 16) {
    v128.store(dst, f32x4.mul(v128.load(x), v128.load(y)));
  }
  if (rest) storePart(dst, f32x4.mul(loadPart(x, rest), loadPart(y, rest)), rest);
}

// @ts-ignore: decorator
@inline
function reluOf(x: v128): v128 {
  return v128.andnot(x, f32x4.lt(x, f32x4.splat(0))); // NaN is not less
}

export function relu(n: i32, x: Ptr, y: Ptr): void {
  const end = x + quads(n), rest = n & 3;
  for (; x < end; x += 16, y += 16) v128.store(y, reluOf(v128.load(x)));
  if (rest) storePart(y, reluOf(loadPart(x, rest)), rest);
}

// @ts-ignore: decorator
@inline
function reluGradOf(y: v128, dy: v128): v128 {
  return v128.and(dy, f32x4.gt(y, f32x4.splat(0)));
}

export function reluGrad(n: i32, y: Ptr, dy: Ptr, dx: Ptr): void {
  const end = y + quads(n), rest = n & 3;
  for (; y < end; y += 16, dy += 16, dx += 16) {
    v128.store(dx, reluGradOf(v128.load(y), v128.load(dy)));
  }
  if (rest) storePart(dx, reluGradOf(loadPart(y, rest), loadPart(dy, rest)), rest);
}

export function tanh(n: i32, x: Ptr, y: Ptr): void {
  const end = x + quads(n), rest = n & 3;
  for (; x < end; x += 16, y += 16) v128.store(y, tanhOf(v128.load(x)));
  if (rest) storePart(y, tanhOf(loadPart(x, rest)), rest);
}

// @ts-ignore: decorator
@inline
function tanhGradOf(y: v128, dy: v128): v128 {
  return f32x4.mul(dy, f32x4.sub(f32x4.splat(1), f32x4.mul(y, y)));
}

export function tanhGrad(n: i32, y: Ptr, dy: Ptr, dx: Ptr): void {
  const end = y + quads(n), rest = n & 3;
  for (; y < end; y += 16, dy += 16, dx += 16) {
    v128.store(dx, tanhGradOf(v128.load(y), v128.load(dy)));
  }
  if (rest) storePart(dx, tanhGradOf(loadPart(y, rest), loadPart(dy, rest)), rest);
}

// adam takes the scalars of AdamParams one by one. Its products are ordered so
// that none overflows where the loop's result does not.
export function adam(
  n: i32, lr: f32, beta1: f32, beta2: f32, eps: f32, c1: f32, c2: f32,
  g: Ptr, m: Ptr, v: Ptr, w: Ptr,
): void {
  const b1 = f32x4.splat(beta1), a1 = f32x4.splat(1 - beta1);
  const b2 = f32x4.splat(beta2), a2 = f32x4.splat(1 - beta2);
  const rate = f32x4.splat(lr / c1), d2 = f32x4.splat(c2), e = f32x4.splat(eps);
  for (let left = n; left > 0; left -= 4, g += 16, m += 16, v += 16, w += 16) {
    const gv = loadUpTo(g, left);
    let mv = loadUpTo(m, left);
    let vv = loadUpTo(v, left);
    let wv = loadUpTo(w, left);
    mv = madd(a1, gv, f32x4.mul(b1, mv));
    vv = madd(f32x4.mul(a2, gv), gv, f32x4.mul(b2, vv));
    const root = f32x4.add(f32x4.sqrt(f32x4.div(vv, d2)), e);
    wv = f32x4.sub(wv, f32x4.div(f32x4.mul(rate, mv), root));
    storeUpTo(m, mv, left);
    storeUpTo(v, vv, left);
    storeUpTo(w, wv, left);
  }
}

// spread takes the scalars of SpreadParams one by one.
export function spread(
  n: i32, beta1: f32, beta2: f32, times: f32, noise: f32, least: f32, greatest: f32,
  g: Ptr, m: Ptr, r: Ptr,
): void {
  const b1 = f32x4.splat(beta1), a1 = f32x4.splat(1 - beta1);
  const b2 = f32x4.splat(beta2), a2 = f32x4.splat(1 - beta2);
  const t = f32x4.splat(times), own = f32x4.splat(noise);
  const lo = f32x4.splat(least), hi = f32x4.splat(greatest), zero = f32x4.splat(0);
  for (let left = n; left > 0; left -= 4, g += 16, m += 16, r += 16) {
    const gv = loadUpTo(g, left);
    const mv = loadUpTo(m, left);
    const rv = loadUpTo(r, left);
    const dev = f32x4.sub(gv, mv), s = f32x4.mul(rv, rv);
    const v = f32x4.mul(t, f32x4.sub(f32x4.mul(dev, dev), f32x4.mul(own, s)));
    const finite = f32x4.eq(f32x4.sub(v, v), zero);
    const kept = f32x4.min(f32x4.max(v, lo), hi);
    const deviation = f32x4.sqrt(madd(a2, kept, f32x4.mul(b2, f32x4.mul(s, s))));
    const root = v128.bitselect(f32x4.sqrt(deviation), rv, finite);
    const mean = v128.bitselect(madd(a1, gv, f32x4.mul(b1, mv)), mv, finite);
    storeUpTo(m, mean, left);
    storeUpTo(r, root, left);
  }
}

export function rescale(n: i32, size: f32, m: Ptr, r: Ptr, b: Ptr, inv: Ptr, lin: Ptr): void {
  const k = f32x4.splat(size), one = f32x4.splat(1);
  for (let left = n; left > 0; left -= 4, m += 16, r += 16, b += 16, inv += 16, lin += 16) {
    const bv = f32x4.mul(k, loadUpTo(r, left));
    const iv = f32x4.div(one, f32x4.mul(bv, bv));
    const lv = f32x4.mul(loadUpTo(m, left), iv);
    storeUpTo(b, bv, left);
    storeUpTo(inv, iv, left);
    storeUpTo(lin, lv, left);
  }
}
