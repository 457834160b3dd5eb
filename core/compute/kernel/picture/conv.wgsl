// What the window sees at each place of each picture is a row of an operand of tile.wgsl's
// product, of which nothing is stored. A workgroup takes the rows of its tile apart once.

// Corner is where the window begins at a place: line and column, which may lie outside the
// picture, and where in the heap that would be.
struct Corner { y: i32, x: i32, at: u32 }
var<workgroup> corners: array<Corner, 64>;

// seen is a value, or 0 where the window sees none. It is multiplied all the same, as a
// weight may be infinite.
fn seen(row: u32, down: u32, across: u32, offset: u32) -> f32 {
  let corner = corners[row % 64u];
  let y = corner.y + i32(down); let x = corner.x + i32(across);
  return select(0.0, values[corner.at + offset], y >= 0 && y < args.n1 && x >= 0 && x < args.n2);
}

fn leftQuad(what: Product, row: u32, apart: u32, term: u32) -> vec4<f32> {
  let c = u32(args.n3); let wide = u32(args.f1);
  let down = term / c / wide; let across = term / c % wide;
  let offset = (down * u32(args.n2) + across) * c + term % c;
  let v = vec4(seen(row, down, across, offset), seen(row + apart, down, across, offset),
    seen(row + 2u * apart, down, across, offset), seen(row + 3u * apart, down, across, offset));
  return select(vec4(0.0), v, term < what.terms);
}

fn rightQuad(what: Product, column: u32, apart: u32, term: u32) -> vec4<f32> {
  return quad(args.b1, column, apart, what.columns, 1u, term, what.terms, what.columns);
}

fn put(what: Product, piece: u32, r: u32, c: u32, apart: u32, v: vec4<f32>) {
  var x = v;
  for (var o = c; o < min(c + 4u * apart, what.columns) && r < what.rows; o += apart) {
    let i = r * what.columns + o;
    let y = x.x + values[args.b2 + o];
    values[args.b3 + i] = y;
    if (args.f4 != 0.0) { values[args.b4 + i] = rectified(y); }
    x = x.yzwx;
  }
}

fn tiled(id: vec3<u32>, lane: u32, side: u32, depth: u32, lanes: u32) {
  let c = u32(args.n3); let stride = i32(args.f2); let pad = i32(args.f3);
  let across = u32(places(args.n2, i32(args.f1), stride, pad));
  let all = u32(places(args.n1, i32(args.f0), stride, pad)) * across;
  let what = Product(u32(args.n0) * all, u32(args.n4), u32(args.f0 * args.f1) * c, true, false, 0u, false);
  let at = spot(id, what.rows, what.columns, side);
  if (at.z > 0u) { return; }
  for (var r = lane; r < 8u * side; r += lanes) {
    let row = min(8u * side * at.y + r, what.rows - 1u); let place = row % all;
    let y = i32(place / across) * stride - pad; let x = i32(place % across) * stride - pad;
    let begin = row / all * u32(args.n1 * args.n2) * c + u32(y * args.n2 + x) * c; // wraps
    corners[(8u * side * at.y + r) % 64u] = Corner(y, x, args.b0 + begin);
  }
  product(what, at, lane, side, depth, lanes);
}
