//! main n2/16+ n1/128
//! row n2/256
// A matrix of one row is row's, any other main's: an invocation keeps 8×4 sums in
// registers, of rows next to each other and of columns four apart, so that four
// invocations read and write next to each other. (Measured on SwiftShader: 4×4 takes 1.4
// times as long; 8×8 as long, and half as long again where columns are few; loads by
// fours, which neighbours do not share, up to twice.) What lies beyond the matrix is
// read as its last row or column, and not written.

// PIECE and BLOCK are compute.PieceRows and BlockRows.
const PIECE = 64u;
const BLOCK = 256u;

fn value(at: u32) -> f32 { return bitcast<f32>(words[at]); }
fn columns(at: vec4<u32>) -> vec4<f32> { return vec4(value(at.x), value(at.y), value(at.z), value(at.w)); }

// clamped goes by bits, so that NaN stays.
fn clamped(p: vec4<f32>, c: u32) -> vec4<f32> {
  let bits = bitcast<vec4<u32>>(p);
  let m = bits & vec4(0x7fffffffu);
  return bitcast<vec4<f32>>((bits ^ m) | select(min(m, vec4(c)), m, m > vec4(INF)));
}

// tile adds the sums of an invocation whose first row and column these are.
fn tile(row: u32, column: u32) {
  let m = u32(args.n0); let n = u32(args.n1); let k = u32(args.n2);
  let c = bitcast<u32>(args.f0);
  let ha = min(vec4(row) + vec4(0u, 1u, 2u, 3u), vec4(n - 1u));
  let hb = min(vec4(row) + vec4(4u, 5u, 6u, 7u), vec4(n - 1u));
  let ds = min(vec4(column) + vec4(0u, 4u, 8u, 12u), vec4(k - 1u));
  var h = args.b0;
  var d = args.b1;
  // s is of a piece, t of a block.
  var t0 = vec4(0.0); var t1 = t0; var t2 = t0; var t3 = t0; var t4 = t0; var t5 = t0; var t6 = t0; var t7 = t0;
  for (var i = 0u; i < m;) {
    var s0 = vec4(0.0); var s1 = s0; var s2 = s0; var s3 = s0; var s4 = s0; var s5 = s0; var s6 = s0; var s7 = s0;
    let end = min(i + PIECE, m);
    if (args.n3 == 0) {
      for (; i < end; i++) {
        let v = columns(vec4(d) + ds);
        s0 = fma(vec4(value(h + ha.x)), v, s0);
        s1 = fma(vec4(value(h + ha.y)), v, s1);
        s2 = fma(vec4(value(h + ha.z)), v, s2);
        s3 = fma(vec4(value(h + ha.w)), v, s3);
        s4 = fma(vec4(value(h + hb.x)), v, s4);
        s5 = fma(vec4(value(h + hb.y)), v, s5);
        s6 = fma(vec4(value(h + hb.z)), v, s6);
        s7 = fma(vec4(value(h + hb.w)), v, s7);
        h += n; d += k;
      }
    } else if (args.n3 == 1) {
      for (; i < end; i++) {
        let v = columns(vec4(d) + ds);
        s0 += clamped(value(h + ha.x) * v, c);
        s1 += clamped(value(h + ha.y) * v, c);
        s2 += clamped(value(h + ha.z) * v, c);
        s3 += clamped(value(h + ha.w) * v, c);
        s4 += clamped(value(h + hb.x) * v, c);
        s5 += clamped(value(h + hb.y) * v, c);
        s6 += clamped(value(h + hb.z) * v, c);
        s7 += clamped(value(h + hb.w) * v, c);
        h += n; d += k;
      }
    } else {
      for (; i < end; i++) {
        let v = columns(vec4(d) + ds);
        s0 += round(value(h + ha.x) * v);
        s1 += round(value(h + ha.y) * v);
        s2 += round(value(h + ha.z) * v);
        s3 += round(value(h + ha.w) * v);
        s4 += round(value(h + hb.x) * v);
        s5 += round(value(h + hb.y) * v);
        s6 += round(value(h + hb.z) * v);
        s7 += round(value(h + hb.w) * v);
        h += n; d += k;
      }
    }
    t0 += s0; t1 += s1; t2 += s2; t3 += s3; t4 += s4; t5 += s5; t6 += s6; t7 += s7;
    // Whole numbers add up exactly in a piece; a block's sum need not fit float32.
    if (i < m && i % BLOCK != 0u && args.n3 != 2) { continue; }
    for (var r = row; r < min(row + 8u, n); r++) {
      for (var l = column; l < min(column + 16u, k); l += 4u) {
        set_sum(r * k + l, wide_add(sum(r * k + l), wide(bitcast<u32>(t0.x))));
        t0 = t0.yzwx;
      }
      t0 = t1; t1 = t2; t2 = t3; t3 = t4; t4 = t5; t5 = t6; t6 = t7;
    }
    t0 = vec4(0.0); t1 = t0; t2 = t0; t3 = t0; t4 = t0; t5 = t0; t6 = t0; t7 = t0;
  }
}

@compute @workgroup_size(4, 16)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let n = u32(args.n1); let k = u32(args.n2);
  let row = 128u * id.y + 8u * local.y;
  if (row >= n || n == 1u) { return; }
  for (var column = 16u * id.x + local.x; column < k; column += 16u * args.across) { tile(row, column); }
}

@compute @workgroup_size(256)
fn row(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let k = u32(args.n2); let c = bitcast<u32>(args.f0);
  let l = item(id, lane, 256u);
  if (l >= k || args.n1 != 1) { return; }
  var t = 0.0;
  for (var i = 0u; i < m;) {
    var s = 0.0;
    let end = min(i + PIECE, m);
    for (; i < end; i++) {
      let p = value(args.b0 + i) * value(args.b1 + i * k + l);
      switch args.n3 {
        case 0: { s += p; }
        case 1: { s += clamped(vec4(p), c).x; }
        default: { s += round(p); }
      }
    }
    t += s;
    if (i < m && i % BLOCK != 0u && args.n3 != 2) { continue; }
    set_sum(l, wide_add(sum(l), wide(bitcast<u32>(t))));
    t = 0.0;
  }
}
