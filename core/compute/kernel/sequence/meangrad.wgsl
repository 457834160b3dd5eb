// An invocation has one value of a place.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let p = u32(args.n2); let v = u32(args.n3); let d = u32(args.n4);
  let n = item(id, lane, 256u);
  if (n >= u32(args.n0) * p * d) { return; }
  let place = n / d;
  let row = args.b0 + place / p * u32(args.n1);
  var count = 0u;
  for (var j = row; j < row + p; j++) { count += u32(token(words[j], v) < v); }
  let g = bitcast<f32>(words[args.b1 + place / p * d + n % d]) / f32(max(count, 1u));
  words[args.b2 + n] = select(0u, bitcast<u32>(g), token(words[row + place % p], v) < v);
}
