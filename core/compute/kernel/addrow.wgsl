// A workgroup has some columns of some rows, as dividing is slow.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = u32(args.n1); let l = 64u * id.y + lane;
  if (l >= n) { return; }
  let v = values[args.b0 + l];
  for (var i = id.x; i < u32(args.n0); i += args.across) { values[args.b1 + i * n + l] += v; }
}
