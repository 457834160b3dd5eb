import { Ptr } from "../../simd/vec";
import { token } from "./embed";

export function tokenGram(m: i32, t: i32, v: i32, d: i32, x: Ptr, g: Ptr, dst: Ptr): void {
  const row = <usize>d << 2, tokens = <usize>t << 2;
  for (let i = 0; i < m; i++) {
    for (let k = 0; k < m; k++, dst += 4) {
      let s: f64 = 0;
      for (let j = 0; j < t; j++) {
        const own = load<f32>(x + <usize>i * tokens + (<usize>j << 2));
        if (token(own, v) < 0) continue;
        const a = g + <usize>(i * t + j) * row;
        for (let l = 0; l < t; l++) {
          if (load<f32>(x + <usize>k * tokens + (<usize>l << 2)) != own) continue;
          const b = g + <usize>(k * t + l) * row;
          for (let c: usize = 0; c < row; c += 4) s += <f64>load<f32>(a + c) * <f64>load<f32>(b + c);
        }
      }
      store<f32>(dst, load<f32>(dst) + <f32>s);
    }
  }
}
