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
