import { Part, Parts, first } from "../simd/team";
import { Ptr } from "../simd/vec";

// lookUp gives each part some columns of all rows, as whoever sums outer products of the
// rows does, unless a part of a row were less than four lines of the cache.
// @divide costing n * k * 2
export function lookUp(n: i32, k: i32, table: Ptr, src: Ptr, dst: Ptr, part: Part, parts: Parts): void {
  if (k < 64 * parts) {
    k *= n;
    n = 1;
  }
  const from = first(k, 16, part, parts), columns = first(k, 16, part + 1, parts) - from;
  src += from;
  dst += <usize>from << 2;
  for (let i = 0; i < n; i++, src += k, dst += <usize>k << 2) some(columns, table, src, dst);
}

// A vector has no way to look its lanes up in a table of this size.
// @ts-ignore: decorator
@inline
function some(n: i32, table: Ptr, src: Ptr, dst: Ptr): void {
  const zero = v128.load32_splat(table);
  for (; n >= 4; n -= 4, src += 4, dst += 16) {
    const four = load<u32>(src);
    if (four == 0) { // most of a picture of a letter
      v128.store(dst, zero);
      continue;
    }
    store<f32>(dst, load<f32>(table + (<usize>(four & 255) << 2)));
    store<f32>(dst, load<f32>(table + (<usize>((four >> 8) & 255) << 2)), 4);
    store<f32>(dst, load<f32>(table + (<usize>((four >> 16) & 255) << 2)), 8);
    store<f32>(dst, load<f32>(table + (<usize>(four >> 24) << 2)), 12);
  }
  for (; n > 0; n--, src++, dst += 4) store<f32>(dst, load<f32>(table + (<usize>load<u8>(src) << 2)));
}
