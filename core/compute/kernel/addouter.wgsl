//! scratch n1*33 512 if program empty n0<257 n1>63 n2>31 n3=0
//! scratch n1*n2 n1*33 512 if program wide n0<257 n1>63 n2>31 n3=0
//! unusual n0/64 if program n0<257 n1>63 n2>31 n3=0
//! slim n1/32 else if program empty n0<257 n1>1 n2<17 n3=0
//! main n2/32+ n1/128 else if n1>1 n3=0
//! list n1/64 if program n0<257 n1>63 n2>31 n3=0
//! first n2/32 n1/32 if program empty n0<257 n1>63 n2>31 n3=0
//! listed n2/32 n1/32 if program wide n0<257 n1>63 n2>31 n3=0
//! join n1*n2/4096 if program wide n0<257 n1>63 n2>31 n3=0
//! holds n1*n2 if program empty n0<257 n1>63 n2>31 n3=0
//! holds n1*n2 if program empty n0<257 n1>1 n2<17 n3=0
//! each n2/16+ n1/128 if n1>1 n3>0
//! short n2/64 if program empty n0<257 n1=1 n3=0
//! row n2/256 else if n1=1
//! holds n2 if program empty n0<257 n1=1 n3=0
// A matrix of one row is row's; of others main adds products as they are, and each what
// becomes of them. An invocation of main keeps 8×8 sums in registers, of rows next to each
// other and of columns four apart, so that four invocations read and write next to each
// other. (Measured on SwiftShader: 8×4, as each has them, takes 1.1 times as long, 16×8,
// too many for some GPUs' registers, 0.9 times; loads by fours, which neighbours do not
// share, up to twice.) What lies beyond the matrix is read as its last row or column, and
// not written.
//
// Programs that are adapters take both sides of an if, and a loop at least once: there main
// cannot leave anything out. So where the adapter is one, columns of h are taken by eights,
// and each has a list of the rows in which one of them is not 0, or not all of d is finite:
// of pictures it has four in ten. A second loop adds to sums: in main that takes as long as
// half of the products.

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

// What is kept on the way, at args.b4: of each row whether it is unusual, of each eight
// columns of h how many rows each piece has and then which, and the block's sums.
fn listOf(eight: u32) -> u32 { return args.b4 + BLOCK + eight * (BLOCK / PIECE + BLOCK); }
fn sumsAt() -> u32 { return listOf((u32(args.n1) + 7u) / 8u); }

// unusual is a row of d that is not finite: times 0 it is not 0.
@compute @workgroup_size(64)
fn unusual(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u); let k = u32(args.n2);
  if (i >= u32(args.n0)) { return; }
  var most = 0u;
  for (var l = 0u; l < k; l += 4u) {
    let at = vec4(args.b1 + i * k) + min(vec4(l) + vec4(0u, 1u, 2u, 3u), vec4(k - 1u));
    most = max(most, max(max(magnitude(words[at.x]), magnitude(words[at.y])), max(magnitude(words[at.z]), magnitude(words[at.w]))));
  }
  words[args.b4 + i] = u32(most >= INF);
}

@compute @workgroup_size(8)
fn list(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let n = u32(args.n1);
  let row = 8u * item(id, lane, 8u);
  if (row >= n) { return; }
  let ha = rowsFrom(row); let hb = rowsFrom(row + 4u);
  let counts = listOf(row / 8u);
  for (var start = 0u; start < m; start += PIECE) {
    let first = counts + BLOCK / PIECE + start;
    var to = first;
    for (var i = start; i < min(start + PIECE, m); i++) {
      let h = args.b0 + i * n;
      let any = words[h + ha.x] | words[h + ha.y] | words[h + ha.z] | words[h + ha.w]
        | words[h + hb.x] | words[h + hb.y] | words[h + hb.z] | words[h + hb.w];
      words[to] = i; // the next takes its place, if it is not counted
      to += select(0u, 1u, magnitude(any) != 0u || words[args.b4 + i] != 0u);
    }
    words[counts + start / PIECE] = to - first;
  }
}

// store is of sums of a row, as far as there are columns.
fn store(to: u32, left: u32, v: vec4<f32>) {
  if (left > 0u) { words[to] = bitcast<u32>(v.x); }
  if (left > 4u) { words[to + 4u] = bitcast<u32>(v.y); }
  if (left > 8u) { words[to + 8u] = bitcast<u32>(v.z); }
  if (left > 12u) { words[to + 12u] = bitcast<u32>(v.w); }
}

// listed adds the products of a block's listed rows, as main does, for join; first has the
// sums of what was empty be those, in float32.
@compute @workgroup_size(4, 4)
fn listed(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) { addListed(id, local, sumsAt()); }

