// A workgroup has one row, whose places follow each other. What its lanes gave at the place before is
// read by all of them.
fn opened(x: f32) -> f32 { return 0.5 + 0.5 * tanhOf(0.5 * x); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let v = u32(args.n2); let h = u32(args.n3);
  let i = group(id);
  let count = select(0u, h, i < u32(args.n0));
  for (var j = 0u; j < t; j++) {
    let at = i * t + j;
    let last = select(0u, (at - 1u) * h, j > 0u); // of the place before, if there is one
    for (var k = lane; k < count; k += 64u) {
      let a = args.b1 + 4u * at * h + k;
      let held = select(0u, words[args.b3 + last + k], j > 0u);
      if (token(words[args.b0 + at], v) == v) {
        for (var g = 0u; g < 4u; g++) { words[a + g * h] = 0u; }
        words[args.b3 + at * h + k] = held;
        words[args.b4 + at * h + k] = select(0u, words[args.b4 + last + k], j > 0u);
        continue;
      }
      let bias = args.b2 + 4u * h * h + k;
      var z = vec4(number(a), number(a + h), number(a + 2u * h), number(a + 3u * h)) + vec4(number(bias), number(bias + h), number(bias + 2u * h), number(bias + 3u * h));
      for (var m = 0u; m < h; m++) {
        let u = bitcast<f32>(select(0u, words[args.b4 + last + m], j > 0u));
        let w = args.b2 + 4u * m * h + k;
        z = fma(vec4(u), vec4(number(w), number(w + h), number(w + 2u * h), number(w + 3u * h)), z);
      }
      let gates = vec4(opened(z.x), opened(z.y), tanhOf(z.z), opened(z.w));
      let holds = fma(gates.y, bitcast<f32>(held), gates.x * gates.z);
      for (var g = 0u; g < 4u; g++) { words[a + g * h] = bitcast<u32>(gates[g]); }
      words[args.b3 + at * h + k] = bitcast<u32>(holds);
      words[args.b4 + at * h + k] = bitcast<u32>(gates.w * tanhOf(holds));
    }
    storageBarrier();
  }
}
