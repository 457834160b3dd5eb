import { Ptr } from "../simd/vec";

// @divide n by 16: dst 1, src 1
export function copy(n: i32, dst: Ptr, src: Ptr): void {
  memory.copy(dst, src, <usize>n << 2);
}
