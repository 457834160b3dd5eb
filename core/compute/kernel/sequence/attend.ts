import { exp } from "../../simd/functions";
import { Ptr, loadUpTo, madd, storeUpTo, sumLanes } from "../../simd/vec";
import { token } from "./embed";

// dot is the product of two runs of so many values.
// @ts-ignore: decorator
@inline
export function dot(n: i32, a: Ptr, b: Ptr): f32 {
  let s = f32x4.splat(0);
  for (; n > 0; n -= 4, a += 16, b += 16) s = madd(loadUpTo(a, n), loadUpTo(b, n), s);
  return sumLanes(s);
}

// addTimes adds so many times x to y.
// @ts-ignore: decorator
@inline
export function addTimes(n: i32, by: f32, x: Ptr, y: Ptr): void {
  const f = f32x4.splat(by);
  for (; n > 0; n -= 4, x += 16, y += 16) storeUpTo(y, madd(f, loadUpTo(x, n), loadUpTo(y, n)), n);
}

// takes writes what a query takes of the places of a row, whose keys are far apart, to p.
function takes(t: i32, v: i32, width: i32, x: Ptr, query: Ptr, key: Ptr, apart: usize, p: Ptr): void {
  const scale = <f32>1 / Mathf.sqrt(<f32>width);
  let most = -Infinity as f32, tokens = 0, lost = false;
  for (let k: usize = 0; k < <usize>t; k++, key += apart) {
    let s = -Infinity as f32; // of which nothing is taken
    if (token(load<f32>(x + (k << 2)), v) >= 0) {
      s = dot(width, query, key) * scale;
      lost = lost || !(Mathf.abs(s) < Infinity);
      most = max(most, s);
      tokens++;
    }
    store<f32>(p + (k << 2), s);
  }
  if (lost) {
    for (let k: usize = 0; k < <usize>t << 2; k += 4) store<f32>(p + k, token(load<f32>(x + k), v) < 0 ? 0 : NaN as f32);
    return;
  }
  const peak = f32x4.splat(tokens ? most : 0);
  let sum = f32x4.splat(0);
  for (let left = t, at = p; left > 0; left -= 4, at += 16) {
    const e = exp(f32x4.sub(loadUpTo(at, left), peak));
    storeUpTo(at, e, left);
    sum = f32x4.add(sum, loadUpTo(at, left));
  }
  const all = f32x4.splat(tokens ? sumLanes(sum) : 1);
  for (let left = t, at = p; left > 0; left -= 4, at += 16) storeUpTo(at, f32x4.div(loadUpTo(at, left), all), left);
}

// @divide n: x t, a t * 3 * d, p heads * t * t, y t * d; costing n * t * t * d / 2
export function attend(n: i32, t: i32, v: i32, heads: i32, d: i32, x: Ptr, a: Ptr, p: Ptr, y: Ptr): void {
  const width = heads ? d / heads : 0, head = <usize>width << 2, place = <usize>d << 2;
  for (let i = 0; i < n; i++, x += <usize>t << 2, a += 3 * place * t, y += place * t) {
    memory.fill(y, 0, place * t);
    for (let h: usize = 0; h < <usize>heads; h++) {
      const query = a + h * head, value = query + 2 * place;
      for (let j: usize = 0; j < <usize>t; j++, p += <usize>t << 2) {
        takes(t, v, width, x, query + 3 * j * place, query + place, 3 * place, p);
        const to = y + j * place + h * head;
        for (let k: usize = 0; k < <usize>t; k++) {
          const share = load<f32>(p + (k << 2));
          if (share != 0) addTimes(width, share, value + 3 * k * place, to);
        }
      }
    }
  }
}
