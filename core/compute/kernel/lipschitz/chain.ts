import { Ptr, aboveOrInf } from "../../simd/vec";

export function chain(layers: i32, paper: i32, bounds: Ptr, has: Ptr, dst: Ptr): void {
  for (let j = 0; j < layers; j++) {
    let product: f64 = 1;
    for (let l = paper ? 0 : j + 1; l < layers; l++) {
      if (l != j) product *= <f64>load<f32>(bounds + (<usize>(2 * l + paper) << 2));
    }
    const at = <usize>j << 2;
    store<f32>(dst + at, load<f32>(has + at) != 0 ? aboveOrInf(product) : 0);
  }
}
