@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n0)) { return; }
  let b = words[args.b1 + i];
  let square = bitcast<f32>(b) * bitcast<f32>(b);
  let size = magnitude(bitcast<u32>(square));
  // What a division by 0 or ±Inf gives is not said.
  var inv = bitcast<u32>(1.0 / square);
  if (isNaN(b)) { inv = NAN; }
  else if (size >= INF) { inv = 0u; }
  else if (size < 0x00800000u) { inv = INF; }
  words[args.b2 + i] = inv;
  words[args.b3 + i] = bitcast<u32>(bitcast<f32>(words[args.b0 + i]) * bitcast<f32>(inv));
}
