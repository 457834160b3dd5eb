// An invocation has one value of a row's mean.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let p = u32(args.n2); let v = u32(args.n3); let d = u32(args.n4); let over = u32(args.f0);
  let n = item(id, lane, 64u);
  if (n >= u32(args.n0) * d) { return; }
  let row = n / d;
  var s = 0.0; var count = 0u;
  for (var j = 0u; j < p; j++) {
    if (token(words[args.b0 + row * u32(args.n1) + j], v) == v || (over == 1u && count > 0u)) { continue; }
    s = select(s, 0.0, over == 2u) + bitcast<f32>(words[args.b1 + (row * p + j) * d + n % d]);
    count++;
  }
  words[args.b2 + n] = bitcast<u32>(s / f32(select(1u, max(count, 1u), over == 0u)));
}
