// A workgroup has one query. The products stand where the shares will, and are read by
// lanes that did not write them.
var<workgroup> tops: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let v = u32(args.n2); let heads = u32(args.n3); let d = u32(args.n4);
  let mine = group(id) < u32(args.n0) * heads * t;
  let width = d / heads;
  let i = group(id) / (heads * t); let h = group(id) / t % heads; let j = group(id) % t;
  let row = args.b1 + i * t * 3u * d + h * width;
  let p = args.b2 + group(id) * t;
  let scale = 1.0 / sqrt(f32(width));
  let count = select(0u, t, mine);
  // Of the products of tokens: their number, how many are not finite, and the greatest.
  var s = vec2(0.0); var most = -3.4e38;
  for (var k = lane; k < count; k += 64u) {
    if (token(words[args.b0 + i * t + k], v) == v) { continue; }
    var product = 0.0;
    for (var c = 0u; c < width; c++) {
      product = fma(bitcast<f32>(words[row + 3u * j * d + c]), bitcast<f32>(words[row + (3u * k + 1u) * d + c]), product);
    }
    product *= scale;
    words[p + k] = bitcast<u32>(product);
    let whole = isFinite(bitcast<u32>(product));
    s += vec2(1.0, select(1.0, 0.0, whole));
    most = max(most, select(most, product, whole));
  }
  s = totalOf(lane, s);
  tops[lane] = most;
  workgroupBarrier();
  for (var k = 0u; k < 64u; k++) { most = max(most, tops[k]); }
  let lost = s.y > 0.0;
  s = vec2(0.0);
  for (var k = lane; k < count; k += 64u) {
    let there = token(words[args.b0 + i * t + k], v) < v;
    let e = select(0.0, expOf(bitcast<f32>(select(0u, words[p + k], there && !lost)) - select(0.0, most, there && !lost)), there);
    words[p + k] = bitcast<u32>(e);
    s.x += e;
  }
  s = totalOf(lane, s);
  for (var k = lane; k < count; k += 64u) {
    let there = token(words[args.b0 + i * t + k], v) < v;
    words[p + k] = select(bitcast<u32>(bitcast<f32>(words[p + k]) / select(1.0, s.x, s.x > 0.0)), NAN, lost && there);
  }
  storageBarrier();
  for (var c = lane; c < select(0u, width, mine); c += 64u) {
    var y = 0.0;
    for (var k = 0u; k < t && !lost; k++) {
      let share = words[p + k];
      if (share != 0u) { y = fma(bitcast<f32>(share), bitcast<f32>(words[row + (3u * k + 2u) * d + c]), y); }
    }
    words[args.b3 + (i * t + j) * d + h * width + c] = select(bitcast<u32>(y), NAN, lost);
  }
}
