// Short rows are an invocation's; others are cut in parts, and a part is one's, first for
// its greatest value and then for its sum. How a row is cut does not depend on how many
// rows there are, or a row's norm would depend on others.

// Of a row there are two to this parts, whose values take turns.
fn partDigits() -> u32 { return select(4u, 8u, args.n1 > 4096); }

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
fn most(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = u32(args.n1); let parts = 1u << partDigits();
  for (var p = item(id, lane, 64u); p < u32(args.n0) * parts; p += 64u * many.x * many.y) {
    words[args.b4 + p] = mostOf(args.b0 + (p >> partDigits()) * n, n, p % parts, parts);
  }
}

@compute @workgroup_size(64)
fn greatest(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u); let parts = 1u << partDigits();
  if (i < u32(args.n0)) { words[args.b1 + i] = mostOf(args.b4 + i * parts, parts, 0u, 1u); }
}

@compute @workgroup_size(64)
fn squares(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = u32(args.n1); let parts = 1u << partDigits();
  for (var p = item(id, lane, 64u); p < u32(args.n0) * parts; p += 64u * many.x * many.y) {
    let i = p >> partDigits();
    let sum = squaresOf(args.b0 + i * n, n, p % parts, parts, words[args.b1 + i]);
    let to = args.b4 + 3u * p;
    words[to] = sum.x; words[to + 1u] = sum.y; words[to + 2u] = sum.z;
  }
}

@compute @workgroup_size(64)
fn norms(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u); let parts = 1u << partDigits();
  if (i >= u32(args.n0)) { return; }
  var sum = vec3<u32>(0u, 0u, 0u);
  for (var p = args.b4 + 3u * i * parts; p < args.b4 + 3u * (i + 1u) * parts; p += 3u) {
    sum += vec3<u32>(words[p], words[p + 1u], words[p + 2u]); // 256 times 24 digits fit
  }
  words[args.b1 + i] = normOf(sum, words[args.b1 + i]);
}
