// An invocation has one position of eight pictures, and eight channels that go in: it
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
  let count = (m + 7u) / 8u * positions * columns;
  for (var n = item(id, lane, 64u); n < count; n += 64u * groups.x * groups.y) {
    let l = n % columns * 8u;
    let position = n / columns % positions;
    let i = n / columns / positions * 8u;
    let y = i32(position) / width + pad; let x = i32(position) % width + pad;
    var s0a = vec4(0.0); var s0b = s0a;
    var s1a = s0a; var s1b = s0a;
    var s2a = s0a; var s2b = s0a;
    var s3a = s0a; var s3b = s0a;
    var s4a = s0a; var s4b = s0a;
    var s5a = s0a; var s5b = s0a;
    var s6a = s0a; var s6b = s0a;
    var s7a = s0a; var s7b = s0a;
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
          let d0 = vec4(values[at]);
          s0a = fma(d0, wa, s0a); s0b = fma(d0, wb, s0b);
          let d1 = vec4(values[at + result]);
          s1a = fma(d1, wa, s1a); s1b = fma(d1, wb, s1b);
          let d2 = vec4(values[at + 2u * result]);
          s2a = fma(d2, wa, s2a); s2b = fma(d2, wb, s2b);
          let d3 = vec4(values[at + 3u * result]);
          s3a = fma(d3, wa, s3a); s3b = fma(d3, wb, s3b);
          let d4 = vec4(values[at + 4u * result]);
          s4a = fma(d4, wa, s4a); s4b = fma(d4, wb, s4b);
          let d5 = vec4(values[at + 5u * result]);
          s5a = fma(d5, wa, s5a); s5b = fma(d5, wb, s5b);
          let d6 = vec4(values[at + 6u * result]);
          s6a = fma(d6, wa, s6a); s6b = fma(d6, wb, s6b);
          let d7 = vec4(values[at + 7u * result]);
          s7a = fma(d7, wa, s7a); s7b = fma(d7, wb, s7b);
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
    if (i + 4u < m) { putFour(to + 4u * picture, rest, s4a); putFour(to + 4u * picture + 4u, rest - 4, s4b); }
    if (i + 5u < m) { putFour(to + 5u * picture, rest, s5a); putFour(to + 5u * picture + 4u, rest - 4, s5b); }
    if (i + 6u < m) { putFour(to + 6u * picture, rest, s6a); putFour(to + 6u * picture + 4u, rest - 4, s6b); }
    if (i + 7u < m) { putFour(to + 7u * picture, rest, s7a); putFour(to + 7u * picture + 4u, rest - 4, s7b); }
  }
}
