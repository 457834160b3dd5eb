// A matrix of one row is row's; of others main adds products as they are, and each what
// becomes of them. An invocation of main keeps 8×8 sums in registers, of rows next to each
// other and of columns four apart, so that four invocations read and write next to each
// other. What lies beyond the matrix is read as its last row or column, and not written.

// PIECE and BLOCK are compute.PieceRows and BlockRows.
const PIECE = 64u;
const BLOCK = 256u;

fn value(at: u32) -> f32 { return bitcast<f32>(words[at]); }
fn four(at: vec4<u32>) -> vec4<f32> { return vec4(value(at.x), value(at.y), value(at.z), value(at.w)); }

// rowsFrom and columnsFrom are four of each, and none beyond the matrix.
fn rowsFrom(row: u32) -> vec4<u32> { return min(vec4(row) + vec4(0u, 1u, 2u, 3u), vec4(u32(args.n1) - 1u)); }
fn columnsFrom(column: u32) -> vec4<u32> { return min(vec4(column) + vec4(0u, 4u, 8u, 12u), vec4(u32(args.n2) - 1u)); }

// products are those of four rows and four columns.
fn products(h: vec4<f32>, d: vec4<f32>) -> mat4x4<f32> { return mat4x4(h.x * d, h.y * d, h.z * d, h.w * d); }

// clamped goes by bits, so that NaN stays.
fn clamped(p: vec4<f32>, c: u32) -> vec4<f32> {
  let bits = bitcast<vec4<u32>>(p);
  let m = bits & vec4(0x7fffffffu);
  return bitcast<vec4<f32>>((bits ^ m) | select(min(m, vec4(c)), m, m > vec4(INF)));
}

// put adds to sums of eight rows and four columns: t, and below that u. Mostly all sums are
// 0, as they were cleared, and are set.
fn put(row: u32, column: u32, t: mat4x4<f32>, u: mat4x4<f32>) {
  let n = u32(args.n1); let k = u32(args.n2);
  let rows = min(row + 8u, n);
  let columns = min(column + 16u, k);
  var old = 0u;
  for (var r = row; r < rows; r++) {
    for (var l = column; l < columns; l += 4u) {
      let was = sum(r * k + l);
      old |= was.x | was.y;
    }
  }
  var a = t; var b = u;
  for (var r = row; r < rows && old == 0u; r++) {
    let at = r * k + column;
    if (column < k) { set_sum(at, wide(bitcast<u32>(a[0].x))); }
    if (column + 4u < k) { set_sum(at + 4u, wide(bitcast<u32>(a[0].y))); }
    if (column + 8u < k) { set_sum(at + 8u, wide(bitcast<u32>(a[0].z))); }
    if (column + 12u < k) { set_sum(at + 12u, wide(bitcast<u32>(a[0].w))); }
    a = mat4x4(a[1], a[2], a[3], b[0]);
    b = mat4x4(b[1], b[2], b[3], b[0]);
  }
  for (var r = row; r < rows && old != 0u; r++) {
    var v = a[0];
    for (var l = column; l < columns; l += 4u) {
      set_sum(r * k + l, wide_add(sum(r * k + l), wide(bitcast<u32>(v.x))));
      v = v.yzwx;
    }
    a = mat4x4(a[1], a[2], a[3], b[0]);
    b = mat4x4(b[1], b[2], b[3], b[0]);
  }
}

