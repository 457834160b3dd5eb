// An invocation has one value of a place.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let p = u32(args.n2); let v = u32(args.n3); let d = u32(args.n4); let over = u32(args.f0);
  let n = item(id, lane, 256u);
  if (n >= u32(args.n0) * p * d) { return; }
  let place = n / d;
  let row = args.b0 + place / p * u32(args.n1);
  var count = 0u; var first = p; var last = p;
  for (var j = 0u; j < p; j++) {
    if (token(words[row + j], v) == v) { continue; }
    first = min(first, j);
    last = j;
    count++;
  }
  let own = place % p;
  let meant = token(words[row + own], v) < v && (over == 0u || own == select(first, last, over == 2u));
  let g = bitcast<f32>(words[args.b1 + place / p * d + n % d]) / f32(select(1u, max(count, 1u), over == 0u));
  words[args.b2 + n] = select(0u, bitcast<u32>(g), meant);
}
