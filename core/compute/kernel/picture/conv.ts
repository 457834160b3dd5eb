import { KC, packB, place } from "../../simd/product";
import { MR, NR, alike, five, strip, tile } from "../../simd/tile";
import { atOnce, embed, places, space, starts } from "../../simd/window";
import { Part, Parts, first } from "../../simd/team";
import { Ptr } from "../../simd/vec";

// conv multiplies what the window sees where it is, in pictures with their padding
// around them: tiles of places by channels.
// @divide costing m * height * width * c * k * fHigh * fWide / (fStride * fStride) / 8 + m * height * width * (c + k)
export function conv(
  m: i32, height: i32, width: i32, c: i32, k: i32, fHigh: f64, fWide: f64, fStride: f64, fPad: f64,
  x: Ptr, w: Ptr, b: Ptr, y: Ptr, part: Part, parts: Parts,
): void {
  const high = <i32>fHigh, wide = <i32>fWide, stride = <i32>fStride, pad = <i32>fPad;
  const down = places(height, high, stride, pad), across = places(width, wide, stride, pad), t = down * across;
  if (t == 0 || k == 0) return;
  const patch = high * wide * c, run = wide * c, some = min(m, atOnce(t)), columns = (k + NR - 1) / NR * NR;
  const line = (width + 2 * pad) * c, picture = (height + 2 * pad) * line, seen = height * width * c;
  const edge = space(<usize>(MR * NR + some * t + MR) + <usize>columns * <usize>(patch + 1) + <usize>(pad ? some * picture : 0));
  const offsets = edge + ((MR * NR) << 2), bias = offsets + (<usize>(some * t + MR) << 2), panel = bias + (<usize>columns << 2);
  const padded = panel + (<usize>(columns * patch) << 2);
  packB(0, k, 1, b, 0, 1, 0, k, bias);
  packB(0, k, patch, w, 0, patch, 0, k, panel);
  if (pad) memory.fill(padded, 0, <usize>(some * picture) << 2);
  const jump = <usize>(line - run) << 2, row = <usize>k << 2;
  const lines = max(KC / run, 1); // of the window at a time
  const begin = first(m, 1, part, parts), end = first(m, 1, part + 1, parts);
  x += <usize>(begin * seen) << 2;
  y += <usize>(begin * t) * row;
  for (let i = begin, n = 0; i < end; i += n, x += <usize>(n * seen) << 2, y += <usize>(n * t) * row) {
    n = min(some, end - i);
    if (i == begin || n < some) starts(n, picture, down, across, line, stride * c, offsets, stride);
    if (pad) embed(n, height, width * c, pad, pad * c, x, padded);
    const from = pad ? padded : x, count = n * t, fives = five(count);
    for (let j = 0; j < k; j += NR) {
      const nr = min(k - j, NR), right = panel + (<usize>(j * patch) << 2);
      for (let i0 = 0, mr = 0, tiles = 0; i0 < count; i0 += mr * tiles) {
        mr = strip(count, i0, fives);
        const to = y + <usize>i0 * row + (<usize>j << 2), whole = nr == NR && mr >= 5;
        tiles = whole ? alike(count, i0, fives) : 1;
        const at = whole ? to : edge, next: usize = whole ? row : NR << 2;
        let old = bias + (<usize>j << 2), oldRow: usize = 0;
        for (let a = 0; a < high; a += lines) {
          for (let l = 0; l < run; l += KC) {
            const p = from + (<usize>(a * line + l) << 2), q = right + (<usize>(a * run + l) << 5);
            tile(tiles, mr, min(lines, high - a), min(KC, run - l), offsets + (<usize>i0 << 2), <usize>mr << 2, p, 4, jump, q, NR << 2, 0, old, oldRow, at, next, <usize>mr * next);
            old = at;
            oldRow = next;
          }
        }
        if (!whole) place(edge, to, row, 4, mr, nr, 0);
      }
    }
  }
}
