// A workgroup has one group of one picture. Sums are in float32, in the same order
// for every picture; as they are of how far values are from what is near the mean, a
// great mean takes nothing from the variance.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let c = u32(args.n2); let groups = u32(args.n3);
  let n = c / groups; let count = select(0u, t * n, group(id) < u32(args.n0) * groups);
  let i = group(id) / groups; let g = group(id) % groups;
  let base = i * t * c + g * n;
  let size = f32(max(count, 1u));
  // From one value of a lane to its next: so far within the group, and in the picture.
  let over = 64u % n; let step = 64u / n * c + over;
  let at0 = base + lane / n * c + lane % n;
  // The first value is about where the others are. Of those that are not finite, the
  // sum says how many there are.
  let first = words[args.b0 + base];
  let about = select(0.0, bitcast<f32>(first), isFinite(first) && count > 0u);
  var s = vec2(0.0);
  var at = at0; var l = lane % n;
  for (var e = lane; e < count; e += 64u) {
    let v = words[args.b0 + at];
    s += vec2(bitcast<f32>(v) - about, select(1.0, 0.0, isFinite(v)));
    at += step; l += over;
    if (l >= n) { l -= n; at += c - n; }
  }
  s = totalOf(lane, s);
  let near = about + s.x / size;
  // An infinite value takes the mean with it, and leaves nothing that is a number.
  let whole = s.y == 0.0 && isFinite(bitcast<u32>(near));
  s = vec2(0.0);
  at = at0; l = lane % n;
  for (var e = lane; e < count; e += 64u) {
    let d = bitcast<f32>(words[args.b0 + at]) - near;
    s += vec2(d, d * d);
    at += step; l += over;
    if (l >= n) { l -= n; at += c - n; }
  }
  s = totalOf(lane, s) / size;
  let mean = select(near, near + s.x, whole);
  let variance = fma(-s.x, s.x, s.y);
  let r = 1.0 / sqrt(select(variance, 0.0, variance < 0.0) + args.f0);
  if (lane == 0u && group(id) < u32(args.n0) * groups) {
    words[args.b2 + 2u * group(id)] = bitcast<u32>(mean);
    words[args.b2 + 2u * group(id) + 1u] = select(NAN, bitcast<u32>(r), whole);
  }
  let channel = g * n;
  at = at0; l = lane % n;
  for (var e = lane; e < count; e += 64u) {
    let h = (bitcast<f32>(words[args.b0 + at]) - mean) * r;
    let y = fma(bitcast<f32>(words[args.b1 + channel + l]), h, bitcast<f32>(words[args.b1 + c + channel + l]));
    let bits = select(NAN, bitcast<u32>(y), whole);
    words[args.b3 + at] = bits;
    if (args.f1 != 0.0) { words[args.b4 + at] = bitcast<u32>(rectified(bitcast<f32>(bits))); }
    at += step; l += over;
    if (l >= n) { l -= n; at += c - n; }
  }
}
