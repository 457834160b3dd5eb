// The tiles of products: a program that has a product says what its operands are, where
// results go, and which tile a workgroup has.
//
//	fn leftQuad(what: Product, row: u32, apart: u32, term: u32) -> vec4<f32>
//	fn rightQuad(what: Product, column: u32, apart: u32, term: u32) -> vec4<f32>
//
// are four rows (or columns) of an operand at one term, so far apart; whatever beyond the
// last, and 0 in both operands beyond the last term, as the other may hold what is not finite.
//
//	fn put(what: Product, piece: u32, row: u32, column: u32, apart: u32, v: vec4<f32>)
//
// stores four results of a row, of columns so far apart, but for what is beyond the last.
//
//	fn tiled(id: vec3<u32>, lane: u32, side: u32, depth: u32, lanes: u32)
//
// calls product with the workgroup's spot.
//
// A workgroup has a tile of the results, side·8 rows and columns. Every tile adds up each
// result in the same order, so the choice among them changes no bit:
//
//	total = 0; for each PIECE of the terms, in order {
//		s = 0; for each term of the piece, in order { s = fma(a, b, s) }
//		total += s
//	}
//
// An invocation has 8×8 sums of one piece. Small tiles have few of these, so that their
// workgroups take several pieces side by side: each a slice of the invocations, whose sums
// meet in workgroup memory. Where pieces are kept apart, a workgroup stores the sums of each,
// and join adds those up.

// Product is what a product is made of. Lanes run along the terms of an operand where these
// stand next to each other. With apart, a workgroup has one round of pieces, and put is told
// which piece it is given.
struct Product { rows: u32, columns: u32, terms: u32, leftAlong: bool, rightAlong: bool, round: u32, apart: bool }

const PIECE = 64u;

// A quad is four values of one term, whose rows or columns stand 2·side apart: so
// invocations next to each other read and write values next to each other, whichever way
// an operand is stored. The quads of a term take 2·side + 1 places, of which the last is
// left free: else the quads of neighbouring terms would stand in one bank of memory.
const ROOM = 320u;
var<workgroup> left: array<vec4<f32>, ROOM>;
var<workgroup> right: array<vec4<f32>, ROOM>;

// spot is the tile that a workgroup has, of those of products [rows×columns] side by side: its
// number across and down, and that of the product, which may be beyond the last.
fn spot(id: vec3<u32>, rows: u32, columns: u32, side: u32) -> vec3<u32> {
  let across = (columns + 8u * side - 1u) / (8u * side); let down = (rows + 8u * side - 1u) / (8u * side);
  let g = group(id);
  return vec3(g % across, g / across % down, g / across / down);
}

@compute @workgroup_size(64)
fn tile32(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) { tiled(id, lane, 4u, 32u, 64u); }

@compute @workgroup_size(64)
fn tile64(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) { tiled(id, lane, 8u, 16u, 64u); }

// quad reads four of many rows at one of so many terms from a matrix, whose rows and terms
// are so far apart: beyond the last row the last again.
fn quad(at: u32, row: u32, apart: u32, many: u32, byRow: u32, term: u32, terms: u32, byTerm: u32) -> vec4<f32> {
  let rows = min(vec4(row, row + apart, row + 2u * apart, row + 3u * apart), vec4(many - 1u));
  let p = at + rows * byRow + min(term, terms - 1u) * byTerm;
  return select(vec4(0.0), vec4(values[p.x], values[p.y], values[p.z], values[p.w]), term < terms);
}

// Sums are those of two quads of rows and two of columns, a column of a matrix for each row.
struct Sums { s00: mat4x4<f32>, s01: mat4x4<f32>, s10: mat4x4<f32>, s11: mat4x4<f32> }

fn plus(a: vec4<f32>, b: vec4<f32>, s: mat4x4<f32>) -> mat4x4<f32> {
  return mat4x4(fma(a.xxxx, b, s[0]), fma(a.yyyy, b, s[1]), fma(a.zzzz, b, s[2]), fma(a.wwww, b, s[3]));
}

// step adds one term, whose quads stand at a and b and side further.
fn step(s: ptr<function, Sums>, a: u32, b: u32, side: u32) {
  let a0 = left[a]; let a1 = left[a + side];
  let b0 = right[b]; let b1 = right[b + side];
  (*s).s00 = plus(a0, b0, (*s).s00); (*s).s01 = plus(a0, b1, (*s).s01);
  (*s).s10 = plus(a1, b0, (*s).s10); (*s).s11 = plus(a1, b1, (*s).s11);
}

// Place is that of a quad in a tile: its first row, and its term among those that are
// there, slice by slice, of each so many in a run.
struct Place { row: u32, term: u32 }

