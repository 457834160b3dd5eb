// Its products are ordered so that none overflows where the result does not.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n0)) { return; }
  let g = values[args.b0 + i];
  let m = fma(1.0 - args.f1, g, args.f1 * values[args.b1 + i]);
  let v = fma((1.0 - args.f2) * g, g, args.f2 * values[args.b2 + i] - (1.0 - args.f2) * args.f4);
  values[args.b1 + i] = m;
  values[args.b2 + i] = v;
  values[args.b3 + i] -= args.f0 * m / (sqrt(max(v, args.f5)) + args.f3);
}
