// Products as they are, of matrices, are a product of tile.wgsl's, whose terms are the rows of one block;
// each is what becomes of others. Of several blocks a workgroup has one alone where f1 says that these are kept apart, at
// b4, and join adds them to the sums: the same bits. A matrix of one row is row's, and few's where it has few columns.
//
// Where n4 is 1, rows of the second matrix are scaled by the factors at b2, as scaleRows does, and stored at b3, and
// those of the first are dropped where the factor is 0. The workgroups of the first column and row of tiles store them;
// what others read of a dropped row meanwhile, they make 0.

// BLOCK is compute.BlockRows.
const BLOCK = 256u;

fn value(at: u32) -> f32 { return bitcast<f32>(words[at]); }
fn four(at: vec4<u32>) -> vec4<f32> { return vec4(value(at.x), value(at.y), value(at.z), value(at.w)); }

var<private> start: u32; // of the block
var<private> stores: vec2<bool>; // what is read of the first matrix, and of the second

// operand reads four columns of a matrix with so many in the row of a term, or 0 beyond the last term.
fn operand(matrix: u32, columns: u32, column: u32, apart: u32, term: u32, terms: u32) -> vec4<f32> {
  let l = min(vec4(column, column + apart, column + 2u * apart, column + 3u * apart), vec4(columns - 1u));
  return select(vec4(0.0), four(matrix + (start + min(term, terms - 1u)) * columns + l), term < terms);
}

fn leftQuad(what: Product, row: u32, apart: u32, term: u32) -> vec4<f32> {
  let v = operand(args.b0, what.rows, row, apart, term, what.terms);
  if (args.n4 == 0 || term >= what.terms || magnitude(words[args.b2 + start + term]) != 0u) { return v; }
  if (stores.x) { store(args.b0, what.rows, row, apart, term, vec4(0.0)); }
  return vec4(0.0);
}

fn rightQuad(what: Product, column: u32, apart: u32, term: u32) -> vec4<f32> {
  let v = operand(args.b1, what.columns, column, apart, term, what.terms);
  if (args.n4 == 0 || term >= what.terms) { return v; }
  let y = weighed(words[args.b2 + start + term], v);
  if (stores.y) { store(args.b3, what.columns, column, apart, term, y); }
  return y;
}

fn store(matrix: u32, columns: u32, column: u32, apart: u32, term: u32, v: vec4<f32>) {
  var x = v;
  for (var l = column; l < min(columns, column + 4u * apart); l += apart) {
    words[matrix + (start + term) * columns + l] = bitcast<u32>(x.x);
    x = x.yzwx;
  }
}

fn tiled(id: vec3<u32>, lane: u32, side: u32, depth: u32, lanes: u32) {
  let m = u32(args.n0); let n = u32(args.n1); let k = u32(args.n2);
  let at = spot(id, n, k, side);
  let alone = args.f1 != 0.0;
  if (at.z > 0u && !alone) { return; }
  stores = at.xy == vec2(0u);
  for (var i = at.z * BLOCK; i < m; i += select(BLOCK, m, alone)) {
    start = i;
    product(Product(n, k, min(BLOCK, m - i), false, false, 0u, false), at, lane, side, depth, lanes);
  }
}

// grown is a sum, which mostly is 0, as it was cleared, with one more value.
fn grown(was: Wide, v: f32) -> Wide {
  let x = wide(bitcast<u32>(v));
  if ((was.x | was.y) == 0u) { return x; }
  return wide_add(was, x);
}

fn add(i: u32, v: f32) { set_sum(i, grown(sum(i), v)); }

// keep adds to the sum at i, or keeps a block's apart.
fn keep(i: u32, v: f32) {
  if (args.f1 != 0.0) { words[args.b4 + start / BLOCK * u32(args.n1 * args.n2) + i] = bitcast<u32>(v); } else { add(i, v); }
}

// keepFour keeps four of a row, of columns so far apart, but for those beyond the last.
fn keepFour(r: u32, c: u32, apart: u32, v: vec4<f32>) {
  let k = u32(args.n2);
  var x = v;
  for (var l = c; l < min(k, c + 4u * apart); l += apart) {
    keep(r * k + l, x.x);
    x = x.yzwx;
  }
}

fn put(what: Product, piece: u32, r: u32, c: u32, apart: u32, v: vec4<f32>) {
  if (r < what.rows) { keepFour(r, c, apart, v); }
}

@compute @workgroup_size(64)
fn join(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let many = u32(args.n1 * args.n2);
  let i = item(id, lane, 64u);
  if (i >= many) { return; }
  var total = sum(i);
  for (var b = 0u; b * BLOCK < u32(args.n0); b++) { total = grown(total, value(args.b4 + b * many + i)); }
  set_sum(i, total);
}

// An invocation of each keeps 8×4 sums in registers, of rows next to each
// other and of columns four apart, so that four invocations read and write next to each
// other. What lies beyond the matrix is read as its last row or column, and not written.

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
      for (var r = row; r < min(row + 8u, n); r++) {
        keepFour(r, column, 4u, t0[0]);
        t0 = mat4x4(t0[1], t0[2], t0[3], t1[0]);
        t1 = mat4x4(t1[1], t1[2], t1[3], t1[0]);
      }
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
    keepFour(0u, column, 64u, t);
    t = vec4(0.0);
  }
}

// few has four columns of products as they are, and the pieces of four blocks at once.
@compute @workgroup_size(64)
fn few(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let m = u32(args.n0); let k = u32(args.n2);
  let own = group(id) * 4u + lane % 4u;
  let column = min(own, k - 1u);
  for (var i = 0u; i < m; i += 4u * BLOCK) {
    let first = i + lane / 4u * PIECE;
    var s = 0.0;
    for (var j = first; j < min(m, first + PIECE); j++) { s += value(args.b0 + j) * value(args.b1 + j * k + column); }
    workgroupBarrier();
    left[lane] = vec4(s);
    workgroupBarrier();
    for (var b = lane; b < 64u && lane < 4u && own < k && i + b / 16u * BLOCK < m; b += 16u) {
      add(own, left[b].x + left[b + 4u].x + left[b + 8u].x + left[b + 12u].x);
    }
  }
}
