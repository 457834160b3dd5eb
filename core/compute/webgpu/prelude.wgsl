// What every kernel begins with. The words of all buffers are in one heap, as whole
// numbers, as floats or by fours: an entry point uses one of these views.

@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(0) var<storage, read_write> values: array<f32>;
@group(0) @binding(0) var<storage, read_write> quads: array<vec4<f32>>;

// Args are a kernel's arguments: sizes, where its buffers begin in the heap, the
// scalars in float32 and, as two words, low first, in float64.
struct Args {
  n0: i32, n1: i32, n2: i32, n3: i32, n4: i32,
  b0: u32, b1: u32, b2: u32, b3: u32, b4: u32,
  sums: u32,
  across: u32, // workgroups side by side
  key: array<vec4<u32>, 2>,
  nonce: vec3<u32>,
  f0: f32, f1: f32, f2: f32, f3: f32, f4: f32, f5: f32,
  d0: vec2<u32>, d1: vec2<u32>, d2: vec2<u32>, d3: vec2<u32>, d4: vec2<u32>, d5: vec2<u32>,
}
@group(0) @binding(1) var<uniform> args: Args;

// group is the number of a workgroup in a grid with one size, item that of an
// invocation where each workgroup has so many.
fn group(id: vec3<u32>) -> u32 { return id.y * args.across + id.x; }
fn item(id: vec3<u32>, lane: u32, many: u32) -> u32 { return group(id) * many + lane; }

// What is not finite is told by bits: a compiler may assume that it does not occur.
const INF = 0x7f800000u;
const NAN = 0x7fc00000u;
fn magnitude(bits: u32) -> u32 { return bits & 0x7fffffffu; }
fn isFinite(bits: u32) -> bool { return magnitude(bits) < INF; }
fn isNaN(bits: u32) -> bool { return magnitude(bits) > INF; }

// # Numbers of 53 digits
//
// A Wide is a float64, its low word first, as sums are. Its arithmetic is IEEE 754's,
// to the nearest, ties to even, denormal numbers too, and of integers alone: WGSL has
// no float64, and pairs of float32 are only as good as what a compiler leaves of them.
alias Wide = vec2<u32>;

// The upper words of +Inf and of all that has no sign.
const WIDE_INF = 0x7ff00000u;
const WIDE_MAGNITUDE = 0x7fffffffu;

// sum and set_sum are the i-th of args.sums.
fn sum(i: u32) -> Wide { return Wide(words[args.sums + 2u * i], words[args.sums + 2u * i + 1u]); }
fn set_sum(i: u32, v: Wide) {
  words[args.sums + 2u * i] = v.x;
  words[args.sums + 2u * i + 1u] = v.y;
}

// plus, minus, left and right are of 64 bits; what right shifts out leaves its lowest
// bit set, so that no tie is made of what is none.
fn plus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}
fn left(v: vec2<u32>, n: u32) -> vec2<u32> {
  if (n >= 32u) { return vec2<u32>(0u, v.x << (n & 31u)); }
  return vec2<u32>(v.x << n, (v.y << n) | ((v.x >> 1u) >> (31u - n)));
}
fn right(v: vec2<u32>, n: u32) -> vec2<u32> {
  if (n >= 64u) { return vec2<u32>(select(0u, 1u, (v.x | v.y) != 0u), 0u); }
  let m = n & 31u;
  let over = 31u - m; // the upper word's digits come down by two shifts, as none is by 32
  if (n >= 32u) {
    let lost = v.x | ((v.y << 1u) << over);
    return vec2<u32>((v.y >> m) | select(0u, 1u, lost != 0u), 0u);
  }
  let lost = (v.x << 1u) << over;
  return vec2<u32>((v.x >> m) | ((v.y << 1u) << over) | select(0u, 1u, lost != 0u), v.y >> m);
}

