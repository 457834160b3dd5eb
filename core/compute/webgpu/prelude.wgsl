// What every kernel begins with. The words of all buffers are in one heap, as whole
// numbers or as floats: an entry point uses one of these views.

@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(0) var<storage, read_write> values: array<f32>;

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
  many: u32, // sums that there are
  d0: vec2<u32>, d1: vec2<u32>, d2: vec2<u32>, d3: vec2<u32>, d4: vec2<u32>, d5: vec2<u32>,
  more: array<vec4<u32>, 5>,
}
@group(0) @binding(1) var<uniform> args: Args;

// number is the float that a word is.
fn number(at: u32) -> f32 { return bitcast<f32>(words[at]); }

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

// token is the number of a token, of so many, or as many where there is none.
fn token(bits: u32, many: u32) -> u32 {
  let k = u32(select(0.0, bitcast<f32>(bits), isFinite(bits)));
  return select(many, k, k < many && (bits == bitcast<u32>(f32(k)) || magnitude(bits) == 0u));
}

// # Numbers of 53 digits
//
// A Wide is a float64, its low word first. Its arithmetic is IEEE 754's,
// to the nearest, ties to even, denormal numbers too, and of integers alone: WGSL has
// no float64, and pairs of float32 are only as good as what a compiler leaves of them.
alias Wide = vec2<u32>;

// The upper words of +Inf and of all that has no sign.
const WIDE_INF = 0x7ff00000u;
const WIDE_MAGNITUDE = 0x7fffffffu;

// sum and set_sum are the i-th of args.sums. The low words of all stand before the high
// ones, so that neighbours read and write next to each other.
fn sum(i: u32) -> Wide { return Wide(words[args.sums + i], words[args.sums + args.many + i]); }
fn set_sum(i: u32, v: Wide) {
  words[args.sums + i] = v.x;
  words[args.sums + args.many + i] = v.y;
}

// plus64, left64 and right64 are of 64 bits, the lower word first, and shifts by at most 63.
// What right64 shifts out leaves its lowest bit set, so that no tie is made of what is
// none. A word is never shifted by 32 digits: it is left out.
//
// Selections stand for branches here, as where one invocation takes a branch its neighbours
// wait; and products or sums for shifts to the left by what is known, as a program that
// takes a GPU's place may shift invocations one after the other.
fn plus64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn left64(v: vec2<u32>, n: u32) -> vec2<u32> {
  let w = select(v, vec2<u32>(0u, v.x), n >= 32u);
  let m = n & 31u;
  return vec2<u32>(w.x << m, (w.y << m) | select(w.x >> ((32u - m) & 31u), 0u, m == 0u));
}
fn right64(v: vec2<u32>, n: u32) -> vec2<u32> {
  let far = n >= 32u;
  let w = select(v, vec2<u32>(v.y, 0u), far);
  let m = n & 31u;
  let out = select(w << vec2((32u - m) & 31u), vec2<u32>(0u), m == 0u);
  let lost = select(0u, v.x, far) | out.x;
  return vec2<u32>((w.x >> m) | out.y | select(0u, 1u, lost != 0u), w.y >> m);
}

// zeros is how many leading digits are 0. Of 24 digits float32's exponent says it. (A
// built-in function would, too, and takes SwiftShader three times as long.)
fn zeros(v: vec2<u32>) -> u32 {
  let far = v.y == 0u;
  let w = select(v.y, v.x, far);
  let large = w >= 0x1000000u;
  let e = bitcast<u32>(f32(i32(select(w, w >> 8u, large)))) >> 23u;
  return select(min(158u - e, 32u), 150u - e, large) + select(0u, 32u, far);
}

// product64 is a·b, from halves: there is no upper word of a product.
fn product64(a: u32, b: u32) -> vec2<u32> {
  let p = a & 0xffffu; let q = b & 0xffffu;
  let high = a >> 16u; let up = b >> 16u;
  let low = p * q;
  let mid = high * q + (low >> 16u);
  let more = p * up + (mid & 0xffffu);
  return vec2<u32>((more * 0x10000u) | (low & 0xffffu), high * up + (mid >> 16u) + (more >> 16u));
}

// exponent and fixed are what a finite number is made of, fixed·2^(exponent−1086); the
// top bit of fixed is set but in denormal numbers.
fn exponent(a: Wide) -> u32 { return max((a.y & WIDE_MAGNITUDE) >> 20u, 1u); }
fn fixed(a: Wide) -> vec2<u32> {
  let leading = select(0u, 0x100000u, (a.y & WIDE_INF) != 0u);
  return vec2<u32>(a.x * 0x800u, ((a.y & 0xfffffu) | leading) * 0x800u + (a.x >> 21u));
}