@compute @workgroup_size(4, 4)
fn first(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) { addListed(id, local, args.sums); }

fn addListed(id: vec3<u32>, local: vec3<u32>, sums: u32) {
  let m = u32(args.n0); let n = u32(args.n1); let k = u32(args.n2);
  let row = 32u * id.y + 8u * local.y; let column = 32u * id.x + local.x;
  if (row >= n || column >= k) { return; }
  let ha = rowsFrom(row); let hb = rowsFrom(row + 4u);
  let da = columnsFrom(column); let db = columnsFrom(column + 16u);
  let counts = listOf(row / 8u);
  var t0 = mat4x4<f32>(); var t1 = t0; var t2 = t0; var t3 = t0;
  for (var start = 0u; start < m; start += PIECE) {
    var s0 = mat4x4<f32>(); var s1 = s0; var s2 = s0; var s3 = s0;
    let first = counts + BLOCK / PIECE + start;
    let end = first + words[counts + start / PIECE];
    for (var at = first; at < end; at++) {
      let h = args.b0 + words[at] * n; let d = args.b1 + words[at] * k;
      let a = four(vec4(h) + ha); let b = four(vec4(h) + hb);
      let v = four(vec4(d) + da); let w = four(vec4(d) + db);
      s0 += products(a, v); s1 += products(a, w);
      s2 += products(b, v); s3 += products(b, w);
    }
    t0 += s0; t1 += s1; t2 += s2; t3 += s3;
  }
  let to = sums + row * k + column;
  for (var r = 0u; r < min(8u, n - row); r++) {
    store(to + r * k, k - column, t0[0]);
    store(to + r * k + 16u, max(k - column, 16u) - 16u, t1[0]);
    t0 = mat4x4(t0[1], t0[2], t0[3], t2[0]);
    t1 = mat4x4(t1[1], t1[2], t1[3], t3[0]);
    t2 = mat4x4(t2[1], t2[2], t2[3], t2[0]);
    t3 = mat4x4(t3[1], t3[2], t3[3], t3[0]);
  }
}

// join adds the block's sums: where there is one already, in a second loop, which is short
// where there is none.
@compute @workgroup_size(256)
fn join(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = group(id) * 4096u + lane;
  let end = min(first + 4096u, u32(args.n1) * u32(args.n2));
  let more = sumsAt(); let low = args.sums; let high = args.sums + args.many;
  var left = 0u;
  var bit = 1u;
  for (var i = first; i < end; i += 256u) {
    let free = (words[low + i] | words[high + i]) == 0u;
    let v = wide(words[more + i]);
    if (free) { words[low + i] = v.x; words[high + i] = v.y; }
    left |= select(bit, 0u, free);
    bit += bit;
  }
  for (var i = first; left != 0u; i += 256u) {
    if ((left & 1u) != 0u) { set_sum(i, wide_add(sum(i), wide(words[more + i]))); }
    left >>= 1u;
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

// slim and short are of few columns, and of one row, what first is.
@compute @workgroup_size(4, 4)
fn slim(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let m = u32(args.n0); let n = u32(args.n1); let k = u32(args.n2);
  let row = 32u * id.x + 8u * local.y; let column = local.x;
  if (row >= n || column >= k) { return; }
  let ha = rowsFrom(row); let hb = rowsFrom(row + 4u);
  let da = columnsFrom(column);
  var h = args.b0; var d = args.b1;
  var t0 = mat4x4<f32>(); var t1 = t0;
  for (var i = 0u; i < m;) {
    var s0 = mat4x4<f32>(); var s1 = s0;
    let end = min(i + PIECE, m);
    for (; i < end; i++) {
      let v = four(vec4(d) + da);
      s0 += products(four(vec4(h) + ha), v); s1 += products(four(vec4(h) + hb), v);
      h += n; d += k;
    }
    t0 += s0; t1 += s1;
  }
  for (var r = 0u; r < min(8u, n - row); r++) {
    store(args.sums + (row + r) * k + column, k - column, t0[0]);
    t0 = mat4x4(t0[1], t0[2], t0[3], t1[0]);
    t1 = mat4x4(t1[1], t1[2], t1[3], t1[0]);
  }
}

@compute @workgroup_size(16)
fn short(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let k = u32(args.n2);
  let column = 64u * group(id) + (lane & ~3u) * 4u + (lane & 3u);
  if (column >= k) { return; }
  let columns = columnsFrom(column);
  var t = vec4<f32>();
  for (var i = 0u; i < m;) {
    var s = vec4<f32>();
    let end = min(i + PIECE, m);
    for (; i < end; i++) { s += value(args.b0 + i) * four(vec4(args.b1 + i * k) + columns); }
    t += s;
  }
  store(args.sums + column, k - column, t);
}
