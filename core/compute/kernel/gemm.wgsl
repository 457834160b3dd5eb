//! scratch n2*n4/4 n4*3 n2 if program n0=0 n1=0 n2>31 n3>31 n4>255
//! unusual n4/64 if program n0=0 n1=0 n2>31 n3>31 n4>255
//! list n2/64 n4/64 if program n0=0 n1=0 n2>31 n3>31 n4>255
//! listed n3/32 n2/32 if program n0=0 n1=0 n2>31 n3>31 n4>255
//! fours n3/64 n2/64 else if n0=0 n1=0 n3%4 n4%4 b0%4 b1%4 b2%4
//! main n3/64 n2/64 else
// Each invocation has 8×8 of the results in registers: workgroup memory is slower where
// the adapter is a program, and registers are enough where it is none (WEBGPU §0.4).
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
// values are read and written by fours (measured on SwiftShader: a seventh less time).
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

// # Where the adapter is a program
//
// It takes both sides of an if, and a loop at least once: to leave something out, there
// have to be fewer turns. So rows of A are taken by eights, and k in pieces, and each has a
// list of where in k one of the eight is not 0, or not all of B's row is finite: of
// pictures that is less than half.
const PIECE = 64u;

// What is kept on the way, at args.b4: of each row of B whether it is unusual, and of each
// eight rows of A and each piece how many of k are listed, and which.
fn listOf(eight: u32, piece: u32) -> u32 {
  let k = u32(args.n4);
  return args.b4 + k + eight * (k + (k + PIECE - 1u) / PIECE) + piece * (PIECE + 1u);
}

// unusual is a row of B that is not finite: times 0 it is not 0.
@compute @workgroup_size(64)
fn unusual(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let l = item(id, lane, 64u); let n = u32(args.n3);
  if (l >= u32(args.n4)) { return; }
  var most = 0u;
  for (var j = 0u; j < n; j += 4u) {
    let at = vec4(args.b1 + l * n) + min(vec4(j) + vec4(0u, 1u, 2u, 3u), vec4(n - 1u));
    most = max(most, max(max(magnitude(bits(at.x)), magnitude(bits(at.y))), max(magnitude(bits(at.z)), magnitude(bits(at.w)))));
  }
  values[args.b4 + l] = select(0.0, 1.0, most >= INF);
}

@compute @workgroup_size(8)
fn list(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let k = u32(args.n4);
  let eight = 8u * id.x + lane; let start = id.y * PIECE;
  if (8u * eight >= u32(args.n2)) { return; }
  let count = listOf(eight, id.y); let a = vec4(args.b0); let r = 8u * eight;
  let ra = a + k * vec4(row(r), row(r + 1u), row(r + 2u), row(r + 3u));
  let rb = a + k * vec4(row(r + 4u), row(r + 5u), row(r + 6u), row(r + 7u));
  var to = count + 1u;
  for (var l = start; l < min(start + PIECE, k); l++) {
    let any = bits(ra.x + l) | bits(ra.y + l) | bits(ra.z + l) | bits(ra.w + l)
      | bits(rb.x + l) | bits(rb.y + l) | bits(rb.z + l) | bits(rb.w + l);
    values[to] = f32(l); // the next takes its place, if it is not counted
    to += select(0u, 1u, magnitude(any) != 0u || values[args.b4 + l] != 0.0);
  }
  values[count] = f32(to - count - 1u);
}
fn bits(at: u32) -> u32 { return bitcast<u32>(values[at]); }

// listed has four invocations side by side, whose columns take turns.
@compute @workgroup_size(4, 4)
fn listed(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let n = u32(args.n3); let k = u32(args.n4);
  let eight = 4u * id.y + local.y; let r = 8u * eight; let c = 32u * id.x + local.x;
  if (r >= u32(args.n2) || c >= n) { return; }
  let ra = vec4(args.b0) + k * vec4(row(r), row(r + 1u), row(r + 2u), row(r + 3u));
  let rb = vec4(args.b0) + k * vec4(row(r + 4u), row(r + 5u), row(r + 6u), row(r + 7u));
  let ca = vec4(args.b1) + vec4(c, column(c + 4u), column(c + 8u), column(c + 12u));
  let cb = vec4(args.b1) + vec4(column(c + 16u), column(c + 20u), column(c + 24u), column(c + 28u));
  var s0 = mat4x4<f32>(); var s1 = s0; var t0 = s0; var t1 = s0;
  for (var piece = 0u; piece * PIECE < k; piece++) {
    let count = listOf(eight, piece);
    let end = count + 1u + u32(values[count]);
    for (var at = count + 1u; at < end; at++) {
      let l = u32(values[at]); let b = l * n;
      let v = vec4(values[ra.x + l], values[ra.y + l], values[ra.z + l], values[ra.w + l]);
      let w = vec4(values[rb.x + l], values[rb.y + l], values[rb.z + l], values[rb.w + l]);
      let x = vec4(values[ca.x + b], values[ca.y + b], values[ca.z + b], values[ca.w + b]);
      let y = vec4(values[cb.x + b], values[cb.y + b], values[cb.z + b], values[cb.w + b]);
      s0 += mat4x4(v.x * x, v.y * x, v.z * x, v.w * x); t0 += mat4x4(v.x * y, v.y * y, v.z * y, v.w * y);
      s1 += mat4x4(w.x * x, w.y * x, w.z * x, w.w * x); t1 += mat4x4(w.x * y, w.y * y, w.z * y, w.w * y);
    }
  }
  for (var i = 0u; i < min(8u, u32(args.n2) - r); i++) {
    putApart(args.b2 + (r + i) * n + c, n - c, s0[0]);
    putApart(args.b2 + (r + i) * n + c + 16u, max(n - c, 16u) - 16u, t0[0]);
    s0 = mat4x4(s0[1], s0[2], s0[3], s1[0]); s1 = mat4x4(s1[1], s1[2], s1[3], s1[0]);
    t0 = mat4x4(t0[1], t0[2], t0[3], t1[0]); t1 = mat4x4(t1[1], t1[2], t1[3], t1[0]);
  }
}

// putApart stores four results, four columns apart, as far as there are columns.
fn putApart(to: u32, left: u32, s: vec4<f32>) {
  putOne(to, left > 0u, s.x);
  putOne(to + 4u, left > 4u, s.y);
  putOne(to + 8u, left > 8u, s.z);
  putOne(to + 12u, left > 12u, s.w);
}
fn putOne(to: u32, there: bool, s: f32) {
  if (there && args.f0 == 0.0) { values[to] = s; }
  if (there && args.f0 != 0.0) { values[to] = fma(args.f0, values[to], s); }
}
