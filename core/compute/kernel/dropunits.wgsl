@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  let n = u32(args.n1);
  if (i >= u32(args.n0) * n) { return; }
  let key = args.b0 + 2u * (i / n);
  var h = (u32(args.n2) + i % n) * 0x9e3779b1u + u32(values[key]);
  h = (h ^ (h >> 16u)) * 0x7feb352du;
  h = (h ^ (h >> 15u) ^ u32(values[key + 1u])) * 0x846ca68bu;
  h = h ^ (h >> 16u);
  let x = values[args.b1 + i];
  values[args.b2 + i] = select(args.f0 * x, 0.0, (h >> 8u) < u32(args.n3));
}
