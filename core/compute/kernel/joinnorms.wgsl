@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u);
  if (i >= u32(args.n0)) { return; }
  let h = words[args.b0 + i];
  var v = INF;
  if (magnitude(h) <= 0x5d800000u) { // compute.MaxInput, 2⁶⁰
    let part = productOf(squareOf(aboveFloat(words[args.b1 + i])), sumOf(squareOf(aboveFloat(h)), ONE));
    v = bitsAbove(rootOf(sumOf(squareOf(aboveFloat(words[args.b2 + i])), part)));
  }
  words[args.b2 + i] = v;
}
