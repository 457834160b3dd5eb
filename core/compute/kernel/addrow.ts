import { Ptr, loadPart, quads, storePart } from "../simd/vec";

// @divide m: y n
export function addRow(m: i32, n: i32, b: Ptr, y: Ptr): void {
  const rest = n & 3;
  for (let i = 0; i < m; i++) {
    let p = b;
    for (const end = y + quads(n); y < end; y += 16, p += 16) {
      v128.store(y, f32x4.add(v128.load(y), v128.load(p)));
    }
    if (rest) storePart(y, f32x4.add(loadPart(y, rest), loadPart(p, rest)), rest);
    y += <usize>rest << 2;
  }
}
