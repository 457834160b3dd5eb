@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let j = item(id, lane, 64u);
  let layers = u32(args.n0);
  if (j >= layers) { return; }
  let paper = u32(args.n1);
  var product = ONE; var most = ONE;
  for (var l = select(j + 1u, 0u, paper != 0u); l < layers; l++) {
    if (l == j) { continue; }
    product = productOf(product, aboveFloat(words[args.b0 + 2u * l + paper]));
    most = greater(most, product);
  }
  for (var i = 0u; i < 2u; i++) {
    let r = aboveFloat(words[args.b1 + 2u * j + i]);
    var p = 0u; var m = 0u;
    if (r.part != 0u) { p = bitsAbove(productOf(product, r)); m = bitsAbove(productOf(most, r)); }
    words[args.b2 + 4u * j + i] = p;
    words[args.b2 + 4u * j + 2u + i] = m;
  }
}
