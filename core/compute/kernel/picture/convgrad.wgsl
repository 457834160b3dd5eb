//! main b2/1024
// An invocation has one position of four pictures, and eight channels that go in: it
// gathers from the places whose windows cover the position. Of what lies beyond the
// last picture or channel, nothing is stored.

// four are values that stand step apart.
fn four(at: u32, step: u32) -> vec4<f32> {
  return vec4(values[at], values[at + step], values[at + 2u * step], values[at + 3u * step]);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let height = args.n1; let width = args.n2; let c = u32(args.n3); let k = u32(args.n4);
  let high = i32(args.f0); let wide = i32(args.f1); let stride = i32(args.f2); let pad = i32(args.f3);
  let down = places(height, high, stride, pad); let across = places(width, wide, stride, pad);
  let positions = u32(height * width); let picture = positions * c; let result = u32(down * across) * k;
  let columns = (c + 7u) / 8u;
  let count = (m + 3u) / 4u * positions * columns;
  for (var n = item(id, lane, 64u); n < count; n += 64u * groups.x * groups.y) {
    let l = n % columns * 8u;
    let position = n / columns % positions;
    let i = n / columns / positions * 4u;
    let y = i32(position) / width + pad; let x = i32(position) % width + pad;
    var s0a = vec4(0.0); var s0b = s0a;
    var s1a = s0a; var s1b = s0a;
    var s2a = s0a; var s2b = s0a;
    var s3a = s0a; var s3b = s0a;
    for (var a = y % stride; a < high; a += stride) {
      let p = (y - a) / stride;
      if (y < a || p >= down) { continue; }
      for (var b = x % stride; b < wide; b += stride) {
        let q = (x - b) / stride;
        if (x < b || q >= across) { continue; }
        var at = args.b0 + i * result + u32(p * across + q) * k;
        var w = args.b1 + (u32(a * wide + b) * c + l) * k;
        for (var o = 0u; o < k; o++) {
          let wa = four(w, k); let wb = four(w + 4u * k, k);
          let d0 = vec4(values[at]); let d1 = vec4(values[at + result]);
          let d2 = vec4(values[at + 2u * result]); let d3 = vec4(values[at + 3u * result]);
          s0a = fma(d0, wa, s0a); s0b = fma(d0, wb, s0b);
          s1a = fma(d1, wa, s1a); s1b = fma(d1, wb, s1b);
          s2a = fma(d2, wa, s2a); s2b = fma(d2, wb, s2b);
          s3a = fma(d3, wa, s3a); s3b = fma(d3, wb, s3b);
          at++;
          w++;
        }
      }
    }
    let to = args.b2 + i * picture + position * c + l;
    let rest = i32(c - l);
    putFour(to, rest, s0a); putFour(to + 4u, rest - 4, s0b);
    if (i + 1u < m) { putFour(to + picture, rest, s1a); putFour(to + picture + 4u, rest - 4, s1b); }
    if (i + 2u < m) { putFour(to + 2u * picture, rest, s2a); putFour(to + 2u * picture + 4u, rest - 4, s2b); }
    if (i + 3u < m) { putFour(to + 3u * picture, rest, s3a); putFour(to + 3u * picture + 4u, rest - 4, s3b); }
  }
}
