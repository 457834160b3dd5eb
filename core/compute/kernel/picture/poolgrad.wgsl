// An invocation has one channel of a row of positions, and looks at all windows that cover
// it: whatever has the gradient of one, as the first that is its greatest, gets it if it
// stands in the row. Values are compared as whole numbers: rounded to 0, denormal ones
// would equal others.

// placed is at, or NOWHERE.
const NOWHERE = 0xffffffffu;
fn placed(is: bool, at: u32) -> u32 { return select(NOWHERE, at, is); }

@compute @workgroup_size(64)
fn greatest(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let height = u32(args.n1); let width = u32(args.n2); let c = u32(args.n3);
  let high = u32(args.f0); let wide = u32(args.f1); let stride = u32(args.f2);
  let fits = height >= high && width >= wide;
  let down = select(0u, (height - high) / stride + 1u, fits); let across = select(0u, (width - wide) / stride + 1u, fits);
  let line = width * c;
  // Four are looked at together: often there are no more.
  let s1 = nextStep(Step(0u, 0u)); let s2 = nextStep(s1); let s3 = nextStep(s2); let s4 = nextStep(s3);
  for (var n = item(id, lane, 64u); n < u32(args.n0) * height * c; n += 64u * groups.x * groups.y) {
    let l = n % c; let row = n / c; let y = row % height; let i = row / height;
    let to = args.b3 + row * line + l;
    for (var x = 0u; x < line; x += c) { words[to + x] = 0u; }
    let begin = select(0u, (y - high) / stride + 1u, y >= high);
    for (var p = begin; p < select(0u, min(down, y / stride + 1u), down > 0u); p++) {
      let mine = (y - p * stride) * line; // of what is in a window, from here on
      var first = args.b0 + (i * height + p * stride) * line + l;
      var place = ((i * down + p) * across) * c + l;
      for (var q = 0u; q < across; q++) {
        let top = words[args.b1 + place];
        let most = order(top);
        var found = min(
          min(placed(order(words[first]) == most, 0u), placed(order(words[first + s1.at]) == most, s1.at)),
          min(placed(order(words[first + s2.at]) == most, s2.at), placed(order(words[first + s3.at]) == most, s3.at)),
        );
        var s = s4;
        for (var e = 4u; e < high * wide; e++) {
          found = min(found, placed(order(words[first + s.at]) == most, s.at));
          s = nextStep(s);
        }
        if (!isNaN(top) && found >= mine && found < mine + wide * c) {
          let at = to + q * stride * c + found - mine;
          words[at] = bitcast<u32>(bitcast<f32>(words[at]) + bitcast<f32>(words[args.b2 + place]));
        }
        first += stride * c;
        place += c;
      }
    }
  }
}

@compute @workgroup_size(256)
fn mean(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let height = u32(args.n1); let width = u32(args.n2); let c = u32(args.n3);
  let high = u32(args.f0); let wide = u32(args.f1); let stride = u32(args.f2);
  let fits = height >= high && width >= wide;
  let down = select(0u, (height - high) / stride + 1u, fits); let across = select(0u, (width - wide) / stride + 1u, fits);
  let n = item(id, lane, 256u);
  if (n >= u32(args.n0) * height * width * c) { return; }
  let l = n % c; let x = n / c % width; let y = n / c / width % height; let i = n / c / width / height;
  let share = 1.0 / f32(high * wide);
  var s = 0.0;
  for (var a = y % stride; a < min(high, y + 1u); a += stride) {
    let p = (y - a) / stride;
    for (var b = x % stride; b < min(wide, x + 1u); b += stride) {
      let q = (x - b) / stride;
      if (p >= down || q >= across) { continue; }
      s = fma(share, bitcast<f32>(words[args.b2 + ((i * down + p) * across + q) * c + l]), s);
    }
  }
  words[args.b3 + n] = bitcast<u32>(s);
}
