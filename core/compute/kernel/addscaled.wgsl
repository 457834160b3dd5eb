@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i < u32(args.n0)) { set_sum(i, wide_add(sum(i), wide_mul(args.d0, wide(words[args.b0 + i])))); }
}
