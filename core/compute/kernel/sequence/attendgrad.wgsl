// A workgroup has one place of one head: as a query of all places, and as a key and value for
// all queries, 64 at a time.
var<workgroup> by: array<f32, 64>;
var<workgroup> shares: array<f32, 64>;

// pull is the product of a gradient dy [d] with how far a value is from what was seen, y.
fn pull(dy: u32, value: u32, y: u32, width: u32) -> f32 {
  var a = 0.0; var b = 0.0;
  for (var c = 0u; c < width; c++) {
    let g = bitcast<f32>(words[dy + c]);
    a = fma(g, bitcast<f32>(words[value + c]), a);
    b = fma(g, bitcast<f32>(words[y + c]), b);
  }
  return a - b;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let heads = u32(args.n2); let d = u32(args.n3);
  let mine = group(id) < u32(args.n0) * heads * t;
  let width = d / heads;
  let i = group(id) / (heads * t); let h = group(id) / t % heads; let j = group(id) % t;
  let at = i * t * d + h * width; // of the first place in what has d values a place, and row of what has 3d
  let row = i * t * 3u * d + h * width;
  let scale = 1.0 / sqrt(f32(width));
  let p = args.b1 + (i * heads + h) * t * t;
  let count = select(0u, t, mine);
  for (var first = 0u; first < width; first += 64u) {
    let c = first + lane;
    var query = 0.0; var key = 0.0; var value = 0.0;
    for (var k0 = 0u; k0 < t; k0 += 64u) {
      let k = k0 + lane;
      var share = 0u;
      if (k < count) { share = words[p + j * t + k]; }
      by[lane] = 0.0;
      if (share != 0u) {
        by[lane] = bitcast<f32>(share) * pull(args.b3 + at + j * d, args.b0 + row + (3u * k + 2u) * d, args.b2 + at + j * d, width) * scale;
      }
      shares[lane] = bitcast<f32>(share);
      workgroupBarrier();
      for (var l = 0u; l < min(64u, t - k0) && c < width && mine; l++) {
        if (bitcast<u32>(shares[l]) != 0u) { query = fma(by[l], bitcast<f32>(words[args.b0 + row + (3u * (k0 + l) + 1u) * d + c]), query); }
      }
      workgroupBarrier();
      share = 0u;
      if (k < count) { share = words[p + k * t + j]; }
      by[lane] = 0.0;
      if (share != 0u) {
        by[lane] = bitcast<f32>(share) * pull(args.b3 + at + k * d, args.b0 + row + (3u * j + 2u) * d, args.b2 + at + k * d, width) * scale;
      }
      shares[lane] = bitcast<f32>(share);
      workgroupBarrier();
      for (var l = 0u; l < min(64u, t - k0) && c < width && mine; l++) {
        if (bitcast<u32>(shares[l]) != 0u) {
          key = fma(by[l], bitcast<f32>(words[args.b0 + row + 3u * (k0 + l) * d + c]), key);
          value = fma(shares[l], bitcast<f32>(words[args.b3 + at + (k0 + l) * d + c]), value);
        }
      }
      workgroupBarrier();
    }
    if (c < width && mine) {
      words[args.b4 + row + 3u * j * d + c] = bitcast<u32>(query);
      words[args.b4 + row + (3u * j + 1u) * d + c] = bitcast<u32>(key);
      words[args.b4 + row + (3u * j + 2u) * d + c] = bitcast<u32>(value);
    }
  }
}
