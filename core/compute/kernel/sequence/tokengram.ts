import { Ptr } from "../../simd/vec";
import { space } from "../../simd/window";
import { token } from "./embed";

export function tokenGram(m: i32, t: i32, v: i32, d: i32, x: Ptr, g: Ptr, dst: Ptr): void {
  const row = <usize>d << 2, tokens = <usize>t << 2;
  // Of each token the first place in a row, from 1 on, or 0; and behind each place the next of its token.
  const heads = space(v + t), next = heads + (<usize>v << 2);
  memory.fill(heads, 0, <usize>v << 2);
  for (let i = 0; i < m; i++) {
    const own = x + <usize>i * tokens, from = g + <usize>i * <usize>t * row;
    for (let j = t - 1; j >= 0; j--) {
      const k = token(load<f32>(own + (<usize>j << 2)), v);
      if (k < 0) continue;
      store<i32>(next + (<usize>j << 2), load<i32>(heads + (<usize>k << 2)));
      store<i32>(heads + (<usize>k << 2), j + 1);
    }
    let other = x, b = g;
    for (let k = 0; k < m; k++, dst += 4) {
      let s: f64 = 0;
      for (let l = 0; l < t; l++, other += 4, b += row) {
        const same = token(load<f32>(other), v);
        if (same < 0) continue;
        for (let j = load<i32>(heads + (<usize>same << 2)); j > 0; j = load<i32>(next + (<usize>(j - 1) << 2))) {
          const a = from + <usize>(j - 1) * row;
          for (let c: usize = 0; c < row; c += 4) s += <f64>load<f32>(a + c) * <f64>load<f32>(b + c);
        }
      }
      store<f32>(dst, load<f32>(dst) + <f32>s);
    }
    for (let j = 0; j < t; j++) {
      const k = token(load<f32>(own + (<usize>j << 2)), v);
      if (k >= 0) store<i32>(heads + (<usize>k << 2), 0);
    }
  }
}
