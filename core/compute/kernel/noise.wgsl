//! main n0/1024
// The normal sequence of package chacha, one block an invocation.

struct Block { a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> }

fn turned(v: vec4<u32>, by: u32) -> vec4<u32> { return (v << vec4(by)) | (v >> vec4(32u - by)); }

// quarters are four quarter rounds, side by side.
fn quarters(x: Block) -> Block {
  var a = x.a; var b = x.b; var c = x.c; var d = x.d;
  a += b; d = turned(d ^ a, 16u);
  c += d; b = turned(b ^ c, 12u);
  a += b; d = turned(d ^ a, 8u);
  c += d; b = turned(b ^ c, 7u);
  return Block(a, b, c, d);
}

// block gives the words of the block with this counter. Of the nonce flip changes the
// first word.
fn block(counter: u32, flip: u32) -> Block {
  let first = Block(vec4(0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u), args.key[0], args.key[1],
    vec4(counter, args.nonce.x ^ flip, args.nonce.y, args.nonce.z));
  var x = first;
  for (var i = 0; i < 6; i++) { // two rounds each
    x = quarters(x); // the columns, then the diagonals
    x = quarters(Block(x.a, x.b.yzwx, x.c.zwxy, x.d.wxyz));
    x = Block(x.a, x.b.wxyz, x.c.zwxy, x.d.yzwx);
  }
  return Block(x.a + first.a, x.b + first.b, x.c + first.c, x.d + first.d);
}

// normals are those of a radius word, its extension and an angle word.
fn normals(r: u32, e: u32, a: u32) -> vec2<f32> {
  // u is the radius word's place between 0 and 1. Near 1 all depends on its last bit,
  // and whether a conversion rounds up or down is not said: there whole numbers do it,
  // to the nearest, ties to even. Elsewhere the last bits do not matter.
  var u: f32;
  if (r >= 0x80000000u) {
    let rest = r & 255u;
    let q = r >> 8u;
    u = f32(q + select(0u, 1u, rest > 128u || (rest == 128u && (q & 1u) == 1u))) * 0x1p-24f;
  } else if (r >= 0x10000u) {
    u = fma(f32(r), 0x1p-32f, 0x1p-33f);
  } else {
    u = fma(f32(r), 0x1p-32f, fma(f32(e), 0x1p-64f, 0x1p-65f));
  }

  // −2·ln u, where u = 2ᵏ·(1+f): −2·ln(1+f) = −2f + f² + f³·P(f), √½ ≤ 1+f < √2, a
  // minimax fit, error 3·10⁻⁷.
  let bits = bitcast<i32>(u);
  let k = (bits - 0x3f3504f3) >> 23u;
  let f = bitcast<f32>(bits - (k << 23u)) - 1.0;
  var p = fma(0.20383489, f, -0.32048795);
  p = fma(p, f, 0.3427426);
  p = fma(p, f, -0.39849004);
  p = fma(p, f, 0.49966535);
  p = fma(p, f, -0.6666849);
  p = fma(fma(p, f, 1.0), f * f, f * -2.0);
  p = fma(f32(k), -1.38629436, p);
  let radius = args.f0 * sqrt(p);

  // The angle is a fraction of 2³² of a turn. An eighth of a turn more, its top bits
  // are the nearest quarter turn, and the others, less that eighth and without the low
  // byte, what is left: x, in ±π/4.
  let turn = a + 0x20000000u;
  let x = f32(i32(turn & 0x3fffff00u) - 0x20000000) * 1.46291807927e-9; // 2π·2⁻³²
  // sin x = x + x³·P(x²), cos x = 1 − x²/2 + x⁴·P(x²): minimax fits, errors 3·10⁻⁹ and
  // 7·10⁻⁸.
  let xx = x * x;
  var s = fma(-0.00019495568, xx, 0.008331978);
  s = fma(s, xx, -0.16666651);
  s = fma(xx * x, s, x);
  var c = fma(-0.0013652403, xx, 0.041661277);
  c = fma(c, xx, -0.5);
  c = fma(c, xx, 1.0);

  // Bit 30 swaps sine and cosine; bit 31 is the sign of the sine, and of the cosine a
  // quarter turn on.
  let swap = (turn & 0x40000000u) != 0u;
  let cosine = select(c, s, swap);
  let sine = select(s, c, swap);
  let down = ((turn + 0x40000000u) & 0x80000000u) != 0u;
  return radius * vec2(select(cosine, -cosine, down), select(sine, -sine, (turn & 0x80000000u) != 0u));
}

fn put(i: u32, z: vec2<f32>) {
  if (i < u32(args.n0)) { values[args.b0 + i] = z.x; }
  if (i + 4u < u32(args.n0)) { values[args.b0 + i + 4u] = z.y; }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let counter = item(id, lane, 64u);
  let i = 64u * (counter / 4u) + counter % 4u; // four blocks' pairs take turns
  if (i >= u32(args.n0)) { return; }
  let x = block(counter, 0u);
  var e = Block(); // the extensions, which are rarely needed
  let least = min(min(min(x.a.x, x.a.z), min(x.b.x, x.b.z)), min(min(x.c.x, x.c.z), min(x.d.x, x.d.z)));
  if (least < 0x10000u) { e = block(counter, 0x80000000u); }
  put(i, normals(x.a.x, e.a.x, x.a.y));
  put(i + 8u, normals(x.a.z, e.a.z, x.a.w));
  put(i + 16u, normals(x.b.x, e.b.x, x.b.y));
  put(i + 24u, normals(x.b.z, e.b.z, x.b.w));
  put(i + 32u, normals(x.c.x, e.c.x, x.c.y));
  put(i + 40u, normals(x.c.z, e.c.z, x.c.w));
  put(i + 48u, normals(x.d.x, e.d.x, x.d.y));
  put(i + 56u, normals(x.d.z, e.d.z, x.d.w));
}
