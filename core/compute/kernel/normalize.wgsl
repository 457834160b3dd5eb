// measure has one workgroup. Whole numbers add up to the same in any order.
@compute @workgroup_size(256)
fn measure(@builtin(local_invocation_index) lane: u32) {
  let n = u32(args.n0);
  atomicMax(&largest, mostOf(args.b0, n, lane, 256u));
  workgroupBarrier();
  let most = atomicLoad(&largest);
  let sum = squaresOf(args.b0, n, lane, 256u, most);
  atomicAdd(&high, sum.x);
  atomicAdd(&middle, sum.y); // 256 times 24 digits fit
  atomicAdd(&low, sum.z);
  workgroupBarrier();
  if (lane == 0u) { words[args.b1] = normOf(vec3<u32>(atomicLoad(&high), atomicLoad(&middle), atomicLoad(&low)), most); }
}
var<workgroup> largest: atomic<u32>;
var<workgroup> high: atomic<u32>;
var<workgroup> middle: atomic<u32>;
var<workgroup> low: atomic<u32>;

// divide moves exponents: a norm may be so small that a device takes it, and what it is
// the norm of, for 0.
@compute @workgroup_size(256)
fn divide(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  let measured = words[args.b1];
  if (i >= u32(args.n0) || measured == 0u || measured >= INF) { return; }
  let by = aboveFloat(measured);
  // 2^−down is not above 2¹²⁶, as kernel.NormalizedBy has it.
  let down = max(by.power + select(24, 23, by.part == 0x800000u), -126);
  let bits = words[args.b0 + i];
  let x = aboveFloat(bits);
  let exponent = x.power - down + 150;
  var v = 0u;
  if (x.part != 0u && exponent >= 1) { v = (u32(exponent) << 23u) + (x.part - 0x800000u); }
  else { v = x.part >> u32(clamp(1 - exponent, 0, 24)); }
  words[args.b0 + i] = v | (bits & 0x80000000u);
}
