import { Ptr, loadUpTo } from "./vec";

// greatest is the greatest magnitude of n values, or NaN where one is. As whole numbers
// the bits of magnitudes are in their order, and NaN after all; four at a time wait for
// nothing.
export function greatest(n: i32, x: Ptr): f32 {
  let m0 = i32x4.splat(0), m1 = m0, m2 = m0, m3 = m0;
  for (const end = x + ((<usize>n & ~15) << 2); x < end; x += 64) {
    m0 = i32x4.max_s(m0, magnitude(v128.load(x)));
    m1 = i32x4.max_s(m1, magnitude(v128.load(x, 16)));
    m2 = i32x4.max_s(m2, magnitude(v128.load(x, 32)));
    m3 = i32x4.max_s(m3, magnitude(v128.load(x, 48)));
  }
  for (let left = n & 15; left > 0; left -= 4, x += 16) m0 = i32x4.max_s(m0, magnitude(loadUpTo(x, left)));
  m0 = i32x4.max_s(i32x4.max_s(m0, m1), i32x4.max_s(m2, m3));
  m0 = i32x4.max_s(m0, i32x4.shuffle(m0, m0, 2, 3, 0, 1));
  return reinterpret<f32>(max(i32x4.extract_lane(m0, 0), i32x4.extract_lane(m0, 1)));
}

// @ts-ignore: decorator
@inline
function magnitude(v: v128): v128 {
  return v128.and(v, i32x4.splat(0x7fffffff));
}
