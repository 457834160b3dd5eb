// An invocation has one value of a token's vector, which it moves without a look.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let v = u32(args.n1); let d = u32(args.n2);
  let i = item(id, lane, 256u);
  if (i >= u32(args.n0) * d) { return; }
  let k = token(words[args.b0 + i / d], v);
  words[args.b2 + i] = select(0u, words[args.b1 + select(0u, k, k < v) * d + i % d], k < v);
}
