// Four sums an invocation, by name: a loop takes as long as four invocations.
fn clear(i: u32) { if (i < u32(args.n0)) { set_sum(i, Wide(0u, 0u)); } }

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group(id) * 1024u + lane;
  clear(i);
  clear(i + 256u);
  clear(i + 512u);
  clear(i + 768u);
}
