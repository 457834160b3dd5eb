const GREATEST = Above(0x800000u, 97); // Greatest², 2¹²⁰

// certainty is 1 − e^−f, for f from 10⁻⁶ on. In floats between 2⁻³⁰ and 24 there is no
// underflow; 3·2⁻²³ for each of ten steps is covered, whichever way it is rounded.
fn certainty(f: Above) -> Above {
  if (!isBelow(f, aboveWhole(24u, 0))) { return ONE; }
  let h = bitcast<f32>(bitsAbove(f)) * 0.00390625; // 2⁻⁸
  var p = h * (1.0 - h * 0.5 * (1.0 - h * 0.33333334 * (1.0 - h * 0.25 * (1.0 - h * 0.2))));
  for (var i = 0; i < 8; i++) { p = p * (2.0 - p); } // 1 − e^−2x = (1 − e^−x)·(1 + e^−x)
  return lesser(ONE, productOf(aboveFloat(bitcast<u32>(p)), aboveFloat(bitcast<u32>(1.00001))));
}

// top is Top's, in its order; twice is one power more.
fn top(f: Above) -> Above {
  switch (args.n0) {
    case 0: { let e = squareOf(certainty(f)); return Above(e.part, e.power + 1); }
    case 1: { return lesser(f, squareOf(f)); }
    case 2: { return productOf(f, aboveWhole(2u, 0)); }
    case 3: { return productOf(f, aboveWhole(8u, 0)); }
    default: { return productOf(lesser(ONE, productOf(f, aboveWhole(2u, 0))), aboveWhole(4u, 0)); }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u);
  if (i >= u32(args.n1)) { return; }
  var g = NOTHING; var longest = NOTHING;
  for (var j = 0u; j < u32(args.n3); j++) {
    let at = args.b0 + 4u * j;
    if (magnitude(words[at + 3u]) == 0u) { continue; }
    let h = aboveFloat(words[args.b1 + j * u32(args.n4) + i]);
    g = sumOf(g, sumOf(squareOf(productOf(aboveFloat(words[at]), h)), squareOf(aboveFloat(words[at + 1u]))));
    longest = greater(longest, sumOf(squareOf(productOf(aboveFloat(words[at + 2u]), h)), squareOf(aboveFloat(words[at + 3u]))));
  }
  let k = u32(args.n2);
  var largest = 0u;
  for (var j = 0u; j < k; j++) { largest = max(largest, magnitude(words[args.b3 + i * k + j])); }

  let loss = words[args.b2 + i];
  let slack = productOf(aboveFloat(bitcast<u32>(1.0000002e-6)), sumOf(ONE, aboveFloat(largest)));
  var f = slack;
  var refused = isNaN(loss) || isNaN(largest) || isBelow(GREATEST, longest);
  if (loss >> 31u == 0u) { f = sumOf(f, productOf(aboveFloat(loss), sumOf(aboveFloat(bitcast<u32>(1.0000101)), aboveWhole(k, -24)))); }
  else { refused = refused || isBelow(slack, aboveFloat(loss)); } // no loss is negative but by rounding, which slack covers
  f = sumOf(f, aboveFloat(bitcast<u32>(args.f0)));
  if (refused) { g = BOUNDLESS; }
  let squared = sumOf(productOf(g, top(f)), aboveFloat(bitcast<u32>(args.f1)));
  words[args.b4 + i] = bitsAbove(productOf(rootOf(squared), aboveFloat(bitcast<u32>(1.0000201))));
}
