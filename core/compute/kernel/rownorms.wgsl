//! short n0/64
//! long n0
// Rows of up to so many values are an invocation's, longer ones a workgroup's.
const SHORT = 32u;

@compute @workgroup_size(64)
fn short(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u);
  let n = u32(args.n1);
  if (i >= u32(args.n0) || n > SHORT) { return; }
  let start = args.b0 + i * n;
  var most = 0u;
  for (var j = 0u; j < n; j++) { most = max(most, magnitude(words[start + j])); }
  var sum = vec3<u32>(0u, 0u, 0u);
  if (most < INF) {
    let largest = aboveFloat(most);
    for (var j = 0u; j < n; j++) { sum = square(sum, words[start + j], largest); }
  }
  words[args.b1 + i] = norm(sum, most);
}

@compute @workgroup_size(256)
fn long(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group(id);
  let n = u32(args.n1);
  if (i < u32(args.n0) && n > SHORT) { // all of a workgroup, or none
    let v = normOf(args.b0 + i * n, n, lane);
    if (lane == 0u) { words[args.b1 + i] = v; }
  }
}