fn place(i: u32, alongTerms: bool, quads: u32, depth: u32) -> Place {
  if (alongTerms) { return Place(i / depth, i % depth); }
  return Place(i % quads, i / quads);
}

// late is the p-th of the terms that are there, where each run begins a piece after the last.
fn late(p: Place, run: u32) -> u32 { return p.term / run * PIECE + p.term % run; }

fn turned(s: mat4x4<f32>) -> mat4x4<f32> { return mat4x4(s[1], s[2], s[3], s[0]); }

// meet has the slices' sums of one matrix of each invocation stand in left.
fn meet(s: mat4x4<f32>, lane: u32) {
  workgroupBarrier();
  left[lane] = s[0]; left[64u + lane] = s[1]; left[128u + lane] = s[2]; left[192u + lane] = s[3];
  workgroupBarrier();
}

// collect adds up, in their order, the sums of here slices for the rows that a slice keeps:
// of four slices one matrix each, of sixteen one row.
fn collect(total: ptr<function, mat4x4<f32>>, matrix: u32, slice: u32, x: u32, slices: u32, here: u32) {
  if (slice * 4u / slices != matrix) { return; }
  let lanes = 64u / slices;
  for (var h = 0u; h < here; h++) {
    let at = h * lanes + x;
    if (slices == 4u) {
      *total += mat4x4(left[at], left[64u + at], left[128u + at], left[192u + at]);
    } else {
      (*total)[0] += left[slice % 4u * 64u + at];
    }
  }
}

// product has depth terms of a tile in workgroup memory at once, of all slices together.
fn product(what: Product, at: vec3<u32>, lane: u32, side: u32, depth: u32, lanes: u32) {
  let m = what.rows; let n = what.columns; let k = what.terms;
  let quads = 2u * side; let room = quads + 1u;
  let x = lane % (side * side); let lr = x / side; let lc = x % side;
  let slices = lanes / (side * side); let slice = lane / (side * side); let run = depth / slices;
  let top = 8u * side * at.y; let across = 8u * side * at.x;
  let apart = what.apart;
  let l = slice * run * room + lr; let r = slice * run * room + lc;
  let pieces = (k + PIECE - 1u) / PIECE;
  var t00 = mat4x4<f32>(); var t01 = t00; var t10 = t00; var t11 = t00;
  var s: Sums;
  for (var p = select(0u, what.round * slices, apart); p < pieces; p += slices) {
    s = Sums();
    let here = select(0u, run * room, p + slice < pieces); // the last round may have fewer pieces than slices
    for (var t = p * PIECE; t < min(k, (p + 1u) * PIECE); t += run) {
      workgroupBarrier();
      for (var i = 0u; i < 256u / lanes; i++) {
        let a = place(lane + i * lanes, what.leftAlong, quads, depth); let b = place(lane + i * lanes, what.rightAlong, quads, depth);
        left[a.term * room + a.row] = leftQuad(what, top + a.row, quads, t + late(a, run));
        right[b.term * room + b.row] = rightQuad(what, across + b.row, quads, t + late(b, run));
      }
      workgroupBarrier();
      for (var j = 0u; j < here; j += 4u * room) {
        step(&s, l + j, r + j, side);
        step(&s, l + j + room, r + j + room, side);
        step(&s, l + j + 2u * room, r + j + 2u * room, side);
        step(&s, l + j + 3u * room, r + j + 3u * room, side);
      }
    }
    if (apart) { break; }
    if (slices == 1u) {
      t00 += s.s00; t01 += s.s01; t10 += s.s10; t11 += s.s11;
      continue;
    }
    for (var i = 0u; i < 4u; i++) {
      meet(s.s00, lane);
      collect(&t00, i, slice, x, slices, min(slices, pieces - p));
      let first = s.s00;
      s = Sums(s.s01, s.s10, s.s11, first);
    }
  }
  var row = top + lr; var column = across + lc; var rows = 4u; var piece = 0u;
  let whole = apart || slices == 1u;
  if (apart) {
    piece = what.round * slices + slice;
    if (piece >= pieces) { return; }
  } else if (whole) {
    s = Sums(t00, t01, t10, t11);
  } else {
    s.s00 = t00;
    let first = slice * 16u / slices; // of four rows of four matrices
    row += first / 8u * side + first % 4u * quads;
    column += first / 4u % 2u * side;
    rows = select(1u, 4u, slices == 4u);
  }
  for (var i = 0u; i < rows; i++) {
    put(what, piece, row, column, quads, s.s00[0]);
    if (whole) {
      put(what, piece, row, column + side, quads, s.s01[0]);
      put(what, piece, row + side, column, quads, s.s10[0]);
      put(what, piece, row + side, column + side, quads, s.s11[0]);
    }
    s = Sums(turned(s.s00), turned(s.s01), turned(s.s10), turned(s.s11));
    row += quads;
  }
}
