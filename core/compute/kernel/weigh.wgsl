// All of it is in whole numbers, which have the law f·u ≤ C on any device: a quotient
// that was cut off, times what it was divided by, is not above what was divided.

const LEAST = -143; // of powers, that of kernel.LeastFactor
const GREATEST = Above(0x800000u, 77); // kernel.GreatestFactor

// isSize is false of a float64 that is NaN or negative.
fn isSize(d: vec2<u32>) -> bool { return d.y < 0x7ff00000u || (d.y == 0x7ff00000u && d.x == 0u); }

// between is low + x·2⁻¹⁶·(high − low) of a table's finite values, and whether it is
// negative. The two products are exact, and their difference as good as that: each has
// its lowest seven digits 0.
struct Between { size: Above, negative: bool }
fn between(low: u32, high: u32, x: u32) -> Between {
  let a = aboveFloat(low); let b = aboveFloat(high);
  let u = aboveWhole(0x10000u - x, -16); let v = aboveWhole(x, -16);
  var large = product48(a.part, u.part); var small = product48(b.part, v.part);
  var power = a.power + u.power; var other = b.power + v.power;
  var negative = low >> 31u;
  if (power < other) {
    let l = large; large = small; small = l;
    let p = power; power = other; other = p;
    negative = high >> 31u;
  }
  let by = u32(power - other);
  let cut = u32(by > 7u && (small.x | small.y) != 0u);
  small = down48(small, by);
  if ((low ^ high) >> 31u == 0u) {
    let sum = large.y + small.y + cut;
    return Between(above48(large.x + small.x + (sum >> 24u), sum & 0xffffffu, power), negative != 0u);
  }
  if (large.x < small.x || (large.x == small.x && large.y < small.y)) {
    let l = large; large = small; small = l;
    negative = 1u - negative;
  }
  let borrowed = u32(large.y < small.y);
  return Between(above48(large.x - small.x - borrowed, large.y + (borrowed << 24u) - small.y, power), negative != 0u);
}

// factor is that of a norm with these bits, as a float's bits.
fn factor(bits: u32, low: u32, high: u32) -> u32 {
  if (!isFinite(low) || !isFinite(high) || !isSize(args.d0) || !isSize(args.d1) || !isSize(args.d2)) { return 0u; }
  let t = between(low, high, bits & 0xffffu);
  if (t.negative && t.size.part != 0u) { return 0u; }
  // The scalars are float32 values, which an Above holds as they are.
  var f = lesser(quotientBelow(aboveDouble(args.d1), t.size), lesser(aboveDouble(args.d2), GREATEST));
  if (bits != 0u) { f = lesser(f, quotientBelow(aboveDouble(args.d0), aboveFloat(bits))); }
  if (f.part == 0u || f.power < LEAST) { return 0u; }
  return bitsAbove(f);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u);
  if (i >= u32(args.n0)) { return; }
  let bits = words[args.b0 + i];
  var f = 0u;
  if (magnitude(words[args.b1 + i]) != 0u && bits < INF) { // what is negative has more
    let at = args.b2 + (bits >> 16u);
    f = factor(bits, words[at], words[at + 1u]);
  }
  words[args.b3 + i] = f;
}
