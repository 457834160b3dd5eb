// A batch is short: one workgroup takes every 256th factor, then adds halves to halves.
var<workgroup> parts: array<Wide, 256>;

// sized reports that a/b is above 0, and neither infinite nor NaN.
fn sized(a: Wide, b: Wide) -> bool {
  let finite = (a.y & WIDE_MAGNITUDE) < WIDE_INF && (b.y & WIDE_MAGNITUDE) < WIDE_INF;
  return finite && !wide_isZero(a) && !wide_isZero(b) && ((a.y ^ b.y) >> 31u) == 0u;
}

// above is the exponent of the least power of two that is not below a/b: rounding the
// quotient, of float64 and float32, never carries it past one.
fn above(a: Wide, b: Wide) -> i32 {
  let p = digits(a);
  let q = digits(b);
  return p.e - q.e + select(0, 1, wide_under(q.v, p.v)); // their top bits are set, and do not count
}

// down is a float32 rounded down to a multiple of 2^u.
fn down(bits: u32, u: i32) -> u32 {
  let m = magnitude(bits);
  if (m >= INF || m == 0u) { return bits; }
  let negative = bits != m;
  let lost = u - (max(i32(m >> 23u), 1) - 150); // digits below the unit
  if (lost <= 0) { return bits; }
  if (lost < 24) { // a carry goes to the exponent, as it should
    let below = (1u << u32(lost)) - 1u;
    return (bits ^ m) | ((m + select(0u, below, negative)) & ~below);
  }
  if (!negative) { return 0u; }
  return narrow(Wide(0u, 0x80000000u | (u32(min(u + 1023, 2047)) << 20u))); // −2^u
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32) {
  let away = wide(words[args.b0]);
  let whole = sized(args.d0, away);
  var u = 0;
  if (whole) { u = above(args.d0, away); }
  var s = Wide(0u, 0u);
  for (var i = lane; i < u32(args.n0); i += 256u) {
    var v = words[args.b1 + i];
    if (whole) {
      v = down(v, u);
      words[args.b1 + i] = v;
    }
    s = wide_add(s, wide(v));
  }
  parts[lane] = s;
  for (var n = 128u; n > 0u; n /= 2u) {
    workgroupBarrier();
    if (lane < n) { parts[lane] = wide_add(parts[lane], parts[lane + n]); }
  }
  if (lane == 0u) { set_sum(0u, wide_add(sum(0u), parts[0])); }
}
