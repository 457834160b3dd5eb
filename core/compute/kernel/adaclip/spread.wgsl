@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n0)) { return; }
  let size = words[args.b0];
  let g = words[args.b1 + i];
  let m = words[args.b2 + i];
  let r = words[args.b3 + i];
  // In float64 v is finite just where all it is made of is.
  if (!isFinite(size) || !isFinite(g) || !isFinite(m) || !isFinite(r)) { return; }
  let all = bitcast<f32>(size);
  let own = args.f3 * all * all;
  let s = bitcast<f32>(r) * bitcast<f32>(r);
  let dev = bitcast<f32>(g) - bitcast<f32>(m);
  let v = args.f2 * (dev * dev - own * s);
  if (!isFinite(bitcast<u32>(v))) { return; }
  let fresh = min(max(v, args.f4), args.f5);
  words[args.b3 + i] = bitcast<u32>(sqrt(sqrt(fma(1.0 - args.f1, fresh, args.f1 * (s * s)))));
  words[args.b2 + i] = bitcast<u32>(fma(1.0 - args.f0, bitcast<f32>(g), args.f0 * bitcast<f32>(m)));
}
