// The normal sequence of package chacha, one block an invocation. There may be several tensors
// side by side, n1 of them, each with a stream of its own; more says where they end.

struct Block { a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> }

fn turned(v: vec4<u32>, by: u32) -> vec4<u32> { return (v << vec4(by)) | (v >> vec4(32u - by)); }

// quarters are four quarter rounds, side by side.
fn quarters(x: Block) -> Block {
  let a = x.a + x.b; let d = turned(x.d ^ a, 16u);
  let c = x.c + d; let b = turned(x.b ^ c, 12u);
  let e = a + b; let h = turned(d ^ e, 8u);
  let g = c + h; let f = turned(b ^ g, 7u);
  return Block(e, f, g, h);
}

// block gives the words of the block with this counter. Of the nonce, tensor is added to the first word,
// and flip changes it.
fn block(counter: u32, tensor: u32, flip: u32) -> Block {
  let first = Block(vec4(0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u), args.key[0], args.key[1],
    vec4(counter, (args.nonce.x + tensor) ^ flip, args.nonce.y, args.nonce.z));
  var x = first;
  for (var i = 0; i < 6; i++) { // two rounds each
    x = quarters(x); // the columns, then the diagonals
    x = quarters(Block(x.a, x.b.yzwx, x.c.zwxy, x.d.wxyz));
    x = Block(x.a, x.b.wxyz, x.c.zwxy, x.d.yzwx);
  }
  return Block(x.a + first.a, x.b + first.b, x.c + first.c, x.d + first.d);
}

// normals returns those of a radius word, its extension and an angle word.
fn normals(r: u32, extension: vec2<u32>, a: u32) -> vec2<f32> {
  // As numbers with a sign, words of 2³¹ and more say how far u is from 1: x is u or,
  // below 0, u − 1.
  var x = fma(f32(i32(r)), 0x1p-32f, 0x1p-33f);
  if (r < 0x10000u) {
    x = fma(f32(r), 0x1p-32f, fma(f32(extension.x), 0x1p-64f, fma(f32(extension.y), 0x1p-96f, 0x1p-97f)));
  }
  let u = select(x, 1.0 + x, r >= 0x80000000u);

  // −2·ln u, where u = 2ᵏ·(1+f): −2·ln(1+f) = −2f + f² + f³·P(f), √½ ≤ 1+f < √2, a
  // minimax fit, error 3·10⁻⁷. Where k is 0, f is x, of which u has lost digits.
  let bits = bitcast<i32>(u);
  let k = (bits - 0x3f3504f3) >> 23u;
  let f = select(bitcast<f32>(bits - (k << 23u)) - 1.0, x, k == 0);
  var p = fma(0.20383489, f, -0.32048795);
  p = fma(p, f, 0.3427426);
  p = fma(p, f, -0.39849004);
  p = fma(p, f, 0.49966535);
  p = fma(p, f, -0.6666849);
  p = fma(fma(p, f, 1.0), f * f, f * -2.0);
  p = fma(f32(k), -1.38629436, p);
  let radius = args.f0 * sqrt(p);

  // The angle is a fraction of 2³² of a turn. An eighth of a turn more, its top bits
  // are the nearest quarter turn, and the others, less that eighth and with 128 for the
  // low byte, what is left: y, in ±π/4 and never 0.
  let turn = a + 0x20000000u;
  let y = f32(i32(turn & 0x3fffff00u) - 0x1fffff80) * 1.46291807927e-9; // 2π·2⁻³²
  // sin y = y + y³·P(y²), cos y = 1 − y²/2 + y⁴·P(y²): minimax fits, errors 3·10⁻⁹ and
  // 7·10⁻⁸.
  let yy = y * y;
  var s = fma(-0.00019495568, yy, 0.008331978);
  s = fma(s, yy, -0.16666651);
  s = fma(yy * y, s, y);
  var c = fma(-0.0013652403, yy, 0.041661277);
  c = fma(c, yy, -0.5);
  c = fma(c, yy, 1.0);

  // Bit 30 swaps sine and cosine; bit 31 is the sign of the sine, and of the cosine a
  // quarter turn on.
  let swap = (turn & 0x40000000u) != 0u;
  let cosine = select(c, s, swap);
  let sine = select(s, c, swap);
  let down = ((turn + 0x40000000u) & 0x80000000u) != 0u;
  return radius * vec2(select(cosine, -cosine, down), select(sine, -sine, (turn & 0x80000000u) != 0u));
}

fn put(at: u32, end: u32, z: vec2<f32>) {
  if (at < end) { values[at] = z.x; }
  if (at + 4u < end) { values[at + 4u] = z.y; }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  // Each tensor has workgroups of its own, which draw 1024 values.
  var tensor = 0u; var start = 0u; var end = u32(args.n0); var part = group(id);
  for (; tensor < u32(args.n1); tensor++) {
    end = args.more[tensor / 4u][tensor % 4u];
    let groups = (end - start + 1023u) / 1024u;
    if (part < groups) { break; }
    part -= groups;
    start = end;
  }
  let counter = part * 64u + lane;
  let i = start + 64u * (counter / 4u) + counter % 4u; // four blocks' pairs take turns
  if (i >= end) { return; }
  // The extensions are rarely needed: then there is a second turn. A program that is an
  // adapter takes both sides of an if.
  var x = Block();
  var e = Block();
  var flip = 0u;
  loop {
    e = block(counter, tensor, flip);
    if (flip == 0u) { x = e; }
    let least = min(min(min(e.a.x, e.a.z), min(e.b.x, e.b.z)), min(min(e.c.x, e.c.z), min(e.d.x, e.d.z)));
    let done = flip != 0u || least >= 0x10000u;
    flip = 0x80000000u;
    continuing { break if done; }
  }
  let at = args.b0 + i;
  end += args.b0;
  put(at, end, normals(x.a.x, e.a.xy, x.a.y));
  put(at + 8u, end, normals(x.a.z, e.a.zw, x.a.w));
  put(at + 16u, end, normals(x.b.x, e.b.xy, x.b.y));
  put(at + 24u, end, normals(x.b.z, e.b.zw, x.b.w));
  put(at + 32u, end, normals(x.c.x, e.c.xy, x.c.y));
  put(at + 40u, end, normals(x.c.z, e.c.zw, x.c.w));
  put(at + 48u, end, normals(x.d.x, e.d.xy, x.d.y));
  put(at + 56u, end, normals(x.d.z, e.d.zw, x.d.w));
}
