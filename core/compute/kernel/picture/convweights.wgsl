// An invocation has four of a window's values and eight channels of one picture, and
// walks all places. The bias stands below the last of a window's values and sees 1
// everywhere. Of what lies beyond it or the last channel, nothing is stored.

// Value is one of those that the window sees: its channel, how far it stands from the
// place, and where in a picture that would be.
struct Value { l: u32, y: i32, x: i32, at: u32 }

fn value(j: u32) -> Value {
  let c = u32(args.n3); let wide = u32(args.f1); let pad = i32(args.f3);
  let y = i32(j / c / wide) - pad; let x = i32(j / c % wide) - pad;
  return Value(j % c, y, x, u32(y * args.n2 + x) * c + j % c);
}

// after is the next value.
fn after(v: Value) -> Value {
  let wide = i32(args.f1); let pad = i32(args.f3);
  if (v.l + 1u < u32(args.n3)) { return Value(v.l + 1u, v.y, v.x, v.at + 1u); }
  if (v.x + 1 < wide - pad) { return Value(0u, v.y, v.x + 1, v.at + 1u); }
  return Value(0u, v.y + 1, -pad, v.at + 1u + u32(args.n2 - wide) * u32(args.n3));
}

// rowOf is how many positions there are in the row of a value, at places of row y: none
// above the picture and below it.
fn rowOf(v: Value, y: i32, height: i32, width: i32) -> u32 {
  return select(0u, u32(width), y + v.y >= 0 && y + v.y < height);
}

// seen is a value, or 0 where the window sees none. It is multiplied all the same, as
// a gradient may be infinite.
fn seen(inside: bool, at: u32) -> f32 { return select(0.0, values[at], inside); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let height = args.n1; let width = args.n2; let c = u32(args.n3); let k = u32(args.n4);
  let high = i32(args.f0); let wide = i32(args.f1); let stride = i32(args.f2); let pad = i32(args.f3);
  let down = places(height, high, stride, pad); let across = places(width, wide, stride, pad);
  let window = u32(high * wide) * c;
  let columns = (k + 7u) / 8u; let rows = (window + 4u) / 4u;
  let count = m * rows * columns;
  for (var n = item(id, lane, 64u); n < count; n += 64u * groups.x * groups.y) {
    let o = n % columns * 8u;
    let j = n / columns % rows * 4u;
    let i = n / columns / rows;
    let v0 = value(j); let v1 = after(v0); let v2 = after(v1); let v3 = after(v2);
    let one = vec4(j == window, j + 1u == window, j + 2u == window, j + 3u == window);
    var s0a = vec4(0.0); var s0b = s0a;
    var s1a = s0a; var s1b = s0a;
    var s2a = s0a; var s2b = s0a;
    var s3a = s0a; var s3b = s0a;
    let picture = args.b0 + i * u32(height * width) * c;
    var d = args.b1 + i * u32(down * across) * k + o;
    for (var p = 0; p < down; p++) {
      let y = p * stride;
      let row0 = rowOf(v0, y, height, width); let row1 = rowOf(v1, y, height, width);
      let row2 = rowOf(v2, y, height, width); let row3 = rowOf(v3, y, height, width);
      var at = picture + u32(y * width) * c;
      for (var q = 0; q < across; q++) {
        let x = q * stride;
        let da = fourAt(d); let db = fourAt(d + 4u);
        let see = select(vec4(
          seen(u32(x + v0.x) < row0, at + v0.at), seen(u32(x + v1.x) < row1, at + v1.at),
          seen(u32(x + v2.x) < row2, at + v2.at), seen(u32(x + v3.x) < row3, at + v3.at),
        ), vec4(1.0), one);
        s0a = fma(see.xxxx, da, s0a); s0b = fma(see.xxxx, db, s0b);
        s1a = fma(see.yyyy, da, s1a); s1b = fma(see.yyyy, db, s1b);
        s2a = fma(see.zzzz, da, s2a); s2b = fma(see.zzzz, db, s2b);
        s3a = fma(see.wwww, da, s3a); s3b = fma(see.wwww, db, s3b);
        at += u32(stride) * c;
        d += k;
      }
    }
    let to = args.b2 + (i * (window + 1u) + j) * k + o;
    let rest = i32(k - o);
    putFour(to, rest, s0a); putFour(to + 4u, rest - 4, s0b);
    if (j < window) { putFour(to + k, rest, s1a); putFour(to + k + 4u, rest - 4, s1b); }
    if (j + 1u < window) { putFour(to + 2u * k, rest, s2a); putFour(to + 2u * k + 4u, rest - 4, s2b); }
    if (j + 2u < window) { putFour(to + 3u * k, rest, s3a); putFour(to + 3u * k + 4u, rest - 4, s3b); }
  }
}
