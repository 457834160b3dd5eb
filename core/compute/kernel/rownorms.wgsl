//! short n0/64 if n1<33
//! rows n0/16 if program n1>32 n1<4097
//! scratch n0*48 if n1>32 n1<4097
//! scratch n0*768 if n1>4096
//! most n0*n1/2048 if n1>32 unless program n1<4097
//! greatest n0/64 if n1>32 unless program n1<4097
//! floats n0*n1/2048 if program n1>32 unless program n1<4097
//! squares n0*n1/2048 else if n1>32 unless program n1<4097
//! norms n0/64 if n1>32 unless program n1<4097
// Short rows are an invocation's, others are cut in parts, and a part is one's, first for
// its greatest value and then for its sum, as programs that are adapters are several times
// slower where invocations wait for each other. There are workgroups for so many values.
// There only long rows are cut: four dispatches take longer. It does not depend on how many
// rows there are, or a row's norm would depend on others.

// Of a row there are two to this parts, whose values take turns.
fn partDigits() -> u32 { return select(4u, 8u, args.n1 > 4096); }

@compute @workgroup_size(64)
fn short(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u);
  let n = u32(args.n1);
  if (i >= u32(args.n0)) { return; }
  let start = args.b0 + i * n;
  var most = 0u;
  for (var j = 0u; j < n; j++) { most = max(most, magnitude(words[start + j])); }
  var sum = vec3<u32>(0u, 0u, 0u);
  if (most < INF) {
    let largest = aboveFloat(most);
    for (var j = 0u; j < n; j++) { sum = withSquare(sum, words[start + j], largest); }
  }
  words[args.b1 + i] = normOf(sum, most);
}

@compute @workgroup_size(64)
fn most(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = u32(args.n1); let parts = 1u << partDigits();
  for (var p = item(id, lane, 64u); p < u32(args.n0) * parts; p += 64u * many.x * many.y) {
    words[args.b4 + p] = mostOf(args.b0 + (p >> partDigits()) * n, n, p % parts, parts);
  }
}

@compute @workgroup_size(64)
fn greatest(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u); let parts = 1u << partDigits();
  if (i < u32(args.n0)) { words[args.b1 + i] = mostOf(args.b4 + i * parts, parts, 0u, 1u); }
}

@compute @workgroup_size(64)
fn squares(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = u32(args.n1); let parts = 1u << partDigits();
  for (var p = item(id, lane, 64u); p < u32(args.n0) * parts; p += 64u * many.x * many.y) {
    let i = p >> partDigits();
    let sum = squaresOf(args.b0 + i * n, n, p % parts, parts, words[args.b1 + i]);
    let to = args.b4 + 3u * p;
    words[to] = sum.x; words[to + 1u] = sum.y; words[to + 2u] = sum.z;
  }
}

// floatsOf is squaresOf where the adapter is a program. Values are scaled by a power of two, so
// that the greatest is from 1 to 2. The sum of four squares is rounded three times, and
// once more with SLACK, which makes up for that in whatever direction it was, each time by less
// than 2⁻²³. It is then cut in whole numbers of 2⁻²² and, of the rest, 2⁻⁴⁶, which is exact, and
// one of these more: that is also above all that was too small to be squared.
const SLACK = 4194308.0; // 2²²·(1 + 2⁻²⁰)

fn floatsOf(start: u32, n: u32, part: u32, parts: u32, most: u32) -> vec3<u32> {
  let top = most >> 23u;
  let plain = top >= PLAIN && top < 254u;
  let scale = bitcast<f32>((254u - min(top, 253u)) << 23u);
  var sum = vec3<u32>();
  for (var j = part; j < select(0u, n, plain); j += 4u * parts) {
    let v = scale * bitcast<vec4<f32>>(fourMagnitudes(start, j, parts, n));
    let q = v * v;
    let s = SLACK * ((q.x + q.y) + (q.z + q.w));
    let high = i32(s);
    let low = i32(0x1p24f * (s - f32(high)));
    let z = sum.z + u32(low) + 1u;
    let y = sum.y + u32(high) + (z >> 24u);
    sum = vec3<u32>(sum.x + (y >> 24u), y & 0xffffffu, z & 0xffffffu);
  }
  for (var j = part; j < select(0u, n, !plain && most < INF); j += parts) { sum = withSquare(sum, words[start + j], aboveFloat(most)); }
  return sum;
}

@compute @workgroup_size(64)
fn floats(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = u32(args.n1); let parts = 1u << partDigits();
  for (var p = item(id, lane, 64u); p < u32(args.n0) * parts; p += 64u * many.x * many.y) {
    let i = p >> partDigits();
    let sum = floatsOf(args.b0 + i * n, n, p % parts, parts, words[args.b1 + i]);
    let to = args.b4 + 3u * p;
    words[to] = sum.x; words[to + 1u] = sum.y; words[to + 2u] = sum.z;
  }
}

@compute @workgroup_size(16)
fn rows(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 16u); let n = u32(args.n1);
  if (i >= u32(args.n0)) { return; }
  let most = mostOf(args.b0 + i * n, n, 0u, 1u);
  words[args.b1 + i] = normOf(floatsOf(args.b0 + i * n, n, 0u, 1u, most), most);
}

@compute @workgroup_size(64)
fn norms(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u); let parts = 1u << partDigits();
  if (i >= u32(args.n0)) { return; }
  var sum = vec3<u32>(0u, 0u, 0u);
  for (var p = args.b4 + 3u * i * parts; p < args.b4 + 3u * (i + 1u) * parts; p += 3u) {
    sum += vec3<u32>(words[p], words[p + 1u], words[p + 2u]); // 256 times 24 digits fit
  }
  words[args.b1 + i] = normOf(sum, words[args.b1 + i]);
}
