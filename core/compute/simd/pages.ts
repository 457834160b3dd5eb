import { Ptr } from "./vec";

// pages is memory for n bytes that is never given back: room for what a kernel
// needs on the way. Several threads run kernels at a time, so each has its own, and
// none of it comes from the heap, which belongs to one of them; pages that memory
// grows by are the caller's alone.
export function pages(n: usize): Ptr {
  const before = memory.grow(<i32>((n + 0xffff) >>> 16));
  if (before < 0) unreachable();
  return <usize>before << 16;
}
