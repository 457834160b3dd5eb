@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  let n = u32(args.n1);
  if (i >= u32(args.n0) * n) { return; }
  words[args.b0 + i / n * u32(args.n3) + i % n] = words[args.b1 + i / n * u32(args.n2) + i % n];
}
