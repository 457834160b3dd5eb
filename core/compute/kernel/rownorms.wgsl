// Short rows are an invocation's. Others are shared by the invocations of a workgroup, and long ones
// by those of many. Each reads its values twice: for the greatest one, and for the sum. How a row is
// cut does not depend on how many rows there are, or a row's norm would depend on others.

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

// pieces cuts a long row into a part for each of its workgroups. It stores the greatest values of all
// parts, and behind those the sums of each, relative to its greatest value.
@compute @workgroup_size(64)
fn pieces(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let many = manyGroups(); let at = group(id);
  let n = u32(args.n1); let each = (n + many - 1u) / many;
  let first = min(at % many * each, n);
  let some = select(0u, min(each, n - first), at < u32(args.n0) * many);
  let start = args.b0 + at / many * n + first;
  let most = mostIn(mostOf(start, some, lane, 64u), lane, 64u);
  let sum = sumIn(squaresOf(start, some, lane, 64u, most), lane, 64u);
  if (lane == 0u && some > 0u) {
    words[args.b4 + at] = most;
    let to = args.b4 + u32(args.n0) * many + 3u * at;
    let y = sum.y + (sum.z >> 24u);
    words[to] = sum.x + (y >> 24u); words[to + 1u] = y & 0xffffffu; words[to + 2u] = sum.z & 0xffffffu;
  }
}

// downAbove is the least sum that is not below v·2^−by, with y and z of v below 2²⁴.
fn downAbove(v: vec3<u32>, by: u32) -> vec3<u32> {
  var s = v; var lost = 0u;
  for (var k = min(by / 24u, 4u); k > 0u; k--) { // after four nothing is left
    lost |= s.z;
    s = vec3<u32>(s.x >> 24u, s.x & 0xffffffu, s.y);
  }
  let rest = by % 24u;
  lost |= s.z & ((1u << rest) - 1u);
  let y = (s.y >> rest) | ((s.x << (24u - rest)) & 0xffffffu);
  let z = (s.z >> rest) | ((s.y << (24u - rest)) & 0xffffffu);
  return vec3<u32>(s.x >> rest, y, z + u32(lost != 0u));
}

// norms has a workgroup for a long row, and adds up the sums of its parts relative to the greatest value
// of all. 256 sums of 24 digits fit: the part with that value has its sum as it is, not rounded up.
@compute @workgroup_size(64)
fn norms(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group(id); let many = select(0u, manyGroups(), i < u32(args.n0));
  let first = args.b4 + i * many;
  let most = mostIn(mostOf(first, many, lane, 64u), lane, 64u);
  let power = aboveFloat(most).power;
  var part = vec3<u32>(0u, 0u, 0u);
  for (var j = lane; j < many; j += 64u) {
    let base = args.b4 + u32(args.n0) * many + 3u * (i * many + j);
    let by = 2u * u32(power - aboveFloat(words[first + j]).power);
    part += downAbove(vec3<u32>(words[base], words[base + 1u], words[base + 2u]), by);
  }
  let sum = sumIn(part, lane, 64u);
  if (lane == 0u && many > 0u) { store(i, sum, most); }
}
