// An invocation has one place of the window in eight pictures, and eight channels that
// come out. Of what lies beyond the last picture or channel, nothing is stored.

// seen is a value, or 0 where the window sees none. It is multiplied all the same, as
// a weight may be infinite.
fn seen(inside: bool, at: u32) -> vec4<f32> { return vec4(select(0.0, values[at], inside)); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let height = args.n1; let width = args.n2; let c = u32(args.n3); let k = u32(args.n4);
  let high = i32(args.f0); let wide = i32(args.f1); let stride = i32(args.f2); let pad = i32(args.f3);
  let across = u32(places(width, wide, stride, pad));
  let t = u32(places(height, high, stride, pad)) * across;
  let line = u32(width) * c; let picture = u32(height) * line; let run = u32(wide) * c; let result = t * k;
  let columns = (k + 7u) / 8u;
  let count = (m + 7u) / 8u * t * columns;
  for (var n = item(id, lane, 64u); n < count; n += 64u * groups.x * groups.y) {
    let o = n % columns * 8u;
    let place = n / columns % t;
    let i = n / columns / t * 8u;
    let top = i32(place / across) * stride - pad;
    let left = u32(i32(place % across) * stride - pad) * c; // wraps
    var s0a = fourAt(args.b2 + o); var s0b = fourAt(args.b2 + o + 4u);
    var s1a = s0a; var s1b = s0b;
    var s2a = s0a; var s2b = s0b;
    var s3a = s0a; var s3b = s0b;
    var s4a = s0a; var s4b = s0b;
    var s5a = s0a; var s5b = s0b;
    var s6a = s0a; var s6b = s0b;
    var s7a = s0a; var s7b = s0b;
    var w = args.b1 + o;
    for (var a = 0; a < high; a++) {
      let y = top + a;
      // Of a row, the window sees a run; where that leaves the row, and where there is
      // none, what is read is not taken.
      let row = select(0u, line, y >= 0 && y < height);
      var at = args.b0 + i * picture + u32(y) * line + left;
      for (var e = 0u; e < run; e++) {
        let inside = left + e < row;
        let wa = fourAt(w); let wb = fourAt(w + 4u);
        let x0 = seen(inside, at);
        s0a = fma(x0, wa, s0a); s0b = fma(x0, wb, s0b);
        let x1 = seen(inside, at + picture);
        s1a = fma(x1, wa, s1a); s1b = fma(x1, wb, s1b);
        let x2 = seen(inside, at + 2u * picture);
        s2a = fma(x2, wa, s2a); s2b = fma(x2, wb, s2b);
        let x3 = seen(inside, at + 3u * picture);
        s3a = fma(x3, wa, s3a); s3b = fma(x3, wb, s3b);
        let x4 = seen(inside, at + 4u * picture);
        s4a = fma(x4, wa, s4a); s4b = fma(x4, wb, s4b);
        let x5 = seen(inside, at + 5u * picture);
        s5a = fma(x5, wa, s5a); s5b = fma(x5, wb, s5b);
        let x6 = seen(inside, at + 6u * picture);
        s6a = fma(x6, wa, s6a); s6b = fma(x6, wb, s6b);
        let x7 = seen(inside, at + 7u * picture);
        s7a = fma(x7, wa, s7a); s7b = fma(x7, wb, s7b);
        at++;
        w += k;
      }
    }
    let to = args.b3 + i * result + place * k + o;
    let rest = i32(k - o);
    putFour(to, rest, s0a); putFour(to + 4u, rest - 4, s0b);
    if (i + 1u < m) { putFour(to + result, rest, s1a); putFour(to + result + 4u, rest - 4, s1b); }
    if (i + 2u < m) { putFour(to + 2u * result, rest, s2a); putFour(to + 2u * result + 4u, rest - 4, s2b); }
    if (i + 3u < m) { putFour(to + 3u * result, rest, s3a); putFour(to + 3u * result + 4u, rest - 4, s3b); }
    if (i + 4u < m) { putFour(to + 4u * result, rest, s4a); putFour(to + 4u * result + 4u, rest - 4, s4b); }
    if (i + 5u < m) { putFour(to + 5u * result, rest, s5a); putFour(to + 5u * result + 4u, rest - 4, s5b); }
    if (i + 6u < m) { putFour(to + 6u * result, rest, s6a); putFour(to + 6u * result + 4u, rest - 4, s6b); }
    if (i + 7u < m) { putFour(to + 7u * result, rest, s7a); putFour(to + 7u * result + 4u, rest - 4, s7b); }
  }
}
