// What training costs on WebGPU, beside TensorFlow.js and jax-js without privacy on the
// same adapter, which is a program where there is no other: steps of 128 rows of the MLP
// 784-128-10 and of cnn-opacus. One line a figure, as of bench.mjs; in turns in one
// browser.
//
//	node web/bench/webgpu.mjs [rounds, default 5] [cnn]
import { launch, serve, webgpu } from "../e2e/browser.mjs";
import { configs, trainer } from "./ours.mjs";
import { jax, site, tensorflow } from "./peers.mjs";
import { median, say, write } from "./report.mjs";

const rounds = Number(process.argv[2] ?? 5), kinds = process.argv[3] ? [process.argv[3]] : ["mlp", "cnn"];
const browser = await launch(...webgpu.chromium), server = await serve(), peers = await site(false);
try {
  const ours = await trainer(browser, server.url);
  const steps = { mlp: 40, cnn: 8 };
  for (const kind of kinds) {
    const n = steps[kind];
    const own = (config) => async () => {
      const r = await ours.run({ ...config, steps: n, backend: "webgpu", blind: true }); // or it would test rows, too
      if (r.backend !== "webgpu") throw new Error(`the run was on ${r.backend}`);
      return r.seconds / r.steps;
    };
    const others = { tfjs: await tensorflow(browser, peers.url, kind, "webgpu"), jaxjs: await jax(browser, peers.url, kind, "webgpu") };
    const all = { ours: own(configs[kind]), plain: own(configs[kind + "_plain"]), simd: async () => {
      const r = await ours.run({ ...configs[kind], steps: n });
      return r.seconds / r.steps;
    } };
    for (const [name, train] of Object.entries(others)) all[name] = async () => await train(n) / n;
    /** @type {Record<string, number[]>} */
    const took = {};
    for (let i = -1; i < rounds; i++) { // the first is to warm up
      for (const [name, step] of Object.entries(all)) {
        const seconds = await step();
        if (i >= 0) (took[name] ??= []).push(seconds);
      }
    }
    for (const name of Object.keys(all)) say(`webgpu.${kind}.step.${name}`, 1000 * median(took[name]), "ms");
    for (const name of ["tfjs", "jaxjs", "plain", "simd"]) {
      say(`webgpu.${kind}.vs_${name}`, median(took[name].map((s, i) => s / took.ours[i])), "×");
    }
  }
  write(browser.version(), "bench-webgpu.json");
} finally {
  await browser.close();
  server.close();
  peers.close();
}
