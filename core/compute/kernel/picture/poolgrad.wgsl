//! main b3/256
// An invocation has one channel at one position, and gathers from the places whose
// windows cover it. Where the position holds the greatest of one, what the window sees
// before it is looked at, as only the first gets something. Values are compared as
// whole numbers: rounded to 0, denormal ones would equal others.
fn same(a: u32, b: u32) -> bool { return (a == b && !isNaN(a)) || magnitude(a | b) == 0u; }

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let height = u32(args.n1); let width = u32(args.n2); let c = u32(args.n3);
  let high = u32(args.f0); let wide = u32(args.f1); let stride = u32(args.f2);
  let fits = height >= high && width >= wide;
  let down = select(0u, (height - high) / stride + 1u, fits); let across = select(0u, (width - wide) / stride + 1u, fits);
  let n = item(id, lane, 256u);
  if (n >= u32(args.n0) * height * width * c) { return; }
  let l = n % c; let x = n / c % width; let y = n / c / width % height; let i = n / c / width / height;
  let share = 1.0 / f32(high * wide);
  let v = words[args.b0 + n];
  var s = 0.0;
  for (var a = y % stride; a < min(high, y + 1u); a += stride) {
    let p = (y - a) / stride;
    for (var b = x % stride; b < min(wide, x + 1u); b += stride) {
      let q = (x - b) / stride;
      if (p >= down || q >= across) { continue; }
      let place = ((i * down + p) * across + q) * c + l;
      let d = bitcast<f32>(words[args.b2 + place]);
      if (args.n4 != 0) {
        s = fma(share, d, s);
        continue;
      }
      if (!same(v, words[args.b1 + place])) { continue; }
      // Here the window's values are numbers, at most as great as v.
      let first = args.b0 + n - (a * width + b) * c;
      var earlier = false;
      for (var e = 0u; e <= a && !earlier; e++) {
        for (var f = 0u; f < select(wide, b, e == a); f++) { earlier = earlier || same(v, words[first + (e * width + f) * c]); }
      }
      if (!earlier) { s += d; }
    }
  }
  words[args.b3 + n] = bitcast<u32>(s);
}
