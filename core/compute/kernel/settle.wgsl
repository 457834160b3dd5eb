// Most sums are of one block, and so float32s, as are parameters and noise: of two of
// those float32's own sum is the float64 one rounded. What is no float32, or near the ends
// of their range, is left for a second loop, which is short where there is none.

// Plain is a float32 that a sum is, if ok says so.
struct Plain { v: f32, ok: bool }
fn plain(a: Wide) -> Plain {
  let m = a.y & WIDE_MAGNITUDE;
  let nothing = (m | a.x) == 0u;
  let bits = select((m - 0x38000000u) * 8u + (a.x >> 29u), 0u, nothing);
  let inside = m - 0x38100000u < 0x0fb00000u; // from 2⁻¹²⁶ to 2¹²⁵
  return Plain(bitcast<f32>((a.y ^ m) | bits), nothing || (inside && (a.x & 0x1fffffffu) == 0u));
}

// scaled is a value as it is stored: times f0 where f1 says so.
fn scaled(bits: u32) -> u32 { return select(bits, bitcast<u32>(bitcast<f32>(bits) * args.f0), args.f1 != 0.0); }

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = group(id) * 4096u + lane;
  let end = min(first + 4096u, u32(args.n0));
  let dst = args.b0; let low = args.sums; let high = args.sums + args.many;
  var left = 0u;
  var bit = 1u;
  for (var i = first; i < end; i += 256u) {
    let s = plain(Wide(words[low + i], words[high + i]));
    let bits = words[dst + i];
    let m = magnitude(bits);
    let r = bitcast<u32>(s.v + bitcast<f32>(bits));
    let normal = m - 0x00800000u < 0x7d800000u; // to 2¹²⁵
    let nothing = m == 0u && s.v == 0.0;
    let ok = s.ok && (normal || m == 0u) && (nothing || magnitude(r) >= 0x00800000u);
    if (ok) { words[dst + i] = scaled(r); }
    left |= select(bit, 0u, ok);
    bit += bit;
  }
  for (var i = first; left != 0u; i += 256u) {
    if ((left & 1u) != 0u) { words[dst + i] = scaled(narrow(wide_add(sum(i), wide(words[dst + i])))); }
    left >>= 1u;
  }
}
