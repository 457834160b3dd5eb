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

// plus, left and right are of 64 bits, the lower word first, and shifts by at most 63.
// What right shifts out leaves its lowest bit set, so that no tie is made of what is
// none. A word is never shifted by 32 digits: one digit goes first. Selections stand for
// branches here, as where one invocation takes a branch its neighbours wait.
fn plus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn left(v: vec2<u32>, n: u32) -> vec2<u32> {
  let w = select(v, vec2<u32>(0u, v.x), n >= 32u);
  let m = n & 31u;
  return vec2<u32>(w.x << m, (w.y << m) | ((w.x >> 1u) >> (31u - m)));
}
fn right(v: vec2<u32>, n: u32) -> vec2<u32> {
  let far = n >= 32u;
  let w = select(v, vec2<u32>(v.y, 0u), far);
  let m = n & 31u;
  let lost = select(0u, v.x, far) | ((w.x << 1u) << (31u - m));
  return vec2<u32>((w.x >> m) | ((w.y << 1u) << (31u - m)) | select(0u, 1u, lost != 0u), w.y >> m);
}
fn zeros(v: vec2<u32>) -> u32 { return select(countLeadingZeros(v.y), 32u + countLeadingZeros(v.x), v.y == 0u); }

// product is a·b, from halves: there is no upper word of a product.
fn product(a: u32, b: u32) -> vec2<u32> {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let mid = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let more = (a & 0xffffu) * (b >> 16u) + (mid & 0xffffu);
  return vec2<u32>((more << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (mid >> 16u) + (more >> 16u));
}

// exponent and fixed are what a finite number is made of, fixed·2^(exponent−1086); the
// top bit of fixed is set but in denormal numbers.
fn exponent(a: Wide) -> u32 { return max((a.y & WIDE_MAGNITUDE) >> 20u, 1u); }
fn fixed(a: Wide) -> vec2<u32> {
  let leading = select(0u, 0x80000000u, (a.y & WIDE_INF) != 0u);
  return vec2<u32>(a.x << 11u, leading | ((a.y & 0xfffffu) << 11u) | (a.x >> 21u));
}

// Digits are the same with the top bit set, of numbers that are not 0.
struct Digits { e: i32, v: vec2<u32> }
fn digits(a: Wide) -> Digits {
  let v = fixed(a);
  let n = zeros(v);
  return Digits(i32(exponent(a)) - i32(n), left(v, n));
}

// rounded is the Wide nearest to v·2^(e−1086), where v has its top bit set, or e is 1.
fn rounded(sign: u32, e: u32, v: vec2<u32>) -> Wide {
  // The leading digit, where there is one, adds to the exponent, as a carry does.
  let r = vec2<u32>((v.x >> 11u) | (v.y << 21u), (v.y >> 11u) + ((e - 1u) << 20u));
  let rest = v.x & 0x7ffu;
  let up = rest > 0x400u || (rest == 0x400u && (r.x & 1u) != 0u);
  let near = plus(r, vec2<u32>(select(0u, 1u, up), 0u));
  return select(Wide(near.x, sign | near.y), Wide(0u, sign | WIDE_INF), e >= 2047u);
}

// wide is the float32 of these bits.
fn wide(bits: u32) -> Wide {
  let m = magnitude(bits);
  var high = (m >> 3u) + 0x38000000u;
  var low = m << 29u;
  if (m >= INF) { high |= WIDE_INF; }
  if (m < 0x00800000u) { // denormal, and float64 has room for a leading digit, or 0
    let n = countLeadingZeros(m);
    let v = (m << (n & 31u)) << 1u;
    high = select(((905u - n) << 20u) + (v >> 12u), 0u, m == 0u);
    low = v << 20u;
  }
  return Wide(low, (bits ^ m) | high);
}

// narrow is the bits of the float32 nearest to a.
fn narrow(a: Wide) -> u32 {
  let sign = a.y & 0x80000000u;
  let e = i32(exponent(a)) - 896;
  if (wide_isNaN(a)) { return sign | NAN; }
  if (e >= 255) { return sign | INF; }
  let v = fixed(a);
  // 32 digits will do, in the lower word.
  let w = right(vec2<u32>(v.y | select(0u, 1u, v.x != 0u), 0u), u32(clamp(1 - e, 0, 63))).x;
  let r = (w >> 8u) + (u32(max(e, 1) - 1) << 23u);
  let rest = w & 0xffu;
  let up = rest > 0x80u || (rest == 0x80u && (r & 1u) != 0u);
  return sign | (r + select(0u, 1u, up));
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

// wide_less is a < b, and false of NaN.
fn wide_less(a: Wide, b: Wide) -> bool {
  if (wide_isNaN(a) || wide_isNaN(b) || (wide_isZero(a) && wide_isZero(b))) { return false; }
  let negative = (a.y >> 31u) != 0u;
  if (((a.y ^ b.y) >> 31u) != 0u) { return negative; }
  if (negative) { return wide_under(b, a); }
  return wide_under(a, b);
}

fn wide_add(a: Wide, b: Wide) -> Wide {
  let swap = wide_under(a, b);
  let x = select(a, b, swap); // the greater
  let y = select(b, a, swap);
  let opposite = ((a.y ^ b.y) >> 31u) != 0u;
  let e = exponent(x);
  // One digit less: there is room for a carry, and the greater number has eleven to spare.
  let v = right(fixed(x), 1u);
  let u = right(fixed(y), min(e - exponent(y) + 1u, 63u));
  let s = plus(v, select(u, plus(~u, vec2<u32>(1u, 0u)), opposite));
  let n = min(zeros(s), e); // what is denormal stays so, and is exact
  let r = rounded(x.y & 0x80000000u, e + 1u - n, left(s, n & 63u));
  if (!wide_isFinite(x)) { return select(x, Wide(0u, 0x7ff80000u), opposite && !wide_isFinite(y)); }
  return select(r, Wide(0u, select(x.y & 0x80000000u, 0u, opposite)), (s.x | s.y) == 0u);
}

fn wide_mul(a: Wide, b: Wide) -> Wide {
  let sign = (a.y ^ b.y) & 0x80000000u;
  let most = select(a, b, wide_under(a, b));
  let nothing = wide_isZero(a) || wide_isZero(b);
  if (!wide_isFinite(most)) { return select(Wide(0u, sign | WIDE_INF), Wide(0u, 0x7ff80000u), nothing || wide_isNaN(most)); }
  if (nothing) { return Wide(0u, sign); }
  let p = digits(a);
  let q = digits(b);
  // 128 digits, the lower half as one bit.
  let low = product(p.v.x, q.v.x);
  let mid = plus(product(p.v.x, q.v.y), vec2<u32>(low.y, 0u));
  let more = plus(product(p.v.y, q.v.x), vec2<u32>(mid.x, 0u));
  var v = plus(plus(product(p.v.y, q.v.y), vec2<u32>(mid.y, 0u)), vec2<u32>(more.y, 0u));
  v.x |= select(0u, 1u, (low.x | more.x) != 0u);
  let n = 1u - (v.y >> 31u);
  let e = p.e + q.e - 1022 - i32(n);
  v = right(left(v, n), u32(clamp(1 - e, 0, 63)));
  return rounded(sign, u32(max(e, 1)), v);
}
