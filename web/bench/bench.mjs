// What training costs in Chromium: epochs of a private MLP 784-128-10 and of the
// papers' small convolutional network, 469 steps of 128 rows, beside the same without
// privacy and the same models trained by TensorFlow.js and jax-js; what part of a
// core's rate the products reach; and where a step's time goes. One line a figure:
//
//	BENCH name value unit
//
// Everything is measured in turns in one browser, so that what else the machine does
// troubles all alike: seconds are medians, and so are ratios, each of two runs that
// followed each other.
//
//	make bench            or: node web/bench/bench.mjs [rounds, default 5]
//	make figures          the same, for the page that shows the last ones
import { launch, serve } from "../e2e/browser.mjs";
import { measure, modules } from "./kernels.mjs";
import { configs, epoch, trainer } from "./ours.mjs";
import { jax, site, tensorflow } from "./peers.mjs";
import { median, say, write } from "./report.mjs";

const rounds = Number(process.argv[2] ?? 5);
const browser = await launch(), server = await serve(), peers = await site(false), fine = await site(true);
try {
  const ours = await trainer(browser, server.url);
  const all = { ...configs };
  if (ours.cores > 1) {
    all.mlp_threads2 = { ...configs.mlp, threads: 2 };
    all.cnn_threads2 = { ...configs.cnn, threads: 2 };
  }
  const filled = ["mlp", "mlp_plain", "secure", "mlp_threads2"].filter((name) => all[name]).map((name) => /** @type {[string, object]} */ ([name, all[name]]));
  const visit = async (/** @type {string} */ url) => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(url);
    return page;
  };
  /** @type {Record<string, (steps: number) => Promise<number>>} */
  const others = { tfjs: await tensorflow(visit, peers.url), jaxjs: await jax(visit, peers.url, "mlp"), jaxjs_cnn: await jax(visit, peers.url, "cnn") };
  const peerSteps = { tfjs: 40, jaxjs: 40, jaxjs_cnn: 1 }; // the last takes seconds for each

  /** @type {Record<string, number[]>} seconds a step, round by round */
  const step = {};
  /** @type {Record<string, number[]>} the rest of a run of the MLP, by how many rows test it */
  const rest = { all: [], few: [] };
  for (let i = -1; i < rounds; i++) { // the first is to warm up
    for (const [name, config] of Object.entries(all)) {
      const r = await ours.run(i < 0 ? { ...config, steps: 40 } : config);
      if (i < 0) continue;
      (step[name] ??= []).push(r.seconds / r.steps);
      if (name === "mlp") rest.all.push(r.rest);
    }
    if (ours.few && i >= 0) rest.few.push((await ours.run(configs.mlp, "few")).rest);
    for (const [name, config] of filled) {
      const r = await ours.run(i < 0 ? { ...config, steps: 40 } : config, "dense");
      if (i >= 0) (step[`${name}_dense`] ??= []).push(r.seconds / r.steps);
    }
    for (const [name, train] of Object.entries(others)) {
      const seconds = await train(peerSteps[name]);
      if (i >= 0) (step[name] ??= []).push(seconds / peerSteps[name]);
    }
  }
  const over = (a, b) => median(step[a].map((s, i) => s / step[b][i]));
  say("mlp.epoch_seconds", epoch * median(step.mlp), "s");
  say("mlp.epoch_seconds_best", epoch * Math.min(...step.mlp), "s");
  say("mlp.private_over_plain", over("mlp", "mlp_plain"), "×");
  say("cnn.epoch_seconds", epoch * median(step.cnn), "s");
  say("cnn.epoch_seconds_best", epoch * Math.min(...step.cnn), "s");
  say("cnn.private_over_plain", over("cnn", "cnn_plain"), "×");
  say("secure.over_plain", over("secure", "mlp_plain"), "×");
  for (const [name, of] of Object.entries({
    "mlp.epoch_seconds.threads2": "mlp_threads2", "cnn.epoch_seconds.threads2": "cnn_threads2",
    "mlp.epoch_seconds.plain": "mlp_plain", "cnn.epoch_seconds.plain": "cnn_plain", "mlp.epoch_seconds.secure": "secure",
    "mlp.epoch_seconds.tfjs": "tfjs", "mlp.epoch_seconds.jaxjs": "jaxjs", "cnn.epoch_seconds.jaxjs": "jaxjs_cnn",
  })) if (step[of]) say(name, epoch * median(step[of]), "s");
  say("mlp.vs_tfjs_wasm", over("tfjs", "mlp"), "×");
  say("mlp.vs_jaxjs_wasm", over("jaxjs", "mlp"), "×");
  say("cnn.vs_jaxjs_wasm", over("jaxjs_cnn", "cnn"), "×");
  // Two threads feel at once what else has a core; the best rounds are those with both free.
  for (const name of step.mlp_threads2 ? ["mlp", "cnn"] : []) {
    say(`${name}.threads2_speedup`, over(name, `${name}_threads2`), "×");
    say(`${name}.threads2_speedup_best`, Math.min(...step[name]) / Math.min(...step[`${name}_threads2`]), "×");
  }
  // The same where no value of a row is 0, so that products leave out none.
  say("mlp.epoch_seconds.dense", epoch * median(step.mlp_dense), "s");
  say("mlp.private_over_plain.dense", over("mlp_dense", "mlp_plain_dense"), "×");
  say("secure.over_plain.dense", over("secure_dense", "mlp_plain_dense"), "×");
  if (step.mlp_threads2_dense) say("mlp.threads2_speedup.dense", over("mlp_dense", "mlp_threads2_dense"), "×");
  if (ours.few) say("eval.share", (median(rest.all) - median(rest.few)) / (epoch * median(step.mlp)), "of an epoch");

  const page = await (await browser.newContext()).newPage();
  await page.goto(fine.url); // isolated, where clocks tell microseconds
  const kernels = await page.evaluate(measure, { binaries: modules(), rounds: 40 });
  const rate = (k) => k.flops / k.milliseconds / 1e6, peak = rate(kernels[0]);
  say("gemm.peak", peak, "GFLOP/s");
  for (const k of kernels.filter((k) => k.name.includes("gemm"))) {
    const [build, , shape] = k.name.split(" ");
    say(`gemm.fraction_of_peak.${shape}${build === "plain" ? ".plain" : ""}`, rate(k) / peak, "of the peak");
  }
  /** @type {Record<string, number>} */
  const stages = {};
  for (const { name, milliseconds } of kernels) {
    const stage = name.startsWith("relaxed gemm mlp_") ? "products" : name.match(/^relaxed step (.*)/)?.[1];
    if (stage) stages[stage] = (stages[stage] ?? 0) + milliseconds;
  }
  const whole = Object.values(stages).reduce((a, b) => a + b);
  for (const [stage, milliseconds] of Object.entries(stages)) say(`step.breakdown.${stage}`, milliseconds / whole, "of the kernels' time");
  write(browser.version());
} finally {
  await browser.close();
  server.close();
  peers.close();
  fine.close();
}
