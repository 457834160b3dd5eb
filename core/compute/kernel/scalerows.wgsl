// Behind the m×n values that are scaled there may be those of another matrix [m×n2], at b3, whose rows are
// dropped where their factor is 0.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  let n = u32(args.n1); let scaled = u32(args.n0) * n;
  if (i >= scaled) {
    let j = i - scaled;
    if (j < u32(args.n0 * args.n2) && magnitude(words[args.b0 + j / u32(args.n2)]) == 0u) { words[args.b3 + j] = 0u; }
    return;
  }
  words[args.b2 + i] = bitcast<u32>(weighed(words[args.b0 + i / n], vec4(number(args.b1 + i))).x);
}
