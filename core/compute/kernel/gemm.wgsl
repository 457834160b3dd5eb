// Each invocation has 8×8 of the results in registers.
fn row(r: u32) -> u32 { return min(r, u32(args.n2) - 1u); } // beyond the last, the last again
fn column(c: u32) -> u32 { return min(c, u32(args.n3) - 1u); }

fn put(r: u32, c: u32, s: vec4<f32>) {
  let m = u32(args.n2); let n = u32(args.n3);
  if (r >= m) { return; }
  let to = args.b2 + r * n + c;
  for (var i = 0u; i < 4u; i++) {
    if (c + i >= n) { return; }
    var v = s[i];
    if (args.f0 != 0.0) { v = fma(args.f0, values[to + i], v); }
    values[to + i] = v;
  }
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let k = u32(args.n4);
  let r = 8u * id.y; let c = 8u * id.x;
  if (r >= u32(args.n2) || c >= u32(args.n3)) { return; }
  // Element (i, l) of A and (l, j) of B.
  let ai = select(k, 1u, args.n0 != 0); let al = select(1u, u32(args.n2), args.n0 != 0);
  let bl = select(u32(args.n3), 1u, args.n1 != 0); let bj = select(1u, k, args.n1 != 0);
  var a0 = args.b0 + row(r + 0u) * ai;
  var a1 = args.b0 + row(r + 1u) * ai;
  var a2 = args.b0 + row(r + 2u) * ai;
  var a3 = args.b0 + row(r + 3u) * ai;
  var a4 = args.b0 + row(r + 4u) * ai;
  var a5 = args.b0 + row(r + 5u) * ai;
  var a6 = args.b0 + row(r + 6u) * ai;
  var a7 = args.b0 + row(r + 7u) * ai;
  var b0 = args.b1 + column(c + 0u) * bj;
  var b1 = args.b1 + column(c + 1u) * bj;
  var b2 = args.b1 + column(c + 2u) * bj;
  var b3 = args.b1 + column(c + 3u) * bj;
  var b4 = args.b1 + column(c + 4u) * bj;
  var b5 = args.b1 + column(c + 5u) * bj;
  var b6 = args.b1 + column(c + 6u) * bj;
  var b7 = args.b1 + column(c + 7u) * bj;
  var s0 = vec4<f32>(); var t0 = vec4<f32>();
  var s1 = vec4<f32>(); var t1 = vec4<f32>();
  var s2 = vec4<f32>(); var t2 = vec4<f32>();
  var s3 = vec4<f32>(); var t3 = vec4<f32>();
  var s4 = vec4<f32>(); var t4 = vec4<f32>();
  var s5 = vec4<f32>(); var t5 = vec4<f32>();
  var s6 = vec4<f32>(); var t6 = vec4<f32>();
  var s7 = vec4<f32>(); var t7 = vec4<f32>();
  for (var l = 0u; l < k; l++) {
    let x = vec4<f32>(values[b0], values[b1], values[b2], values[b3]);
    let y = vec4<f32>(values[b4], values[b5], values[b6], values[b7]);
    let v0 = vec4<f32>(values[a0]); s0 = fma(v0, x, s0); t0 = fma(v0, y, t0);
    let v1 = vec4<f32>(values[a1]); s1 = fma(v1, x, s1); t1 = fma(v1, y, t1);
    let v2 = vec4<f32>(values[a2]); s2 = fma(v2, x, s2); t2 = fma(v2, y, t2);
    let v3 = vec4<f32>(values[a3]); s3 = fma(v3, x, s3); t3 = fma(v3, y, t3);
    let v4 = vec4<f32>(values[a4]); s4 = fma(v4, x, s4); t4 = fma(v4, y, t4);
    let v5 = vec4<f32>(values[a5]); s5 = fma(v5, x, s5); t5 = fma(v5, y, t5);
    let v6 = vec4<f32>(values[a6]); s6 = fma(v6, x, s6); t6 = fma(v6, y, t6);
    let v7 = vec4<f32>(values[a7]); s7 = fma(v7, x, s7); t7 = fma(v7, y, t7);
    a0 += al; b0 += bl;
    a1 += al; b1 += bl;
    a2 += al; b2 += bl;
    a3 += al; b3 += bl;
    a4 += al; b4 += bl;
    a5 += al; b5 += bl;
    a6 += al; b6 += bl;
    a7 += al; b7 += bl;
  }
  put(r + 0u, c, s0); put(r + 0u, c + 4u, t0);
  put(r + 1u, c, s1); put(r + 1u, c + 4u, t1);
  put(r + 2u, c, s2); put(r + 2u, c + 4u, t2);
  put(r + 3u, c, s3); put(r + 3u, c + 4u, t3);
  put(r + 4u, c, s4); put(r + 4u, c + 4u, t4);
  put(r + 5u, c, s5); put(r + 5u, c + 4u, t5);
  put(r + 6u, c, s6); put(r + 6u, c + 4u, t6);
  put(r + 7u, c, s7); put(r + 7u, c + 4u, t7);
}

