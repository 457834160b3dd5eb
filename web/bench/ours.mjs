// Our own runs, as a script on the page makes them.
import path from "node:path";
import { hasShared, open, shared } from "../e2e/browser.mjs";

const common = { max_grad_norm: 1, noise_multiplier: 1, target_delta: 1e-5, accountant: "rdp", expected_batch_size: 128, learning_rate: 0.25, optimizer: "sgd", threads: 1 };
const plain = { method: "none", noise_multiplier: 0, no_privacy: true };

// epoch is 469 steps, as of 60,000 rows; of what is slow, a part of one is run.
export const epoch = 469;

/** @type {Record<string, object>} */
export const configs = {
  mlp: { ...common, method: "constant", model: { kind: "mlp", hidden: [128], activation: "relu" }, steps: epoch },
  mlp_plain: { ...common, ...plain, model: { kind: "mlp", hidden: [128], activation: "relu" }, steps: epoch },
  cnn: { ...common, method: "constant", model: { kind: "cnn-opacus" }, steps: 60 },
  cnn_plain: { ...common, ...plain, model: { kind: "cnn-opacus" }, steps: 60 },
  secure: { ...common, method: "constant", noise_mode: "secure", model: { kind: "mlp", hidden: [128], activation: "relu" }, steps: 120 },
};

// trainer opens the page with MNIST, or drawn digits where it is not there, and
// returns what runs a configuration: its seconds inside steps, and those of testing
// and all else between the start and the result. Beside these rows there are dense ones,
// as many and none of their values 0, so that products leave out none, and few: the same
// to train on, but a hundred to test.
/** @param {any} browser @param {string} url */
export async function trainer(browser, url) {
  const page = await open(await browser.newContext(), url);
  const mnist = hasShared("data", "mnist");
  if (mnist) {
    await page.evaluate(() => document.body.append(Object.assign(document.createElement("input"), { type: "file", multiple: true, id: "bench" })));
    await page.locator("#bench").setInputFiles(["train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"]
      .map((n) => path.join(shared, "data/mnist", n + "-ubyte.gz")));
  }
  const data = await page.evaluateHandle((mnist) => {
    if (!mnist) return clipscope.open("digits");
    const [xs, ys, xt, yt] = document.querySelector("#bench").files;
    return clipscope.open({ train: [xs, ys], test: [xt, yt] });
  }, mnist);
  const others = await page.evaluateHandle(async (mnist) => {
    const idx = (/** @type {string} */ name, /** @type {number[]} */ sizes, /** @type {(i: number) => number} */ value) => {
      const head = new DataView(new ArrayBuffer(4 + 4 * sizes.length));
      [0x800 | sizes.length, ...sizes].forEach((n, i) => head.setInt32(4 * i, n));
      return new File([head, Uint8Array.from({ length: sizes.reduce((a, b) => a * b) }, (_, i) => value(i))], name);
    };
    const files = (/** @type {string} */ of, /** @type {number} */ n) => [
      idx(`${of}-images-idx3-ubyte`, [n, 28, 28], () => 1 + Math.floor(255 * Math.random())), idx(`${of}-labels-idx1-ubyte`, [n], (i) => i % 10)];
    const dense = await clipscope.open({ train: files("train", 60000), test: files("t10k", 10000) });
    if (!mnist) return { dense };
    const [xs, ys] = document.querySelector("#bench").files;
    return { dense, few: await clipscope.open({ train: [xs, ys], test: files("t10k", 100) }) };
  }, mnist);
  const known = await page.evaluate(async () => navigator.hardwareConcurrency);
  return {
    data: mnist ? "MNIST" : "drawn digits", cores: known,
    few: mnist,
    /** @param {object} config @param {"dense" | "few"} [rows] @returns {Promise<{ steps: number, seconds: number, rest: number, backend: string }>} */
    run: (config, rows) => page.evaluate(async ([data, others, rows, config]) => {
      const run = await clipscope.train(config, rows ? others[rows] : data);
      const from = performance.now();
      const r = await run.done;
      return { steps: r.steps, seconds: r.train_seconds, rest: (performance.now() - from) / 1000 - r.train_seconds, backend: r.backend };
    }, [data, others, rows, config]),
  };
}
