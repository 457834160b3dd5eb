//! main b3/1024
// An invocation has one place of the window in four pictures, and eight channels that
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
  let count = (m + 3u) / 4u * t * columns;
  for (var n = item(id, lane, 64u); n < count; n += 64u * groups.x * groups.y) {
    let o = n % columns * 8u;
    let place = n / columns % t;
    let i = n / columns / t * 4u;
    let top = i32(place / across) * stride - pad;
    let left = u32(i32(place % across) * stride - pad) * c; // wraps
    var s0a = fourAt(args.b2 + o); var s0b = fourAt(args.b2 + o + 4u);
    var s1a = s0a; var s1b = s0b;
    var s2a = s0a; var s2b = s0b;
    var s3a = s0a; var s3b = s0b;
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
        let x0 = seen(inside, at); let x1 = seen(inside, at + picture);
        let x2 = seen(inside, at + 2u * picture); let x3 = seen(inside, at + 3u * picture);
        s0a = fma(x0, wa, s0a); s0b = fma(x0, wb, s0b);
        s1a = fma(x1, wa, s1a); s1b = fma(x1, wb, s1b);
        s2a = fma(x2, wa, s2a); s2b = fma(x2, wb, s2b);
        s3a = fma(x3, wa, s3a); s3b = fma(x3, wb, s3b);
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
  }
}
