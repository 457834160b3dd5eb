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

// sigmoidBCE has a gradient without cancellation where the target is 0 or 1.
fn sigmoidBCE(row: u32, n: u32, z: u32, dz: u32) {
  let t = args.b1 + row * n;
  var s = 0.0;
  for (var j = 0u; j < n; j++) {
    let x = at(z + j);
    let y = at(t + j);
    let e = expOf(bitcast<f32>(words[z + j] | 0x80000000u));
    let p = e / (1.0 + e);
    s += fma(-x, y, select(x, 0.0, x < 0.0)) + log1pOf(e);
    put(dz + j, select((1.0 - y) - p, p - y, x < 0.0));
  }
  put(args.b2 + row, s);
}

fn squared(row: u32, n: u32, z: u32, dz: u32) {
  let t = args.b1 + row * n;
  var s = 0.0;
  for (var j = 0u; j < n; j++) {
    let d = at(z + j) - at(t + j);
    s = fma(d, d, s);
    put(dz + j, d);
  }
  put(args.b2 + row, 0.5 * s);
}

// A row is one invocation's: rows are many, and short.
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
