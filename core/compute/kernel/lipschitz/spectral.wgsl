// normalizedBy is kernel.NormalizedBy.
fn normalizedBy(v: Above) -> Above { return Above(0x800000u, max(v.power + select(1, 0, v.part == 0x800000u), -149)); }

@compute @workgroup_size(1)
fn main() {
  let last = args.b0 + u32(args.n0);
  var g = aboveFloat(words[last]);
  for (var k = args.n0 - 1; k >= 0; k--) {
    let v = aboveFloat(words[args.b0 + u32(k)]);
    if (v.part == 0u) { g = NOTHING; } // nothing but zeros
    else if (!isBounded(v)) { g = BOUNDLESS; }
    else { g = productOf(normalizedBy(v), rootOf(sumOf(g, aboveDouble(args.d0)))); }
  }
  var w = squareOf(aboveFloat(words[last + 1u])); var b = squareOf(aboveFloat(words[last + 2u]));
  let overlap = aboveWhole(u32(args.n1), 0);
  g = productOf(overlap, sumOf(g, sumOf(productOf(aboveDouble(args.d1), w), aboveDouble(args.d2))));
  w = productOf(overlap, sumOf(w, aboveDouble(args.d3)));
  b = productOf(aboveWhole(u32(args.n2), 0), sumOf(b, aboveDouble(args.d4)));
  let more = sumOf(aboveFloat(bitcast<u32>(1.0000011)), aboveWhole(u32(args.n1), -23));
  let product = aboveDouble(args.d5);
  words[args.b1] = bitsAbove(productOf(more, sumOf(rootOf(g), productOf(product, rootOf(w)))));
  words[args.b1 + 1u] = bitsAbove(productOf(more, sumOf(rootOf(sumOf(sumOf(g, b), ONE)), productOf(product, rootOf(sumOf(w, b))))));
}
