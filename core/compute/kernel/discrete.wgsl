// An invocation draws a block for each sample of 16 numbers that are four apart, so that
// four invocations read and write next to each other. (Sharing what a workgroup draws,
// behind a barrier, takes SwiftShader three times as long.)

// What package chacha has of these names.
const COLUMNS = 16384u;
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

// Sample is what a word stands for: a column of the table, or the one that it has besides,
// and a sign. Where tied, below says which of the two, and kept does not.
struct Sample { column: u32, other: u32, negative: bool, kept: bool, tied: bool }
fn sample(w: u32) -> Sample {
  let column = w >> 18u;
  let entry = words[args.b0 + column];
  let fraction = (w >> 1u) & 0xffffu;
  let threshold = entry >> 14u;
  return Sample(column, entry & (COLUMNS - 1u), ((w >> 17u) & 1u) == 1u, fraction < threshold, fraction == threshold);
}

// times is a multiple of a sample.
fn times(j: u32, s: Sample, kept: bool) -> Wide {
  let x = f32(select(s.other, s.column, kept));
  return wide_mul(multiplier(j), wide(bitcast<u32>(select(x, -x, s.negative))));
}

// next has the words of a block move up, and the first be the last.
fn next(x: Block) -> Block {
  return Block(vec4(x.a.yzw, x.b.x), vec4(x.b.yzw, x.c.x), vec4(x.c.yzw, x.d.x), vec4(x.d.yzw, x.a.x));
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
  let n = u32(args.n0); let k = u32(args.n1);
  let chunk = item(id, lane, 64u) / 4u;
  let first = 64u * chunk + (lane & 3u);
  if (first >= n) { return; }
  var z: array<Wide, 16>;
  for (var j = 0u; j < k; j++) {
    let g = chunk * k + j;
    var x = block(4u * g + (lane & 3u), 0u);
    var tied = 0u;
    for (var i = 0u; i < 16u; i++) {
      let s = sample(x.a.x);
      z[i] = select(wide_add(z[i], times(j, s, s.kept)), z[i], s.tied);
      tied |= select(0u, 1u << i, s.tied);
      x = next(x);
    }
    // One in 2¹⁶ is, and what decides it costs as much as a block.
    for (var i = 0u; tied != 0u; i++) {
      let s = sample(x.a.x);
      if ((tied & 1u) != 0u) { z[i] = wide_add(z[i], times(j, s, below(s.column, 64u * g + 4u * i + (lane & 3u)))); }
      tied >>= 1u;
      x = next(x);
    }
  }
  for (var i = 0u; i < 16u && first + 4u * i < n; i++) {
    let at = first + 4u * i;
    words[args.b1 + at] = narrow(wide_mul(wide_add(sum(at), z[i]), args.d0));
  }
}
