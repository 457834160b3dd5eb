// An invocation has one channel at one place, or in a row of places, as dividing is slow.
// The greatest is found among whole numbers, as it is only moved.

// key is a number that is greater where a value is; among them -0 is below 0. NaN is
// beyond that of an infinity.
fn key(bits: u32) -> i32 { return bitcast<i32>(bits ^ select(0u, 0x7fffffffu, bits >> 31u == 1u)); }
fn bits(key: i32) -> u32 { return bitcast<u32>(key ^ select(0, 0x7fffffff, key < 0)); }
const LEAST = 0xff800000u;

@compute @workgroup_size(64)
fn greatest(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let height = u32(args.n1); let width = u32(args.n2); let c = u32(args.n3);
  let high = u32(args.f0); let wide = u32(args.f1); let stride = u32(args.f2);
  if (height < high || width < wide) { return; }
  let across = (width - wide) / stride + 1u; let down = (height - high) / stride + 1u;
  // Four are looked at together: often there are no more.
  let s1 = nextStep(Step(0u, 0u)); let s2 = nextStep(s1); let s3 = nextStep(s2); let s4 = nextStep(s3);
  for (var n = item(id, lane, 64u); n < u32(args.n0) * down * c; n += 64u * groups.x * groups.y) {
    let l = n % c; let row = n / c;
    var first = args.b0 + (row / down * height + row % down * stride) * width * c + l;
    var to = args.b1 + row * across * c + l;
    for (var q = 0u; q < across; q++) {
      let k = vec4(key(words[first]), key(words[first + s1.at]), key(words[first + s2.at]), key(words[first + s3.at]));
      var most = max(max(k.x, k.y), max(k.z, k.w));
      var least = min(min(k.x, k.y), min(k.z, k.w));
      var s = s4;
      for (var e = 4u; e < high * wide; e++) {
        most = max(most, key(words[first + s.at]));
        least = min(least, key(words[first + s.at]));
        s = nextStep(s);
      }
      words[to] = select(bits(most), NAN, most > key(INF) || least < key(LEAST));
      first += stride * c;
      to += c;
    }
  }
}

@compute @workgroup_size(256)
fn mean(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let height = u32(args.n1); let width = u32(args.n2); let c = u32(args.n3);
  let high = u32(args.f0); let wide = u32(args.f1); let stride = u32(args.f2);
  if (height < high || width < wide) { return; }
  let across = (width - wide) / stride + 1u; let t = ((height - high) / stride + 1u) * across;
  let n = item(id, lane, 256u);
  if (n >= u32(args.n0) * t * c) { return; }
  let l = n % c; let place = n / c % t; let i = n / c / t;
  let first = args.b0 + ((i * height + place / across * stride) * width + place % across * stride) * c + l;
  let share = 1.0 / f32(high * wide);
  var s = 0.0;
  for (var a = 0u; a < high; a++) {
    for (var b = 0u; b < wide; b++) { s = fma(share, bitcast<f32>(words[first + (a * width + b) * c]), s); }
  }
  words[args.b1 + n] = bitcast<u32>(s);
}
