// What every clipping method costs a step, in Chromium, as a multiple of a plain
// step: MLP 784-128-10, B = 128, on the built-in digits. Each run of a method is
// held against the plain run right before it, in the same worker.
//
//	make bench            or: node web/bench/methods.mjs [rounds, default 5]
import fs from "node:fs";
import path from "node:path";
import { launch, open, results, serve } from "../e2e/browser.mjs";
import { median } from "./report.mjs";

const rounds = Number(process.argv[2] ?? 5);
const config = {
  data: "digits", model: { kind: "mlp", hidden: [128], activation: "relu" }, target_delta: 1e-5,
  expected_batch_size: 128, steps: 150, learning_rate: 0.1, noise_multiplier: 1, accountant: "rdp",
};

const browser = await launch();
const server = await serve();
try {
  const page = await open(await browser.newContext(), server.url);
  const data = await page.evaluateHandle(() => clipscope.open("digits"));
  const names = await page.evaluate(async () => (await clipscope.methods()).map((m) => m.name));
  const msPerStep = (method, more) => page.evaluate(async ([data, config]) => {
    const run = await clipscope.train(config, data);
    const r = await run.done;
    return 1000 * r.train_seconds / r.steps;
  }, [data, { ...config, method, ...more }]);
  const rows = [];
  await msPerStep("constant"); // warm
  const variants = [...(process.argv[3]?.split(",") ?? names).filter((n) => n !== "none").map((n) => [n, n, {}]), ["constant, secure noise", "constant", { noise_mode: "secure", steps: 30 }]];
  for (const [label, method, more] of variants) {
    const ratios = [], times = [];
    for (let i = 0; i < rounds; i++) {
      const plain = await msPerStep("none"), own = await msPerStep(method, more);
      ratios.push(own / plain);
      times.push(own);
    }
    rows.push({ method: label, ms: median(times), ratio: median(ratios) });
    console.log(`${label.padEnd(24)} ${median(times).toFixed(2).padStart(8)} ms a step   ${median(ratios).toFixed(2)} × none`);
  }
  fs.writeFileSync(path.join(results, "methods.json"), JSON.stringify(rows, null, 2) + "\n");
} finally {
  server.close();
  await browser.close();
}
