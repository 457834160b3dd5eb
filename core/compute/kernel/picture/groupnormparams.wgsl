// A workgroup has sixteen channels, of one picture or of two, and four invocations
// share the positions of each.
var<workgroup> sums: array<vec2<f32>, 64>;
var<workgroup> lacks: array<bool, 64>; // a number

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let c = u32(args.n2); let groups = u32(args.n3);
  let n = group(id) * 16u + lane % 16u;
  let mine = n < u32(args.n0) * c;
  let i = n / c; let l = n % c;
  // From the statistics of one position to the next: all have the same, or each its own.
  let next = select(0u, 2u * groups, args.n4 == 1);
  let stats = args.b1 + i * select(2u * groups, next * t, next > 0u) + 2u * (l / (c / groups));
  let base = i * t * c + l;
  var s = vec2(0.0); var lost = false;
  for (var e = lane / 16u; e < select(0u, t, mine); e += 4u) {
    let mean = words[stats + e * next]; let r = words[stats + e * next + 1u];
    let d = bitcast<f32>(words[args.b2 + base + e * c]);
    s += vec2(d * ((bitcast<f32>(words[args.b0 + base + e * c]) - bitcast<f32>(mean)) * bitcast<f32>(r)), d);
    lost = lost || isNaN(mean) || isNaN(r);
  }
  sums[lane] = s;
  lacks[lane] = lost;
  workgroupBarrier();
  if (lane < 16u && mine) {
    s = (sums[lane] + sums[lane + 16u]) + (sums[lane + 32u] + sums[lane + 48u]);
    lost = lacks[lane] || lacks[lane + 16u] || lacks[lane + 32u] || lacks[lane + 48u];
    words[args.b3 + 2u * i * c + l] = select(bitcast<u32>(s.x), NAN, lost);
    words[args.b3 + (2u * i + 1u) * c + l] = bitcast<u32>(s.y);
  }
}