// Digits are the same with the top bit set, of numbers that are not 0.
struct Digits { e: i32, v: vec2<u32> }
fn digits(a: Wide) -> Digits {
  let v = fixed(a);
  let n = zeros(v);
  return Digits(i32(exponent(a)) - i32(n), left64(v, n));
}

// rounded is the Wide nearest to v·2^(e−1086), where v has its top bit set, or e is 1.
fn rounded(sign: u32, e: u32, v: vec2<u32>) -> Wide {
  // The leading digit, where there is one, adds to the exponent, as a carry does.
  let r = vec2<u32>((v.x >> 11u) | (v.y * 0x200000u), (v.y >> 11u) + (e - 1u) * 0x100000u);
  let rest = v.x & 0x7ffu;
  let up = rest > 0x400u || (rest == 0x400u && (r.x & 1u) != 0u);
  let near = plus64(r, vec2<u32>(select(0u, 1u, up), 0u));
  return select(Wide(near.x, sign | near.y), Wide(0u, sign | WIDE_INF), e >= 2047u);
}

// wide is the float32 of these bits. A denormal one is so many times 2⁻¹⁴⁹, and float32
// has that number as one which is not.
fn wide(bits: u32) -> Wide {
  let m = magnitude(bits);
  let tiny = m < 0x00800000u;
  let n = select(m, bitcast<u32>(f32(i32(m))), tiny);
  let high = (n >> 3u) + select(0x38000000u, 0x2eb00000u, tiny);
  return Wide(n * 0x20000000u, (bits ^ m) | select(high | select(0u, WIDE_INF, m >= INF), 0u, m == 0u));
}

// narrow is the bits of the float32 nearest to a.
fn narrow(a: Wide) -> u32 {
  let sign = a.y & 0x80000000u;
  let e = i32(exponent(a)) - 896;
  let v = fixed(a);
  let w = v.y | select(0u, 1u, v.x != 0u); // 32 digits will do
  let less = u32(clamp(1 - e, 0, 31));
  let lost = less != 0u && (w << ((32u - less) & 31u)) != 0u;
  let d = (w >> less) | select(0u, 1u, lost);
  let r = (d >> 8u) + u32(max(e, 1) - 1) * 0x800000u;
  let rest = d & 0xffu;
  let near = r + select(0u, 1u, rest > 0x80u || (rest == 0x80u && (r & 1u) != 0u));
  return sign | select(select(near, INF, e >= 255), NAN, wide_isNaN(a));
}

fn wide_isNaN(a: Wide) -> bool {
  let m = a.y & WIDE_MAGNITUDE;
  return m > WIDE_INF || (m == WIDE_INF && a.x != 0u);
}
fn wide_isFinite(a: Wide) -> bool { return (a.y & WIDE_MAGNITUDE) < WIDE_INF; }
fn wide_isZero(a: Wide) -> bool { return ((a.y & WIDE_MAGNITUDE) | a.x) == 0u; }
fn wide_minus(a: Wide) -> Wide { return Wide(a.x, a.y ^ 0x80000000u); }

// wide_under is |a| < |b|, NaN being greatest.
fn wide_under(a: Wide, b: Wide) -> bool {
  let m = a.y & WIDE_MAGNITUDE;
  let n = b.y & WIDE_MAGNITUDE;
  return m < n || (m == n && a.x < b.x);
}

fn wide_add(a: Wide, b: Wide) -> Wide {
  let swap = wide_under(a, b);
  let x = select(a, b, swap); // the greater
  let y = select(b, a, swap);
  let opposite = i32(a.y ^ b.y) < 0;
  let e = exponent(x);
  // One digit less: there is room for a carry, and the greater number has eleven to spare.
  let v = right64(fixed(x), 1u);
  let u = right64(fixed(y), min(e - exponent(y) + 1u, 63u));
  let s = plus64(v, select(u, plus64(~u, vec2<u32>(1u, 0u)), opposite));
  let n = min(zeros(s), e); // what is denormal stays so, and is exact
  let r = rounded(x.y & 0x80000000u, e + 1u - n, left64(s, n & 63u));
  let sum = select(r, Wide(0u, select(x.y & 0x80000000u, 0u, opposite)), (s.x | s.y) == 0u);
  let endless = select(x, Wide(0u, 0x7ff80000u), opposite && !wide_isFinite(y));
  return select(endless, sum, wide_isFinite(x));
}

