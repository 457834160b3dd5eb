// An invocation has four bytes, a word.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = 4u * item(id, lane, 64u); let n = u32(args.n0) * u32(args.n1);
  if (i >= n) { return; }
  let bytes = words[args.b1 + i / 4u];
  let to = args.b2 + i;
  words[to] = words[args.b0 + (bytes & 255u)];
  if (i + 1u < n) { words[to + 1u] = words[args.b0 + ((bytes >> 8u) & 255u)]; }
  if (i + 2u < n) { words[to + 2u] = words[args.b0 + ((bytes >> 16u) & 255u)]; }
  if (i + 3u < n) { words[to + 3u] = words[args.b0 + (bytes >> 24u)]; }
}
