// The same models trained by others, without privacy, each on its wasm back end or on
// WebGPU, in pages that are not isolated (one thread) or are.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const modules = path.join(path.dirname(fileURLToPath(import.meta.url)), "node_modules");
const types = { ".js": "text/javascript", ".wasm": "application/wasm" };

// site serves an empty page and what npm has fetched.
/** @param {boolean} isolated @returns {Promise<{ url: string, close(): void }>} */
export async function site(isolated) {
  const headers = isolated ? { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" } : {};
  const server = http.createServer((req, res) => {
    const name = path.join(modules, path.normalize(new URL(req.url, "http://x").pathname));
    if (req.url === "/") res.writeHead(200, { "Content-Type": "text/html", ...headers }).end("<!doctype html><title>peer</title>");
    else if (!fs.existsSync(name)) res.writeHead(404).end();
    else res.writeHead(200, { "Content-Type": types[path.extname(name)] ?? "text/plain", ...headers }).end(fs.readFileSync(name));
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", () => resolve(undefined)); });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

// perform has a function run by the page itself, as a module of its own: what a browser's
// driver runs may not import any.
/** @param {any} page @param {Function} f @param {unknown} x */
async function perform(page, f, x) {
  await page.evaluate((text) => {
    window.performed = undefined;
    document.head.append(Object.assign(document.createElement("script"), { type: "module", textContent: text }));
  }, `Promise.resolve((${f})(${JSON.stringify(x)})).then((value) => { window.performed = { value }; }, (e) => { window.performed = { error: String(e) }; });`);
  await page.waitForFunction(() => window.performed, undefined, { timeout: 0 });
  const { value, error } = await page.evaluate(() => window.performed);
  if (error) throw new Error(error);
  return value;
}

// tensorflow opens a page and returns what trains for so many steps of 128 rows and
// says how many seconds they took. The model is one of those of [jax].
/** @param {(url: string) => Promise<any>} visit @param {string} url @param {"mlp" | "cnn"} kind @param {"wasm" | "webgpu"} on @returns {Promise<(steps: number) => Promise<number>>} */
export async function tensorflow(visit, url, kind = "mlp", on = "wasm") {
  const page = await visit(url);
  await perform(page, async ({ kind, on }) => {
    for (const m of ["tfjs-core/dist/tf-core.min.js", "tfjs-layers/dist/tf-layers.min.js", `tfjs-backend-${on}/dist/tf-backend-${on}.min.js`]) {
      await new Promise((resolve, reject) => {
        document.head.append(Object.assign(document.createElement("script"), { src: "/@tensorflow/" + m, onload: resolve, onerror: reject }));
      });
    }
    if (on === "wasm") tf.wasm.setWasmPaths("/@tensorflow/tfjs-backend-wasm/dist/");
    if (!await tf.setBackend(on)) throw new Error(`TensorFlow.js has no ${on} here`);
    await tf.ready();
    const { dense, conv2d, maxPooling2d, flatten } = tf.layers, activation = "relu";
    const shape = { mlp: [784], cnn: [28, 28, 1] }[kind];
    const model = tf.sequential({ layers: {
      mlp: [dense({ inputShape: shape, units: 128, activation }), dense({ units: 10, activation: "softmax" })],
      cnn: [
        conv2d({ inputShape: shape, filters: 16, kernelSize: 8, strides: 2, padding: "same", activation }), maxPooling2d({ poolSize: 2, strides: 1 }),
        conv2d({ filters: 32, kernelSize: 4, strides: 2, activation }), maxPooling2d({ poolSize: 2, strides: 1 }),
        flatten(), dense({ units: 32, activation }), dense({ units: 10, activation: "softmax" }),
      ],
    }[kind] });
    model.compile({ optimizer: tf.train.sgd(0.25), loss: "categoricalCrossentropy" });
    window.peer = async (steps) => {
      const rows = 128 * steps, x = tf.randomUniform([rows, ...shape]), y = tf.oneHot(tf.randomUniform([rows], 0, 10, "int32"), 10);
      const from = performance.now();
      await model.fit(x, y, { batchSize: 128, epochs: 1, verbose: 0, yieldEvery: "never" });
      await model.getWeights()[0].data(); // or a GPU would still be busy
      const seconds = (performance.now() - from) / 1000;
      x.dispose();
      y.dispose();
      return seconds;
    };
    await window.peer(2);
  }, { kind, on });
  return (steps) => perform(page, (n) => window.peer(n), steps);
}

// jax is the same for jax-js, of a model by name: "mlp", or "cnn", which is our
// cnn-opacus.
/** @param {(url: string) => Promise<any>} visit @param {string} url @param {"mlp" | "cnn"} kind @param {"wasm" | "webgpu"} on @returns {Promise<(steps: number) => Promise<number>>} */
export async function jax(visit, url, kind, on = "wasm") {
  const page = await visit(url);
  await perform(page, async ({ kind, on }) => {
    const module = "/@jax-js/jax/dist/index.js";
    const { init, defaultDevice, grad, jit, lax, nn, numpy: np, random, tree, blockUntilReady } = await import(module);
    if (!(await init(on)).includes(on)) throw new Error(`jax-js has no ${on} here`);
    defaultDevice(on);
    const normal = (seed, shape, std) => random.normal(random.key(seed), shape).mul(std);
    const dense = (x, w, b) => np.dot(x, w).add(b);
    const crossEntropy = (z, y) => nn.logSoftmax(z).mul(y).sum().mul(-1 / 128);
    const pooled = (x, n) => { // the greatest of four neighbours
      const part = (i, j) => x.ref.slice([], [], [i, i + n], [j, j + n]);
      const four = [part(0, 0), part(0, 1), part(1, 0), part(1, 1)];
      x.dispose();
      return np.maximum(np.maximum(four[0], four[1]), np.maximum(four[2], four[3]));
    };
    const convolved = (x, w, b, stride, pad) => lax.convGeneralDilated(x, w, [stride, stride], [[pad, pad], [pad, pad]]).add(b);
    const models = {
      mlp: {
        input: [128, 784],
        make: () => [normal(1, [784, 128], 0.05), np.zeros([128]), normal(2, [128, 10], 0.1), np.zeros([10])],
        loss: ([w1, b1, w2, b2], x, y) => crossEntropy(dense(nn.relu(dense(x, w1, b1)), w2, b2), y),
      },
      cnn: {
        input: [128, 1, 28, 28],
        make: () => [normal(1, [16, 1, 8, 8], 0.1), np.zeros([16, 1, 1]), normal(2, [32, 16, 4, 4], 0.1), np.zeros([32, 1, 1]),
          normal(3, [512, 32], 0.05), np.zeros([32]), normal(4, [32, 10], 0.2), np.zeros([10])],
        loss: ([w1, b1, w2, b2, w3, b3, w4, b4], x, y) => {
          const one = pooled(nn.relu(convolved(x, w1, b1, 2, 3)), 13);
          const two = pooled(nn.relu(convolved(one, w2, b2, 2, 0)), 4);
          return crossEntropy(dense(nn.relu(dense(two.reshape([128, 512]), w3, b3)), w4, b4), y);
        },
      },
    };
    const model = models[kind];
    const step = jit((params, x, y) => {
      const g = grad(model.loss)(tree.ref(params), x, y);
      return params.map((p, i) => p.sub(g[i].mul(0.25)));
    });
    let params = model.make();
    const x = random.uniform(random.key(5), model.input), y = np.eye(10).slice(np.array(Array.from({ length: 128 }, (_, i) => i % 10), { dtype: np.int32 }));
    window.peer = async (steps) => {
      const from = performance.now();
      for (let i = 0; i < steps; i++) params = step(params, x.ref, y.ref);
      await blockUntilReady(params);
      return (performance.now() - from) / 1000;
    };
    await window.peer(2);
  }, { kind, on });
  return (steps) => perform(page, (n) => window.peer(n), steps);
}
