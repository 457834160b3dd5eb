// Of each picture, what each value of the window sees at all places is a row of an operand of
// tile.wgsl's product, of which nothing is stored: the bias is below the last and sees 1
// everywhere. A workgroup takes the rows of its tile apart once.

// Corner is where a value of the window stands at the first place: line and column, which may lie
// outside the picture, how far that would be in the heap, and what is seen outside.
struct Corner { y: i32, x: i32, at: u32, outside: f32 }
var<workgroup> corners: array<Corner, 64>;

// seen is multiplied where the window sees nothing, too, as a gradient may be infinite.
fn seen(row: u32, down: u32, across: u32, offset: u32) -> f32 {
  let corner = corners[row % 64u];
  let y = corner.y + i32(down); let x = corner.x + i32(across);
  return select(corner.outside, values[corner.at + offset], y >= 0 && y < args.n1 && x >= 0 && x < args.n2);
}

fn leftQuad(what: Product, row: u32, apart: u32, term: u32) -> vec4<f32> {
  let stride = u32(args.f2);
  let wide = u32(places(args.n2, i32(args.f1), i32(args.f2), i32(args.f3)));
  let down = term / wide * stride; let across = term % wide * stride;
  let offset = (down * u32(args.n2) + across) * u32(args.n3);
  let v = vec4(seen(row, down, across, offset), seen(row + apart, down, across, offset),
    seen(row + 2u * apart, down, across, offset), seen(row + 3u * apart, down, across, offset));
  return select(vec4(0.0), v, term < what.terms);
}

fn rightQuad(what: Product, column: u32, apart: u32, term: u32) -> vec4<f32> {
  return quad(args.b1 + what.round * what.terms * what.columns, column, apart, what.columns, 1u, term, what.terms, what.columns);
}

fn put(what: Product, piece: u32, r: u32, c: u32, apart: u32, v: vec4<f32>) {
  var x = v;
  for (var o = c; o < min(c + 4u * apart, what.columns) && r < what.rows; o += apart) {
    values[args.b2 + (what.round * what.rows + r) * what.columns + o] = x.x;
    x = x.yzwx;
  }
}

fn tiled(id: vec3<u32>, lane: u32, side: u32, depth: u32, lanes: u32) {
  let c = u32(args.n3); let pad = i32(args.f3);
  let all = places(args.n1, i32(args.f0), i32(args.f2), pad) * places(args.n2, i32(args.f1), i32(args.f2), pad);
  let window = u32(args.f0 * args.f1) * c;
  let at = spot(id, window + 1u, u32(args.n4), side);
  if (at.z >= u32(args.n0)) { return; }
  for (var r = lane; r < 8u * side; r += lanes) {
    let row = 8u * side * at.y + r;
    let y = i32(row / c / u32(args.f1)) - pad; let x = i32(row / c % u32(args.f1)) - pad;
    let begin = at.z * u32(args.n1 * args.n2) * c + u32(y * args.n2 + x) * c + row % c; // wraps
    let bias = row >= window;
    corners[row % 64u] = Corner(select(y, -0x40000000, bias), x, args.b0 + begin, select(0.0, 1.0, bias));
  }
  product(Product(window + 1u, u32(args.n4), u32(all), false, false, at.z, false), at, lane, side, depth, lanes);
}
