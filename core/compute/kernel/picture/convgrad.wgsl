// The places whose windows cover a position are found from every stride-th tap of the window,
// a line and a column of it. Positions that leave one rest when divided by the stride have
// taps in common: their gradients are a product of tile.wgsl, of which nothing but the
// results is stored. Rests down and across make stride² such products.

// Corner is of a position: line and column of the place that its first tap reaches, which there
// need not be, where in the heap that place's gradient would be, and where the position's is.
struct Corner { y: i32, x: i32, at: u32, to: u32 }
var<workgroup> corners: array<Corner, 64>;

// Taps are the first down and across, and the number across.
struct Taps { down: u32, across: u32, many: u32 }
var<private> taps: Taps;

// seen is a gradient, or 0 where there is no such place. It is multiplied all the same, so a
// weight that is not finite makes NaN.
fn seen(row: u32, down: u32, across: u32, offset: u32) -> f32 {
  let corner = corners[row % 64u];
  let y = corner.y - i32(down); let x = corner.x - i32(across);
  let high = places(args.n1, i32(args.f0), i32(args.f2), i32(args.f3));
  let wide = places(args.n2, i32(args.f1), i32(args.f2), i32(args.f3));
  return select(0.0, values[corner.at + offset], y >= 0 && y < high && x >= 0 && x < wide);
}

fn leftQuad(what: Product, row: u32, apart: u32, term: u32) -> vec4<f32> {
  let k = u32(args.n4);
  let down = term / k / taps.many; let across = term / k % taps.many;
  let wide = u32(places(args.n2, i32(args.f1), i32(args.f2), i32(args.f3)));
  let offset = term % k - (down * wide + across) * k; // wraps
  let v = vec4(seen(row, down, across, offset), seen(row + apart, down, across, offset),
    seen(row + 2u * apart, down, across, offset), seen(row + 3u * apart, down, across, offset));
  return select(vec4(0.0), v, term < what.terms);
}

fn rightQuad(what: Product, column: u32, apart: u32, term: u32) -> vec4<f32> {
  let k = u32(args.n4); let stride = u32(args.f2);
  let down = taps.down + term / k / taps.many * stride; let across = taps.across + term / k % taps.many * stride;
  let at = args.b1 + (down * u32(args.f1) + across) * what.columns * k + term % k;
  return quad(at, column, apart, what.columns, k, term, what.terms, 0u);
}

fn put(what: Product, piece: u32, r: u32, c: u32, apart: u32, v: vec4<f32>) {
  var x = v;
  for (var l = c; l < min(c + 4u * apart, what.columns) && r < what.rows; l += apart) {
    let i = corners[r % 64u].to + l;
    values[i] = x.x;
    if (args.f4 != 0.0) { values[i - args.b2 + args.b4] = passed(values[i - args.b2 + args.b3], x.x); }
    x = x.yzwx;
  }
}

// many is how many of n numbers from first on are a stride apart.
fn many(n: u32, first: u32) -> u32 { return (n + u32(args.f2) - 1u - first) / u32(args.f2); }

fn tiled(id: vec3<u32>, lane: u32, side: u32, depth: u32, lanes: u32) {
  let c = u32(args.n3); let k = u32(args.n4); let stride = u32(args.f2); let pad = u32(args.f3);
  let height = u32(args.n1); let width = u32(args.n2);
  let high = u32(places(args.n1, i32(args.f0), i32(args.f2), i32(args.f3)));
  let wide = u32(places(args.n2, i32(args.f1), i32(args.f2), i32(args.f3)));
  let at = spot(id, u32(args.n0) * many(height, 0u) * many(width, 0u), c, side);
  let down = at.z / stride; let across = at.z % stride; // first taps
  let top = (down + pad * (stride - 1u)) % stride; let left = (across + pad * (stride - 1u)) % stride; // first positions
  let lines = many(height, top); let columns = many(width, left);
  let reach = many(u32(args.f1), across); // not read from taps: it has to be the same in all lanes for certain
  taps = Taps(down, across, reach);
  let what = Product(u32(args.n0) * lines * columns, c, many(u32(args.f0), down) * reach * k, true, true, 0u, false);
  if (down >= stride || 8u * side * at.y >= what.rows) { return; }
  for (var r = lane; r < 8u * side; r += lanes) {
    let row = min(8u * side * at.y + r, what.rows - 1u);
    let i = row / columns / lines; let y = row / columns % lines; let x = row % columns;
    let placeY = (top + pad - down) / stride + y; let placeX = (left + pad - across) / stride + x;
    corners[(8u * side * at.y + r) % 64u] = Corner(
      i32(placeY), i32(placeX), args.b0 + ((i * high + placeY) * wide + placeX) * k,
      args.b2 + ((i * height + top + y * stride) * width + left + x * stride) * c);
  }
  product(what, at, lane, side, depth, lanes);
}
