import { normal, tanh } from "../simd/functions";
import { Ptr, above, loadPart, quads, storePart } from "../simd/vec";

// apply is the function: 3 is kernel.GELU, 1 kernel.Tanh, 0 kernel.ReLU, in which NaN is not
// less. Root is taken one by one.
// @ts-ignore: decorator
@inline
function apply(f: i32, x: v128): v128 {
  return f == 3 ? f32x4.mul(x, normal(x)) : f == 1 ? tanh(x) : v128.andnot(x, f32x4.lt(x, f32x4.splat(0)));
}

// each is the loop; inlined with a constant f, it costs no branch.
// @ts-ignore: decorator
@inline
function each(f: i32, n: i32, x: Ptr, y: Ptr): void {
  const end = x + quads(n), rest = n & 3;
  for (; x < end; x += 16, y += 16) v128.store(y, apply(f, v128.load(x)));
  if (rest) storePart(y, apply(f, loadPart(x, rest)), rest);
}

// @divide n by 16: x 1, y 1; costing n * 4
export function unary(f: i32, n: i32, x: Ptr, y: Ptr): void {
  if (f == 1) each(1, n, x, y);
  else if (f == 0) each(0, n, x, y);
  else if (f == 3) each(3, n, x, y);
  else for (const end = x + (<usize>n << 2); x < end; x += 4, y += 4) store<f32>(y, above(Math.sqrt(<f64>load<f32>(x))));
}
