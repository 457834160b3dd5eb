// Four values an invocation, by name, as in clear.
fn scale(i: u32) {
  if (i < u32(args.n0)) { values[args.b0 + i] *= args.f0; }
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group(id) * 1024u + lane;
  scale(i);
  scale(i + 256u);
  scale(i + 512u);
  scale(i + 768u);
}
