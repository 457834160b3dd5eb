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
