@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let start = 1024u * group(id);
  let end = min(start + 1024u, u32(args.n0));
  for (var i = start + lane; i < end; i += 64u) { words[args.b0 + i] = bitcast<u32>(args.f0); }
}