@compute @workgroup_size(4, 16)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let m = u32(args.n0); let n = u32(args.n1); let k = u32(args.n2);
  let row = 128u * id.y + 8u * local.y;
  if (row >= n) { return; }
  let ha = rowsFrom(row); let hb = rowsFrom(row + 4u);
  for (var column = 32u * id.x + local.x; column < k; column += 32u * args.across) {
    let da = columnsFrom(column); let db = columnsFrom(column + 16u);
    var h = args.b0; var d = args.b1;
    // s is of a piece, t of a block: above left and right, below left and right.
    var t0 = mat4x4<f32>(); var t1 = t0; var t2 = t0; var t3 = t0;
    for (var i = 0u; i < m;) {
      var s0 = mat4x4<f32>(); var s1 = s0; var s2 = s0; var s3 = s0;
      let end = min(i + PIECE, m);
      for (; i < end; i++) {
        let a = four(vec4(h) + ha); let b = four(vec4(h) + hb);
        let v = four(vec4(d) + da); let w = four(vec4(d) + db);
        s0 += products(a, v); s1 += products(a, w);
        s2 += products(b, v); s3 += products(b, w);
        h += n; d += k;
      }
      t0 += s0; t1 += s1; t2 += s2; t3 += s3;
      if (i < m && i % BLOCK != 0u) { continue; }
      for (var l = column; l < column + 32u; l += 16u) {
        put(row, l, t0, t2);
        t0 = t1; t2 = t3;
      }
      t0 = mat4x4<f32>(); t1 = t0; t2 = t0; t3 = t0;
    }
  }
}

@compute @workgroup_size(4, 16)
fn each(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let m = u32(args.n0); let n = u32(args.n1); let k = u32(args.n2);
  let c = bitcast<u32>(args.f0);
  let row = 128u * id.y + 8u * local.y;
  if (row >= n) { return; }
  let ha = rowsFrom(row); let hb = rowsFrom(row + 4u);
  for (var column = 16u * id.x + local.x; column < k; column += 16u * args.across) {
    let da = columnsFrom(column);
    var h = args.b0; var d = args.b1;
    var t0 = mat4x4<f32>(); var t1 = t0;
    for (var i = 0u; i < m;) {
      var s0 = mat4x4<f32>(); var s1 = s0;
      let end = min(i + PIECE, m);
      if (args.n3 == 1) {
        for (; i < end; i++) {
          let v = four(vec4(d) + da);
          let p = products(four(vec4(h) + ha), v); let q = products(four(vec4(h) + hb), v);
          s0 += mat4x4(clamped(p[0], c), clamped(p[1], c), clamped(p[2], c), clamped(p[3], c));
          s1 += mat4x4(clamped(q[0], c), clamped(q[1], c), clamped(q[2], c), clamped(q[3], c));
          h += n; d += k;
        }
      } else {
        for (; i < end; i++) {
          let v = four(vec4(d) + da);
          let p = products(four(vec4(h) + ha), v); let q = products(four(vec4(h) + hb), v);
          s0 += mat4x4(round(p[0]), round(p[1]), round(p[2]), round(p[3]));
          s1 += mat4x4(round(q[0]), round(q[1]), round(q[2]), round(q[3]));
          h += n; d += k;
        }
      }
      t0 += s0; t1 += s1;
      // Whole numbers add up exactly in a piece; a block's sum need not fit float32.
      if (i < m && i % BLOCK != 0u && args.n3 != 2) { continue; }
      put(row, column, t0, t1);
      t0 = mat4x4<f32>(); t1 = t0;
    }
  }
}

// row's invocations have four columns each, so far apart that neighbours read and write
// next to each other.
@compute @workgroup_size(64)
fn row(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let k = u32(args.n2); let c = bitcast<u32>(args.f0);
  let column = group(id) * 256u + lane;
  if (column >= k) { return; }
  let columns = min(vec4(column) + vec4(0u, 64u, 128u, 192u), vec4(k - 1u));
  var t = vec4(0.0);
  for (var i = 0u; i < m;) {
    var s = vec4(0.0);
    let end = min(i + PIECE, m);
    if (args.n3 == 0) {
      for (; i < end; i++) { s += value(args.b0 + i) * four(vec4(args.b1 + i * k) + columns); }
    } else {
      for (; i < end; i++) {
        let p = value(args.b0 + i) * four(vec4(args.b1 + i * k) + columns);
        s += select(round(p), clamped(p, c), args.n3 == 1);
      }
    }
    t += s;
    if (i < m && i % BLOCK != 0u && args.n3 != 2) { continue; }
    for (var l = column; l < min(column + 256u, k); l += 64u) {
      set_sum(l, wide_add(sum(l), wide(bitcast<u32>(t.x))));
      t = t.yzwx;
    }
    t = vec4(0.0);
  }
}
