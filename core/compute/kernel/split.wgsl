@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n0)) { return; }
  let v = sum(i);
  let high = narrow(v);
  var low = 0u;
  if (isFinite(high)) { low = narrow(wide_add(v, wide_minus(wide(high)))); }
  words[args.b0 + i] = high;
  words[args.b1 + i] = low;
}
