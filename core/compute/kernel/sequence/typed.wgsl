// An invocation has one token.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let many = u32(args.n1);
  let i = item(id, lane, 256u);
  if (i >= u32(args.n0)) { return; }
  let k = token(words[args.b0 + i], many * u32(args.n2));
  let none = k >= many * u32(args.n2);
  words[args.b1 + i] = select(bitcast<u32>(f32(k % many)), 0xbf800000u, none);
  words[args.b2 + i] = select(bitcast<u32>(f32(k / many)), 0xbf800000u, none);
}
