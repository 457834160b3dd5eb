// Short rows are an invocation's. Others are cut in parts, and a part is an invocation's, first for
// its greatest value and then for its sum. How a row is cut does not depend on how many
// rows there are, or a row's norm would depend on others.

// store stores the norm of row i, or joins it to the one that is there where n2 is 1.
fn store(i: u32, sum: vec3<u32>, largest: u32) {
  var more = NOTHING;
  if (args.n2 == 1) { more = squareOf(aboveFloat(words[args.b1 + i])); }
  words[args.b1 + i] = joinedNormOf(sum, largest, more);
}

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
  store(i, sum, most);
}

var<workgroup> greatest: array<u32, 64>;
var<workgroup> sums: array<vec3<u32>, 64>;

// mostIn is the greatest value that the lanes of a row have, of 64 in a workgroup.
fn mostIn(v: u32, lane: u32, lanes: u32) -> u32 {
  greatest[lane] = v;
  workgroupBarrier();
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    if (lane % lanes < half) { greatest[lane] = max(greatest[lane], greatest[lane + half]); }
    workgroupBarrier();
  }
  return greatest[lane - lane % lanes];
}

// sumIn is the sum of what they have, in the first of them: 256 times 24 digits fit.
fn sumIn(v: vec3<u32>, lane: u32, lanes: u32) -> vec3<u32> {
  sums[lane] = v;
  workgroupBarrier();
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    if (lane % lanes < half) { sums[lane] += sums[lane + half]; }
    workgroupBarrier();
  }
  return sums[lane];
}

// A workgroup has four rows.
@compute @workgroup_size(64)
fn whole(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 64u) / 16u; let part = lane % 16u;
  let n = select(0u, u32(args.n1), i < u32(args.n0)); let start = args.b0 + i * n;
  let most = mostIn(mostOf(start, n, part, 16u), lane, 16u);
  let sum = sumIn(squaresOf(start, n, part, 16u, most), lane, 16u);
  if (part == 0u && n > 0u) { store(i, sum, most); }
}

// manyGroups is the number of workgroups of a long row.
fn manyGroups() -> u32 { return min(256u, (u32(args.n1) + 4095u) / 4096u); }

// A long row has many workgroups. In the words on the way each has its greatest value, and behind those
// of all its sum.
@compute @workgroup_size(64)
fn most(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let many = manyGroups(); let at = group(id);
  let n = select(0u, u32(args.n1), at < u32(args.n0) * many);
  let v = mostIn(mostOf(args.b0 + at / many * n, n, at % many * 64u + lane, many * 64u), lane, 64u);
  if (lane == 0u && n > 0u) { words[args.b4 + at] = v; }
}

@compute @workgroup_size(64)
fn squares(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let many = manyGroups(); let at = group(id);
  let n = select(0u, u32(args.n1), at < u32(args.n0) * many);
  let all = mostIn(mostOf(args.b4 + at / many * many, many, lane, 64u), lane, 64u);
  let sum = sumIn(squaresOf(args.b0 + at / many * n, n, at % many * 64u + lane, many * 64u, all), lane, 64u);
  if (lane == 0u && n > 0u) {
    let to = args.b4 + u32(args.n0) * many + 3u * at;
    let y = sum.y + (sum.z >> 24u);
    words[to] = sum.x + (y >> 24u); words[to + 1u] = y & 0xffffffu; words[to + 2u] = sum.z & 0xffffffu;
  }
}

// A workgroup adds up what those of a row have left, no more than 256.
@compute @workgroup_size(64)
fn norms(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group(id); let many = manyGroups();
  let all = mostIn(mostOf(args.b4 + i * many, many, lane, 64u), lane, 64u);
  var part = vec3<u32>(0u, 0u, 0u);
  for (var j = lane; j < many; j += 64u) {
    let base = args.b4 + u32(args.n0) * many + 3u * (i * many + j);
    part += vec3<u32>(words[base], words[base + 1u], words[base + 2u]);
  }
  let sum = sumIn(part, lane, 64u);
  if (lane == 0u && i < u32(args.n0)) { store(i, sum, all); }
}
