import { KC, product } from "../../simd/product";
import { Ptr, loadUpTo, madd, nmadd, storeUpTo } from "../../simd/vec";
import { space } from "../../simd/window";
import { token } from "./embed";
import { SOME, curve } from "./lstm";

// @divide n: x t, a t * 4 * h, c t * h, dy t * h; costing n * t * h * (h + 40) / 2
export function lstmGrad(n: i32, t: i32, v: i32, h: i32, x: Ptr, a: Ptr, w: Ptr, c: Ptr, dy: Ptr): void {
  const cells = <usize>h << 2, gates = 4 * cells;
  const one = f32x4.splat(1);
  for (let some = 0; n > 0; n -= some) {
    some = min(n, SOME);
    // Of each row the gradients by its gates, by its results, by what its cells hold, and of the
    // next place's gates by results.
    const da = space(<usize>(7 * some) * <usize>h), shown = da + <usize>some * gates;
    const held = shown + <usize>some * cells, next = held + <usize>some * cells;
    memory.fill(shown, 0, <usize>(2 * some) * cells);
    for (let j = t - 1; j >= 0; j--) {
      for (let i: usize = 0; i < <usize>some; i++) {
        const at = i * <usize>t + <usize>j, open = a + at * gates, holds = c + at * cells;
        const there = token(load<f32>(x + (at << 2)), v) >= 0;
        const d = shown + i * cells, dc = held + i * cells, to = da + i * gates;
        if (!there) memory.fill(to, 0, gates);
        for (let left = h, k: usize = 0; left > 0; left -= 4, k += 16) {
          const g = f32x4.add(loadUpTo(d + k, left), loadUpTo(dy + at * cells + k, left));
          storeUpTo(d + k, g, left);
          if (there) {
            const enter = loadUpTo(open + k, left), forget = loadUpTo(open + cells + k, left);
            const value = loadUpTo(open + 2 * cells + k, left), out = loadUpTo(open + 3 * cells + k, left);
            const before = j > 0 ? loadUpTo(holds - cells + k, left) : f32x4.splat(0), u = curve(loadUpTo(holds + k, left));
            const by = madd(f32x4.mul(g, out), nmadd(u, u, one), loadUpTo(dc + k, left));
            storeUpTo(to + k, f32x4.mul(f32x4.mul(by, value), f32x4.mul(enter, f32x4.sub(one, enter))), left);
            storeUpTo(to + cells + k, f32x4.mul(f32x4.mul(by, before), f32x4.mul(forget, f32x4.sub(one, forget))), left);
            storeUpTo(to + 2 * cells + k, f32x4.mul(f32x4.mul(by, enter), nmadd(value, value, one)), left);
            storeUpTo(to + 3 * cells + k, f32x4.mul(f32x4.mul(g, u), f32x4.mul(out, f32x4.sub(one, out))), left);
            storeUpTo(dc + k, f32x4.mul(by, forget), left);
          }
        }
        memory.copy(open, to, gates);
        memory.copy(holds, dc, cells);
      }
      if (j == 0) break;
      product(0, 1, some, h, 4 * h, da, w, 0, next, cells, 4, KC, false, false, 0, 1);
      for (let i: usize = 0; i < <usize>some; i++) {
        if (token(load<f32>(x + ((i * <usize>t + <usize>j) << 2)), v) >= 0) memory.copy(shown + i * cells, next + i * cells, cells);
      }
    }
    x += <usize>(some * t) << 2;
    a += <usize>(some * t) * gates;
    c += <usize>(some * t) * cells;
    dy += <usize>(some * t) * cells;
  }
}
