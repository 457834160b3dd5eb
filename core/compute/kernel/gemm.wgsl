//! main n3/16 n2/16
// The slow, obvious one.
@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let m = u32(args.n2); let n = u32(args.n3); let k = u32(args.n4);
  let i = id.y; let j = id.x;
  if (i >= m || j >= n) { return; }
  var ai = k; var al = 1u;
  if (args.n0 != 0) { ai = 1u; al = m; }
  var bl = n; var bj = 1u;
  if (args.n1 != 0) { bl = 1u; bj = k; }
  var s = 0.0;
  for (var l = 0u; l < k; l++) { s = fma(values[args.b0 + i * ai + l * al], values[args.b1 + l * bl + j * bj], s); }
  let to = args.b2 + i * n + j;
  if (args.f0 != 0.0) { s = fma(args.f0, values[to], s); }
  values[to] = s;
}
