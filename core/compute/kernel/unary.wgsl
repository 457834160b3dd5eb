// root is the least value above √x, by bits, or x where that is 0 or +Inf; for x < 0
// it is NaN.
//
// A square root that may be off by some units only says where to look: with x = N·2²ᵠ,
// 2⁴⁶ ≤ N < 2⁴⁸, it is the least s whose square, taken exactly, is more than N.
fn root(bits: u32) -> u32 {
  if (magnitude(bits) == 0u || bits == INF) { return bits; }
  if (bits > INF) { return NAN; }
  var e = i32(bits >> 23u) - 150;
  var m = bits & 0x7fffffu;
  if (bits < 0x00800000u) { // denormal
    let up = countLeadingZeros(m) - 8u;
    m <<= up;
    e = -149 - i32(up);
  } else {
    m |= 0x800000u;
  }
  let odd = (e & 1) != 0; // x = m·2ᵉ, and N is m·2²³ where e is odd, else m·2²⁴
  let high = select(m, m >> 1u, odd); // of N, and its low 24 bits
  let low = select(0u, (m & 1u) << 23u, odd);
  var s = max(u32(sqrt(f32(m) * select(0x1p24f, 0x1p23f, odd))), 0x800008u) - 8u;
  for (var i = 0; i < 24; i++) {
    let a = s >> 12u; let b = s & 0xfffu; let ab = 2u * a * b;
    let rest = ((ab & 0xfffu) << 12u) + b * b;
    let square = a * a + (ab >> 12u) + (rest >> 24u);
    if (square > high || (square == high && (rest & 0xffffffu) > low)) { break; }
    s++;
  }
  let q = (e - select(24i, 23i, odd)) / 2;
  return (u32(q + 150) << 23u) + (s - 0x800000u);
}

@compute @workgroup_size(256)
fn relu(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n1)) { return; }
  let x = words[args.b0 + i];
  words[args.b1 + i] = select(x, 0u, x > 0x80000000u && x <= (0x80000000u | INF));
}

@compute @workgroup_size(256)
fn tangent(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i < u32(args.n1)) { words[args.b1 + i] = bitcast<u32>(tanhOf(bitcast<f32>(words[args.b0 + i]))); }
}

@compute @workgroup_size(256)
fn roots(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i < u32(args.n1)) { words[args.b1 + i] = root(words[args.b0 + i]); }
}

@compute @workgroup_size(256)
fn gelu(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n1)) { return; }
  let x = words[args.b0 + i];
  let y = bitcast<u32>(bitcast<f32>(x) * normalOf(bitcast<f32>(x)));
  words[args.b1 + i] = select(select(y, x, x == INF), NAN, isNaN(x) || x == (0x80000000u | INF));
}
