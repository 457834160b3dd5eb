// An invocation has one value of a place: 0 where there is no token or it stood before, and else
// the sum over the token's places in their order.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let v = u32(args.n2); let d = u32(args.n3);
  let n = item(id, lane, 256u);
  if (n >= u32(args.n0) * t * d) { return; }
  let place = n / d; let row = place / t * t;
  let own = token(words[args.b0 + place], v);
  var counts = own < v;
  for (var j = row; j < place && counts; j++) { counts = token(words[args.b0 + j], v) != own; }
  var s = 0.0;
  for (var j = place; j < row + t && counts; j++) {
    if (token(words[args.b0 + j], v) == own) { s += bitcast<f32>(words[args.b1 + j * d + n % d]); }
  }
  words[args.b2 + n] = bitcast<u32>(s);
}
