//! short n0/64 if n1<33
//! middle n0*n1/4096 if n1>32 n1<4097
//! long n0*n1/16384 if n1>4096
// Short rows are an invocation's, others 16 of a workgroup's, of which four rows are done
// at once, long ones a workgroup's. There are workgroups for so many values, not for each
// row.

@compute @workgroup_size(64)
fn short(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u);
  let n = u32(args.n1);
  if (i >= u32(args.n0)) { return; }
  let start = args.b0 + i * n;
  var most = 0u;
  for (var j = 0u; j < n; j++) { most = max(most, magnitude(words[start + j])); }
  var sum = vec3<u32>(0u, 0u, 0u);
  if (most < INF) {
    let largest = aboveFloat(most);
    for (var j = 0u; j < n; j++) { sum = withSquare(sum, words[start + j], largest); }
  }
  words[args.b1 + i] = normOf(sum, most);
}

@compute @workgroup_size(64)
fn middle(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = u32(args.n1);
  for (var i = 4u * group(id); i < u32(args.n0); i += 4u * many.x * many.y) {
    let mine = i + lane / 16u;
    writeNorm(args.b1 + mine, args.b0 + mine * n, select(0u, n, mine < u32(args.n0)), lane % 16u, 16u, lane / 16u);
  }
}

@compute @workgroup_size(256)
fn long(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = u32(args.n1);
  for (var i = group(id); i < u32(args.n0); i += many.x * many.y) { writeNorm(args.b1 + i, args.b0 + i * n, n, lane, 256u, 0u); }
}
