// An invocation has one value of an example's gradient, and adds up those of its token in
// the order of the row. The bits of a token tell it: those of -0 are as those of 0.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let v = u32(args.n2); let d = u32(args.n3);
  let n = item(id, lane, 256u);
  if (n >= u32(args.n0) * v * d) { return; }
  let i = n / d / v; let own = bitcast<u32>(f32(n / d % v));
  var s = 0.0;
  for (var j = i * t; j < (i + 1u) * t; j++) {
    let bits = words[args.b0 + j];
    if (bits == own || (own == 0u && magnitude(bits) == 0u)) { s += bitcast<f32>(words[args.b1 + j * d + n % d]); }
  }
  words[args.b2 + n] = bitcast<u32>(s);
}
