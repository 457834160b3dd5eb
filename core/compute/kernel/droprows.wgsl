// A row is 16 invocations'.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = 4u * group(id) + lane / 16u; let n = u32(args.n1);
  if (i >= u32(args.n0)) { return; }
  let drop = magnitude(words[args.b0 + i]) == 0u;
  for (var l = lane % 16u; l < select(0u, n, drop); l += 16u) { words[args.b1 + i * n + l] = 0u; }
}
