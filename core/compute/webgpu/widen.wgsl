//! widen n0/1024
// Sums of one block, in float32, where the low words are, become float64.
fn widened(i: u32) { if (i < u32(args.n0)) { set_sum(i, wide(words[args.sums + i])); } }

@compute @workgroup_size(256)
fn widen(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group(id) * 1024u + lane;
  widened(i);
  widened(i + 256u);
  widened(i + 512u);
  widened(i + 768u);
}
