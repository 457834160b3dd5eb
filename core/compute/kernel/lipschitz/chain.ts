import { Ptr, aboveOrInf } from "../../simd/vec";

export function chain(layers: i32, paper: i32, bounds: Ptr, reach: Ptr, dst: Ptr): void {
  for (let j = 0; j < layers; j++) {
    let product: f64 = 1, most: f64 = 1;
    for (let l = paper ? 0 : j + 1; l < layers; l++) {
      if (l == j) continue;
      product *= <f64>load<f32>(bounds + (<usize>(2 * l + paper) << 2));
      most = max(most, product);
    }
    for (let i = 0; i < 2; i++, reach += 4, dst += 4) {
      const r = <f64>load<f32>(reach);
      store<f32>(dst, r != 0 ? aboveOrInf(product * r) : 0);
      store<f32>(dst, r != 0 ? aboveOrInf(most * r) : 0, 8);
    }
    dst += 8;
  }
}
