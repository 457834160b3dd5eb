// Four values an invocation, by name, as in clear.
fn add(i: u32) {
  if (i < u32(args.n0)) { values[args.b1 + i] = fma(args.f0, values[args.b0 + i], values[args.b1 + i]); }
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group(id) * 1024u + lane;
  add(i);
  add(i + 256u);
  add(i + 512u);
  add(i + 768u);
}
