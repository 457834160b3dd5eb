//! main b1/256
// An invocation has one channel at one place. The greatest is found among whole
// numbers, as it is only moved.

// key is a number that is greater where a value is; among them -0 is below 0.
fn key(bits: u32) -> i32 { return bitcast<i32>(bits ^ select(0u, 0x7fffffffu, bits >> 31u == 1u)); }
fn bits(key: i32) -> u32 { return bitcast<u32>(key ^ select(0, 0x7fffffff, key < 0)); }

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let height = u32(args.n1); let width = u32(args.n2); let c = u32(args.n3);
  let high = u32(args.f0); let wide = u32(args.f1); let stride = u32(args.f2);
  if (height < high || width < wide) { return; }
  let across = (width - wide) / stride + 1u; let t = ((height - high) / stride + 1u) * across;
  let n = item(id, lane, 256u);
  if (n >= u32(args.n0) * t * c) { return; }
  let l = n % c; let place = n / c % t; let i = n / c / t;
  let first = args.b0 + ((i * height + place / across * stride) * width + place % across * stride) * c + l;
  if (args.n4 == 0) {
    var most = key(0xff800000u);
    var lacks = false;
    for (var a = 0u; a < high; a++) {
      for (var b = 0u; b < wide; b++) {
        let v = words[first + (a * width + b) * c];
        lacks = lacks || isNaN(v);
        most = max(most, key(v));
      }
    }
    words[args.b1 + n] = select(bits(most), NAN, lacks);
    return;
  }
  let share = 1.0 / f32(high * wide);
  var s = 0.0;
  for (var a = 0u; a < high; a++) {
    for (var b = 0u; b < wide; b++) { s = fma(share, bitcast<f32>(words[first + (a * width + b) * c]), s); }
  }
  words[args.b1 + n] = bitcast<u32>(s);
}
