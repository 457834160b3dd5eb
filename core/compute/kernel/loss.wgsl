const SOFTMAX = 0;
const SIGMOID = 1;

fn at(i: u32) -> f32 { return bitcast<f32>(words[i]); }
fn put(i: u32, v: f32) { words[i] = bitcast<u32>(v); }

// softmaxCE keeps the term of the largest logit, which is 1, apart from the sum s of
// the others, as the reference does: loss and gradient of a row that is nearly certain
// would drown in it. The gradient may take the place of the logits.
fn softmaxCE(row: u32, n: u32, z: u32, dz: u32) {
  let label = words[args.b1 + row];
  let right = u32(select(0.0, bitcast<f32>(label), isFinite(label)));
  var ok = right < n && order(label) == order(bitcast<u32>(f32(right)));
  var top = 0u;
  var most = order(words[z]);
  for (var j = 0u; j < n; j++) {
    let v = words[z + j];
    ok = ok && v != INF && !isNaN(v);
    if (order(v) > most) {
      top = j;
      most = order(v);
    }
  }
  if (!ok || !isFinite(words[z + top])) {
    words[args.b2 + row] = NAN;
    for (var j = 0u; j < n; j++) { words[dz + j] = NAN; }
    return;
  }
  let peak = at(z + top);
  let off = peak - at(z + right);
  var s = 0.0;
  for (var j = 0u; j < n; j++) {
    let e = select(expOf(at(z + j) - peak), 0.0, j == top);
    s += e;
    put(dz + j, e);
  }
  let r = 1.0 / (1.0 + s);
  for (var j = 0u; j < n; j++) {
    var p = select(at(dz + j) * r, r, j == top);
    if (j == right) { p = select(p - 1.0, -s * r, j == top); }
    put(dz + j, p);
  }
  put(args.b2 + row, off + log1pOf(s));
}

// sigmoidAt has a gradient without cancellation where the target is 0 or 1.
fn sigmoidAt(z: u32, t: u32, dz: u32) -> f32 {
  let x = at(z);
  let y = at(t);
  let e = expOf(bitcast<f32>(words[z] | 0x80000000u));
  let p = e / (1.0 + e);
  put(dz, select((1.0 - y) - p, p - y, x < 0.0));
  return fma(-x, y, select(x, 0.0, x < 0.0)) + log1pOf(e);
}

// squaredAt is twice the loss.
fn squaredAt(z: u32, t: u32, dz: u32) -> f32 {
  let d = at(z) - at(t);
  put(dz, d);
  return d * d;
}

fn sigmoidBCE(row: u32, n: u32, z: u32, dz: u32) {
  var s = 0.0;
  for (var j = 0u; j < n; j++) { s += sigmoidAt(z + j, args.b1 + row * n + j, dz + j); }
  put(args.b2 + row, s);
}

fn squared(row: u32, n: u32, z: u32, dz: u32) {
  var s = 0.0;
  for (var j = 0u; j < n; j++) { s += squaredAt(z + j, args.b1 + row * n + j, dz + j); }
  put(args.b2 + row, 0.5 * s);
}

// Broad rows have a workgroup, each lane of which has every 64th value. What is not finite, or no label, makes a row
// lost: lanes then go on with what they have, as all have to come to each barrier.
const LANES = 64u;

// Top is the greatest value, as order has it, and the first place where it stands.
struct Top { value: i32, place: u32 }
var<workgroup> tops: array<Top, LANES>;

fn topOf(lane: u32, mine: Top) -> Top {
  tops[lane] = mine;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      let a = tops[lane]; let b = tops[lane + half];
      if (b.value > a.value || (b.value == a.value && b.place < a.place)) { tops[lane] = b; }
    }
    workgroupBarrier();
  }
  return tops[0];
}

fn broadSoftmaxCE(row: u32, n: u32, z: u32, dz: u32, lane: u32) {
  let label = words[args.b1 + row];
  let right = u32(select(0.0, bitcast<f32>(label), isFinite(label)));
  var mine = Top(-0x7fffffff, 0u); var bad = 0.0;
  for (var j = lane; j < n; j += LANES) {
    let v = words[z + j];
    bad += select(0.0, 1.0, v == INF || isNaN(v));
    if (order(v) > mine.value) { mine = Top(order(v), j); }
  }
  let top = topOf(lane, mine).place;
  let sound = totalOf(lane, vec2(bad, 0.0)).x == 0.0 && right < n && order(label) == order(bitcast<u32>(f32(right)));
  let lost = !sound || !isFinite(words[z + top]);
  let peak = at(z + top);
  let off = peak - at(z + min(right, n - 1u));
  storageBarrier(); // the gradient may take the place of the logits
  var s = 0.0;
  for (var j = lane; j < n; j += LANES) {
    let e = select(expOf(at(z + j) - peak), 0.0, j == top);
    s += e;
    put(dz + j, e);
  }
  s = totalOf(lane, vec2(s, 0.0)).x;
  let r = 1.0 / (1.0 + s);
  for (var j = lane; j < n; j += LANES) {
    var p = select(at(dz + j) * r, r, j == top);
    if (j == right) { p = select(p - 1.0, -s * r, j == top); }
    words[dz + j] = select(bitcast<u32>(p), NAN, lost);
  }
  if (lane == 0u) { words[args.b2 + row] = select(bitcast<u32>(off + log1pOf(s)), NAN, lost); }
}

@compute @workgroup_size(64)
fn broad(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = group(id); let n = u32(args.n2);
  if (row >= u32(args.n1)) { return; }
  let z = args.b0 + row * n;
  let dz = args.b3 + row * n;
  if (args.n0 == SOFTMAX) {
    broadSoftmaxCE(row, n, z, dz, lane);
    return;
  }
  var s = 0.0;
  for (var j = lane; j < n; j += LANES) {
    if (args.n0 == SIGMOID) { s += sigmoidAt(z + j, args.b1 + row * n + j, dz + j); }
    else { s += squaredAt(z + j, args.b1 + row * n + j, dz + j); }
  }
  s = totalOf(lane, vec2(s, 0.0)).x;
  if (lane == 0u) { put(args.b2 + row, select(0.5 * s, s, args.n0 == SIGMOID)); }
}

// Other rows are an invocation's: they are many, and short.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = item(id, lane, 64u);
  if (row >= u32(args.n1)) { return; }
  let n = u32(args.n2);
  let z = args.b0 + row * n;
  let dz = args.b3 + row * n;
  if (args.n0 == SOFTMAX) { softmaxCE(row, n, z, dz); }
  else if (args.n0 == SIGMOID) { sigmoidBCE(row, n, z, dz); }
  else { squared(row, n, z, dz); }
}
