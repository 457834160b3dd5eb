//! main n0/512
// A workgroup writes eight chunks of 64 numbers: first it works out the blocks they
// are drawn from, four to a chunk and a sample, a block an invocation.
const CHUNKS = 8u;
var<workgroup> drawn: array<u32, 2560>; // of at most five samples

// What package chacha has of these names.
const COLUMNS = 4096u;
const DIGITS = 11u;

struct Block { a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> }

fn turn(v: vec4<u32>, n: u32) -> vec4<u32> { return (v << vec4(n)) | (v >> vec4(32u - n)); }

// quarters are the quarter rounds of all four columns.
fn quarters(x: Block) -> Block {
  var a = x.a + x.b;
  var d = turn(x.d ^ a, 16u);
  var c = x.c + d;
  var b = turn(x.b ^ c, 12u);
  a += b;
  d = turn(d ^ a, 8u);
  c += d;
  b = turn(b ^ c, 7u);
  return Block(a, b, c, d);
}

// block is the block with that counter of the key's stream, or with flip of the other.
fn block(counter: u32, flip: u32) -> Block {
  let start = Block(vec4(0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u), args.key[0], args.key[1],
    vec4(counter, args.nonce.x ^ flip, args.nonce.y, args.nonce.z));
  var x = start;
  for (var i = 0; i < 6; i++) { // twelve rounds: the columns, then the diagonals
    x = quarters(x);
    x = quarters(Block(x.a, x.b.yzwx, x.c.zwxy, x.d.wxyz));
    x = Block(x.a, x.b.wxyz, x.c.zwxy, x.d.yzwx);
  }
  return Block(x.a + start.a, x.b + start.b, x.c + start.c, x.d + start.d);
}

// digit is one of a threshold's further ones.
fn digit(at: u32) -> u32 { return u32(bitcast<f32>(words[at])); }

// under reports that the first of these digits that differ are in order; where none do,
// rest says it.
fn under(e: vec4<u32>, d: vec4<u32>, rest: bool) -> bool {
  var r = select(e.w < d.w, rest, e.w == d.w);
  r = select(e.z < d.z, r, e.z == d.z);
  r = select(e.y < d.y, r, e.y == d.y);
  return select(e.x < d.x, r, e.x == d.x);
}

fn digits4(at: u32) -> vec4<u32> { return vec4(digit(at), digit(at + 1u), digit(at + 2u), digit(at + 3u)); }

// below reports whether the further digits of sample index are below the threshold's.
fn below(column: u32, index: u32) -> bool {
  let more = block(index, 0x80000000u);
  let at = args.b0 + COLUMNS + column * DIGITS;
  let last = more.c >> vec4(8u);
  var r = under(last, vec4(digit(at + 8u), digit(at + 9u), digit(at + 10u), last.w), false);
  r = under(more.b >> vec4(8u), digits4(at + 4u), r);
  return under(more.a >> vec4(8u), digits4(at), r);
}

// sample is the magnitude and sign that a word stands for.
fn sample(w: u32, index: u32) -> f32 {
  let column = w >> 20u;
  let entry = words[args.b0 + column];
  let fraction = (w >> 1u) & 0x3ffffu;
  let threshold = entry >> 12u;
  var kept = fraction < threshold;
  if (fraction == threshold) { kept = below(column, index); }
  let x = f32(select(entry & (COLUMNS - 1u), column, kept));
  return select(x, -x, ((w >> 19u) & 1u) == 1u);
}

fn multiplier(j: u32) -> Wide {
  switch j {
    case 0u: { return args.d1; }
    case 1u: { return args.d2; }
    case 2u: { return args.d3; }
    case 3u: { return args.d4; }
    default: { return args.d5; }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let k = u32(args.n1);
  let first = group(id) * CHUNKS;
  for (var i = lane; i < 4u * CHUNKS * k; i += 64u) {
    let x = block(4u * k * first + i, 0u);
    let to = 16u * i;
    drawn[to] = x.a.x; drawn[to + 1u] = x.a.y; drawn[to + 2u] = x.a.z; drawn[to + 3u] = x.a.w;
    drawn[to + 4u] = x.b.x; drawn[to + 5u] = x.b.y; drawn[to + 6u] = x.b.z; drawn[to + 7u] = x.b.w;
    drawn[to + 8u] = x.c.x; drawn[to + 9u] = x.c.y; drawn[to + 10u] = x.c.z; drawn[to + 11u] = x.c.w;
    drawn[to + 12u] = x.d.x; drawn[to + 13u] = x.d.y; drawn[to + 14u] = x.d.z; drawn[to + 15u] = x.d.w;
  }
  workgroupBarrier();
  for (var chunk = 0u; chunk < CHUNKS; chunk++) {
    let i = 64u * (first + chunk) + lane;
    if (i >= u32(args.n0)) { break; }
    var z = Wide(0u, 0u);
    for (var j = 0u; j < k; j++) {
      let g = chunk * k + j;
      let x = sample(drawn[64u * g + 16u * (lane & 3u) + (lane >> 2u)], 64u * (first * k + g) + lane);
      z = wide_add(z, wide_mul(multiplier(j), wide(bitcast<u32>(x))));
    }
    words[args.b1 + i] = narrow(wide_mul(wide_add(sum(i), z), args.d0));
  }
}
