// What training costs on WebGPU, beside TensorFlow.js and jax-js without privacy on the
// same adapter, which is a program where there is no other: steps of 128 rows of the MLP
// 784-128-10 and of cnn-opacus. One line a figure, as of bench.mjs; in turns in one
// browser.
//
//	node web/bench/webgpu.mjs [rounds, default 5] [mlp or cnn] [firefox]
import { launch, ready, serve, webgpu } from "../e2e/browser.mjs";
import { launchFirefox } from "../e2e/firefox.mjs";
import { configs } from "./ours.mjs";
import { jax, site, tensorflow } from "./peers.mjs";
import { median, say, write } from "./report.mjs";

const [, , rounds = "5", only, firefox] = process.argv, kinds = only ? [only] : ["mlp", "cnn"];
const server = await serve(), peers = await site(false);

// chromium and fox open pages in either browser.
async function chromium() {
  const browser = await launch(...webgpu.chromium);
  return { version: browser.version(), close: () => browser.close(), visit: async (/** @type {string} */ url) => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(url);
    return page;
  } };
}
async function fox() {
  const browser = await launchFirefox(webgpu.firefox);
  return { version: "Firefox " + browser.version, close: () => browser.close(), visit: (/** @type {string} */ url) => browser.page(url) };
}

// Firefox's driver speaks to the newest page alone: there each has a browser of its own.
/** @type {{ version: string, close(): Promise<unknown>, visit(url: string): Promise<any> }[]} */
const browsers = [];
async function visit(/** @type {string} */ url) {
  if (firefox || browsers.length === 0) browsers.push(await (firefox ? fox : chromium)());
  return browsers[browsers.length - 1].visit(url);
}

try {
  const page = await visit(server.url);
  await ready(page);
  const trained = (/** @type {object} */ config) => page.evaluate(async (config) => {
    const r = await (await clipscope.train(config, "digits")).done;
    return { each: r.train_seconds / r.steps, backend: r.backend };
  }, config);
  const steps = { mlp: 40, cnn: 8 };
  for (const kind of kinds) {
    const n = steps[kind];
    const own = (config) => async () => {
      const r = await trained({ ...config, steps: n, backend: "webgpu", blind: true }); // or it would test rows, too
      if (r.backend !== "webgpu") throw new Error(`the run was on ${r.backend}`);
      return r.each;
    };
    /** @type {Record<string, () => Promise<number>>} */
    const all = { ours: own(configs[kind]), plain: own(configs[kind + "_plain"]), simd: async () => (await trained({ ...configs[kind], steps: n, backend: "simd" })).each };
    const others = { tfjs: await tensorflow(visit, peers.url, kind, "webgpu"), jaxjs: await jax(visit, peers.url, kind, "webgpu") };
    for (const [name, train] of Object.entries(others)) all[name] = async () => await train(n) / n;
    /** @type {Record<string, number[]>} */
    const took = {};
    for (let i = -1; i < Number(rounds); i++) { // the first is to warm up
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
  write(browsers[0].version, firefox ? "bench-webgpu-firefox.json" : "bench-webgpu.json");
} finally {
  await Promise.all(browsers.map((b) => b.close()));
  server.close();
  peers.close();
}
