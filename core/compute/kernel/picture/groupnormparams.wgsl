// A workgroup has sixteen channels, of one picture or of two, and four invocations
// share the positions of each.
var<workgroup> sums: array<vec2<f32>, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let c = u32(args.n2); let groups = u32(args.n3);
  let n = group(id) * 16u + lane % 16u;
  let mine = n < u32(args.n0) * c;
  let i = n / c; let l = n % c;
  let stats = args.b1 + 2u * (i * groups + l / (c / groups));
  let mean = bitcast<f32>(words[stats]); let r = bitcast<f32>(words[stats + 1u]);
  let base = i * t * c + l;
  var s = vec2(0.0);
  for (var e = lane / 16u; e < select(0u, t, mine); e += 4u) {
    let d = bitcast<f32>(words[args.b2 + base + e * c]);
    s += vec2(d * ((bitcast<f32>(words[args.b0 + base + e * c]) - mean) * r), d);
  }
  sums[lane] = s;
  workgroupBarrier();
  if (lane < 16u && mine) {
    s = (sums[lane] + sums[lane + 16u]) + (sums[lane + 32u] + sums[lane + 48u]);
    let lacks = t > 0u && (isNaN(words[stats]) || isNaN(words[stats + 1u]));
    words[args.b3 + 2u * i * c + l] = select(bitcast<u32>(s.x), NAN, lacks);
    words[args.b3 + (2u * i + 1u) * c + l] = bitcast<u32>(s.y);
  }
}
