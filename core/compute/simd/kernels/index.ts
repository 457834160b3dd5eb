// The kernels of core/compute/backend.go for WebAssembly SIMD, on Go's own
// memory. One source, two builds: with --enable simd, and with relaxed-simd
// besides, where multiply-add is fused. Every exported function is declared in
// imports_js.go with the same parameters.

export { adam, axpy, fill, mul, relu, reluGrad, rescale, scale, spread, tanh, tanhGrad } from "./vector";
export { addRow, joinNorms, rowNorms, scaleRows } from "./rows";
export { sigmoidBCE, softmaxCE, squared } from "./loss";
export { addClampedOuter, addRoundedOuter } from "./outer";
export { addScaled, settle } from "./sums";
export { noise } from "./noise";
export { addOuter, gemm, outer } from "./gemm";