// product is a·b, from halves: there is no upper word of a product.
fn product(a: u32, b: u32) -> vec2<u32> {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let mid = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let more = (a & 0xffffu) * (b >> 16u) + (mid & 0xffffu);
  return vec2<u32>((more << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (mid >> 16u) + (more >> 16u));
}

// Digits are v·2^(e−1086): v's top bit is set, and e what a Wide has for its exponent,
// if it can be that.
struct Digits { e: i32, v: vec2<u32> }

fn normal(e: i32, v: vec2<u32>) -> Digits {
  var n = countLeadingZeros(v.y);
  if (v.y == 0u) { n = 32u + countLeadingZeros(v.x); }
  return Digits(e - i32(n), left(v, n));
}

// digits are those of a number that is finite and not 0.
fn digits(a: Wide) -> Digits {
  let e = (a.y & WIDE_MAGNITUDE) >> 20u;
  let v = left(vec2<u32>(a.x, (a.y & 0xfffffu) | select(0u, 0x100000u, e != 0u)), 11u);
  return normal(max(i32(e), 1), v);
}

// rounded is the Wide nearest to v·2^(e−1086).
fn rounded(sign: u32, e: i32, v: vec2<u32>) -> Wide {
  if ((v.x | v.y) == 0u) { return Wide(0u, sign); }
  var d = normal(e, v);
  if (d.e >= 2047) { return Wide(0u, sign | WIDE_INF); }
  if (d.e < 1) { d = Digits(1, right(d.v, u32(1 - d.e))); }
  // The leading digit adds one to the exponent, if it is there, and rounding up another.
  var up = 0u;
  let rest = d.v.x & 0x7ffu;
  if (rest > 0x400u || (rest == 0x400u && (d.v.x & 0x800u) != 0u)) { up = 1u; }
  let r = plus(vec2<u32>((d.v.x >> 11u) | (d.v.y << 21u), (d.v.y >> 11u) + (u32(d.e - 1) << 20u)), vec2<u32>(up, 0u));
  return Wide(r.x, sign | r.y);
}

// wide is the float32 of these bits.
fn wide(bits: u32) -> Wide {
  let sign = bits ^ magnitude(bits);
  let m = magnitude(bits);
  if (m >= INF) { return Wide(m << 29u, sign | WIDE_INF | (m >> 3u)); }
  if (m >= 0x00800000u) { return Wide(m << 29u, sign | ((m >> 3u) + 0x38000000u)); }
  if (m == 0u) { return Wide(0u, sign); }
  let n = countLeadingZeros(m);
  let v = (m << n) << 1u; // without the leading digit, which a denormal float32 has
  return Wide(v << 20u, sign | (((905u - n) << 20u) + (v >> 12u)));
}

// narrow is the bits of the float32 nearest to a.
fn narrow(a: Wide) -> u32 {
  let sign = a.y & 0x80000000u;
  let m = a.y & WIDE_MAGNITUDE;
  if (wide_isNaN(a)) { return sign | NAN; }
  var e = i32(m >> 20u) - 896;
  if (e >= 255) { return sign | INF; }
  var v = 0x80000000u | (m << 11u) | (a.x >> 21u) | select(0u, 1u, (a.x << 11u) != 0u);
  if (e < 1) {
    // Where there is no leading digit nothing but the lowest bit is left.
    v = right(vec2<u32>(v, 0u), u32(1 - e)).x;
    e = 1;
  }
  var up = 0u;
  let rest = v & 0xffu;
  if (rest > 0x80u || (rest == 0x80u && (v & 0x100u) != 0u)) { up = 1u; }
  return sign | ((v >> 8u) + (u32(e - 1) << 23u) + up);
}

fn wide_isNaN(a: Wide) -> bool {
  let m = a.y & WIDE_MAGNITUDE;
  return m > WIDE_INF || (m == WIDE_INF && a.x != 0u);
}
fn wide_isZero(a: Wide) -> bool { return ((a.y & WIDE_MAGNITUDE) | a.x) == 0u; }
fn wide_minus(a: Wide) -> Wide { return Wide(a.x, a.y ^ 0x80000000u); }

// wide_under is |a| < |b|, NaN being greatest.
fn wide_under(a: Wide, b: Wide) -> bool {
  let m = a.y & WIDE_MAGNITUDE;
  let n = b.y & WIDE_MAGNITUDE;
  return m < n || (m == n && a.x < b.x);
}

// wide_less is a < b, and false of NaN.
fn wide_less(a: Wide, b: Wide) -> bool {
  if (wide_isNaN(a) || wide_isNaN(b) || (wide_isZero(a) && wide_isZero(b))) { return false; }
  let negative = (a.y >> 31u) != 0u;
  if (((a.y ^ b.y) >> 31u) != 0u) { return negative; }
  if (negative) { return wide_under(b, a); }
  return wide_under(a, b);
}

fn wide_add(a: Wide, b: Wide) -> Wide {
  var x = a; // the greater
  var y = b;
  if (wide_under(a, b)) {
    x = b;
    y = a;
  }
  let opposite = ((a.y ^ b.y) >> 31u) != 0u;
  if ((x.y & WIDE_MAGNITUDE) >= WIDE_INF) {
    if (opposite && (y.y & WIDE_MAGNITUDE) >= WIDE_INF) { return Wide(0u, 0x7ff80000u); }
    return x;
  }
  if (wide_isZero(y)) {
    if (wide_isZero(x)) { return Wide(0u, x.y & y.y); }
    return x;
  }
  let p = digits(x);
  let q = digits(y);
  let v = right(p.v, 1u); // has room for a carry, and is exact
  let u = right(q.v, u32(p.e - q.e) + 1u);
  if (!opposite) { return rounded(x.y & 0x80000000u, p.e + 1, plus(v, u)); }
  let rest = minus(v, u);
  if ((rest.x | rest.y) == 0u) { return Wide(0u, 0u); }
  return rounded(x.y & 0x80000000u, p.e + 1, rest);
}

fn wide_mul(a: Wide, b: Wide) -> Wide {
  let sign = (a.y ^ b.y) & 0x80000000u;
  var most = a;
  if (wide_under(a, b)) { most = b; }
  let nothing = wide_isZero(a) || wide_isZero(b);
  if ((most.y & WIDE_MAGNITUDE) >= WIDE_INF) {
    if (wide_isNaN(most) || nothing) { return Wide(0u, 0x7ff80000u); }
    return Wide(0u, sign | WIDE_INF);
  }
  if (nothing) { return Wide(0u, sign); }
  let p = digits(a);
  let q = digits(b);
  // 128 digits, the lower half as one bit.
  let low = product(p.v.x, q.v.x);
  let mid = plus(product(p.v.x, q.v.y), vec2<u32>(low.y, 0u));
  let more = plus(product(p.v.y, q.v.x), vec2<u32>(mid.x, 0u));
  var v = plus(plus(product(p.v.y, q.v.y), vec2<u32>(mid.y, 0u)), vec2<u32>(more.y, 0u));
  v.x |= select(0u, 1u, (low.x | more.x) != 0u);
  return rounded(sign, p.e + q.e - 1022, v);
// Functions: those that are built in may be off by 2⁻¹¹, and none is sure about NaN.
// The polynomials are minimax fits, as package simd has them.

// expOf is eˣ for x ≤ 0. What would be denormal is 0; NaN stays NaN.
//
// x = k·ln 2 + r with |r| ≤ ln2/2, eʳ = 1 + r + r²·P(r), error 4·10⁻⁹.
fn expOf(x: f32) -> f32 {
  let size = magnitude(bitcast<u32>(x));
  if (size > INF) { return x; }
  if (size > 0x42aea8f6u) { return 0.0; } // below −87.33
  let k = round(x * 1.44269502);
  var r = fma(k, -0.693359375, x); // 355/512, exact products
  r = fma(k, 2.12194440e-4, r);
  var p = fma(0.0013814599, r, 0.008368717);
  p = fma(p, r, 0.04166839);
  p = fma(p, r, 0.16666521);
  p = fma(p, r, 0.49999994);
  return (fma(r * r, p, r) + 1.0) * bitcast<f32>(u32(i32(k) + 127) << 23u);
}

// logNear is ln(1+f) for √½ ≤ 1+f < √2, with a small relative error for small f too.
//
// It is f − f²/2 + f³·P(f), error 4·10⁻⁸.
fn logNear(f: f32) -> f32 {
  var p = fma(0.08700448, f, -0.14267504);
  p = fma(p, f, 0.1491477);
  p = fma(p, f, -0.16577584);
  p = fma(p, f, 0.19963063);
  p = fma(p, f, -0.25001338);
  p = fma(p, f, 0.3333391);
  let ff = f * f;
  return f + fma(f * ff, p, ff * -0.5);
}

// logOf is ln u for normal, positive, finite u; anything else gives a number without
// meaning.
fn logOf(u: f32) -> f32 {
  let bits = bitcast<i32>(u);
  let k = (bits - 0x3f3504f3) >> 23u; // u = 2ᵏ·(1+f)
  return fma(f32(k), 0.693147182, logNear(bitcast<f32>(bits - (k << 23u)) - 1.0));
}

// log1pOf is ln(1+x) for x ≥ 0, with a small relative error for small x too, where
// nothing is rounded on the way: undoing the rounding of 1+x is what a compiler may
// undo. NaN and +Inf stay what they are.
fn log1pOf(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if (!isFinite(bits)) { return x; }
  if (bits < 0x3ed413cdu) { return logNear(x); } // √2 − 1
  return logOf(1.0 + x);
}

// tanhOf is tanh x; it is ±1 for ±Inf, and NaN stays NaN.
//
// x + x³·P(x²) for |x| < 0.625, error 10⁻⁸, else (1−t)/(1+t) with t = exp(−2|x|) and
// the sign of x.
fn tanhOf(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let size = magnitude(bits);
  if (size > INF) { return x; }
  if (size < 0x3f200000u) {
    let xx = x * x;
    var p = fma(-0.005704227, xx, 0.020638434);
    p = fma(p, xx, -0.053739525);
    p = fma(p, xx, 0.1333144);
    p = fma(p, xx, -0.3333328);
    return fma(xx * p, x, x);
  }
  var y = 1.0;
  if (size < 0x41200000u) { // from 10 on it rounds to 1
    let t = expOf(-2.0 * bitcast<f32>(size));
    y = (1.0 - t) / (1.0 + t);
  }
  return bitcast<f32>(bitcast<u32>(y) | (bits ^ size));
}

// order is a whole number that is larger for larger values; −0 and 0 have the same.
// Of NaN it is beyond that of +Inf or −Inf.
fn order(bits: u32) -> i32 {
  let size = i32(magnitude(bits));
  return select(size, -size, bits != u32(size));
}

// lifted is 2⁷⁴ times a value below 2⁵³: of a denormal one too.
fn lifted(bits: u32) -> f32 {
  let size = magnitude(bits);
  var v = bitcast<f32>(size) * 0x1p74f;
  if (size < 0x00800000u) { v = f32(size) * 0x1p-75f; }
  return bitcast<f32>(bitcast<u32>(v) | (bits ^ size));
}
