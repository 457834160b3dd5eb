// Where n1 is 1, a multiple of another vector is added, and what follows is done.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n0)) { return; }
  var v = words[args.b1 + i];
  if (args.n1 == 1) { v = bitcast<u32>(fma(args.f0, number(args.b2 + i), bitcast<f32>(v))); }
  words[args.b0 + i] = v;
  if (args.f1 != 0.0) { words[args.b4 + i] = bitcast<u32>(rectified(bitcast<f32>(v))); }
}