// fours is main for what is stored as it is read and stands at multiples of four: there
// values are read and written by fours.
@group(0) @binding(0) var<storage, read_write> quads: array<vec4<f32>>;

fn putFours(r: u32, c: u32, s: vec4<f32>) {
  if (r >= u32(args.n2) || c >= u32(args.n3)) { return; }
  let to = (args.b2 + r * u32(args.n3) + c) / 4u;
  var v = s;
  if (args.f0 != 0.0) { v = fma(vec4(args.f0), quads[to], v); }
  quads[to] = v;
}

@compute @workgroup_size(8, 8)
fn fours(@builtin(global_invocation_id) id: vec3<u32>) {
  let n = u32(args.n3); let k = u32(args.n4);
  let r = 8u * id.y; let q = 8u * id.x;
  if (r >= u32(args.n2) || q >= n) { return; }
  var a0 = args.b0 + row(r + 0u) * k;
  var a1 = args.b0 + row(r + 1u) * k;
  var a2 = args.b0 + row(r + 2u) * k;
  var a3 = args.b0 + row(r + 3u) * k;
  var a4 = args.b0 + row(r + 4u) * k;
  var a5 = args.b0 + row(r + 5u) * k;
  var a6 = args.b0 + row(r + 6u) * k;
  var a7 = args.b0 + row(r + 7u) * k;
  var b = args.b1 + q;
  var c = args.b1 + min(q + 4u, n - 4u);
  var x: vec4<f32>; var y: vec4<f32>;
  var s0 = vec4<f32>(); var t0 = vec4<f32>();
  var s1 = vec4<f32>(); var t1 = vec4<f32>();
  var s2 = vec4<f32>(); var t2 = vec4<f32>();
  var s3 = vec4<f32>(); var t3 = vec4<f32>();
  var s4 = vec4<f32>(); var t4 = vec4<f32>();
  var s5 = vec4<f32>(); var t5 = vec4<f32>();
  var s6 = vec4<f32>(); var t6 = vec4<f32>();
  var s7 = vec4<f32>(); var t7 = vec4<f32>();
  for (var l = 0u; l < k; l += 4u) {
    let v0 = quads[a0 / 4u]; a0 += 4u;
    let v1 = quads[a1 / 4u]; a1 += 4u;
    let v2 = quads[a2 / 4u]; a2 += 4u;
    let v3 = quads[a3 / 4u]; a3 += 4u;
    let v4 = quads[a4 / 4u]; a4 += 4u;
    let v5 = quads[a5 / 4u]; a5 += 4u;
    let v6 = quads[a6 / 4u]; a6 += 4u;
    let v7 = quads[a7 / 4u]; a7 += 4u;
    x = quads[b / 4u]; y = quads[c / 4u]; b += n; c += n;
    s0 = fma(v0.xxxx, x, s0); t0 = fma(v0.xxxx, y, t0);
    s1 = fma(v1.xxxx, x, s1); t1 = fma(v1.xxxx, y, t1);
    s2 = fma(v2.xxxx, x, s2); t2 = fma(v2.xxxx, y, t2);
    s3 = fma(v3.xxxx, x, s3); t3 = fma(v3.xxxx, y, t3);
    s4 = fma(v4.xxxx, x, s4); t4 = fma(v4.xxxx, y, t4);
    s5 = fma(v5.xxxx, x, s5); t5 = fma(v5.xxxx, y, t5);
    s6 = fma(v6.xxxx, x, s6); t6 = fma(v6.xxxx, y, t6);
    s7 = fma(v7.xxxx, x, s7); t7 = fma(v7.xxxx, y, t7);
    x = quads[b / 4u]; y = quads[c / 4u]; b += n; c += n;
    s0 = fma(v0.yyyy, x, s0); t0 = fma(v0.yyyy, y, t0);
    s1 = fma(v1.yyyy, x, s1); t1 = fma(v1.yyyy, y, t1);
    s2 = fma(v2.yyyy, x, s2); t2 = fma(v2.yyyy, y, t2);
    s3 = fma(v3.yyyy, x, s3); t3 = fma(v3.yyyy, y, t3);
    s4 = fma(v4.yyyy, x, s4); t4 = fma(v4.yyyy, y, t4);
    s5 = fma(v5.yyyy, x, s5); t5 = fma(v5.yyyy, y, t5);
    s6 = fma(v6.yyyy, x, s6); t6 = fma(v6.yyyy, y, t6);
    s7 = fma(v7.yyyy, x, s7); t7 = fma(v7.yyyy, y, t7);
    x = quads[b / 4u]; y = quads[c / 4u]; b += n; c += n;
    s0 = fma(v0.zzzz, x, s0); t0 = fma(v0.zzzz, y, t0);
    s1 = fma(v1.zzzz, x, s1); t1 = fma(v1.zzzz, y, t1);
    s2 = fma(v2.zzzz, x, s2); t2 = fma(v2.zzzz, y, t2);
    s3 = fma(v3.zzzz, x, s3); t3 = fma(v3.zzzz, y, t3);
    s4 = fma(v4.zzzz, x, s4); t4 = fma(v4.zzzz, y, t4);
    s5 = fma(v5.zzzz, x, s5); t5 = fma(v5.zzzz, y, t5);
    s6 = fma(v6.zzzz, x, s6); t6 = fma(v6.zzzz, y, t6);
    s7 = fma(v7.zzzz, x, s7); t7 = fma(v7.zzzz, y, t7);
    x = quads[b / 4u]; y = quads[c / 4u]; b += n; c += n;
    s0 = fma(v0.wwww, x, s0); t0 = fma(v0.wwww, y, t0);
    s1 = fma(v1.wwww, x, s1); t1 = fma(v1.wwww, y, t1);
    s2 = fma(v2.wwww, x, s2); t2 = fma(v2.wwww, y, t2);
    s3 = fma(v3.wwww, x, s3); t3 = fma(v3.wwww, y, t3);
    s4 = fma(v4.wwww, x, s4); t4 = fma(v4.wwww, y, t4);
    s5 = fma(v5.wwww, x, s5); t5 = fma(v5.wwww, y, t5);
    s6 = fma(v6.wwww, x, s6); t6 = fma(v6.wwww, y, t6);
    s7 = fma(v7.wwww, x, s7); t7 = fma(v7.wwww, y, t7);
  }
  putFours(r + 0u, q, s0); putFours(r + 0u, q + 4u, t0);
  putFours(r + 1u, q, s1); putFours(r + 1u, q + 4u, t1);
  putFours(r + 2u, q, s2); putFours(r + 2u, q + 4u, t2);
  putFours(r + 3u, q, s3); putFours(r + 3u, q + 4u, t3);
  putFours(r + 4u, q, s4); putFours(r + 4u, q + 4u, t4);
  putFours(r + 5u, q, s5); putFours(r + 5u, q + 4u, t5);
  putFours(r + 6u, q, s6); putFours(r + 6u, q + 4u, t6);
  putFours(r + 7u, q, s7); putFours(r + 7u, q + 4u, t7);
}
