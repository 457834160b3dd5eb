// An invocation has one product of two examples.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let t = u32(args.n1); let v = u32(args.n2); let d = u32(args.n3);
  let n = item(id, lane, 64u);
  if (n >= m * m) { return; }
  let first = n / m * t; let second = n % m * t;
  var s = bitcast<f32>(words[args.b2 + n]);
  for (var j = first; j < first + t; j++) {
    let own = token(words[args.b0 + j], v);
    if (own >= v) { continue; }
    for (var l = second; l < second + t; l++) {
      if (token(words[args.b0 + l], v) != own) { continue; }
      for (var c = 0u; c < d; c++) { s += bitcast<f32>(words[args.b1 + j * d + c]) * bitcast<f32>(words[args.b1 + l * d + c]); }
    }
  }
  words[args.b2 + n] = bitcast<u32>(s);
}
