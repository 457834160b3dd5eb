import { Ptr, aboveOrInf } from "../../simd/vec";

export function chain(layers: i32, paper: i32, bounds: Ptr, has: Ptr, dst: Ptr): void {
  for (let j = 0; j < layers; j++, has += 4, dst += 8) {
    let product: f64 = 1, most: f64 = 1;
    for (let l = paper ? 0 : j + 1; l < layers; l++) {
      if (l == j) continue;
      product *= <f64>load<f32>(bounds + (<usize>(2 * l + paper) << 2));
      most = max(most, product);
    }
    const some = load<f32>(has) != 0;
    store<f32>(dst, some ? aboveOrInf(product) : 0);
    store<f32>(dst, some ? aboveOrInf(most) : 0, 4);
  }
}