fn wide_mul(a: Wide, b: Wide) -> Wide {
  let sign = (a.y ^ b.y) & 0x80000000u;
  let most = select(a, b, wide_under(a, b));
  let nothing = wide_isZero(a) || wide_isZero(b);
  let p = digits(a);
  let q = digits(b);
  // 128 digits, the lower half as one bit.
  let low = product64(p.v.x, q.v.x);
  let mid = plus64(product64(p.v.x, q.v.y), vec2<u32>(low.y, 0u));
  let more = plus64(product64(p.v.y, q.v.x), vec2<u32>(mid.x, 0u));
  var v = plus64(plus64(product64(p.v.y, q.v.y), vec2<u32>(mid.y, 0u)), vec2<u32>(more.y, 0u));
  v.x |= select(0u, 1u, (low.x | more.x) != 0u);
  let n = 1u - (v.y >> 31u);
  let e = p.e + q.e - 1022 - i32(n);
  v = right64(select(v, plus64(v, v), n != 0u), u32(clamp(1 - e, 0, 63)));
  let r = rounded(sign, u32(max(e, 1)), v);
  let endless = select(Wide(0u, sign | WIDE_INF), Wide(0u, 0x7ff80000u), nothing || wide_isNaN(most));
  return select(endless, select(r, Wide(0u, sign), nothing), wide_isFinite(most));
}

// # What follows
//
// A program may do what the next call would with what it computes (shader.Folder's Joins): rectified is ReLU's
// value, and passed what goes back through one, by what it gave. Both go by bits, so that NaN stays.
const ADDS_BIAS = 1u;
const RECTIFIES = 2u;
const PASSES = 4u;
fn rectified(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  return bitcast<f32>(select(bits, 0u, bits > 0x80000000u && bits <= (0x80000000u | INF)));
}
fn passed(by: f32, x: f32) -> f32 {
  let bits = bitcast<u32>(by);
  return bitcast<f32>(select(0u, bitcast<u32>(x), bits != 0u && bits <= INF));
}

// # Functions
//
// Those that are built in may be off by 2⁻¹¹, and none is sure about NaN. The
// polynomials are minimax fits, as package simd has them.

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

