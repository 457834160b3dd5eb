// An invocation has a value. A row may begin within a word.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let k = u32(args.n1); let planes = u32(args.n2);
  let i = item(id, lane, 256u);
  if (i >= u32(args.n0) * k) { return; }
  let j = i % k;
  let at = words[args.b1 + i / k] * k + j % planes * (k / planes) + j / planes;
  words[args.b3 + i] = words[args.b0 + ((words[args.b2 + at / 4u] >> (8u * (at % 4u))) & 255u)];
}
