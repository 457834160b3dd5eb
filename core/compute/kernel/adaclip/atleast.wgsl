// least is times·away, by bits, as float32 holds it where it is denormal too.
fn least() -> u32 {
  let away = words[args.b0];
  if (isNaN(away)) { return NAN; }
  let v = bitcast<u32>(args.f0 * bitcast<f32>(away));
  if (magnitude(v) >= 0x01000000u) { return v; }
  let small = bitcast<u32>(args.f0 * lifted(away)); // 2⁷⁴ times as large
  let sign = small & 0x80000000u;
  return u32(round(bitcast<f32>(magnitude(small)) * 0x1p75f)) | sign;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = item(id, lane, 256u);
  if (i >= u32(args.n0)) { return; }
  let u = words[args.b1 + i];
  let low = least();
  if (!isNaN(u) && (isNaN(low) || order(low) > order(u))) { words[args.b1 + i] = low; }
}
