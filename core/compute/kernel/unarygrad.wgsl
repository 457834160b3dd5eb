//! main n1/256
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n1)) { return; }
  let y = words[args.b0 + i];
  let dy = words[args.b1 + i];
  var dx = 0u;
  if (args.n0 == 1) { // kernel.Tanh
    let v = bitcast<f32>(y);
    dx = bitcast<u32>(bitcast<f32>(dy) * (1.0 - v * v));
  } else if (y != 0u && y <= INF) {
    dx = dy;
  }
  words[args.b2 + i] = dx;
}
