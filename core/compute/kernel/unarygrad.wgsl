@compute @workgroup_size(256)
fn relu(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n1)) { return; }
  let y = words[args.b0 + i];
  words[args.b2 + i] = select(0u, words[args.b1 + i], y != 0u && y <= INF);
}

@compute @workgroup_size(256)
fn tangent(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n1)) { return; }
  let v = values[args.b0 + i];
  values[args.b2 + i] = values[args.b1 + i] * (1.0 - v * v);
}

@compute @workgroup_size(256)
fn gelu(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n1)) { return; }
  let bits = words[args.b0 + i];
  let x = bitcast<f32>(bits);
  let a = min(abs(x), 14.0); // beyond it nothing is left of the density
  let slope = fma(x, expOf(a * a * -0.5) * 0.3989423, normalOf(x)); // 1/√(2π)
  let dx = bitcast<u32>(slope * bitcast<f32>(words[args.b1 + i]));
  words[args.b2 + i] = select(NAN, dx, isFinite(bits));
}
