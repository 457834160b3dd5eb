// A workgroup has one group of one picture.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let c = u32(args.n2); let groups = u32(args.n3);
  let n = c / groups; let count = select(0u, t * n, group(id) < u32(args.n0) * groups);
  let i = group(id) / groups; let g = group(id) % groups;
  // From one value of a lane to its next: so far within the group, and in the picture.
  let over = 64u % n; let step = 64u / n * c + over;
  let at0 = i * t * c + g * n + lane / n * c + lane % n;
  let channel = args.b1 + g * n;
  let stats = args.b2 + 2u * group(id);
  let mean = bitcast<f32>(words[stats]); let r = bitcast<f32>(words[stats + 1u]);
  var s = vec2(0.0);
  var at = at0; var l = lane % n;
  for (var e = lane; e < count; e += 64u) {
    let h = (bitcast<f32>(words[args.b0 + at]) - mean) * r;
    let u = bitcast<f32>(words[args.b3 + at]) * bitcast<f32>(words[channel + l]);
    s += vec2(u, u * h);
    at += step; l += over;
    if (l >= n) { l -= n; at += c - n; }
  }
  s = totalOf(lane, s) / f32(max(count, 1u));
  let lacks = isNaN(words[stats]) || isNaN(words[stats + 1u]);
  at = at0; l = lane % n;
  for (var e = lane; e < count; e += 64u) {
    let h = (bitcast<f32>(words[args.b0 + at]) - mean) * r;
    let u = bitcast<f32>(words[args.b3 + at]) * bitcast<f32>(words[channel + l]);
    words[args.b4 + at] = select(bitcast<u32>(r * fma(-h, s.y, u - s.x)), NAN, lacks);
    at += step; l += over;
    if (l >= n) { l -= n; at += c - n; }
  }
}
