//! measure 1
//! divide n0/256
@compute @workgroup_size(256)
fn measure(@builtin(local_invocation_index) lane: u32) {
  writeNorm(args.b1, args.b0, u32(args.n0), lane, 256u, 0u);
  if (args.n0 == 0 && lane == 0u) { words[args.b1] = 0u; }
}

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
