// The kernels alone, in a worker of the browser: what part of the rate of a loop in
// registers products reach for the shapes that training has, and what a step of the
// MLP spends where.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { root } from "../e2e/browser.mjs";

// modules are the kernels' two builds and the loop in registers.
export function modules() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-bench-"));
  try {
    execFileSync(process.execPath, [path.join(root, "web/node_modules/assemblyscript/bin/asc.js"), "bench/peak.ts", "--outFile", path.join(dir, "peak.wasm"),
      "-Ospeed", "--noAssert", "--runtime", "stub", "--enable", "simd", "--enable", "relaxed-simd"], { cwd: path.join(root, "web") });
    const read = (file) => fs.readFileSync(file).toString("base64");
    return { peak: read(path.join(dir, "peak.wasm")), relaxed: read(path.join(root, "bin/web/kernels-relaxed.wasm")), plain: read(path.join(root, "bin/web/kernels.wasm")) };
  } finally {
    fs.rmSync(dir, { recursive: true });
  }
}

// measure runs in the browser. A figure is the best of many short stretches, all
// taken in turns, so that a busy machine troubles each alike.
export async function measure({ binaries, rounds }) {
  const load = async (base64) => (await WebAssembly.instantiate(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)))).instance.exports;
  const { peak } = /** @type {any} */ (await load(binaries.peak));
  const B = 128, D = 784, H = 128, C = 10, N = D * H + H + H * C + C;
  const jobs = [{ name: "peak", flops: 2e5 * 96, run: () => peak(2e5, 0.5) }];
  for (const build of ["relaxed", "plain"]) {
    const k = /** @type {any} */ (await load(binaries[build]));
    const room = (n) => {
      const at = k.alloc(4 * n);
      new Float32Array(k.memory.buffer, at, n).fill(0).forEach((_, i, v) => { v[i] = Math.random() - 0.5; });
      return at;
    };
    const call = (name, n, f, b, sums = 0, key = 0) => {
      const id = k[`id_${name}`].value, up = (list, n) => [...list, ...Array(n - list.length).fill(0)];
      const all = [id, ...up(n, 5), ...up(f, 6), ...up(b, 5), sums, key];
      return () => k.run(...all);
    };
    const x = room(B * D), big = room(600 * D), h = room(B * H), dh = room(B * H), dz = room(B * C), z = room(B * C), w1 = room(D * H), w2 = room(H * C);
    const labels = k.alloc(4 * B), loss = room(B), norms = room(B), g = room(N), w = room(N), key = k.alloc(64), out = room(600 * D);
    k.clearBytes(labels, 4 * B);
    const sums = k.newSums(D * H), narrow = k.newSums(H * C);
    const outer = (m, n, d, a, b, s) => {
      const clear = call("clear", [], [], [], s), add = call("addOuter", [m, n, d, 0], [0], [a, b], s);
      return () => { clear(); add(); };
    };
    const job = (name, flops, run) => jobs.push({ name: `${build} ${name}`, flops, run });
    const conv = (name, height, c, n, size, stride, pad, places) => {
      const a = room(B * height * height * c), d = room(B * places * n), p = room((size * size * c + 1) * n), g = room(B * (size * size * c + 1) * n);
      const flops = 2 * B * places * size * size * c * n, sizes = [B, height, height, c, n], how = [size, size, stride, pad];
      job(`gemm ${name}_forward`, flops, call("conv", sizes, how, [a, p, p, d]));
      job(`gemm ${name}_weights`, flops, call("convWeights", sizes, how, [a, d, g]));
      if (c > 1) job(`gemm ${name}_input`, flops, call("convGrad", sizes, how, [d, p, a]));
    };
    job("gemm mlp_forward1", 2 * B * D * H, call("gemm", [0, 0, B, H, D], [0], [x, w1, h]));
    job("gemm mlp_forward2", 2 * B * H * C, call("gemm", [0, 0, B, C, H], [0], [h, w2, z]));
    job("gemm mlp_backward2", 2 * B * H * C, call("gemm", [0, 1, B, H, C], [0], [dz, w2, dh]));
    job("gemm mlp_weights1", 2 * B * D * H, outer(B, D, H, x, h, sums));
    job("gemm mlp_weights2", 2 * B * H * C, outer(B, H, C, h, dz, narrow));
    job("gemm softmax_forward", 2 * 600 * D * C, call("gemm", [0, 0, 600, C, D], [0], [big, w1, out]));
    job("gemm vector_forward", 2 * B * D, call("gemm", [0, 0, B, 1, D], [0], [x, w1, z]));
    conv("conv1", 28, 1, 16, 8, 2, 3, 196);
    conv("conv2", 13, 16, 32, 4, 2, 0, 25);
    if (build === "plain") continue;
    for (const [stage, run] of /** @type {[string, () => void][]} */ ([
      ["noise", call("noise", [N], [1e-3], [g], 0, key)], ["settle", call("settle", [D * H], [], [g], sums)],
      ["norms", call("rowNorms", [B, D], [], [x, norms])], ["norms", call("rowNorms", [B, H], [], [h, norms])],
      ["norms", call("rowNorms", [B, H], [], [dh, norms])], ["norms", call("rowNorms", [1, N], [], [g, norms])],
      ["factors", call("scaleRows", [B, H], [], [norms, h, dh])], ["activations", call("addRow", [B, H], [], [w2, h])],
      ["activations", call("unary", [0, B * H], [], [h, h])], ["activations", call("unaryGrad", [0, B * H], [], [h, dh, dh])],
      ["loss", call("loss", [0, B, C], [], [z, labels, loss, dz])],
      ["update", call("scale", [N], [0.99], [g])], ["update", call("axpy", [N], [-1e-9], [g, w])],
    ])) job(`step ${stage}`, 0, run);
  }
  const time = (run, n) => {
    const from = performance.now();
    for (let i = 0; i < n; i++) run();
    return (performance.now() - from) / n;
  };
  for (const j of jobs) { // until the engine has made its best code
    const until = performance.now() + 80;
    while (performance.now() < until) j.run();
    j.times = Math.max(1, Math.ceil(0.5 / Math.max(time(j.run, 3), 1e-4)));
    j.best = Infinity;
  }
  for (let r = 0; r < rounds; r++) for (const j of jobs) j.best = Math.min(j.best, time(j.run, j.times));
  return jobs.map(({ name, flops, best }) => ({ name, flops, milliseconds: best }));
}
