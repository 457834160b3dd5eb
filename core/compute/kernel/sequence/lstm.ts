import { tanh } from "../../simd/functions";
import { KC, product } from "../../simd/product";
import { Ptr, loadUpTo, madd, storeUpTo } from "../../simd/vec";
import { space } from "../../simd/window";
import { token } from "./embed";

// SOME rows go along their places together, as one product for all of them packs the weights once.
export const SOME = 64;

// curve is tanh, once and not wherever it is called: every visitor fetches it.
export function curve(x: v128): v128 { return tanh(x); }

// sigmoid is 1/(1 + e⁻ˣ).
function sigmoid(x: v128): v128 {
  const half = f32x4.splat(0.5);
  return madd(half, curve(f32x4.mul(half, x)), half);
}

// @divide n: x t, a t * 4 * h, c t * h, y t * h; costing n * t * h * (h + 60) / 2
export function lstm(n: i32, t: i32, v: i32, h: i32, x: Ptr, a: Ptr, w: Ptr, c: Ptr, y: Ptr): void {
  const cells = <usize>h << 2, gates = 4 * cells, bias = w + <usize>h * gates;
  for (let some = 0; n > 0; n -= some) {
    some = min(n, SOME);
    const z = space(<usize>(5 * some) * <usize>h), seen = z + <usize>some * gates;
    memory.fill(seen, 0, <usize>some * cells);
    for (let j: usize = 0; j < <usize>t; j++) {
      product(0, 0, some, 4 * h, h, seen, w, 0, z, gates, 4, KC, false, false, 0, 1);
      for (let i: usize = 0; i < <usize>some; i++) {
        const at = i * <usize>t + j, open = a + at * gates, holds = c + at * cells, to = seen + i * cells;
        if (token(load<f32>(x + (at << 2)), v) < 0) {
          memory.fill(open, 0, gates);
          if (j > 0) memory.copy(holds, holds - cells, cells);
          else memory.fill(holds, 0, cells);
        } else {
          const from = z + i * gates;
          for (let left = h, k: usize = 0; left > 0; left -= 4, k += 16) {
            const enter = sigmoid(gate(left, open + k, from + k, bias + k));
            const forget = sigmoid(gate(left, open + cells + k, from + cells + k, bias + cells + k));
            const value = curve(gate(left, open + 2 * cells + k, from + 2 * cells + k, bias + 2 * cells + k));
            const out = sigmoid(gate(left, open + 3 * cells + k, from + 3 * cells + k, bias + 3 * cells + k));
            const held = j > 0 ? loadUpTo(holds - cells + k, left) : f32x4.splat(0);
            const now = madd(forget, held, f32x4.mul(enter, value));
            storeUpTo(open + k, enter, left);
            storeUpTo(open + cells + k, forget, left);
            storeUpTo(open + 2 * cells + k, value, left);
            storeUpTo(open + 3 * cells + k, out, left);
            storeUpTo(holds + k, now, left);
            storeUpTo(to + k, f32x4.mul(out, curve(now)), left);
          }
        }
        memory.copy(y + at * cells, to, cells);
      }
    }
    x += <usize>(some * t) << 2;
    a += <usize>(some * t) * gates;
    c += <usize>(some * t) * cells;
    y += <usize>(some * t) * cells;
  }
}

// gate is what a gate of up to four cells is made of.
function gate(left: i32, input: Ptr, seen: Ptr, bias: Ptr): v128 {
  return f32x4.add(f32x4.add(loadUpTo(input, left), loadUpTo(bias, left)), loadUpTo(seen, left));
}