// normalOf is the normal distribution Φ; NaN stays NaN.
//
// Φ(−a) = exp(−a²/2)·t·P(t) with t = 1/(1 + a/4) for a ≥ 0, relative error 7·10⁻⁸.
fn normalOf(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let size = magnitude(bits);
  if (size > INF) { return x; }
  let a = bitcast<f32>(min(size, 0x41600000u)); // from 14 on it rounds to 0 or 1
  let t = 1.0 / fma(a, 0.25, 1.0);
  var p = fma(0.026772473, t, -0.15800475);
  p = fma(p, t, 0.3070897);
  p = fma(p, t, -0.21864702);
  p = fma(p, t, 0.21090746);
  p = fma(p, t, 0.028895317);
  p = fma(p, t, 0.10482036);
  p = fma(p, t, 0.098359205);
  p = fma(p, t, 0.09980724);
  let tail = expOf(a * a * -0.5) * (p * t);
  return select(1.0 - tail, tail, bits != size);
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

// weighed is what a factor leaves of values: 0 of any where it is 0.
fn weighed(factor: u32, x: vec4<f32>) -> vec4<f32> {
  let size = magnitude(factor);
  var y = bitcast<f32>(factor) * x;
  if (size < 0x00800000u) { y = lifted(factor) * x * 0x1p-74f; } // it would count as 0, and is not
  return select(y, vec4(0.0), size == 0u);
}

// # Bounds
//
// What privacy stands on is worked out on whole numbers, as no device rounds those in
// another direction, takes them for 0 or believes that none is too large. An Above is
// part·2^power, its part 0 or of 24 digits; what is made of some is the least that is
// not below the true result, and so exact where that has 24 digits.
struct Above { part: u32, power: i32 }

// MOST and what is larger stand for what is not finite: also times 0.
const MOST = 0x10000;
const NOTHING = Above(0u, -MOST);
const ONE = Above(0x800000u, -23);
const BOUNDLESS = Above(0x800000u, 2 * MOST);

// aboveFloat is the magnitude of a float with these bits, aboveDouble of a float64's.
fn aboveFloat(bits: u32) -> Above {
  let a = magnitude(bits);
  if (a == 0u) { return NOTHING; }
  if (a >= INF) { return BOUNDLESS; }
  if (a < 0x800000u) { // denormal
    let up = countLeadingZeros(a) - 8u;
    return Above(a << up, -149 - i32(up));
  }
  return Above((a & 0x7fffffu) | 0x800000u, i32(a >> 23u) - 150);
}

fn aboveDouble(d: vec2<u32>) -> Above {
  let high = magnitude(d.y);
  if (high == 0u && d.x == 0u) { return NOTHING; }
  if (high >= 0x7ff00000u) { return BOUNDLESS; }
  let power = max(i32(high >> 20u), 1) - 1046; // denormals are less than this
  return above48(0x800000u | ((high & 0xfffffu) << 3u) | (d.x >> 29u), ((d.x & 0x1fffffffu) >> 5u) | u32((d.x & 0x1fu) != 0u), power - 24);
}

// aboveWhole is n·2^power.
fn aboveWhole(n: u32, power: i32) -> Above { return above48(n >> 24u, n & 0xffffffu, power); }

// above48 is (high·2²⁴ + low)·2^power, with low below 2²⁴ and high below 2²⁵.
fn above48(high: u32, low: u32, power: i32) -> Above {
  if (high >= 0x1000000u) { return above48of(high >> 1u, ((high & 1u) << 23u) | (low >> 1u) | (low & 1u), power + 1); }
  return above48of(high, low, power);
}

fn above48of(high: u32, low: u32, power: i32) -> Above {
  if ((high | low) == 0u) { return NOTHING; }
  var h = high; var l = low; var p = power + 24;
  if (h == 0u) { h = low; l = 0u; p = power; }
  let up = countLeadingZeros(h) - 8u;
  h = ((h << up) | (l >> (24u - up))) + u32(((l << up) & 0xffffffu) != 0u);
  p -= i32(up);
  if (h == 0x1000000u) { h = 0x800000u; p++; }
  if (p >= MOST) { return BOUNDLESS; }
  return Above(h, max(p, -MOST));
}

// product48 is x·y, both below 2²⁴, as high and low 24 digits.
fn product48(x: u32, y: u32) -> vec2<u32> {
  let x1 = x >> 12u; let x0 = x & 0xfffu;
  let y1 = y >> 12u; let y0 = y & 0xfffu;
  let low = x0 * y0;
  let middle = x1 * y0 + x0 * y1 + (low >> 12u);
  return vec2<u32>(x1 * y1 + (middle >> 12u), ((middle & 0xfffu) << 12u) | (low & 0xfffu));
}

// down48 is (high·2²⁴ + low)·2^−by without its fraction.
fn down48(x: vec2<u32>, by: u32) -> vec2<u32> {
  if (by >= 48u) { return vec2<u32>(0u, 0u); }
  if (by >= 24u) { return vec2<u32>(0u, x.x >> (by - 24u)); }
  return vec2<u32>(x.x >> by, (x.y >> by) | ((x.x << (24u - by)) & 0xffffffu));
}

fn isBounded(x: Above) -> bool { return x.power < MOST; }

// isBelow reports that x is less than y.
fn isBelow(x: Above, y: Above) -> bool {
  if (x.part == 0u || y.part == 0u) { return y.part != 0u && x.part == 0u; }
  return x.power < y.power || (x.power == y.power && x.part < y.part);
}

fn greater(x: Above, y: Above) -> Above {
  if (isBelow(x, y)) { return y; }
  return x;
}

fn lesser(x: Above, y: Above) -> Above {
  if (isBelow(y, x)) { return y; }
  return x;
}

fn productOf(x: Above, y: Above) -> Above {
  if (!isBounded(x) || !isBounded(y)) { return BOUNDLESS; }
  let p = product48(x.part, y.part);
  return above48(p.x, p.y, x.power + y.power);
}

fn squareOf(x: Above) -> Above { return productOf(x, x); }

fn sumOf(x: Above, y: Above) -> Above {
  if (!isBounded(x) || !isBounded(y)) { return BOUNDLESS; }
  var large = x; var small = y;
  if (isBelow(x, y)) { large = y; small = x; }
  if (small.part == 0u) { return large; }
  let by = u32(large.power - small.power);
  let s = down48(vec2<u32>(small.part, 0u), by);
  // What was cut off is at most one more of the lowest digit.
  let low = s.y + u32(by > 24u);
  return above48(large.part + s.x + (low >> 24u), low & 0xffffffu, large.power - 24);
}

// root is √x.
fn rootOf(x: Above) -> Above {
  if (x.part == 0u || !isBounded(x)) { return x; }
  // √(s·2^2p), with s of 47 or 48 digits.
  var s = vec2<u32>(x.part, 0u); var power = x.power - 24;
  if ((power & 1) != 0) { s = vec2<u32>(x.part >> 1u, (x.part & 1u) << 23u); power++; }
  var r = 0u; // the greatest whose square is below s
  for (var digit = 0x800000u; digit != 0u; digit >>= 1u) {
    let t = r | digit;
    let p = product48(t, t);
    if (p.x < s.x || (p.x == s.x && p.y < s.y)) { r = t; }
  }
  return aboveWhole(r + 1u, power / 2);
}

// quotientBelow alone is the greatest that is not above x/y.
fn quotientBelow(x: Above, y: Above) -> Above {
  if (x.part == 0u || !isBounded(y)) { return NOTHING; }
  if (y.part == 0u || !isBounded(x)) { return BOUNDLESS; }
  var q = 0u; var rest = x.part;
  for (var digit = 0; digit < 25; digit++) {
    q <<= 1u;
    if (rest >= y.part) { rest -= y.part; q |= 1u; }
    rest <<= 1u;
  }
  let more = q >> 24u;
  return Above(q >> more, x.power - y.power - 24 + i32(more));
}

// bitsAbove are those of the least float that is not below x.
fn bitsAbove(x: Above) -> u32 {
  if (x.part == 0u) { return 0u; }
  let exponent = x.power + 150;
  if (exponent >= 255) { return INF; }
  if (exponent >= 1) { return (u32(exponent) << 23u) + (x.part - 0x800000u); }
  let by = u32(min(1 - exponent, 24));
  return (x.part + (1u << by) - 1u) >> by;
}

// The sum of squares of which a norm is the root is exact but for what lies 2⁴⁸ times
// below the largest one. It is in parts of its square, of 24 digits, the last lowest.

// withSquare adds that of the float with these bits to a sum; largest is not less.
fn withSquare(sum: vec3<u32>, bits: u32, largest: Above) -> vec3<u32> {
  let x = aboveFloat(bits);
  if (x.part == 0u) { return sum; }
  let by = min(u32(largest.power - x.power), 24u);
  let s = down48(product48(x.part, x.part), 2u * by);
  let low = sum.z + s.y + u32(by > 0u);
  let high = sum.y + s.x + (low >> 24u);
  return vec3<u32>(sum.x + (high >> 24u), high & 0xffffffu, low & 0xffffffu);
}

// withSquares adds those of four that have no signs; top is the exponent of the largest as
// it has it, at least PLAIN. What is denormal then only counts as what was cut off.
const PLAIN = 25u;
fn withSquares(sum: vec3<u32>, bits: vec4<u32>, top: u32) -> vec3<u32> {
  let e = max(bits >> vec4(23u), vec4(1u));
  let x = (bits & vec4(0x7fffffu)) | select(vec4(0u), vec4(0x800000u), bits >= vec4(0x800000u));
  let by = 2u * min(vec4(top) - e, vec4(24u));
  let x1 = x >> vec4(12u); let x0 = x & vec4(0xfffu);
  let last = x0 * x0;
  let middle = 2u * x1 * x0 + (last >> vec4(12u));
  let h = x1 * x1 + (middle >> vec4(12u));
  let l = ((middle & vec4(0xfffu)) << vec4(12u)) | (last & vec4(0xfffu));
  let far = by >= vec4(24u);
  let high = select(h >> by, vec4(0u), far);
  let low = select((l >> by) | ((h << (24u - by)) & vec4(0xffffffu)), h >> (by - 24u), far)
    + select(vec4(0u), vec4(1u), (by > vec4(0u)) & (bits > vec4(0u)));
  let z = sum.z + low.x + low.y + low.z + low.w;
  let y = sum.y + high.x + high.y + high.z + high.w + (z >> 24u);
  return vec3<u32>(sum.x + (y >> 24u), y & 0xffffffu, z & 0xffffffu);
}

// normOf is the root of a sum, as a float's bits; largest has the bits of the largest
// magnitude, and NaN or an infinity there gives one.
fn normOf(sum: vec3<u32>, largest: u32) -> u32 { return joinedNormOf(sum, largest, NOTHING); }

// joinedNormOf is the same with a square more in the sum.
fn joinedNormOf(sum: vec3<u32>, largest: u32, more: Above) -> u32 {
  if (largest >= INF) { return largest; }
  let power = 2 * aboveFloat(largest).power;
  let low = sumOf(aboveWhole(sum.z, power), aboveWhole(sum.y, power + 24));
  return bitsAbove(rootOf(sumOf(sumOf(low, aboveWhole(sum.x, power + 48)), more)));
}

// mostOf is the greatest magnitude among every lanes-th of n values from that of a lane.
fn mostOf(start: u32, n: u32, lane: u32, lanes: u32) -> u32 {
  var most = 0u;
  for (var j = lane; j < n; j += 4u * lanes) { // four values are on their way at once
    let v = fourMagnitudes(start, j, lanes, n);
    most = max(most, max(max(v.x, v.y), max(v.z, v.w)));
  }
  return most;
}

// squaresOf is the sum of squares of the same; most is the greatest magnitude of all n.
fn squaresOf(start: u32, n: u32, lane: u32, lanes: u32, most: u32) -> vec3<u32> {
  let top = most >> 23u;
  var sum = vec3<u32>(0u, 0u, 0u);
  for (var j = lane; j < select(0u, n, top >= PLAIN && most < INF); j += 4u * lanes) {
    sum = withSquares(sum, fourMagnitudes(start, j, lanes, n), top);
  }
  for (var j = lane; j < select(0u, n, top < PLAIN); j += lanes) { sum = withSquare(sum, words[start + j], aboveFloat(most)); }
  return sum;
}

// fourMagnitudes are those of the values at j and each lanes further, 0 from n on.
fn fourMagnitudes(start: u32, j: u32, lanes: u32, n: u32) -> vec4<u32> {
  let at = vec4<u32>(j, j + lanes, j + 2u * lanes, j + 3u * lanes);
  let p = start + min(at, vec4<u32>(n - 1u));
  let v = vec4<u32>(words[p.x], words[p.y], words[p.z], words[p.w]) & vec4<u32>(0x7fffffffu);
  return select(vec4<u32>(0u), v, at < vec4<u32>(n));
}

// # Pictures

// places is how many places a window takes along one side.
fn places(n: i32, size: i32, stride: i32, pad: i32) -> i32 {
  return select(0, (n + 2 * pad - size) / stride + 1, n + 2 * pad >= size);
}

// Step is a value of a window without padding: how far from the first it stands, and its
// column; nextStep is the next one, or the last again.
struct Step { at: u32, column: u32 }
fn nextStep(s: Step) -> Step {
  let c = u32(args.n3); let width = u32(args.n2); let wide = u32(args.f1);
  let wraps = s.column + 1u == wide;
  let at = s.at + select(c, (width - wide + 1u) * c, wraps);
  return Step(min(at, ((u32(args.f0) - 1u) * width + wide - 1u) * c), select(s.column + 1u, 0u, wraps));
}

fn fourAt(at: u32) -> vec4<f32> { return vec4(values[at], values[at + 1u], values[at + 2u], values[at + 3u]); }

// putFour stores those of four values that are not beyond the last.
fn putFour(at: u32, left: i32, v: vec4<f32>) {
  if (left > 0) { values[at] = v.x; }
  if (left > 1) { values[at + 1u] = v.y; }
  if (left > 2) { values[at + 2u] = v.z; }
  if (left > 3) { values[at + 3u] = v.w; }
}

var<workgroup> lanes: array<vec2<f32>, 64>;
var<workgroup> eighths: array<vec2<f32>, 8>;

// totalOf is the sum over 64 lanes, in each.
fn totalOf(lane: u32, v: vec2<f32>) -> vec2<f32> {
  lanes[lane] = v;
  workgroupBarrier();
  if (lane < 8u) {
    eighths[lane] = ((lanes[lane] + lanes[lane + 8u]) + (lanes[lane + 16u] + lanes[lane + 24u]))
      + ((lanes[lane + 32u] + lanes[lane + 40u]) + (lanes[lane + 48u] + lanes[lane + 56u]));
  }
  workgroupBarrier(); // after which nobody reads lanes
  return ((eighths[0] + eighths[1]) + (eighths[2] + eighths[3])) + ((eighths[4] + eighths[5]) + (eighths[6] + eighths[7]));
}
