import { KC, packB, place } from "../../simd/product";
import { MR, NR, alike, five, strip, tile } from "../../simd/tile";
import { embed, gather, places, space, starts } from "../../simd/window";
import { Part, Parts, first } from "../../simd/team";
import { Ptr, loadUpTo, storeUpTo } from "../../simd/vec";

// columns writes the sums of the columns of x [m×n].
function columns(m: i32, n: i32, x: Ptr, dst: Ptr): void {
  const row = <usize>n << 2;
  for (let left = n; left > 0; left -= 4, x += 16, dst += 16) {
    let s = f32x4.splat(0);
    for (let i = 0, p = x; i < m; i++, p += row) s = f32x4.add(s, loadUpTo(p, left));
    storeUpTo(dst, s, left);
  }
}

// GAP is what lies between copies, a line of the cache: the values of a window are often a
// power of two, and as many bytes apart, places would all be in a few sets of the cache.
const GAP = 16;

// isCopied reports whether lines of so many places, t in all, are too short to be walked
// where they are: of up to three, and of up to eight where what is copied, patch values a
// place, is used for many channels and stays in the second-level cache, and sums are as
// they would be, of one piece.
// @ts-ignore: decorator
@inline
function isCopied(across: i32, t: i32, patch: i32, k: i32): bool {
  return across <= (k >= 32 && t <= KC && <f64>t * (patch + GAP) <= 65536 ? 8 : 3);
}

// convWeights walks all places for tiles of a window's values by channels. Where
// lines are short, what the window sees is copied first, one place below the other.
// @divide costing m * height * width * c * k * fHigh * fWide / (fStride * fStride) / 8 + m * height * width * (c + k)
export function convWeights(
  m: i32, height: i32, width: i32, c: i32, k: i32, fHigh: f64, fWide: f64, fStride: f64, fPad: f64,
  x: Ptr, dy: Ptr, g: Ptr, part: Part, parts: Parts,
): void {
  const high = <i32>fHigh, wide = <i32>fWide, stride = <i32>fStride, pad = <i32>fPad;
  const down = places(height, high, stride, pad), across = places(width, wide, stride, pad), t = down * across;
  const patch = high * wide * c, seen = <usize>(height * width * c) << 2, row = <usize>k << 2;
  const line = (width + 2 * pad) * c, picture = (height + 2 * pad) * line;
  const copied = isCopied(across, t, patch, k), lines = copied ? 1 : down, each = copied ? t : across; // to be walked, and places in each
  const apart = patch + GAP, copies = copied ? <usize>t * <usize>apart : 0;
  const edge = space(<usize>(MR * NR + patch + MR + t * NR + (pad ? picture : 0)) + copies);
  const offsets = edge + ((MR * NR) << 2), panel = offsets + (<usize>(patch + MR) << 2), copy = panel + (<usize>(t * NR) << 2);
  const padded = copy + (copies << 2);
  if (pad) memory.fill(padded, 0, <usize>picture << 2);
  if (copied) starts(1, 0, 1, patch, 0, 1, offsets, 0);
  else starts(1, picture, high, wide * c, line, 1, offsets, 1);
  const step = <usize>(copied ? apart : stride * c) << 2, next = copied ? <usize>0 : <usize>(stride * line) << 2; // of a place, of a line
  const jump = next - <usize>each * step, fives = five(patch), most = max(KC / max(each, 1), 1); // of lines at a time
  const begin = first(m, 1, part, parts), end = first(m, 1, part + 1, parts);
  x += <usize>begin * seen;
  dy += <usize>(begin * t) * row;
  g += <usize>begin * <usize>(patch + 1) * row;
  for (let i = begin; i < end; i++, x += seen, dy += <usize>t * row) {
    let from = x;
    if (pad) {
      embed(1, height, width * c, pad, pad * c, x, padded);
      from = padded;
    }
    if (copied) {
      gather(down, across, high, wide * c, line, stride * c, stride, from, copy, GAP << 2);
      from = copy;
    }
    for (let j = 0; j < k; j += NR) {
      const nr = min(k - j, NR), direct = nr == NR;
      if (!direct) packB(0, k, t, dy, 0, t, j, nr, panel);
      const right = direct ? dy + (<usize>j << 2) : panel, bStep: usize = direct ? row : NR << 2;
      for (let i0 = 0, mr = 0, tiles = 0; i0 < patch; i0 += mr * tiles) {
        mr = strip(patch, i0, fives);
        const to = g + <usize>i0 * row + (<usize>j << 2), whole = direct && mr >= 5;
        tiles = whole ? alike(patch, i0, fives) : 1;
        const at = whole ? to : edge, atRow: usize = whole ? row : NR << 2;
        let old: Ptr = 0;
        for (let a = 0; a < max(lines, 1); a += most) {
          for (let l = 0; l < max(each, 1); l += KC) {
            const p = from + <usize>a * next + <usize>l * step, q = right + <usize>(a * each + l) * bStep;
            tile(tiles, mr, min(most, lines - a), min(KC, each - l), offsets + (<usize>i0 << 2), <usize>mr << 2, p, step, jump, q, bStep, 0, old, atRow, at, atRow, <usize>mr * atRow);
            old = at;
          }
        }
        if (!whole) place(edge, to, row, 4, mr, nr, 0);
      }
    }
    g += <usize>patch * row;
    columns(t, k, dy, g);
    g += row;
  }
}
