//! main b2/512
// An invocation has one position of four pictures, and four channels that go in: it
// gathers from the places whose windows cover the position. Of what lies beyond the
// last picture or channel, nothing is stored.
fn places(n: i32, size: i32, stride: i32, pad: i32) -> i32 {
  return select(0, (n + 2 * pad - size) / stride + 1, n + 2 * pad >= size);
}

fn put(at: u32, left: u32, v: vec4<f32>) {
  values[at] = v.x;
  if (left > 1u) { values[at + 1u] = v.y; }
  if (left > 2u) { values[at + 2u] = v.z; }
  if (left > 3u) { values[at + 3u] = v.w; }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let height = args.n1; let width = args.n2; let c = u32(args.n3); let k = u32(args.n4);
  let high = i32(args.f0); let wide = i32(args.f1); let stride = i32(args.f2); let pad = i32(args.f3);
  let down = places(height, high, stride, pad); let across = places(width, wide, stride, pad);
  let positions = u32(height * width); let picture = positions * c; let result = u32(down * across) * k;
  let columns = (c + 3u) / 4u;
  let count = (m + 3u) / 4u * positions * columns;
  for (var n = item(id, lane, 64u); n < count; n += 64u * groups.x * groups.y) {
    let l = n % columns * 4u;
    let position = n / columns % positions;
    let i = n / columns / positions * 4u;
    let y = i32(position) / width + pad; let x = i32(position) % width + pad;
    var s0 = vec4(0.0); var s1 = s0; var s2 = s0; var s3 = s0;
    for (var a = y % stride; a < high; a += stride) {
      let p = (y - a) / stride;
      if (y < a || p >= down) { continue; }
      for (var b = x % stride; b < wide; b += stride) {
        let q = (x - b) / stride;
        if (x < b || q >= across) { continue; }
        var at = args.b0 + i * result + u32(p * across + q) * k;
        var w = args.b1 + (u32(a * wide + b) * c + l) * k;
        for (var o = 0u; o < k; o++) {
          let u = vec4(values[w], values[w + k], values[w + 2u * k], values[w + 3u * k]);
          s0 = fma(vec4(values[at]), u, s0);
          s1 = fma(vec4(values[at + result]), u, s1);
          s2 = fma(vec4(values[at + 2u * result]), u, s2);
          s3 = fma(vec4(values[at + 3u * result]), u, s3);
          at++;
          w++;
        }
      }
    }
    let to = args.b2 + i * picture + position * c + l;
    put(to, c - l, s0);
    if (i + 1u < m) { put(to + picture, c - l, s1); }
    if (i + 2u < m) { put(to + 2u * picture, c - l, s2); }
    if (i + 3u < m) { put(to + 3u * picture, c - l, s3); }
  }
}
