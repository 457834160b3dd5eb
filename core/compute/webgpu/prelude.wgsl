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

fn times(x: Above, y: Above) -> Above {
  if (!isBounded(x) || !isBounded(y)) { return BOUNDLESS; }
  let p = product48(x.part, y.part);
  return above48(p.x, p.y, x.power + y.power);
}

fn squared(x: Above) -> Above { return times(x, x); }

fn plus(x: Above, y: Above) -> Above {
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
fn root(x: Above) -> Above {
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

// square adds that of the float with these bits to a sum; largest is not less.
fn square(sum: vec3<u32>, bits: u32, largest: Above) -> vec3<u32> {
  let x = aboveFloat(bits);
  if (x.part == 0u) { return sum; }
  let by = min(u32(largest.power - x.power), 24u);
  let s = down48(product48(x.part, x.part), 2u * by);
  let low = sum.z + s.y + u32(by > 0u);
  let high = sum.y + s.x + (low >> 24u);
  return vec3<u32>(sum.x + (high >> 24u), high & 0xffffffu, low & 0xffffffu);
}

// norm is the root of a sum, as a float's bits; largest has the bits of the largest
// magnitude, and NaN or an infinity there gives one.
fn norm(sum: vec3<u32>, largest: u32) -> u32 {
  if (largest >= INF) { return largest; }
  let power = 2 * aboveFloat(largest).power;
  let low = plus(aboveWhole(sum.z, power), aboveWhole(sum.y, power + 24));
  return bitsAbove(root(plus(low, aboveWhole(sum.x, power + 48))));
}

// writeNorm writes the norm of n values, worked out by so many lanes of a workgroup, of
// which others may work at another one in another place. Whole numbers add up to the same
// in any order.
fn writeNorm(to: u32, start: u32, n: u32, lane: u32, lanes: u32, place: u32) {
  workgroupBarrier(); // the last one has been read
  if (lane == 0u) {
    atomicStore(&largestOf[place], 0u);
    atomicStore(&highOf[place], 0u);
    atomicStore(&middleOf[place], 0u);
    atomicStore(&lowOf[place], 0u);
  }
  workgroupBarrier();
  var most = 0u;
  for (var j = lane; j < n; j += 4u * lanes) { // four values are on their way at once
    let v = four(start, j, lanes, n);
    most = max(most, max(max(v.x, v.y), max(v.z, v.w)));
  }
  atomicMax(&largestOf[place], most);
  workgroupBarrier();
  most = atomicLoad(&largestOf[place]);
  let largest = aboveFloat(most);
  var sum = vec3<u32>(0u, 0u, 0u);
  if (most < INF) {
    for (var j = lane; j < n; j += 4u * lanes) {
      let v = four(start, j, lanes, n);
      sum = square(square(square(square(sum, v.x, largest), v.y, largest), v.z, largest), v.w, largest);
    }
  }
  atomicAdd(&highOf[place], sum.x);
  atomicAdd(&middleOf[place], sum.y); // 256 times 24 digits fit
  atomicAdd(&lowOf[place], sum.z);
  workgroupBarrier();
  if (lane == 0u && n > 0u) {
    words[to] = norm(vec3<u32>(atomicLoad(&highOf[place]), atomicLoad(&middleOf[place]), atomicLoad(&lowOf[place])), most);
  }
}
var<workgroup> largestOf: array<atomic<u32>, 4>;
var<workgroup> highOf: array<atomic<u32>, 4>;
var<workgroup> middleOf: array<atomic<u32>, 4>;
var<workgroup> lowOf: array<atomic<u32>, 4>;

// four are the magnitudes of the values at j and each lanes further, 0 from n on.
fn four(start: u32, j: u32, lanes: u32, n: u32) -> vec4<u32> {
  let at = vec4<u32>(j, j + lanes, j + 2u * lanes, j + 3u * lanes);
  let p = start + min(at, vec4<u32>(n - 1u));
  let v = vec4<u32>(words[p.x], words[p.y], words[p.z], words[p.w]) & vec4<u32>(0x7fffffffu);
  return select(vec4<u32>(0u), v, at < vec4<u32>(n));
}
