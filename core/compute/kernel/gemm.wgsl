// What stands here is matrices as operands of tile.wgsl's product.

fn leftQuad(what: Product, row: u32, apart: u32, term: u32) -> vec4<f32> {
  let along = what.leftAlong;
  return quad(args.b0, row, apart, what.rows, select(1u, what.terms, along), term, what.terms, select(what.rows, 1u, along));
}

fn rightQuad(what: Product, column: u32, apart: u32, term: u32) -> vec4<f32> {
  let along = what.rightAlong;
  return quad(args.b1, column, apart, what.columns, select(1u, what.terms, along), term, what.terms, select(what.columns, 1u, along));
}

// Of one product, several workgroups may have a tile, a round of pieces each.
fn tiled(id: vec3<u32>, lane: u32, side: u32, depth: u32, lanes: u32) {
  let at = spot(id, u32(args.n2), u32(args.n3), side);
  let apart = args.f1 != 0.0;
  if (at.z > 0u && !apart) { return; }
  product(Product(u32(args.n2), u32(args.n3), u32(args.n4), args.n0 == 0, args.n1 != 0, at.z, apart), at, lane, side, depth, lanes);
}

@compute @workgroup_size(64)
fn tile16(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) { tiled(id, lane, 2u, 64u, 64u); }

@compute @workgroup_size(256)
fn tile128(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) { tiled(id, lane, 16u, 8u, 256u); }

// put adds beta times what is there, and does what follows, or keeps a piece for join.
fn put(what: Product, piece: u32, r: u32, c: u32, apart: u32, v: vec4<f32>) {
  let n = what.columns;
  if (r >= what.rows) { return; }
  let to = select(args.b2, args.b4 + piece * what.rows * n, what.apart);
  let beta = select(args.f0, 0.0, what.apart); let how = u32(args.f2);
  var x = v;
  for (var l = c; l < min(n, c + 4u * apart); l += apart) {
    let i = r * n + l;
    var y = x.x;
    if (beta != 0.0) { y = fma(beta, values[to + i], y); }
    if ((how & ADDS_BIAS) != 0u) { y += values[args.b3 + l]; }
    values[to + i] = y;
    if ((how & RECTIFIES) != 0u) { values[args.b4 + i] = rectified(y); }
    if (how == PASSES) { values[args.b4 + i] = passed(values[args.b3 + i], y); }
    x = x.yzwx;
  }
}

// join adds up the sums of pieces that were kept apart.
@compute @workgroup_size(64)
fn join(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let many = u32(args.n2) * u32(args.n3);
  let i = item(id, lane, 64u);
  if (i >= many) { return; }
  var at = args.b4 + i;
  var total = 0.0;
  for (var p = 0u; p < (u32(args.n4) + PIECE - 1u) / PIECE; p++) {
    total += values[at];
    at += many;
  }
  if (args.f0 != 0.0) { total = fma(args.f0, values[args.b2 + i], total); }
  values[args.b2 + i] = total;
}
