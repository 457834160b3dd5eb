// above is v > by, of which NaN is not more than anything.
fn above(v: u32, by: u32) -> bool { return !isNaN(v) && order(v) > order(by); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = item(id, lane, 64u);
  if (row >= u32(args.n1)) { return; }
  let n = u32(args.n2);
  let z = args.b0 + row * n;
  var right = true;
  if (args.n0 == 0) {
    var best = 0u;
    for (var j = 1u; j < n; j++) {
      let top = words[z + best];
      if (!isNaN(top) && above(words[z + j], top)) { best = j; }
    }
    right = order(words[args.b1 + row]) == order(bitcast<u32>(f32(best)));
  } else {
    let t = args.b1 + row * n;
    for (var j = 0u; j < n; j++) {
      if (above(words[z + j], 0u) != above(words[t + j], 0x3f000000u)) { right = false; } // 0 and ½
    }
  }
  words[args.b2 + row] = select(0u, 0x3f800000u, right);
}
