import { Ptr } from "../simd/vec";

export function copy(n: i32, dst: Ptr, src: Ptr): void {
  memory.copy(dst, src, <usize>n << 2);
}
