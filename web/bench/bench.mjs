// How long one epoch of a private MLP 784-128-10 takes in Chromium: 469 steps of
// batches of 128, as for 60,000 rows. Beside it, in the same browser, the same
// epoch without privacy, and the same model trained by TensorFlow.js on its wasm
// backend.
//
//	make bench            or: node web/bench/bench.mjs [repeats, default 5]
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { hasShared, launch, open, results, serve, shared } from "../e2e/browser.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const repeats = Number(process.argv[2] ?? 5);
const median = (x) => x.toSorted((a, b) => a - b)[x.length >> 1];

const config = {
  model: { kind: "mlp", hidden: [128], activation: "relu" }, max_grad_norm: 1, noise_multiplier: 1, target_delta: 1e-5,
  expected_batch_size: 128, steps: 469, learning_rate: 0.25, optimizer: "sgd",
};

// ours trains with each method in turn, so that both meet the same machine, in
// one worker; seconds are those inside steps, and of the wall clock from Start to
// the result, tests included.
async function ours(browser) {
  const server = await serve();
  const context = await browser.newContext();
  const page = await open(context, server.url);
  const mnist = hasShared("data", "mnist");
  let data;
  if (mnist) {
    await page.evaluate(() => document.body.append(Object.assign(document.createElement("input"), { type: "file", multiple: true, id: "bench" })));
    await page.locator("#bench").setInputFiles(["train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"]
      .map((n) => path.join(shared, "data/mnist", n + "-ubyte.gz")));
    data = await page.evaluateHandle(() => {
      const [xs, ys, xt, yt] = document.querySelector("#bench").files;
      return clipscope.open({ train: [xs, ys], test: [xt, yt] });
    });
  } else {
    data = await page.evaluateHandle(() => clipscope.open("digits"));
  }
  const one = (method) => page.evaluate(async ([data, config]) => {
    const from = performance.now();
    const run = await clipscope.train(config, data);
    const r = await run.done;
    return { seconds: r.train_seconds, wall: (performance.now() - from) / 1000, backend: r.backend, accuracy: r.test_accuracy };
  }, [data, { ...config, method, ...(method === "none" ? { noise_multiplier: 0, no_privacy: true } : {}) }]);
  await one("constant"); // warm: the browser compiles what runs hot
  const runs = { constant: [], none: [] };
  for (let i = 0; i < repeats; i++) {
    for (const method of Object.keys(runs)) runs[method].push(await one(method));
  }
  await context.close();
  server.close();
  const of = (method, key) => runs[method].map((r) => r[key]);
  return {
    data: mnist ? "MNIST" : "built-in digits",
    backend: runs.constant[0].backend,
    accuracy: { constant: median(of("constant", "accuracy")), none: median(of("none", "accuracy")) },
    private_seconds: median(of("constant", "seconds")),
    private_best: Math.min(...of("constant", "seconds")),
    private_wall: median(of("constant", "wall")),
    none_seconds: median(of("none", "seconds")),
    none_best: Math.min(...of("none", "seconds")),
    ratio: median(runs.constant.map((r, i) => r.seconds / runs.none[i].seconds)),
  };
}

// peer serves a bare page with TensorFlow.js, isolated so that it may use threads
// or not.
async function peer(browser, threads) {
  const modules = path.join(here, "node_modules/@tensorflow");
  const types = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
  const server = http.createServer((req, res) => {
    const name = path.join(modules, path.normalize(new URL(req.url, "http://x").pathname));
    const isolated = threads ? { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" } : {};
    if (req.url === "/") return res.writeHead(200, { "Content-Type": "text/html", ...isolated }).end("<!doctype html><title>peer</title>");
    if (!fs.existsSync(name)) return res.writeHead(404).end();
    res.writeHead(200, { "Content-Type": types[path.extname(name)] ?? "text/plain", ...isolated }).end(fs.readFileSync(name));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const page = await (await browser.newContext()).newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  for (const m of ["tfjs-core/dist/tf-core.min.js", "tfjs-layers/dist/tf-layers.min.js", "tfjs-backend-wasm/dist/tf-backend-wasm.min.js"]) {
    await page.addScriptTag({ url: "/" + m });
  }
  const seconds = await page.evaluate(async () => {
    const rows = 60_000, batch = 128, steps = 469;
    tf.wasm.setWasmPaths("/tfjs-backend-wasm/dist/");
    await tf.setBackend("wasm");
    await tf.ready();
    const model = tf.sequential({ layers: [
      tf.layers.dense({ inputShape: [784], units: 128, activation: "relu" }),
      tf.layers.dense({ units: 10, activation: "softmax" }),
    ] });
    model.compile({ optimizer: tf.train.sgd(0.25), loss: "categoricalCrossentropy" });
    const x = tf.randomUniform([rows, 784]);
    const y = tf.oneHot(tf.randomUniform([rows], 0, 10, "int32"), 10);
    const some = (t, n) => tf.slice(t, [0, 0], [n, t.shape[1]]);
    await model.fit(some(x, 20 * batch), some(y, 20 * batch), { batchSize: batch, epochs: 1, verbose: 0, yieldEvery: "never" });
    let done = 0;
    const from = performance.now();
    await model.fit(x, y, { batchSize: batch, epochs: 1, verbose: 0, yieldEvery: "never", callbacks: { onBatchEnd: () => { done++; } } });
    if (done !== steps) throw new Error(done + " steps");
    return (performance.now() - from) / 1000;
  });
  await page.context().close();
  server.close();
  return seconds;
}

const browser = await launch();
try {
  const version = browser.version();
  const own = await ours(browser);
  const tf = { one: await peer(browser, false), threads: await peer(browser, true) };
  const report = {
    machine: `${os.cpus().length} × ${os.cpus()[0].model}`, chromium: version, ...own,
    tfjs_seconds: tf.one, tfjs_threads_seconds: tf.threads,
    times_faster_than_tfjs: tf.one / own.private_seconds,
    times_faster_than_tfjs_threads: tf.threads / own.private_seconds,
  };
  fs.writeFileSync(path.join(results, "bench.json"), JSON.stringify(report, null, 2) + "\n");
  const s = (x) => x.toFixed(2) + " s";
  console.log(`One epoch of MLP 784-128-10, B = 128, 469 steps, on ${report.machine}, Chromium ${version}, back end ${own.backend}, ${own.data}:
  private (constant)          ${s(own.private_seconds)} (best ${s(own.private_best)}; wall clock with tests ${s(own.private_wall)})
  non-private (none)          ${s(own.none_seconds)} (best ${s(own.none_best)})
  private / non-private       ${own.ratio.toFixed(2)}
  TensorFlow.js wasm, plain   ${s(tf.one)}, ${report.times_faster_than_tfjs.toFixed(1)} times the private epoch
  … with threads              ${s(tf.threads)}, ${report.times_faster_than_tfjs_threads.toFixed(1)} times`);
} finally {
  await browser.close();
}
