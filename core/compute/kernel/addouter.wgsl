//! main n2/64 n1/16
// An invocation keeps 4×4 sums: rows next to each other, which sixteen invocations
// share, of columns sixteen apart, so that these read and write next to each other.
// What lies beyond the matrix is read as its last row or column, and not written.

// PIECE and BLOCK are compute.PieceRows and BlockRows.
const PIECE = 64u;
const BLOCK = 256u;

fn value(at: u32) -> f32 { return bitcast<f32>(words[at]); }

// Where an invocation's rows and columns are in a row of h and of d.
struct Tile { h: vec4<u32>, d: vec4<u32> }

fn clamped(p: vec4<f32>, c: u32) -> vec4<f32> {
  let bits = bitcast<vec4<u32>>(p);
  let m = bits & vec4(0x7fffffffu);
  return bitcast<vec4<f32>>((bits ^ m) | select(min(m, vec4(c)), vec4(NAN), m > vec4(INF)));
}

fn columns(at: vec4<u32>) -> vec4<f32> { return vec4(value(at.x), value(at.y), value(at.z), value(at.w)); }

@compute @workgroup_size(16, 4)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let m = u32(args.n0); let n = u32(args.n1); let k = u32(args.n2);
  let row = 16u * id.y + 4u * local.y;
  let column = 64u * id.x + local.x;
  if (row >= n || column >= k) { return; }
  let c = bitcast<u32>(args.f0);
  var hs = args.b0 + min(vec4(row) + vec4(0u, 1u, 2u, 3u), vec4(n - 1u));
  var ds = args.b1 + min(vec4(column) + vec4(0u, 16u, 32u, 48u), vec4(k - 1u));
  var t0 = vec4(0.0); var t1 = t0; var t2 = t0; var t3 = t0;
  for (var i = 0u; i < m;) {
    var s0 = vec4(0.0); var s1 = s0; var s2 = s0; var s3 = s0;
    let end = min(i + PIECE, m);
    if (args.n3 == 0) {
      for (; i < end; i++) {
        let d = columns(ds);
        s0 = fma(vec4(value(hs.x)), d, s0);
        s1 = fma(vec4(value(hs.y)), d, s1);
        s2 = fma(vec4(value(hs.z)), d, s2);
        s3 = fma(vec4(value(hs.w)), d, s3);
        hs += vec4(n); ds += vec4(k);
      }
    } else if (args.n3 == 1) {
      for (; i < end; i++) {
        let d = columns(ds);
        s0 += clamped(value(hs.x) * d, c);
        s1 += clamped(value(hs.y) * d, c);
        s2 += clamped(value(hs.z) * d, c);
        s3 += clamped(value(hs.w) * d, c);
        hs += vec4(n); ds += vec4(k);
      }
    } else {
      for (; i < end; i++) {
        let d = columns(ds);
        s0 += round(value(hs.x) * d);
        s1 += round(value(hs.y) * d);
        s2 += round(value(hs.z) * d);
        s3 += round(value(hs.w) * d);
        hs += vec4(n); ds += vec4(k);
      }
    }
    t0 += s0; t1 += s1; t2 += s2; t3 += s3;
    // Whole sums of a piece are exact, of a block no longer.
    if (i < m && i % BLOCK != 0u && args.n3 != 2) { continue; }
    for (var r = 0u; r < 4u; r++) {
      for (var q = 0u; q < 4u; q++) {
        let l = column + 16u * q;
        if (row + r < n && l < k) {
          let to = (row + r) * k + l;
          set_sum(to, wide_add(sum(to), wide(bitcast<u32>(t0.x))));
        }
        t0 = t0.yzwx;
      }
      t0 = t1; t1 = t2; t2 = t3; t3 = vec4(0.0);
    }
  }
}
