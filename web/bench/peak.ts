// peak runs n rounds of twelve multiply-adds that wait for nothing but themselves,
// in registers only: the rate that no product can pass.
export function peak(n: i32, s: f32): f32 {
  let a = f32x4.splat(s), b = f32x4.splat(s + 1), c = f32x4.splat(s + 2), d = f32x4.splat(s + 3);
  let e = f32x4.splat(s + 4), f = f32x4.splat(s + 5), g = f32x4.splat(s + 6), h = f32x4.splat(s + 7);
  let i = f32x4.splat(s + 8), j = f32x4.splat(s + 9), k = f32x4.splat(s + 10), l = f32x4.splat(s + 11);
  const x = f32x4.splat(s), y = f32x4.splat(s + 1);
  for (; n > 0; n--) {
    a = f32x4.relaxed_madd(x, a, y); b = f32x4.relaxed_madd(x, b, y); c = f32x4.relaxed_madd(x, c, y);
    d = f32x4.relaxed_madd(x, d, y); e = f32x4.relaxed_madd(x, e, y); f = f32x4.relaxed_madd(x, f, y);
    g = f32x4.relaxed_madd(x, g, y); h = f32x4.relaxed_madd(x, h, y); i = f32x4.relaxed_madd(x, i, y);
    j = f32x4.relaxed_madd(x, j, y); k = f32x4.relaxed_madd(x, k, y); l = f32x4.relaxed_madd(x, l, y);
  }
  a = f32x4.add(f32x4.add(f32x4.add(a, b), f32x4.add(c, d)), f32x4.add(f32x4.add(e, f), f32x4.add(g, h)));
  return f32x4.extract_lane(f32x4.add(a, f32x4.add(f32x4.add(i, j), f32x4.add(k, l))), 0);
}
