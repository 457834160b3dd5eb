// A workgroup has one row, whose places follow each other from the last to the first. The gradients that
// its lanes gave at a later place are read by all of them.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = u32(args.n1); let v = u32(args.n2); let h = u32(args.n3);
  let i = group(id);
  let count = select(0u, h, i < u32(args.n0));
  for (var left = t; left > 0u; left--) {
    let j = left - 1u; let at = i * t + j;
    for (var k = lane; k < count; k += 64u) {
      let a = args.b1 + 4u * at * h + k; let c = args.b3 + at * h + k;
      let dc = bitcast<f32>(select(0u, words[select(c, c + h, left < t)], left < t));
      if (token(words[args.b0 + at], v) == v) {
        for (var g = 0u; g < 4u; g++) { words[a + g * h] = 0u; }
        words[c] = bitcast<u32>(dc);
        continue;
      }
      // What a later place without a token shows is what is shown here.
      var dy = number(args.b4 + at * h + k);
      var next = left;
      for (; next < t && token(words[args.b0 + i * t + next], v) == v; next++) { dy += number(args.b4 + (i * t + next) * h + k); }
      for (var g = 0u; g < select(0u, 4u * h, next < t); g++) {
        dy = fma(number(args.b2 + 4u * k * h + g), number(args.b1 + 4u * (i * t + next) * h + g), dy);
      }
      let enter = number(a); let forget = number(a + h); let value = number(a + 2u * h); let out = number(a + 3u * h);
      let held = bitcast<f32>(select(0u, words[select(c, c - h, j > 0u)], j > 0u));
      let shown = tanhOf(number(c));
      let d = fma(dy * out, 1.0 - shown * shown, dc);
      words[a] = bitcast<u32>(d * value * enter * (1.0 - enter));
      words[a + h] = bitcast<u32>(d * held * forget * (1.0 - forget));
      words[a + 2u * h] = bitcast<u32>(d * enter * (1.0 - value * value));
      words[a + 3u * h] = bitcast<u32>(dy * shown * out * (1.0 - out));
      words[c] = bitcast<u32>(d * forget);
    }
    storageBarrier();
  }
}
