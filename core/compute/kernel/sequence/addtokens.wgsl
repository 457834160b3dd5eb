// A workgroup has a column of the table, and an invocation of it the tokens that leave its number
// when divided by OWNERS: it looks at all places, in their order, and nobody else adds where it
// does.
const OWNERS = 64u;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let v = u32(args.n2); let d = u32(args.n3);
  let column = group(id);
  if (column >= d) { return; }
  let most = bitcast<u32>(args.f0);
  for (var place = 0u; place < u32(args.n0) * t; place++) {
    let k = token(words[args.b0 + place], v);
    if (k >= v || k % OWNERS != lane) { continue; }
    let factor = words[args.b1 + place / t];
    if (magnitude(factor) == 0u) { continue; }
    var p = bitcast<u32>(bitcast<f32>(factor) * bitcast<f32>(words[args.b2 + place * d + column]));
    let m = magnitude(p);
    if (args.n4 == 1) { p = (p ^ m) | select(min(m, most), m, m > INF); } // by bits, so that NaN stays
    if (args.n4 == 2) { p = bitcast<u32>(round(bitcast<f32>(p))); }
    set_sum(k * d + column, wide_add(sum(k * d + column), wide(p)));
  }
}
