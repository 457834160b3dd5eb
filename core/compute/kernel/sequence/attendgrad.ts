import { Ptr } from "../../simd/vec";
import { addTimes, dot } from "./attend";

// @divide n: a t * 3 * d, p heads * t * t, y t * d, dy t * d, da t * 3 * d; costing n * t * t * d
export function attendGrad(n: i32, t: i32, heads: i32, d: i32, a: Ptr, p: Ptr, y: Ptr, dy: Ptr, da: Ptr): void {
  const width = heads ? d / heads : 0, head = <usize>width << 2, place = <usize>d << 2, row = place * t;
  const scale = <f32>1 / Mathf.sqrt(<f32>width);
  for (let i = 0; i < n; i++, a += 3 * row, da += 3 * row, y += row, dy += row) {
    memory.fill(da, 0, 3 * row);
    for (let h: usize = 0; h < <usize>heads; h++) {
      for (let j: usize = 0; j < <usize>t; j++) {
        const at = j * place + h * head, query = 3 * j * place + h * head;
        const own = dot(width, dy + at, y + at);
        for (let k: usize = 0; k < <usize>t; k++, p += 4) {
          const share = load<f32>(p);
          if (share == 0) continue;
          const key = (3 * k + 1) * place + h * head;
          const by = share * (dot(width, dy + at, a + key + place) - own) * scale;
          addTimes(width, by, a + key, da + query);
          addTimes(width, by, a + query, da + key);
          addTimes(width, share, dy + at, da + key + place);
        }
      }
    }
  }
}
